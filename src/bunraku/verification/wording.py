"""A verdict in words that a person who has read nothing else understands.

Checks are gathered into topics: what somebody who stands beside the robot wants to know. The first line says what is proven, or
what is not, and what was not checked; then each broken topic says where and how to mend it; then come the checks in the order of
the topics, and a last line that counts them. Command line, report and page say the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from bunraku.motion import Check
from bunraku.motion.certificate import STATES
from bunraku.verification.topics import OTHER, TOPICS, Topic, cure_of, topic_of

EXACT = 1e-6
"""A promise with a threshold below this is one of exactness: kept, it is only counted."""

ALSO = 2
"""From so many further checks of a broken topic on only their names are said."""

MARKS = {"holds": "+", "broken": "!", "not checked": "?"}
"""The first sign of a line, by the state of its check."""

ASKED = ("trials",)
"""Topics that somebody asked for by name: their measurements are always listed."""

UNSAID = ("the computation", "the file")
"""Topics of which nothing is said while they hold."""

MATTERS = ("following", "forces of the ground", "a second physics")
"""Topics that count as judged beside those of the first line."""

ENDED = "replay completed"
"""A replay that came to its end says nothing yet of what it did."""

HOLDING, NEED_STRENGTH = "static torque share", ("torque", "following", "heat")
"""The check of the torque that holding still needs, and the topics that nothing mends where a motor lacks it, but:"""
STRONGER = "a stronger motor, a lighter or shorter limb, or poses that gravity pulls on less"

_SMALLER = {"m": (("m", 1.0), ("cm", 1e2), ("mm", 1e3)), "s": (("s", 1.0), ("ms", 1e3)), "rad": (("deg", 180.0 / math.pi),)}
_COUNT = re.compile(r"of \d")

NOTHING = "nothing that matters could be judged"

NOT_ASKED, LESS = "not asked for", "does what was asked for of the wish"
"""What a check notes where somebody asked for less than a captured motion, and what is said then."""


def is_proven(checks: Sequence[Check]) -> bool:
    """Whether nothing stands against a performance and something that matters was judged: what is not judged is not proven."""
    return not any(check.stands_against for check in checks) and bool(_judged_topics(checks))


def _judged_topics(checks: Iterable[Check]) -> list[str]:
    """The titles of topics that matter of which at least one promise was judged and is kept."""
    groups = _grouped(check for check in checks if check.state == "holds" and not check.name.startswith(ENDED))
    return [topic.title for topic, _ in groups if topic is not OTHER and (topic.said_first or topic.title in MATTERS)]


def first_line(checks: Sequence[Check], *, proven: bool) -> str:
    """What a person wants to know, in one line."""
    groups = _grouped(check for check in checks if check.state)
    kept = [
        LESS if any(NOT_ASKED in one.note for one in group) else topic.kept
        for topic, group in groups
        if topic.said_first and "holds" in (states := {one.state for one in group}) and states <= {"holds", "does not apply"}
    ]
    bad = [_broken(topic, [one.name for one in group if one.broken]) for topic, group in groups if any(one.broken for one in group)]
    silent = [topic.title for topic, group in groups if any(one.stands_against and not one.broken for one in group)]
    missing = [check for check in checks if check.state == "not checked"]
    why = f"it {listed(bad)}" if bad else f"nothing could judge {listed(silent)}" if silent else NOTHING
    part = _judged_topics(checks)
    if proven and kept:
        said = f"Proven: it {listed(kept)}."
    elif proven and part:
        said = f"Proven only in part: what could be judged of {listed(part)} is kept."
    else:
        said = f"Not proven: {why}."
    return f"{said} {not_checked(missing)}" if missing else said


def _broken(topic: Topic, names: Sequence[str]) -> str:
    """What is said of a broken topic; a promise of no topic is said by its name."""
    return topic.broken if topic is not OTHER else f"does not keep what was promised of {listed(names)}"


def verdict_lines(checks: Sequence[Check], *, proven: bool, everything: bool = False) -> list[str]:
    """A verdict: the first line, what is broken and what helps, the checks, and a last line that counts.

    Without ``everything``, measurements that promise nothing, promises of exactness that hold and what cannot apply are only
    counted: "range excess = 0 rad <= 1e-09" tells nobody anything.
    """
    ordered = [check for _, group in _grouped(checks) for check in sorted(group, key=_urgency)]
    shown = [check for check in ordered if everything or not _folded(check)]
    table = [f"  {MARKS.get(check.state, ' ')} {in_words(check)}" for check in shown]
    folded = len(checks) - len(shown)
    more = [f"  and {folded} more: measurements, what holds exactly, what does not apply (--all lists them)"] if folded else []
    return [first_line(checks, proven=proven), *broken_lines(checks), *table, *more, counted(checks)]


def counted(checks: Sequence[Check]) -> str:
    """How many checks are in each state, and the names of those that were not checked."""
    count = {state: sum(check.state == state for check in checks) for state in STATES}
    names = list(dict.fromkeys(check.name for check in checks if check.state == "not checked"))
    said = f"{count['holds']} promises hold, {count['broken']} broken, {count['does not apply']} do not apply, "
    said += f"{count['not checked']} not checked"
    return f"{said}: {', '.join(names)}." if names else f"{said}."


def not_checked(missing: Sequence[Check]) -> str:
    """What was not checked, and what to add, in one line: names that lack the same are said together."""
    lacks: dict[str, list[str]] = {}
    for check in missing:
        lacks.setdefault(check.missing or check.note or "it could not be computed", []).append(check.name)
    parts = [f"{', '.join(dict.fromkeys(names))} ({lack})" for lack, names in lacks.items()]
    return f"Not checked: {'; '.join(parts)}."


def broken_lines(checks: Sequence[Check]) -> list[str]:
    """A line for each topic that is broken: what, by how much, where, and what helps."""
    lines, weak = [], _too_weak(checks)
    for topic, group in _grouped(check for check in checks if check.stands_against):
        first, *others = dict.fromkeys(in_words(check) for check in group)
        names = dict.fromkeys(check.name for check in group[1:])
        worst = "; ".join([first, *others]) if len(others) < ALSO else f"{first}; also {listed([*names])}"
        title = topic.broken if any(check.broken for check in group) else f"{topic.title}, not judged"
        cure = STRONGER if weak and topic.title in NEED_STRENGTH else cure_of(topic, group)
        worst = f"{weak}; {worst}" if weak and topic.title == "torque" else worst
        lines.append(f"{title[0].upper()}{title[1:]}: {worst}.{f' What helps: {cure}.' if cure else ''}")
    return lines


def _too_weak(checks: Sequence[Check]) -> str:
    """That a motor cannot even hold still what it carries, if so: no slower motion helps then."""
    beyond = [check for check in checks if check.name == HOLDING and check.applies and check.value > 1.0]
    return "".join(
        f"cannot even hold still: {one.note.partition(';')[0]} needs {100.0 * one.value:.3g} % of its stall torque"
        for one in beyond[:1]
    )


def in_words(check: Check) -> str:
    """A check in words, numbers in units that people use: "lag: 3 ms, at most 10 ms (late)"."""
    note = f" ({check.note})" if check.note else ""
    if check.state == "does not apply":
        return f"{check.name}: does not apply{note}"
    if check.state == "not checked":
        said = f": {check.missing}" if check.missing else ": it could not be computed"
        return f"{check.name}: NOT CHECKED{said}{note}"
    bound = ""
    if check.threshold is not None:
        bound = f", {'at least' if check.at_least else 'at most'} {quantity(check.threshold, _short(check.unit))}"
    return f"{check.name}: {quantity(check.value, check.unit)}{bound}{note}"


def quantity(value: float, unit: str) -> str:
    """A number with its unit: shares in percent, small lengths in centimetres or millimetres, angles in degrees."""
    if not math.isfinite(value):
        return "nothing finite"
    if unit == "relative" or (unit.startswith("of ") and not _COUNT.match(unit)):
        return f"{100.0 * value:.3g} %{'' if unit == 'relative' else f' {unit}'}"
    if unit not in _SMALLER:
        return f"{0.0 if abs(value) < EXACT else value:.3g} {unit}".strip()
    if value == 0.0:
        return "0"
    scales = _SMALLER[unit]
    name, scale = next((one for one in scales if abs(value) * one[1] >= 1.0), scales[-1])
    return f"{value * scale:.3g} {name}" if abs(value * scale) >= 1e-3 else f"0 {name}"


def _short(unit: str) -> str:
    """The unit of a threshold, which stands beside a number of the same: "of the wish" is not said twice."""
    return "relative" if unit.startswith("of ") and not _COUNT.match(unit) else "" if _COUNT.match(unit) else unit


def listed(parts: Sequence[str]) -> str:
    """The parts as a list in a sentence."""
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "nothing was judged"


def _folded(check: Check) -> bool:
    if check.state in ("does not apply", ""):
        return topic_of(check).title not in ASKED
    exact = check.threshold is not None and (
        check.value == check.threshold or (abs(check.threshold) <= EXACT and not check.at_least)
    )
    return check.state == "holds" and (exact or topic_of(check).title in UNSAID)


def _urgency(check: Check) -> int:
    return STATES.index(check.state) if check.state else len(STATES)


def _grouped(checks: Iterable[Check]) -> list[tuple[Topic, list[Check]]]:
    """The checks by topic, in the order of the topics."""
    groups: dict[Topic, list[Check]] = {}
    for check in checks:
        groups.setdefault(topic_of(check), []).append(check)
    return sorted(groups.items(), key=lambda item: TOPICS.index(item[0]) if item[0] is not OTHER else len(TOPICS))
