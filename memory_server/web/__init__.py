"""A face for eyes: pages over the same services as the tools and the command line."""
