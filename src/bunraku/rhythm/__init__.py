"""Time in sound and motion: loudness, phrases, lag, strokes, intensity, resampling."""
