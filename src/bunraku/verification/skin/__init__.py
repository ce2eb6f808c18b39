"""Characters with a skin."""
