"""What is made of results without measuring: tables, plots, figures of the READMEs, comparisons."""
