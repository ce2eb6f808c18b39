"""Second derivatives of a tree that has flexible segments."""
