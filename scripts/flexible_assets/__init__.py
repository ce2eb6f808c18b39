"""Descriptions of the flexible characters and of their animations; scripts/make_flexible_assets.py writes them."""
