"""Make the built-in clips: speech by espeak-ng, gestures compiled from `choreography.yaml` to keys on the spoken words.

    python scripts/make_clips.py [NAME ...]        # all clips, or those named; writes src/bunraku/assets/clips

The choreography is the source, the clips are made from it. Each phrase is spoken by the library of espeak-ng (tested with 1.51),
whose events say at which sample every word and phoneme starts; the voice is resampled to 16 kHz, 16 bit, mono. A word's beat is
the start of its stressed vowel plus 50 ms; words written *so* carry a stroke there. Gesture keys are poses at beats.
The same espeak-ng makes the same bytes.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import multiprocessing
import re
import sys
import wave
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.signal import resample_poly

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "src" / "bunraku" / "assets" / "clips"
RATE = 16_000
SOURCE = (
    "made by this project: voice synthesized by espeak-ng, motion composed as keys on its words "
    "(scripts/choreography.yaml, scripts/make_clips.py)"
)


@dataclass
class Word:
    """A spoken word: text, start, end and beat [s]; whether a gesture strikes on it."""

    text: str
    start: float
    end: float
    beat: float
    struck: bool


@dataclass
class Spoken:
    """A spoken phrase: samples at the voice's rate, and its words."""

    samples: np.ndarray
    rate: int
    words: list[Word] = field(default_factory=list)


class _Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Id),
    ]


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))
_WORD, _PHONEME = 1, 7
_VOWELS = "aAeEiIoOuUV03@"


class Voice:
    """The library of espeak-ng, asked for sound and for the events in it."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(ctypes.util.find_library("espeak-ng") or "libespeak-ng.so.1")
        except OSError as error:
            raise SystemExit("the library of espeak-ng is not installed; install espeak-ng, then run this again") from error
        self._chunks: list[np.ndarray] = []
        self._events: list[tuple[int, int, int, int, str]] = []
        self._callback = _CALLBACK(self._take)
        self.rate = self._library.espeak_Initialize(2, 0, None, 1)  # synchronous retrieval, with phoneme events
        self._library.espeak_SetSynthCallback(self._callback)

    def _take(self, samples: Any, count: int, events: Any) -> int:
        if count > 0:
            self._chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        i = 0
        while events[i].type != 0:
            e = events[i]
            name = e.id.string.decode("utf-8", "replace") if e.type == _PHONEME else ""
            self._events.append((e.type, e.text_position, e.length, e.sample, name))
            i += 1
        return 0

    def _stressed(self, word: str) -> int:
        """Which vowel of a word carries the stress, counted from 0: vowels before the stress mark in espeak-ng's phonemes."""
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        place = ctypes.c_char_p(word.encode())
        phonemes = (self._library.espeak_TextToPhonemes(ctypes.byref(place), 1, 0) or b"").decode()
        before = phonemes.partition("'")[0] if "'" in phonemes else ""
        return len(re.findall(f"[{_VOWELS}]+", before))

    def say(self, text: str, *, voice: str, speed: int, pitch: int, range: int) -> Spoken:
        """Speak one phrase; words between asterisks are struck."""
        plain = text.replace("*", "")
        self._chunks, self._events = [], []
        if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise SystemExit(f"espeak-ng has no voice {voice!r}; espeak-ng --voices lists them")
        for parameter, value in ((1, speed), (3, pitch), (4, range)):
            self._library.espeak_SetParameter(parameter, value, 0)
        data = plain.encode()
        self._library.espeak_Synth(data, len(data) + 1, 0, 1, 0, 1, None, None)
        self._library.espeak_Synchronize()
        spoken = Spoken(np.concatenate(self._chunks) / 32768.0, self.rate)
        spoken_at = {place - 1: at for kind, place, size, at, _ in self._events if kind == _WORD and size}
        starts: list[tuple[int, str, bool]] = []
        shift = 0
        for match in re.finditer(r"\*?([A-Za-z']+)\*?", text):
            at = spoken_at.get(match.start() - shift)
            shift += match[0].count("*")
            if at is not None:
                starts.append((at, match[1], "*" in match[0]))
            elif starts:  # espeak-ng speaks some pairs ("I am") as one word
                starts[-1] = (starts[-1][0], f"{starts[-1][1]} {match[1]}", starts[-1][2] or "*" in match[0])
            else:
                raise SystemExit(f"{plain!r}: espeak-ng does not say where its first word starts; reword it")
        sounds = [(at, name) for kind, _, _, at, name in self._events if kind == _PHONEME] + [(len(spoken.samples), "_")]
        for i, (at, word, struck) in enumerate(starts):
            limit = starts[i + 1][0] if i + 1 < len(starts) else len(spoken.samples)
            pauses = [t for t, name in sounds if name.startswith("_") and at < t < limit]
            end = min([limit, *pauses])
            vowels = [t for t, name in sounds if name[:1] in _VOWELS and at <= t < end] or [at]
            beat = vowels[min(self._stressed(word), len(vowels) - 1)]
            spoken.words.append(Word(word, at / self.rate, end / self.rate, beat / self.rate + 0.05, struck))
        return spoken


