"""Skinned creatures: implicit bodies, mechanisms embedded in a surface, the skin round them, three built-in ones."""
