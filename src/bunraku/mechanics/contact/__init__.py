"""Contact with friction as complementarity."""