def speak(text: str, manner: dict[str, Any]) -> Spoken:
    """One phrase, by a library started afresh in a process of its own: what was spoken before must not change it."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(_speak, (text, manner))


def _speak(text: str, manner: dict[str, Any]) -> Spoken:
    return Voice().say(text, **manner)


def compose_voice(plan: dict[str, Any]) -> tuple[np.ndarray, list[Word], list[tuple[str, float, float]]]:
    """All phrases of a clip on one time line: samples at 16 kHz, words, phrases (text, start, end)."""
    pieces, words, phrases = [], [], []
    at = 0.0
    for phrase in plan["say"]:
        manner = {"voice": "en-us", "speed": 150, "pitch": 50, "range": 60} | plan.get("voice", {}) | phrase.get("voice", {})
        spoken = speak(phrase["text"], manner)
        up, down = RATE // gcd(RATE, spoken.rate), spoken.rate // gcd(RATE, spoken.rate)
        sound = resample_poly(spoken.samples, up, down)
        at = round((at + phrase["pause"]) * RATE) / RATE
        words += [Word(w.text, w.start + at, w.end + at, w.beat + at, w.struck) for w in spoken.words]
        last = spoken.words[-1].end
        phrases.append((phrase["text"].replace("*", ""), at + spoken.words[0].start, at + last))
        pieces.append((round(at * RATE), sound * phrase.get("loudness", 1.0)))
        at += last
    duration = np.ceil((at + plan["tail"]) * 10.0) / 10.0
    samples = np.zeros(round(duration * RATE))
    for first, sound in pieces:
        part = sound[: len(samples) - first]
        samples[first : first + len(part)] += part
    return samples * (0.6 / np.abs(samples).max()), words, phrases


def when(expression: object, words: list[Word], duration: float) -> float:
    """The time [s] of a key: a number, or ``word``, ``word#2``, ``end``, each with an offset like ``-0.25``."""
    if isinstance(expression, (int, float)):
        return float(expression)
    match = re.fullmatch(r"([A-Za-z']+)(?:#(\d+))?([+-][\d.]+)?", str(expression))
    if not match:
        raise SystemExit(f"{expression!r} is no time; write a number, word, word#2, word-0.25 or end-1")
    name, count, offset = match[1], int(match[2] or 1), float(match[3] or 0.0)
    if name == "end":
        return duration + offset
    found = [word.beat for word in words if name.lower() in word.text.lower().split()]
    if len(found) < count:
        raise SystemExit(f"{expression!r}: the word {name!r} is not spoken {count} times")
    return found[count - 1] + offset


