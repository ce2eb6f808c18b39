"""What is drawn: a character's solids, its poses, and everything of it over time, as plain arrays."""
