"""The inertia of a flexible segment."""
