"""Forces, springs and constraints between features of a tree."""
