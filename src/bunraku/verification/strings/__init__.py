"""Puppets and machines that forces move: strings, carriages, feedback."""
