"""Features beyond flexible segments."""
