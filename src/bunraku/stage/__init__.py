"""Out of the computer: exporters."""

__all__ = ["arduino", "blender_servo", "channels", "csv_export", "json_export", "registry", "ros", "servos"]
