"""The parts of the closing show: its score, its music, its motion."""
