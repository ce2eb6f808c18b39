"""Rows of dynamics and of joints."""
