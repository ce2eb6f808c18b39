"""Bunraku: from what an artist wants to what a physical robotic character can perform, with proof."""

__version__ = "0.1.0"
__all__ = ["__version__"]
