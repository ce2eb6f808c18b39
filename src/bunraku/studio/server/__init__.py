"""The hardened server of the studio: viser behind a gate, a page script, events, published files."""
