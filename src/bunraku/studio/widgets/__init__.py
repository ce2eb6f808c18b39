"""Editors drawn as SVG and small HTML: pure functions from nouns and view state to text, clicks and drags as data attributes."""
