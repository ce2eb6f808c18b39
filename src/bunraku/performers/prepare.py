"""Before performing: a captured skeleton becomes joint curves of the character."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bunraku.character import Character
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.files import read_bytes
from bunraku.mechanics.measures.coverage import HELD, NOT_ASKED, CapturedLimb, coverage_checks, coverage_figures, limbs_in
from bunraku.motion import Clip, JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status, worst
from bunraku.optimization.threads import one_thread
from bunraku.retargeting.rig_map import RigMap, read_rig_map
from bunraku.retargeting.wished import wished_coordinates

if TYPE_CHECKING:
    from bunraku.retargeting.retarget import RetargetReport


@dataclass(frozen=True)
class Prepared:
    """The clip with joint curves; what was done, in sentences; how the computation ended; how well a skeleton was followed."""

    clip: Clip
    notes: tuple[str, ...] = ()
    status: Status = Status.CONVERGED
    report: RetargetReport | None = None
    limbs: tuple[CapturedLimb, ...] = ()

    def asking_for(self, only: tuple[str, ...]) -> Prepared:
        """The same curves, of which only the limbs named by ``only`` were wished: those held at home are not asked for."""
        limbs = tuple(replace(limb, fate=NOT_ASKED) if limb.fate == HELD else limb for limb in self.limbs)
        return replace(self, clip=self.clip.changed(only=only), limbs=limbs)

    def marked(self, result: Performance) -> Performance:
        """The performance of this clip, with what its certificate says of the wish itself.

        That is the status, if the wish ended worse than the performance of it, and how much of a captured motion is in it.
        """
        certificate = result.certificate
        if self.limbs:
            checks = (*certificate.checks, *coverage_checks(result, self.limbs))
            certificate = replace(certificate, checks=checks, figures=certificate.figures | coverage_figures(self.limbs))
            result = replace(result, certificate=certificate)
        if self.clip.only:
            options = {**result.provenance.options, "only": list(self.clip.only)}
            result = replace(result, provenance=replace(result.provenance, options=options))
        if worst((certificate.status, self.status)) is certificate.status:
            return result
        note = f"the wish, retargeted: {self.status.sentence}"
        return replace(result, certificate=replace(certificate, status=self.status, notes=(note, *certificate.notes)))


def read_rig(path: Path) -> RigMap:
    """The rig map in a YAML file."""
    return read_rig_map(read_bytes(path), file=str(path))


@one_thread
def prepare(
    character: Character, clip: Clip, *, rig: RigMap | None = None, checkpoint: Checkpoint | None = None, monitor: Monitor = SILENT
) -> Prepared:
    """A captured skeleton retargeted; a clip that has joint curves comes back as it is.

    Unless it was cancelled, the result is kept in ``checkpoint`` and taken from there the next time.
    """
    if clip.joints is not None or clip.skeleton is None:
        return Prepared(clip)
    saved = checkpoint.load() if checkpoint is not None else None
    wished = wished_coordinates(character)
    if saved is not None and {"values", "rate", "held", "status"} <= set(saved) and saved["values"].shape[1:] == (len(wished),):
        joints = JointCurves(wished, float(saved["rate"]), np.asarray(saved["values"], dtype=np.float64))
        held = tuple(character.coordinates[int(i)] for i in saved["held"])
        retargeted = clip.changed(joints=joints, skeleton=None, held=held)
        status = list(Status)[int(saved["status"])]
        limbs = limbs_in(json.loads(saved["limbs"].tobytes())) if "limbs" in saved else ()
        note = f"retargeted before the interruption; going on from there. {status.sentence}"
        return Prepared(retargeted, (note,), status, limbs=limbs)
    from bunraku.retargeting.retarget import retarget  # its solver is loaded only where a skeleton asks for it

    result = retarget(clip, character, rig=rig, monitor=monitor)
    joints = result.clip.need_joints("the performer")
    status = result.report.status
    if checkpoint is not None and status is not Status.CANCELLED and joints.names == wished:
        still = np.array([character.coordinates.index(name) for name in result.clip.held], dtype=np.int64)
        ended = np.array(list(Status).index(status))
        table = np.frombuffer(json.dumps(coverage_figures(result.report.limbs)).encode(), np.uint8)
        checkpoint.save({"values": joints.values, "rate": np.array(joints.rate), "held": still, "status": ended, "limbs": table})
    return Prepared(result.clip, result.report.sentences, status, result.report, result.report.limbs)
