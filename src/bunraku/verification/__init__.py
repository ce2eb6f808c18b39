"""Judging a performance: limits recomputed, replay in foreign physics."""
