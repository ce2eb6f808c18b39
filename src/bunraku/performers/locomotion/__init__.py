"""Locomotion: walking, rolling, skating, as optimal motion of a character on wheels and feet."""
