"""Readers of what the exporters write: the channels of a performance, out of the file that a controller gets."""
