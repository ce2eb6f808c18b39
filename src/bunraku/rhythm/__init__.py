"""Time in sound and motion: loudness, phrases, lag, strokes, intensity, resampling."""

from bunraku.rhythm.envelope import envelope
from bunraku.rhythm.intensity import with_intensity
from bunraku.rhythm.lag import Lag, lag
from bunraku.rhythm.phrases import find_phrases
from bunraku.rhythm.resample import local_stretch, resampled, stretched
from bunraku.rhythm.strokes import Stroke, gesture_peaks, stroke_lags, strokes

__all__ = [
    "Lag",
    "Stroke",
    "envelope",
    "find_phrases",
    "gesture_peaks",
    "lag",
    "local_stretch",
    "resampled",
    "stretched",
    "stroke_lags",
    "strokes",
    "with_intensity",
]
