"""The built-in robots with legs and wheels."""
