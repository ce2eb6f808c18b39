"""Files in and out, one module a format, behind a registry."""
