"""Rigid or flexible, decided when a kernel is compiled."""
