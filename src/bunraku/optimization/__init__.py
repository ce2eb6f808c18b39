"""Numerical methods on arrays; no Bunraku noun is known here."""
