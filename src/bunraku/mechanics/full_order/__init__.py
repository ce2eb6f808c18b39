"""The full-order model: rigid bodies and elastic solids in world coordinates, held together by constraints. The judge."""
