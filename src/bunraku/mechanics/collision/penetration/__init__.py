"""How deep two shapes are inside each other."""
