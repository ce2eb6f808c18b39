"""Editing by hand: curves by their keys, words, emphasis and choreographies by their borders. Each edit returns a new value."""
