"""The rules of one rigid slot."""
