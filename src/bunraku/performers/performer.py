"""The contract of a performer, and how one is made by its name."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import time
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, final

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.provenance import provenance
from bunraku.mechanics.servos.commands import command_checks
from bunraku.motion import Certificate, Channel, Clip, JointCurves, Performance, SurfaceMotion
from bunraku.motion.feedback import Feedback
from bunraku.motion.performance import planned_places, position_commands
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.threads import one_thread
from bunraku.performers.fit import CHAINED, Fit, Suitability, fit_of

Problem = TypeVar("Problem")
Solution = TypeVar("Solution")


def option(default: Any, meaning: str, *, unit: str = "", low: float | None = None, high: float | None = None) -> Any:
    """An option of a performer, with its meaning, unit and accepted range."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "unit": unit, "low": low, "high": high})


@dataclass(frozen=True)
class Task(Generic[Problem]):
    """What is to be done: the character and the clip, as the options change them, and the problem stated of both."""

    character: Character
    clip: Clip
    problem: Problem


@dataclass(frozen=True, kw_only=True)
class Uncertified:
    """A performance before its certificate: what the motors are sent, the wish at the same times, and the motion that is planned.

    There is no wish where nobody asked for curves (a gait). ``character`` and ``heard`` (audio, words, phrases) are those of the
    task unless they are said. ``inputs``: what else went in, to be hashed; ``options``: what the provenance says instead of the
    performer's own; ``seen``: what else the certificate needs.
    """

    channels: tuple[Channel, ...]
    wish: JointCurves | None
    motion: JointCurves
    feedback: Feedback | None = None
    surface: SurfaceMotion | None = None
    character: Character | None = None
    heard: Clip | None = None
    inputs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] | None = None
    seen: Any = None

    @property
    def positions(self) -> JointCurves:
        """The planned places of what has a position channel, in their order."""
        return planned_places(self.channels, self.motion, "what was played")

    @property
    def sent(self) -> JointCurves:
        """What the position channels hold, as curves: the commands."""
        return position_commands(self.channels, "what was played")

    def signed(
        self, certificate: Certificate, performer: str, character: Character, clip: Clip, inputs: Mapping[str, Any]
    ) -> Performance:
        """The performance, with its certificate, which the limits of its commands join, and where it came from."""
        heard = self.heard or clip
        sent = command_checks(self.character or character, self.motion, self.channels)
        return Performance(
            character=self.character or character,
            clip_name=clip.name,
            channels=self.channels,
            wish=self.wish,
            motion=self.motion,
            certificate=dataclasses.replace(certificate, checks=(*certificate.checks, *sent)),
            provenance=provenance(performer, {**inputs, **self.inputs}, self.options),
            audio=heard.audio,
            words=heard.words,
            phrases=heard.phrases,
            feedback=self.feedback,
            surface=self.surface,
        )


@dataclass(frozen=True)
class Memory:
    """Where a solution keeps its state between runs; it keeps nothing when nobody asked for that."""

    checkpoint: Checkpoint | None = None

    def load(self) -> dict[str, Array] | None:
        """The numbers saved last, or None when there are none for this problem."""
        saved = None if self.checkpoint is None else self.checkpoint.load()
        return None if saved is None else {name: np.asarray(array, dtype=np.float64) for name, array in saved.items()}

    def save(self, arrays: Mapping[str, Array]) -> None:
        """Keep ``arrays`` instead of those saved before."""
        if self.checkpoint is not None:
            self.checkpoint.save(arrays)