def compose_motion(
    plan: dict[str, Any], book: dict[str, Any], words: list[Word], duration: float
) -> dict[str, list[tuple[float, float]]]:
    """Keys (time, value) of every coordinate; poses are laid on their coordinates with sign and drag (see choreography.yaml)."""
    body = book["bodies"][plan.get("body", "nao")]
    keys: dict[str, list[tuple[float, float]]] = {}
    for part, rows in plan["motion"].items():
        for limb in ("left", "right") if part == "arms" else (part,):
            poses, layout = book["poses"][body[limb]["poses"]], body[limb]["drives"]
            for i, row in enumerate(rows):
                time = when(row[0], words, duration)
                pose = [p + d for p, d in zip(poses[row[1]], row[2] if len(row) > 2 else [0] * len(layout), strict=True)]
                for value, (coordinate, sign, drag) in zip(pose, layout, strict=True):
                    moved = time if i == 0 or str(row[0]).startswith("end") else time + drag
                    keys.setdefault(coordinate, []).append((round(moved, 3), round(sign * value, 3)))
    if "jaw" in body:
        coordinate, closed, opened = body["jaw"]
        keys[coordinate] = jaw_keys(words, closed, opened)
    for coordinate, column in keys.items():
        first, last = column[0], column[-1]
        if first[0] > 0.0:
            column.insert(0, (0.0, first[1]))
        if last[0] < duration:
            column.append((round(duration, 3), last[1]))
        times = [time for time, _ in column]
        if any(b - a < 0.03 for a, b in pairwise(times)):
            raise SystemExit(f"{coordinate}: keys at {times} do not rise by 0.03 s")
    return keys


def jaw_keys(words: list[Word], closed: float, opened: float) -> list[tuple[float, float]]:
    """Keys of a jaw that is open on every word's beat and closed between words."""
    keys = [(words[0].start - 0.05, closed)]
    for word, following in zip(words, [*words[1:], None], strict=True):
        keys.append((word.beat, opened))
        if following is None or following.start - word.end > 0.2:
            keys.append((word.end + 0.05, closed))
            keys += [(following.start - 0.05, closed)] if following else []
        else:
            keys.append((0.5 * (word.beat + following.beat), 0.7 * closed + 0.3 * opened))
    return [(round(time, 3), round(value, 3)) for time, value in keys]


def clip_text(
    name: str, plan: dict[str, Any], keys: dict[str, list[tuple[float, float]]], words: list[Word], phrases: Any, duration: float
) -> str:
    """The clip file, one line a coordinate and a word."""

    def row(coordinate: str) -> str:
        return f"    {coordinate}: [" + ", ".join(f"[{t:g}, {v:g}]" for t, v in keys[coordinate]) + "]\n"

    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    hands = [c for c in keys if c.endswith("Hand")]
    turns = [c for c in keys if c not in hands]
    lines = [
        f"# {plan['about']}\n",
        "bunraku: clip/1\n",
        f"name: {name}\n",
        f"mood: {plan['mood']}\n",
        "rate_hz: 50\n",
        "joints:\n",
        f"  interpolation: {plan.get('interpolation', 'monotone')}\n",
        f"  duration_s: {duration:g}\n",
        "  keys_deg:\n",
        *[row(c) for c in turns],
    ]
    if hands:
        lines += ["  keys_rad:  # hands: 0 closed, 1 open\n", *[row(c) for c in hands]]
    lines += [f"audio: {{file: {name}.wav}}\n", "words:\n"]
    for w in words:
        stroke = f", stroke_s: {w.beat:.3f}" if w.struck else ""
        lines.append(f"  - {{text: {quoted(w.text)}, start_s: {w.start:.3f}, end_s: {w.end:.3f}{stroke}}}\n")
    lines.append("phrases:\n")
    lines += [f"  - {{text: {quoted(text)}, start_s: {start:.3f}, end_s: {end:.3f}}}\n" for text, start, end in phrases]
    lines += ["held: [legs]\n", f'source: "{SOURCE}"\n']
    return "".join(lines)


def main(names: list[str]) -> None:
    """Make the named clips, or all."""
    book = yaml.safe_load((HERE / "choreography.yaml").read_text(encoding="utf-8"))
    OUT.mkdir(parents=True, exist_ok=True)
    for name, plan in book["clips"].items():
        if names and name not in names:
            continue
        samples, words, phrases = compose_voice(plan)
        duration = len(samples) / RATE
        keys = compose_motion(plan, book, words, duration)
        with wave.open(str(OUT / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.round(samples * 32767.0).astype("<i2").tobytes())
        (OUT / f"{name}.clip.yaml").write_text(clip_text(name, plan, keys, words, phrases, duration), encoding="utf-8")
        print(f"{name}: {duration:.1f} s, beats " + ", ".join(f"{w.text} {w.beat:.2f}" for w in words))


if __name__ == "__main__":
    main(sys.argv[1:])
