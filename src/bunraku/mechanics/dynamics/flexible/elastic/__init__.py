"""The elastic force of flexible segments."""
