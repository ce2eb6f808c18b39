"""Exact optimization of motions that are chains of samples, one joint at a time."""