@dataclass(frozen=True, kw_only=True)
class Performer(ABC, Generic[Problem, Solution]):
    """Turns wishes into motor curves. Subclasses are frozen dataclasses of options.

    To add a performer:

    1. Say what it is for in ``performers/NAME/fit.py``: a `Fit` with its name, the place of its class, ``suits`` (which character
       and clip it is made for, in a sentence), what it needs and uses, and the groups of kernels that it runs. Import no solver
       there. Name the fit in `performers.fit.REGISTRY`.
    2. Derive a frozen, keyword-only dataclass from this class in ``performers/NAME/performer.py`` and give it that ``fit``. Its
       fields are its options, each made with `option`, so that unit, meaning and range stand at the definition: the flags of the
       command line, the keywords of Python and the widgets of the studio are generated from them.
    3. `state` the problem: a value that can be printed, tested and solved anew. Bad input is refused here, in one line.
    4. `solve` it with `bunraku.optimization`. Report to the monitor; when it is cancelled, stop with the best so far and
       ``Status.CANCELLED``. What takes more than a few seconds saves its state to the memory and starts from it.
    5. `play` the solution: what each motor is sent, the wish at the same times, the motion it makes (`performers.servo` does this
       for servos). Then `certify` it, from the problem and never from what the solver says (`performers.certify` has the common
       checks).

    6. Name what helps where verification finds a promise broken: ``performers/NAME/remedies.py`` (`performers.remedy`).

    Nothing is held between calls. All else stands here, once: refusing, one thread for BLAS, the time of the solution, checkpoints,
    provenance and the performance itself. New kernels are compiled ahead by a function in `performers.warm`. Add demos, a lesson
    and a page of theory.
    """

    fit: ClassVar[Fit]

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            choices = typing.get_args(hints[field.name]) if typing.get_origin(hints[field.name]) is typing.Literal else ()
            if choices and getattr(self, field.name) not in choices:
                raise BadInput(f"option {field.name} = {getattr(self, field.name)!r} is none of {', '.join(map(str, choices))}")
            value, low, high = getattr(self, field.name), field.metadata.get("low"), field.metadata.get("high")
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if value != value or (low is not None and value < low) or (high is not None and value > high):
                span = f"at least {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
                raise BadInput(f"option {field.name} = {value} must be {span}: {field.metadata.get('meaning')}")

    @abstractmethod
    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[Problem]:
        """The problem with these options."""

    @abstractmethod
    def solve(self, task: Task[Problem], monitor: Monitor, memory: Memory) -> Solution:
        """The solution of the problem, or the best that was reached."""

    @abstractmethod
    def play(self, task: Task[Problem], solution: Solution) -> Uncertified:
        """What the motors are sent for this solution, and the motion that it makes."""

    @abstractmethod
    def certify(self, task: Task[Problem], solution: Solution, played: Uncertified, monitor: Monitor) -> Certificate:
        """What is promised about it, computed anew from problem and channels."""

    @property
    def name(self) -> str:
        """The name by which it is called."""
        return self.fit.name

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Whether this performer is made for that character and clip, and what is missing."""
        return self.fit.suits(character, clip)

    @final
    @one_thread
    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Refuse or state, solve, play, certify. A long computation saves its state to ``checkpoint`` and starts from it."""
        task, solution = self.solved(character, clip, monitor=monitor, checkpoint=checkpoint)
        return self.performance(task, solution, monitor=monitor)

    @final
    @one_thread
    def solved(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> tuple[Task[Problem], Solution]:
        """The problem and its solution, for who wants to see more than the performance."""
        self.fit.refuse(character, clip)
        task = self.state(character, clip, monitor)
        watch, clock = _SolveClock(monitor), time.thread_time()
        solution = self.solve(task, watch, Memory(checkpoint))
        seconds = watch.seconds or time.thread_time() - clock
        monitor.report(Event(self.name, 1.0, "solved", {"solve_s": seconds}))
        return task, solution

    @final
    @one_thread
    def performance(self, task: Task[Problem], solution: Solution, *, monitor: Monitor = SILENT) -> Performance:
        """The performance of a solution."""
        played = self.play(task, solution)
        if played.options is None:
            played = dataclasses.replace(played, options=self.options)
        certificate = self.certify(task, solution, played, monitor)
        inputs = {"character": task.character, "clip": task.clip}
        return played.signed(certificate, self.name, task.character, task.clip, inputs)


class _SolveClock(Monitor):
    """Passes everything on, and adds up the solve times [s] that performers called by this one report."""

    def __init__(self, inner: Monitor) -> None:
        self._inner, self.seconds = inner, 0.0

    def report(self, event: Event) -> None:
        """Add the solve time, pass on."""
        self.seconds += event.figures.get("solve_s", 0.0)
        self._inner.report(event)

    @property
    def cancelled(self) -> bool:
        """As the other monitor says."""
        return self._inner.cancelled


@functools.cache
def performer_class(name: str) -> type[Performer[Any, Any]]:
    """The performer of that name, or the chain of several: "speech+vibration", which "speech,vibration" is as well."""
    fit = fit_of(name)
    if CHAINED in fit.name:
        chain: type[Performer[Any, Any]] = importlib.import_module("bunraku.performers.chain").chain_class(fit)
        return chain
    module, _, attribute = fit.performer.partition(":")
    kind: type[Performer[Any, Any]] = getattr(importlib.import_module(module), attribute)
    return kind


def options_of(name: str) -> tuple[dataclasses.Field[Any], ...]:
    """The options of a performer, as dataclass fields whose metadata hold meaning, unit and range."""
    return dataclasses.fields(performer_class(name))


def make_performer(name: str, options: dict[str, Any] | None = None) -> Performer[Any, Any]:
    """A performer with the given options; an unknown option is an error that lists the known ones."""
    kind = performer_class(name)
    known = [field.name for field in dataclasses.fields(kind)]
    for key in options or {}:
        if key not in known:
            raise BadInput(f"performer {name!r} has no option {key!r}; it has {', '.join(known)}")
    return kind(**(options or {}))
