"""Rows over three samples, brought into blocks."""
