"""Centroidal mechanics of a character on the ground: masses as points, wheels and feet as contacts."""
