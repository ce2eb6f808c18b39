"""Time in sound and motion: envelopes, phrases, strokes, lags."""
