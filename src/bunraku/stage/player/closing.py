"""Closing the loop: what a machine reports about itself changes what it is sent next, within bounds.

Two ways. Performances with gains (puppets on strings) are corrected by them, u = u_k - K_k (x - x_k), when the machine reports
every coordinate of the state; the momenta come from two places in a row, as the variational integrator has them. Servos that
merely give way under a load are sent a share of their error more: with the gain g the error falls to 1/(1 + g) of what it was.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.motion import Feedback, Performance
from bunraku.stage.devices.device import Device, listed
from bunraku.stage.player.outputs import DeviceOutputs


class Following:
    """How far the machine is from where it was sent lately, and the correction for it.

    A servo comes late; so its place is compared with every place it was sent to within the last ``following_ms``, what commands
    hold beyond the plan left out: ``error`` (k,) is the distance to the nearest of these, signed (sent - measured), zero where the
    machine is within them.
    """

    def __init__(self, outputs: DeviceOutputs, device: Device) -> None:
        k, self._outputs = len(outputs.names), outputs
        self._sent = np.tile(outputs.home, (max(2, round(1e-3 * device.following_ms * device.rate_hz)), 1))
        self._at = 0
        self._gain = np.where(outputs.still, device.posture_gain, 0.0)
        most = {"rad": np.radians(device.posture_deg), "m": 0.1 * 1e-3 * device.following_mm}
        self._most = np.array([most.get(unit, 0.0) for unit in outputs.units])
        self.error, self.worst, self.correction = np.zeros(k), np.zeros(k), np.zeros(k)

    def begin(self, place: Array) -> None:
        """Forget everything; the machine stands at ``place`` (k,)."""
        self._sent[:] = place
        self.error[:] = 0.0

    def tell(self, values: Array) -> None:
        """Note where it was sent (k,): the correction is not part of where the machine shall be, or it would add up."""
        np.subtract(values, self.correction, out=self._sent[self._at])
        self._at = (self._at + 1) % len(self._sent)

    def measured(self, values: Array) -> int:
        """Take in where the machine is (k,); the index of an output that is too far away, or says nothing sensible, or -1."""
        np.subtract(np.clip(values, self._sent.min(axis=0), self._sent.max(axis=0)), values, out=self.error)
        away = np.where(self._outputs.still, np.abs(self.error), 0.0)
        lost = np.where(self._outputs.still, ~np.isfinite(values), False)
        if lost.any():
            self.error[:] = 0.0
            return int(np.argmax(lost))
        np.maximum(self.worst, away, out=self.worst)
        share = away / self._outputs.following
        far = int(np.argmax(share))
        return far if share[far] > 1.0 else -1

    def correct(self, asked: Array, out: Array) -> None:
        """``out`` (k,): what to tell so that the machine comes closer to ``asked`` (k,), by at most the bound."""
        np.multiply(self._gain, self.error, out=self.correction)
        np.clip(self.correction, -self._most, self._most, out=self.correction)
        np.add(self.correction, asked, out=out)


class StateFeedback:
    """The gains of a performance at work. Made by `of`, which says why not, if it cannot be.

    At node k the coordinates are measured and the command for node k + 1 is made from them.
    """

    def __init__(self, feedback: Feedback, character: Character, source: list[int], target: list[int]) -> None:
        from bunraku.mechanics.integrators.variational import VariationalIntegrator
        from bunraku.mechanics.systems.character_system import character_system

        self._feedback, self._source, self._target = feedback, np.array(source), np.array(target)
        system = character_system(character)
        self._integrator = VariationalIntegrator(system, 1.0 / feedback.rate)
        self._before = np.zeros(len(source))
        self._node = -2
        self._integrator.momentum(feedback.states[0, : system.nq], feedback.states[0, : system.nq])

    @staticmethod
    def of(performance: Performance, outputs: DeviceOutputs, device: Device) -> tuple[StateFeedback | None, str]:
        """The feedback of a performance on a device, or None and the reason; ('' when the performance has none)."""
        feedback = performance.feedback
        if feedback is None:
            return None, ""
        torques = [channel.name for channel in performance.channels if channel.kind == "torque" and channel.name in feedback.inputs]
        if torques:
            return None, f"its gains correct the torque of {torques[0]!r}, which servos do not take"
        reported = [*outputs.names, *device.sensors]
        missing = [name for name in feedback.coordinates if name not in reported]
        if missing:
            return None, f"its gains need {listed(missing, 4)}, which the device does not report; name them under sensors"
        if abs(feedback.rate - device.rate_hz) > 1e-9:
            return None, f"its gains are for {feedback.rate:g} Hz, the device runs at {device.rate_hz:g} Hz; set rate_hz"
        source = [reported.index(name) for name in feedback.coordinates]
        target = [outputs.names.index(name) for name in feedback.inputs]
        return StateFeedback(feedback, performance.character, source, target), ""

    @property
    def steps(self) -> int:
        """So many commands have a gain, the first ones."""
        return self._feedback.steps

    def correct(self, node: int, measured: Array | None, out: Array) -> bool:
        """Put the corrected command of ``node`` into ``out`` (k,), from what the machine reports (servos, then sensors).

        False, and nothing is put, where the measurement is missing or wild.
        """
        if measured is None or not 0 <= node < self.steps or not np.isfinite(q := measured[self._source]).all():
            return False
        planned = self._feedback.states[node, len(q) :]
        p = self._integrator.momentum(self._before, q) if self._node == node - 1 else planned
        self._before[:], self._node = q, node
        out[self._target] = self._feedback.command(node, np.concatenate([q, p]))
        return True
