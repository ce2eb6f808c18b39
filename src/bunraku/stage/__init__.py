"""Out of the computer: exporters."""
