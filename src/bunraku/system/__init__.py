"""The operating system: what Linux, macOS and Windows do each in its own way, one idea a file, and nowhere else in the package."""
