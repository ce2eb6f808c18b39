"""Tubes of rubber round a joint, smooth or folded: their meshes, their bending, their stiffness."""
