"""From an elastic part to a flexible segment with a few modal coordinates."""
