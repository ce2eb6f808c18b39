"""A skeleton and the skin glued to it, moving as one."""
