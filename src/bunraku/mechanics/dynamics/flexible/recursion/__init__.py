"""The recursions of a tree that has flexible segments."""
