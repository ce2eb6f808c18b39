"""Integrators of mechanical systems."""
