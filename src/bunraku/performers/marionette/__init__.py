"""Marionettes: motion over strings and motors, with stabilizing feedback."""
