"""Motion of flexible characters without visible vibration."""
