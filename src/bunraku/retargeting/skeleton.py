"""A captured skeleton in the world: poses of its bones, at rest and in motion, at any rate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.rotations import angle_between, matrix_of_quaternion, quaternion_of_matrix
from bunraku.geometry.splines import resample
from bunraku.motion import SkeletonMotion

OUTLIER_FACTOR = 5.0
NEIGHBOUR_FACTOR = 10.0
LEAST_TURN = 0.05


@dataclass(frozen=True)
class BoneMotion:
    """World positions (m, b, 3) [m] and rotations (m, b, 3, 3) of some bones over time at ``rate`` [Hz]."""

    names: tuple[str, ...]
    rate: float
    positions: Array
    rotations: Array

    def position(self, bone: str) -> Array:
        """Positions (m, 3) of one bone's origin."""
        return self.positions[:, self.names.index(bone)]

    def rotation(self, bone: str) -> Array:
        """Rotations (m, 3, 3) of one bone."""
        return self.rotations[:, self.names.index(bone)]

    def resampled(self, rate: float) -> BoneMotion:
        """At another rate, by C2 cubic splines without a low-pass; rotations as quaternions, made unit again.

        The spline of quaternions is linear in them, so turning the world or the bone's axes turns the result exactly along.
        """
        if not 0.0 < rate <= 100_000.0:
            raise BadInput(f"a rate of {rate} Hz cannot be used; give one between 0 and 100000")
        if abs(rate - self.rate) <= 1e-9 * rate:
            return self
        q = self._quaternions()
        return BoneMotion(
            self.names,
            rate,
            resample(self.positions, self.rate, rate),
            matrix_of_quaternion(resample(q, self.rate, rate)),
        )

    def low_passed(self, cutoff: float) -> BoneMotion:
        """Without what is faster than ``cutoff`` [Hz], where the gain is a half: Butterworth of order 2, forward and backward.

        Rotations as quaternions, linear in them, made unit again. Ends are continued by the motion turned about its end point.
        """
        if not cutoff > 0.0:
            raise BadInput(f"a low-pass at {cutoff} Hz leaves no motion; give a positive frequency, inf for none")
        if cutoff >= 0.499 * self.rate or len(self.positions) < 2:
            return self
        from scipy.signal import butter, sosfiltfilt  # half a second to import

        sections = butter(2, cutoff, fs=self.rate, output="sos")
        pad = min(len(self.positions) - 1, round(2.0 * self.rate / cutoff))

        def smooth(values: Array) -> Array:
            return np.asarray(sosfiltfilt(sections, values, axis=0, padtype="odd", padlen=pad), dtype=np.float64)

        return replace(self, positions=smooth(self.positions), rotations=matrix_of_quaternion(smooth(self._quaternions())))

    def _quaternions(self) -> Array:
        """Rotations as quaternions (m, b, 4), each on the side of the one before."""
        q = quaternion_of_matrix(self.rotations)
        flips = np.cumprod(np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0.0, -1.0, 1.0), axis=0)
        q[1:] *= flips[..., None]
        return q


def bone_motion(skeleton: SkeletonMotion, names: tuple[str, ...] | None = None) -> BoneMotion:
    """World poses of the bones ``names`` (default: all), X_WB = X_WP X_PB from the root outwards."""
    chosen = skeleton.names if names is None else names
    R, p = _world(skeleton.parents, skeleton.translations, skeleton.rotations)
    at = [skeleton.names.index(name) for name in chosen]
    return BoneMotion(tuple(chosen), skeleton.rate, np.ascontiguousarray(p[:, at]), np.ascontiguousarray(R[:, at]))


def rest_pose(skeleton: SkeletonMotion) -> BoneMotion:
    """The skeleton with all rotations zero and its offsets as translations: one frame of all bones."""
    turns = np.tile(np.eye(3), (1, len(skeleton.names), 1, 1))
    R, p = _world(skeleton.parents, skeleton.offsets[None], turns)
    return BoneMotion(skeleton.names, skeleton.rate, p, R)


def first_frame_is_artificial(skeleton: SkeletonMotion) -> bool:
    """Whether the step from frame 0 to 1 is no motion: many files start with a T-pose that nobody performed.

    With s_k the root mean square over the bones of the angle [rad] each turns, in its parent, from frame k to k + 1: true when
    s_0 is above 0.05 rad, above 10 times s_1 (a person who starts fast goes on fast), and above 5 times the 99th percentile of all
    the others (in five CMU files it is 9 to 23 times). At least 4 frames are needed to tell.
    """
    if len(skeleton.rotations) < 4:
        return False
    s = np.sqrt(np.mean(angle_between(skeleton.rotations[:-1], skeleton.rotations[1:]) ** 2, axis=1))
    least = (LEAST_TURN, NEIGHBOUR_FACTOR * s[1], OUTLIER_FACTOR * np.percentile(s[1:], 99.0))
    return bool(s[0] > max(least))


def dropped_first(skeleton: SkeletonMotion) -> SkeletonMotion:
    """The same motion without its first frame."""
    return replace(skeleton, translations=skeleton.translations[1:], rotations=skeleton.rotations[1:])


def _world(parents: tuple[int, ...], translations: Array, rotations: Array) -> tuple[Array, Array]:
    R, p = np.empty_like(rotations), np.empty_like(translations)
    for bone, parent in enumerate(parents):
        if parent < 0:
            R[:, bone], p[:, bone] = rotations[:, bone], translations[:, bone]
        else:
            R[:, bone] = R[:, parent] @ rotations[:, bone]
            p[:, bone] = p[:, parent] + np.einsum("mab,mb->ma", R[:, parent], translations[:, bone])
    return R, p
