"""The hardest legal stop of one joint."""
