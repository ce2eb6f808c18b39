"""Designing a character from components: sockets, the library, attaching and removing, dimensions."""
