"""The performance: motor channels, the motion they make, and the certificate. It is itself a clip."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character, html_table
from bunraku.errors import BadInput
from bunraku.motion.certificate import Certificate, stated
from bunraku.motion.clip import Clip
from bunraku.motion.curves import JointCurves, frozen_array
from bunraku.motion.feedback import Feedback
from bunraku.motion.kept_verdict import KeptVerdict
from bunraku.motion.sound import Audio, Mark
from bunraku.motion.surface import SurfaceMotion

_NOTEBOOK = "bunraku.studio.notebook"
"""Who shows performances, found when asked: nothing here depends on it."""
ChannelKind = Literal["position", "velocity", "torque", "length"]


@dataclass(frozen=True)
class Channel:
    """What one motor is sent: values of one kind in one unit at one rate."""

    name: str
    kind: ChannelKind
    unit: str
    rate: float
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen_array(self.values, (None,), f"channel {self.name}"))
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"channel {self.name} has the rate {self.rate} Hz; give one between 0 and 100000")


@dataclass(frozen=True)
class Provenance:
    """Where a performance came from: hashes of the inputs, versions, options, seed. No clock: same input, same bytes."""

    performer: str
    inputs: dict[str, str]
    options: dict[str, Any]
    versions: dict[str, str]
    seed: int = 0


@dataclass(frozen=True)
class Performance:
    """What the character will do and what is promised about it.

    The ``motion`` is the plan: what the character is to do. The channels are the commands that make it do so: what the controllers
    of the motors are sent. The ``wish`` is what was asked for, None where nobody asked for curves (a gait). All share one rate and
    length. There are two ways to perform:

    - Servos are sent places. A position channel holds the planned angle, and on top of it what makes a servo of stated gains give
      the planned torque (`mechanics.servos.feedforward`); torque channels beside it are the proof. The ``wish`` is for the
      coordinates of the position channels, in their order; the ``motion`` is of every coordinate of the character.
    - Physics moves the character (:attr:`dynamic`): the channels are places of carriages (position, named ``carriage.x``,
      ``carriage.y``), string lengths (length, ``string.length``) and joint torques or forces (torque, named by the joint's
      coordinate, the motor or the tendon, each sample held until the next). The ``wish`` is for any of the character's coordinates;
      the ``motion`` holds all of them and then all prescribed ones (`Character.prescribed`); ``feedback`` corrects the channels.

    The ``surface`` is the outer surface of a skin as it was computed, to be shown; nothing is promised about it. The ``verdict`` is
    what verification found, if it was asked.
    """

    character: Character
    clip_name: str
    channels: tuple[Channel, ...]
    wish: JointCurves | None
    motion: JointCurves
    certificate: Certificate
    provenance: Provenance
    audio: Audio | None = None
    words: tuple[Mark, ...] = ()
    phrases: tuple[Mark, ...] = ()
    feedback: Feedback | None = None
    surface: SurfaceMotion | None = None
    verdict: KeptVerdict | None = None

    def __repr__(self) -> str:
        kept = "every promise holds" if self.certificate.holds else "not every promise holds"
        if self.verdict is not None:
            kept = "proven" if self.verdict.holds else "not proven"
        return (
            f"Performance of {self.clip_name!r} by {self.character.name!r} ({self.provenance.performer}): {self.duration:.3g} s, "
            f"{len(self.channels)} channels at {self.rate:g} Hz; {kept}"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("clip", self.clip_name),
            ("character", self.character.name),
            ("performer", self.provenance.performer),
            ("length", f"{self.duration:.3g} s"),
            ("channels", f"{len(self.channels)} at {self.rate:g} Hz"),
            ("promises", stated(self.certificate.checks)),
            *((("verdict", self.verdict.sentence),) if self.verdict is not None else ()),
        ]
        return html_table("Performance", rows)

    def __post_init__(self) -> None:
        kinds = [(channel.name, channel.kind) for channel in self.channels]
        twice = next((name for name, kind in kinds if kinds.count((name, kind)) > 1), None)
        if twice is not None:
            raise BadInput(f"two channels of one kind drive {twice[:60]!r}; each motor takes one of each kind")
        if self.channels:
            self._check_times()
            if self.dynamic:
                self._check_dynamic()
            elif any(channel.kind == "position" for channel in self.channels):
                self._check_served()
        if self.feedback is not None:
            self._check_feedback(self.feedback)

    def _check_times(self) -> None:
        first = self.channels[0]
        fitting = f"the channel {first.name[:60]!r} {len(first.values)} at {first.rate:g} Hz; they share rate and length"
        for channel in self.channels:
            if channel.rate != first.rate or len(channel.values) != len(first.values):
                raise BadInput(f"channel {channel.name[:60]!r} has {len(channel.values)} samples at {channel.rate:g} Hz, {fitting}")
        for what, curves in (("the wish", self.wish), ("the motion", self.motion)):
            if curves is not None and (curves.rate != first.rate or len(curves.values) != len(first.values)):
                raise BadInput(f"{what} has {len(curves.values)} samples at {curves.rate:g} Hz, {fitting}")

    def _check_served(self) -> None:
        names = tuple(channel.name for channel in self.channels if channel.kind == "position")
        if self.wish is not None and self.wish.names != names:
            raise BadInput(
                f"the wish is for {_few(self.wish.names)}, the position channels are {_few(names)}; they must be the same, in order"
            )

    def _check_dynamic(self) -> None:
        who, kinds = self.character, {channel.name: channel.kind for channel in self.channels}
        for carriage in who.carriages:
            for name in carriage.coordinates:
                if kinds.get(name) != "position":
                    raise BadInput(f"the carriage's place {name[:60]!r} has no position channel; every carriage needs one")
        for string in who.strings:
            if kinds.get(string.coordinate) != "length":
                raise BadInput(f"{string.coordinate[:60]!r} has no length channel; every winch needs one")
        forces = {*who.driven, *(motor.name for motor in who.motors), *(tendon.name for tendon in who.tendons)}
        for name, kind in kinds.items():
            if name not in who.prescribed and not (kind == "torque" and name in forces):
                raise BadInput(f"the {kind} channel {name[:60]!r} drives no carriage, string, motor or tendon of {who.name[:60]!r}")
        wished = () if self.wish is None else self.wish.names
        stray = next((name for name in wished if name not in who.coordinates), None)
        if stray is not None:
            raise BadInput(f"the wish is for {stray[:60]!r}, which is no coordinate of {who.name[:60]!r}")
        names = who.coordinates + who.prescribed
        if self.motion.names != names:
            raise BadInput(
                f"the motion is of {_few(self.motion.names)}; it must be of all coordinates and prescribed ones: {_few(names)}"
            )

    def _check_feedback(self, feedback: Feedback) -> None:
        kinds = {channel.name: channel.kind for channel in self.channels}
        for name in feedback.inputs:
            if kinds.get(name) not in ("torque", "position", "length"):
                raise BadInput(f"the feedback corrects {name[:60]!r}, which is no torque, position or length channel")
        late = [place for place, name in enumerate(feedback.inputs) if kinds[name] == "torque"]
        if late != list(range(len(late))):
            raise BadInput(f"the feedback's inputs are {_few(feedback.inputs)}; torques come first, then prescribed coordinates")
        stray = next((name for name in feedback.coordinates if name not in self.motion.names), None)
        if stray is not None:
            raise BadInput(f"the feedback looks at {stray[:60]!r}, which is no coordinate of the motion")
        if feedback.rate != self.motion.rate or len(feedback.states) != len(self.motion.values):
            raise BadInput(
                f"the feedback has {len(feedback.states)} states at {feedback.rate:g} Hz, "
                f"the motion {len(self.motion.values)} at {self.motion.rate:g} Hz; they must be the same"
            )

    @property
    def dynamic(self) -> bool:
        """Whether physics moves the character: it hangs on strings, or is sent torques and neither positions nor velocities."""
        kinds = {channel.kind for channel in self.channels}
        return bool(self.character.strings) or ("torque" in kinds and not kinds & {"position", "velocity"})

    @property
    def rate(self) -> float:
        """The motor rate [Hz]."""
        return self.motion.rate

    @property
    def duration(self) -> float:
        """Length of the motion [s]."""
        return self.motion.duration

    def sent(self) -> JointCurves:
        """What the position channels hold, as joint curves: the commands."""
        return position_commands(self.channels, f"the performance of {self.clip_name!r}")

    def positions(self) -> JointCurves:
        """The planned places of what has a position channel, in the order of the channels: columns of the motion."""
        return planned_places(self.channels, self.motion, f"the performance of {self.clip_name!r}")

    def moved(self) -> JointCurves:
        """The motion of the character's own coordinates, without carriages and string lengths."""
        return self.motion.chosen(tuple(name for name in self.motion.names if name not in self.character.prescribed))

    def followed(self) -> JointCurves:
        """The plan in the names of the wish: the planned places of the servos, or the motion of the wished coordinates.

        Without a wish, the motion of all the character's own coordinates where there are no servos.
        """
        if not self.dynamic:
            return self.positions()
        return self.moved() if self.wish is None else self.motion.chosen(self.wish.names)

    def wish_or_plan(self) -> JointCurves:
        """The wish; where nobody wished for curves, the plan."""
        return self.followed() if self.wish is None else self.wish

    def unit_of(self, coordinate: str) -> str:
        """The unit of a coordinate of the character: m if it slides, else rad."""
        return "m" if any(axis.name == coordinate and axis.kind == "slide" for axis in self.character.axes) else "rad"

    def commands(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The values (samples, names) of the channels of those names that prescribe a place, a length or a torque."""
        channels = {channel.name: channel.values for channel in self.channels if channel.kind != "velocity"}
        missing = next((name for name in names if name not in channels), None)
        if missing is not None:
            raise BadInput(f"there is no channel {missing[:60]!r}; there are {_few(tuple(channels))}")
        return np.column_stack([channels[name] for name in names]) if names else np.zeros((len(self.motion.values), 0))

    def as_clip(self) -> Clip:
        """The plan as a clip, so that performers chain: of the servos, or of all coordinates where there are none."""
        positioned = not self.dynamic and any(channel.kind == "position" for channel in self.channels)
        return Clip(
            self.clip_name,
            joints=self.positions() if positioned else self.moved(),
            audio=self.audio,
            words=self.words,
            phrases=self.phrases,
        )

    def show(self, **options: Any) -> Any:
        """The motion in a cell of a notebook, with a play bar; options as of ``bunraku.studio.notebook.show``."""
        return importlib.import_module(_NOTEBOOK).show(self, **options)

    def changed(self, **fields: Any) -> Performance:
        """The same performance with some fields replaced."""
        return replace(self, **fields)


def position_commands(channels: Sequence[Channel], what: str) -> JointCurves:
    """The values of the position channels among ``channels``; ``what`` has them, for the message where there are none."""
    chosen = [channel for channel in channels if channel.kind == "position"]
    if not chosen:
        raise BadInput(f"{what} has no position channel")
    return JointCurves(tuple(c.name for c in chosen), chosen[0].rate, np.column_stack([c.values for c in chosen]))


def planned_places(channels: Sequence[Channel], motion: JointCurves, what: str) -> JointCurves:
    """The columns of ``motion`` that have a position channel among ``channels``, in their order."""
    names = tuple(channel.name for channel in channels if channel.kind == "position")
    if not names:
        raise BadInput(f"{what} has no position channel")
    stray = next((name for name in names if name not in motion.names), None)
    if stray is not None:
        raise BadInput(f"{what} has a position channel {stray[:60]!r}, but no motion of it; its motion is of {_few(motion.names)}")
    return motion.chosen(names)


def _few(names: Sequence[str]) -> str:
    return ", ".join(name[:60] for name in names[:8])
