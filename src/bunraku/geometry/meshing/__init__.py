"""Meshes of rods, plates and printed shapes: a plane section extruded in layers."""
