"""A verdict in words that a person who has read nothing else understands.

Checks are gathered into topics: what somebody who stands beside the robot wants to know. The first line says what is proven, or
what is not; each broken topic says where and how to mend it; what was not checked comes last, with what to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bunraku.motion import Check
from bunraku.motion.certificate import STATES


@dataclass(frozen=True)
class Topic:
    """What a few checks are about. ``names``: how their names begin; ``kept``, ``broken``: what is said; ``cure``: what helps.

    ``kept`` and ``broken`` complete a sentence whose subject is the performance.
    """

    title: str
    names: tuple[str, ...]
    kept: str
    broken: str
    cure: str = ""


TOPICS: tuple[Topic, ...] = (
    Topic(
        "motor limits",
        ("worst limit violation", "range ", "velocity violations", "velocity excess", "acceleration excess", "jerk excess",
         "excess speed", "carriage", "winch", "tendon tension", "least tendon tension", "joint range"),
        "keeps every motor limit",
        "goes beyond a motor limit",
        "ask for less or slower (--intensity, --tempo)",
    ),
    Topic("what was wished", ("coverage", "largest deviation", "imitation", "motion followed", "least gesture scale", "missed",
          "wandered", "strayed", "excess travel"),
          "does what was wished", "leaves out part of what was wished",
          "name the missing limbs in a rig map (--rig), or ask for less (--only)"),
    Topic("timing", ("lag", "worst lag", "largest stroke", "hits off"), "stays in time", "falls behind",
          "smaller gestures (--intensity)"),
    Topic("shaking", ("shaking", "reversals"), "does not shake", "shakes", "smooth the wish (--smooth)"),
    Topic("balance", ("fell", "balance margin", "largest tilt"), "stands", "falls", "smaller or slower motion, a wider stance"),
    Topic("torque", ("torque", "peak torque", "rms torque", "RMS torque", "planned torque", "joint torque"),
          "has the torque it needs", "needs more torque than a motor has",
          "lower accelerations (--acceleration), smaller gestures (--intensity)"),
    Topic("heat", ("winding", "heat"), "keeps its motors cool", "overheats a motor", "a slower or smaller motion, or pauses"),
    Topic("following", ("tracking", "replay rms", "motor follows"), "follows its commands", "does not follow its commands",
          "a slower motion, or stiffer servos"),
    Topic("travel", ("velocity error", "distance error", "heading", "planned swings", "speed against"), "goes where it should",
          "does not go where it should", "a slower gait, or higher swings"),
    Topic("feet", ("foot slip", "planned slip", "slip", "planned depth", "foot clearance", "pressure outside", "planned clearance"),
          "keeps its feet from sliding", "slides on its feet", "more samples (--samples), or a slower gait"),
    Topic("self-collision", ("self-collision",), "does not touch itself", "touches itself", "smaller gestures (--intensity)"),
    Topic("strings", ("least tension", "slack", "string"), "keeps every string taut", "lets a string go slack",
          "a slower or smaller motion"),
    Topic("vibration", ("peak error", "RMS error", "tracked error", "error of"), "keeps vibration as small as it promised",
          "vibrates more than it promised", "a slower motion"),
    Topic("a second physics", ("replay", "replays", "physics", "full-order", "loops open", "mesh against"),
          "was replayed to the end", "was not replayed to the end"),
    Topic("its plan", ("status", "largest residual", "dynamics residual", "promises broken", "certificate against", "numbers not",
          "motion against", "feedback", "way of wheels", "distance against", "plan and frames"), "is what its plan says",
          "is not what its plan says", "perform it again"),
)  # fmt: skip
"""What verdicts speak of, in the order in which a reader wants to know."""

OTHER = Topic("other promises", (), "keeps its other promises", "breaks another promise")

EXACT = 1e-6
"""A promise with a threshold below this is one of exactness: kept, it is only counted."""

SAID_FIRST = ("motor limits", "what was wished", "timing", "shaking", "balance", "torque", "heat", "travel", "strings", "vibration")
"""Topics of which the first line speaks when they hold."""


_KEPT = {"holds", "does not apply"}
"""The states of checks of which the first line says that they are kept."""


def topic_of(check: Check) -> Topic:
    """The topic of a check: the one with the longest beginning of its name."""
    fitting = [(len(name), topic) for topic in TOPICS for name in topic.names if check.name.startswith(name.strip())]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else OTHER


def first_line(checks: Sequence[Check], *, proven: bool) -> str:
    """What a person wants to know, in one line."""
    groups = dict(_grouped(check for check in checks if check.state))
    kept = [
        topic.kept
        for topic, group in groups.items()
        if topic.title in SAID_FIRST and any(one.state == "holds" for one in group) and {one.state for one in group} <= _KEPT
    ]
    bad = [topic.broken for topic, group in groups.items() if any(one.broken for one in group)]
    missing = [check for check in checks if check.state == "not checked"]
    said = f"Proven: {listed(kept)}." if proven else f"Not proven: {listed(bad)}." if bad else "Not proven."
    return f"{said} {not_checked(missing)}" if missing else said


def verdict_lines(checks: Sequence[Check], *, proven: bool, everything: bool = False) -> list[str]:
    """A verdict: the first line, what is broken and what helps, the checks, and a last line that counts.

    Without ``everything``, promises of exactness that hold and what cannot apply are only counted: "range excess = 0 rad <= 1e-09"
    tells nobody anything.
    """
    shown = [check for check in checks if everything or not _folded(check)]
    mark = {"holds": "+", "broken": "!", "not checked": "?"}
    table = [f"  {mark.get(check.state, ' ')} {check.sentence}" for check in shown]
    folded = len(checks) - len(shown)
    more = [f"  + {folded} more hold exactly, or do not apply (--all lists them)"] if folded else []
    return [first_line(checks, proven=proven), *broken_lines(checks), *table, *more, counted(checks)]


def counted(checks: Sequence[Check]) -> str:
    """How many checks are in each state, and the names of those that were not checked."""
    count = {state: sum(check.state == state for check in checks) for state in STATES}
    names = list(dict.fromkeys(check.name for check in checks if check.state == "not checked"))
    said = f"{count['holds']} promises hold, {count['broken']} broken, {count['does not apply']} do not apply, "
    said += f"{count['not checked']} not checked"
    return f"{said}: {', '.join(names)}." if names else f"{said}."


def _folded(check: Check) -> bool:
    if check.state == "does not apply":
        return True
    return check.state == "holds" and check.threshold is not None and check.threshold <= EXACT and not check.at_least


def not_checked(missing: Sequence[Check]) -> str:
    """What was not checked, and why, in one line."""
    parts = dict.fromkeys(f"{check.name} ({check.missing or check.note or 'it could not be computed'})" for check in missing)
    return f"Not checked: {'; '.join(parts)}."


def broken_lines(checks: Sequence[Check]) -> list[str]:
    """A line for each topic that is broken: what, by how much, where, and what helps."""
    lines = []
    for topic, group in _grouped(check for check in checks if check.stands_against):
        worst = "; ".join(dict.fromkeys(check.sentence for check in group))
        lines.append(f"{topic.title}: {worst}.{f' What helps: {topic.cure}.' if topic.cure else ''}")
    return lines


def listed(parts: Sequence[str]) -> str:
    """The parts as a list in a sentence."""
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else "nothing was judged"


def _grouped(checks: Iterator[Check] | Sequence[Check]) -> list[tuple[Topic, list[Check]]]:
    """The checks by topic, in the order of the topics."""
    groups: dict[Topic, list[Check]] = {}
    for check in checks:
        groups.setdefault(topic_of(check), []).append(check)
    return sorted(groups.items(), key=lambda item: TOPICS.index(item[0]) if item[0] in TOPICS else len(TOPICS))
