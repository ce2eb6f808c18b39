"""The player: performances to a machine, sample by sample, in time with the master clock.

Order of events in one period: wait for the moment (a cue ends the wait at once), clamp, send, write down, then measure with what
time is left (an emergency stop ends that wait too). What was measured counts for the next command. Performances with gains are
measured first, then corrected and sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Audio, Performance
from bunraku.stage.devices.device import Device, listed
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.dry_run import DryRunDriver
from bunraku.stage.devices.fault import DeviceFault
from bunraku.stage.player.check import ahead_of_plan, checked_values
from bunraku.stage.player.clock import Clock, Follower
from bunraku.stage.player.closing import Following, StateFeedback
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.player.guard import Guard
from bunraku.stage.player.outputs import outputs_of
from bunraku.stage.player.program import Program, Show, Take
from bunraku.stage.player.ramp import way
from bunraku.stage.player.record import KEPT, PlayRecord, Tape
from bunraku.stage.player.samples import MOST, held_for, samples_at
from bunraku.stage.player.undisturbed import undisturbed

SPIN = 0.0004
"""The last part of a wait is spent awake [s]: a sleeping process wakes up late by about this."""
LEAD = 0.05
"""Between the start of the clock and the first command [s]."""
HELD = "NOT RELEASED"
MOST_HEARD = 1_000
"""So many cues are written down."""
MOST_UNKNOWN = 20
"""So many names that are none are noted."""


class _Stop(Exception):
    """The machine must stop now; the message says why, ``since`` when it was known [s, monotonic]."""

    def __init__(self, reason: str, since: float | None = None) -> None:
        super().__init__(reason)
        self.since = time.monotonic() if since is None else since


class Player:
    """Plays a show on a device. Everything that can be refused is refused here, before any machine is touched.

    ``outputs``: which channel goes to which servo, within which limits; ``notes``: what a person should know, in sentences;
    ``unproven``: those of them that say whose certificate does not hold. Such a performance is played all the same.
    """

    def __init__(self, show: Show, device: Device) -> None:
        self.show, self.device = show, device
        self.outputs = outputs_of(list(show.parts.values()), device)
        self.unproven = [_doubt(one) for one in show.parts.values() if not one.certificate.holds]
        self.notes = list(self.unproven)
        self._tables: dict[str, Array] = {}
        self._ahead: dict[str, Array] = {}
        self._closed: dict[str, StateFeedback] = {}
        for role, performance in show.parts.items():
            rate, values = checked_values(performance, self.outputs)
            table = samples_at(values, rate, device.rate_hz)
            audio = performance.audio
            self._tables[role] = table if audio is None else self._heard_out(performance.clip_name, audio, table)
            self._ahead[role] = samples_at(ahead_of_plan(performance, self.outputs), rate, device.rate_hz)
            closed, why = StateFeedback.of(performance, self.outputs, device)
            if closed is not None:
                self._closed[role] = closed
            elif why:
                self.notes.append(f"the feedback of {performance.clip_name!r} stays open: {why}")
        sensors = device.sensors if self._closed else {}
        self._sensor_lines = [sensor.line(show.main.unit_of(name), name) for name, sensor in sensors.items()]

    def _heard_out(self, name: str, audio: Audio, table: Array) -> Array:
        """The samples (n, k) of a performance, with its end held until its voice is over."""
        if audio.duration * self.device.rate_hz * table.shape[1] > MOST:
            raise BadInput(f"the voice of {name!r} lasts {audio.duration:.3g} s, too long to be played at once; play it in parts")
        return held_for(audio.duration, table, self.outputs, self.device.rate_hz)

    def run(
        self, driver: Driver, clock: Clock, cues: Cues, watch: Callable[[float, str], None] = lambda seconds, role: None
    ) -> PlayRecord:
        """Play the show on an open ``driver``; ``cues`` is entered already. The driver is released when the show is stopped.

        ``watch`` is called twice a second with the show time [s] and the role of what is being played.
        """
        if self.show.unbounded and not cues.can_start:
            driver.release()
            raise BadInput("this show ends only when someone stops it, and nobody can; give --osc, or play it from a terminal")
        return _Run(self, driver, clock, cues, watch).play()


def _doubt(performance: Performance) -> str:
    """Why a performance is not proven, and what to do."""
    certificate = performance.certificate
    failed = [check.sentence for check in certificate.checks if check.stands_against]
    why = listed(failed, 2) if failed else certificate.status.sentence.rstrip(".")
    return f"the certificate of {performance.clip_name!r} does not hold: {why}; run bunraku verify, and perform it again"


class _Run:
    """One run of a show: all that changes while it plays."""

    def __init__(self, player: Player, driver: Driver, clock: Clock, cues: Cues, watch: Callable[[float, str], None]) -> None:
        self.player, self.driver, self.clock, self.cues, self.watch = player, driver, clock, cues, watch
        self.outputs, self.device = player.outputs, player.device
        self.rate, self.period = player.device.rate_hz, 1.0 / player.device.rate_hz
        self.guard = Guard(self.outputs, self.rate)
        self.following = Following(self.outputs, self.device)
        self.follower = Follower()
        show, k = player.show, len(self.outputs.names)
        bounded = sum(len(table) for table in player._tables.values()) * max(show.loops, 1) + int(20.0 * self.rate)
        self.tape = Tape(KEPT if show.unbounded else bounded, k)
        self.notes, self.played, self.heard = list(player.notes), list[str](), list[str]()
        self.overheard: list[Cue] = []
        self.unknown: set[str] = set()
        self.ended_by = self.role = ""
        self.ignored = -cues.ignored  # those before this run
        self.missed = self.skipped = self.run_of_missed = self.uncorrected = 0
        self.tick = self.row = 0
        self.cost = self.watched = 0.0
        self.asked, self.before, self.speed = np.zeros(k), np.zeros(k), np.zeros(k)
        self.rows: Array = np.zeros((0, k))
        self.beyond: Array = np.zeros(k)
        self.coming: Take | None = None
        self.resting = False

    def play(self) -> PlayRecord:
        """From where the machine stands to the end of the show, or to the first thing that is wrong."""
        with undisturbed():  # the release too: a machine that must stop does not wait for other programs
            ended, stopped, stop_ms = self._through()
        self.clock.stop()
        if self.uncorrected:
            commands = "1 command" if self.uncorrected == 1 else f"{self.uncorrected} commands"
            self.notes.append(f"{commands} went without feedback: not every coordinate it needs was reported")
        names, guard = self.outputs.names, self.guard
        return PlayRecord(
            device=self.device.name,
            driver=self.device.driver,
            clock=self.clock.name,
            rate=self.rate,
            outputs=names,
            units=self.outputs.units,
            played=tuple(self.played),
            ended=ended,
            stopped=stopped,
            stop_ms=stop_ms,
            missed=self.missed,
            skipped=self.skipped,
            cut=guard.cut,
            wild=guard.wild,
            cut_by={name: float(by) for name, by in zip(names, guard.by, strict=True) if by > 0.0},
            following={name: float(by) for name, by in zip(names, self.following.worst, strict=True) if by > 0.0},
            cues=tuple(self.heard),
            ignored=self.ignored + self.cues.ignored,
            notes=tuple(self.notes),
            tape=self.tape,
        )

    def _through(self) -> tuple[str, bool, float | None]:
        """Play and, where it must be, stop: why it ended, whether by a stop, and how long [ms] the release took."""
        try:
            self.driver.hear = self._overhear
            try:
                self._begin()
                while self._next():
                    pass
            finally:
                self.driver.hear = None  # nothing interrupts a release
        except _Stop as stop:
            return str(stop), True, self._release(stop.since)
        except DeviceFault as fault:
            return str(fault), True, self._release(time.monotonic())
        except BaseException as error:
            self._release(time.monotonic())
            self.clock.stop()
            for note in filter(lambda one: one.startswith(HELD), self.notes):
                error.add_note(note)
            raise
        if self.device.at_end == "release":
            self._release(time.monotonic())
        return f"a cue ended the show ({self.ended_by})" if self.ended_by else "the show is over", False, None

    def _release(self, since: float) -> float:
        """Release the machine, and note what could not be; how long after ``since`` the commands were out [ms]."""
        self.driver.release()
        took = 1e3 * (time.monotonic() - since)
        held = self.driver.check_release()
        if held:
            self.notes.append(f"{HELD}: {held}")
        return took

    def _begin(self) -> None:
        """Make the voices ready, find out where the machine stands, lay out every take from there, start the clock."""
        for performance in self.player.show.parts.values():
            if performance.audio is not None:
                self.clock.prepare(performance.audio)
        reported = self.driver.measure()
        if reported is None and not isinstance(self.driver, DryRunDriver):  # which stands nowhere before its first command
            self.notes.append("the device does not say where it stands: its first command is the home pose, wherever it is now")
        stands, inside = self.guard.start(None if reported is None else self._values(reported))
        self.following.begin(stands)
        self.before[:] = stands
        takes = {}
        for role, performance in self.player.show.parts.items():
            table = self.player._tables[role]
            takes[role] = Take(role, performance.clip_name, np.where(np.isnan(table), inside, table), performance.audio)
        self.program = Program(takes, self.player.show.loops)
        self._lead_to(self.program.next())
        self.clock.start()
        self.follower.read(*self.clock.reading())
        self.tick = int(np.ceil((self.follower.show(time.monotonic()) + LEAD) * self.rate))
        self._sound(self.coming)

    def _next(self) -> bool:
        """One period; False when the show is over."""
        if self.row >= len(self.rows) and not self._turn():
            return False
        self.follower.read(*self.clock.reading())
        moment = self.follower.when(self.tick * self.period)
        heard, self.overheard = self.overheard, []
        heard = heard or self.cues.wait(moment, SPIN)
        while heard:
            for cue in heard:
                self._hear(cue)
            heard = self.cues.wait(moment, SPIN) if time.monotonic() < moment else []
        if self.row >= len(self.rows):
            return True
        self._send(moment)
        self._measure()
        return True

    def _send(self, moment: float) -> None:
        """Clamp and send the row of this period, and write down how it went."""
        closed = self.player._closed.get(self.role)
        if closed is None:
            self.following.correct(self.rows[self.row], self.asked)
        else:
            self.following.correction[:] = 0.0
            self.asked[:] = self.rows[min(self.row + 1, len(self.rows) - 1)]
            reported = self.driver.measure()
            self._look(reported)
            corrected = closed.correct(self.row, None if reported is None else self._all_values(reported), self.asked)
            if not corrected and self.row < closed.steps:
                self.uncorrected += 1
        counts = self.guard(self.asked)
        now = time.monotonic()
        late = now - moment
        read, shown = self.clock.reading()
        self.driver.send(counts)
        self.beyond = self._beyond_plan()
        self.following.tell(self.guard.now - self.beyond)
        self.tape.write(self.tick * self.period, counts, late, shown + now - read - self.tick * self.period)
        self._advance(late)

    def _beyond_plan(self) -> Array:
        """What this row holds beyond where the machine is to be (k,): feed-forward of servos; straight from take to take."""
        if isinstance(self.driver, DryRunDriver):  # which carries nothing, and stands where it is sent
            return self.beyond
        ahead = self.player._ahead.get(self.role)
        if ahead is not None:
            return np.asarray(ahead[min(self.row, len(ahead) - 1)])
        then = np.zeros_like(self.beyond) if self.coming is None else self.player._ahead[self.coming.role][0]
        return np.asarray(self.beyond + (then - self.beyond) / max(len(self.rows) - self.row, 1))

    def _advance(self, late: float) -> None:
        """On to the next period; samples whose time has passed are skipped, and too many of them stop the machine."""
        behind = max(int(late * self.rate), 0)
        if behind:
            self.missed += 1
            self.run_of_missed += behind
            if self.run_of_missed >= self.device.missed_deadlines:
                raise _Stop(
                    f"{self.run_of_missed} deadlines in a row were missed, the last by {1e3 * late:.1f} ms; is the machine busy?"
                )
        else:
            self.run_of_missed = 0
        here = self.guard.now - self.following.correction
        self.speed[:] = (here - self.before) * self.rate
        self.before[:] = here
        left = len(self.rows) - 1 - self.row
        jump = min(behind, max(left - 1, 0))
        self.skipped += jump
        self.row += 1 + jump
        self.tick += 1 + jump

    def _measure(self) -> None:
        """Ask where the machine is, when there is time for it."""
        now = time.monotonic()
        left = self.follower.when(self.tick * self.period) - now
        if self.role not in self.player._closed and left > 1.25 * self.cost + SPIN:
            self._look(self.driver.measure())
            self.cost = max(0.9 * self.cost, time.monotonic() - now)
        else:
            self.cost *= 0.995
        if now - self.watched > 0.5:
            self.watched = now
            self.watch(self.tick * self.period, self.role)

    def _look(self, reported: Array | None) -> None:
        if reported is None:
            return
        values = self._values(reported)
        far = self.following.measured(values)
        if far >= 0:
            name, unit, most = self.outputs.names[far], self.outputs.units[far], self.outputs.following[far]
            raise _Stop(
                f"{name!r} reports {values[far]:.3f} {unit} and was sent {self.guard.now[far]:.3f}: more than {most:.3g} {unit} "
                f"from all it was sent in the last {self.device.following_ms:g} ms; is it blocked?"
            )

    def _turn(self) -> bool:
        """The rows have been played: what comes now. False when nothing does."""
        if self.resting:
            return False
        if self.coming is not None:
            take, self.coming = self.coming, None
            self.role = take.role
            self.played.append(take.name)
            there = not len(self.rows) and len(take.table) > 1 and self.tape.ticks  # no way was needed: it goes on from here
            self.rows, self.row = take.table, 1 if there else 0
            return True
        take_after = self.program.next()
        self._lead_to(take_after)
        self._sound(take_after)
        return bool(len(self.rows)) or (take_after is not None and self._turn())

    def _lead_to(self, take: Take | None) -> None:
        """The rows from here, at the speed it has, to the beginning of a take and its speed, or to rest: wheels stand still.

        A voice begins with the first row of its take, so there is a way to each that has one. Where gains make the commands, the
        first of them is the take's second row; the way includes the first.
        """
        limits, place = self.outputs.limits, self.before.copy()
        end = np.clip(self.outputs.rest(place), limits.lower, limits.upper) if take is None else take.table[0]
        arriving = None
        if take is not None and len(take.table) > 1:
            arriving = np.diff(np.clip(take.table[:2], limits.lower, limits.upper), axis=0)[0] * self.rate
        rows = way(place, end, limits, self.rate, self.speed, arriving, always=take is not None and take.audio is not None)
        if len(rows) and (take is None or take.role in self.player._closed):
            rows = np.vstack([rows, end])
        self.rows, self.row, self.role = rows, 0, ""
        self.coming, self.resting = take, take is None

    def _sound(self, take: Take | None) -> None:
        if take is not None and take.audio is not None:
            self.clock.sound(take.audio, (self.tick + len(self.rows)) * self.period)

    def _hear(self, cue: Cue) -> None:
        """Do what a cue asks for."""
        if cue.kind == "cue" and cue.name not in self.program.names:
            self._tell_unknown(cue.name)
            return
        if len(self.heard) < MOST_HEARD:
            self.heard.append(f"{self.tick * self.period:.2f} s: {cue.kind} by {cue.source}")
        if cue.kind == "estop":
            raise _Stop(f"emergency stop by {cue.source}")
        breaks, take = self.program.cue(cue)
        if not breaks:
            return
        self.ended_by = cue.source if self.program.stopping else ""
        self.clock.silence()
        self._lead_to(take)
        self._sound(take)

    def _overhear(self) -> None:
        """Stop, if someone asks for it while the machine keeps us waiting; other cues have time until the next command."""
        for cue in self.cues.read():
            if cue.kind == "estop":
                self._hear(cue)
            self.overheard.append(cue)

    def _tell_unknown(self, name: str) -> None:
        """Note once that a cue asked for what is not there."""
        if name in self.unknown or len(self.unknown) >= MOST_UNKNOWN:
            return
        self.unknown.add(name)
        self.notes.append(
            f"{self.tick * self.period:.2f} s: no performance called {name[:60]!r}; there are {listed(self.program.names)}"
        )

    def _values(self, reported: Array) -> Array:
        """The outputs' values (k,) of a measurement in counts."""
        return self.outputs.values(np.asarray(reported, dtype=np.float64)[: len(self.outputs.names)])

    def _all_values(self, reported: Array) -> Array:
        """The values of servos and sensors of a measurement in counts."""
        counts, lines = np.asarray(reported, dtype=np.float64), self.player._sensor_lines
        k = len(self.outputs.names)
        if len(counts) < k + len(lines):
            return np.full(k + len(lines), np.nan)
        more = [(counts[k + j] - zero) / slope for j, (zero, slope) in enumerate(lines)]
        return np.concatenate([self._values(counts), more])
