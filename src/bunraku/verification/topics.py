"""What checks are about: the topics of a verdict, each with what is said of it when it is kept and when it is broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bunraku.motion import Check


@dataclass(frozen=True)
class Topic:
    """What a few checks are about. ``names``: how their names begin; ``kept``, ``broken``: what is said; ``cure``: what helps.

    ``kept`` and ``broken`` complete a sentence whose subject is the performance. ``said_first``: the first line of a verdict
    speaks of it also when it is kept.
    """

    title: str
    names: tuple[str, ...]
    kept: str
    broken: str
    cure: str = ""
    said_first: bool = True


TOPICS: tuple[Topic, ...] = (
    Topic(
        "motor limits",
        (
            "worst limit violation",
            "range ",
            "velocity violations",
            "velocity excess",
            "acceleration excess",
            "jerk excess",
            "excess speed",
            "carriage",
            "winch",
            "tendon tension",
            "least tendon tension",
            "joint range",
        ),
        "keeps every motor limit",
        "goes beyond a motor limit",
        "ask for less or slower (--intensity)",
    ),
    Topic(
        "what was wished",
        (
            "coverage",
            "largest deviation",
            "rms deviation",
            "imitation",
            "motion followed",
            "least gesture scale",
            "excess travel",
            "motor deviation",
            "largest motor deviation",
        ),
        "does what was wished",
        "leaves out part of what was wished",
        "a smaller or slower wish, inside the ranges of the joints",
    ),
    Topic(
        "timing",
        ("lag", "worst lag", "largest stroke", "hits"),
        "stays in time",
        "falls behind",
        "smaller gestures (--intensity)",
    ),
    Topic(
        "shaking",
        ("shaking", "reversals"),
        "does not shake",
        "shakes",
        "take what is faster than 6 Hz out of the wish (--smooth 6)",
    ),
    Topic("balance", ("fell", "balance margin", "largest tilt"), "stands", "falls", "smaller or slower motion, a wider stance"),
    Topic(
        "torque",
        ("torque", "peak torque", "rms torque", "RMS torque", "planned torque", "joint torque", "motor torque", "static torque"),
        "has the torque it needs",
        "needs more torque than a motor has",
        "lower accelerations (--acceleration), smaller gestures (--intensity)",
    ),
    Topic("heat", ("winding", "heat"), "keeps its motors cool", "overheats a motor", "a slower or smaller motion, or pauses"),
    Topic(
        "following",
        ("tracking", "largest tracking", "motor follows", "commands"),
        "follows its commands",
        "does not follow its commands",
        "a slower motion, or stiffer servos",
        said_first=False,
    ),
    Topic(
        "travel",
        (
            "velocity error",
            "distance error",
            "heading",
            "planned swings",
            "speed against",
            "missed distance",
            "missed turn",
            "wandered",
            "strayed",
        ),
        "goes where it should",
        "does not go where it should",
        "a slower gait, or higher swings",
    ),
    Topic(
        "feet",
        ("foot slip", "planned slip", "slip", "planned depth", "foot clearance", "planned clearance"),
        "keeps its feet from sliding",
        "slides on its feet or hits the ground",
        "more samples (--samples), or a slower gait",
    ),
    Topic(
        "forces of the ground",
        (
            "dynamics residual",
            "pressure outside",
            "support against",
            "frames whose contact",
            "longest time outside",
            "farthest outside",
        ),
        "needs no force that the ground cannot give",
        "needs forces that nothing gives it",
        "a slower motion, or more friction",
        said_first=False,
    ),
    Topic(
        "self-collision",
        ("self-collision", "limbs touching"),
        "does not touch itself",
        "touches itself",
        "smaller gestures (--intensity), or shapes that fit the bodies better",
        said_first=False,
    ),
    Topic(
        "trials",
        ("trials",),
        "holds in as many drawn worlds as asked",
        "does not hold in as many drawn worlds as asked",
        "less of what hurts most, which the trials name, or a motion with more margin",
    ),
    Topic(
        "strings",
        ("least tension", "slack", "string"),
        "keeps every string taut",
        "lets a string go slack",
        "a slower or smaller motion",
    ),
    Topic(
        "vibration",
        ("peak error", "RMS error", "tracked error", "error of", "deflection"),
        "vibrates no more than it promised",
        "vibrates more than it promised",
        "a slower motion",
    ),
    Topic(
        "a second physics",
        ("replay", "open-loop replay", "largest replay", "physics", "judges", "full-order", "loops open", "mesh against", "MuJoCo"),
        "was replayed to the end in other physics",
        "does not come out the same in other physics",
        "a slower or smaller motion",
        said_first=False,
    ),
    Topic(
        "the computation",
        ("status", "frames that gave up", "plan and frames", "largest residual", "glue drift", "loop closure"),
        "was computed to the end",
        "was not computed to the end",
        "more iterations, or a wish that asks for less",
        said_first=False,
    ),
    Topic(
        "the file",
        (
            "promises broken",
            "certificate against",
            "reduced model against",
            "motion against",
            "channels against",
            "commands of the file",
            "feedback",
            "way of wheels",
            "distance against",
        ),
        "is what its file says",
        "is not what its file says",
        "perform it again",
        said_first=False,
    ),
)
"""What verdicts speak of, in the order in which a reader wants to know."""

OTHER = Topic("other promises", (), "keeps its other promises", "breaks another promise", said_first=False)


COVERING = "name the missing limbs in a rig map (a file for --rig), or ask for fewer (--only upper: no legs)"
"""What helps where limbs of a captured motion are left out."""


def cure_of(topic: Topic, checks: Sequence[Check]) -> str:
    """What helps against these ``checks`` of a topic that are broken."""
    left_out = any(check.name.startswith("coverage") for check in checks)
    others = any(not check.name.startswith("coverage") for check in checks)
    return "; ".join([*([COVERING] if left_out else []), *([topic.cure] if others and topic.cure else [])])


def topic_of(check: Check) -> Topic:
    """The topic of a check: the one with the longest beginning of its name."""
    fitting = [(len(name), topic) for topic in TOPICS for name in topic.names if check.name.startswith(name)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else OTHER
