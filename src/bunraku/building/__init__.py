"""Robots from components: servomotors, printed connectors, wheels and feet, put together to characters."""
