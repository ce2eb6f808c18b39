"""A character as a mechanical system: loops, strings, carriages, tendons."""
