"""Compiled core of :mod:`bunraku.optimization.chain.compression`."""
