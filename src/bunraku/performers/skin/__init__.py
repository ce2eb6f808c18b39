"""Skinned characters: motion of a skeleton inside a soft skin, planned within its motors' limits."""
