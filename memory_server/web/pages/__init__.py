"""The pages: each a module with what it shows (`show…`) and what it does."""
