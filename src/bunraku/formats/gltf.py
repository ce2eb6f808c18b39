"""Animations of glTF 2.0 files (``.gltf`` and ``.glb``) as skeleton motion.

Bones are the joints of the skins and the nodes above them, or all nodes when there is no skin. The first animation that moves
them is sampled at a uniform rate; LINEAR (rotations along the great arc), STEP and CUBICSPLINE as the standard says. Lengths
are metres by the standard. Axes (y up, z forward) become z up, x forward. A uniform, constant scale of a node is applied to
the lengths below it; animated scale and morph targets are not read.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.formats.files import check_size
from bunraku.formats.gltf_accessors import GltfFile
from bunraku.formats.places import located
from bunraku.formats.poses import rotations_z_up, vectors_z_up
from bunraku.formats.skeleton_units import different_names
from bunraku.geometry.rotations import matrix_of_quaternion, quaternion_of_matrix, slerp
from bunraku.motion import Clip, SkeletonMotion

_MAX_SAMPLED = 24_000_000


def read_gltf(data: bytes, *, file: str, folder: Path | None = None, rate: float = 60.0) -> Clip:
    """A clip with the skeleton motion of the first animation, sampled at ``rate`` [Hz]."""
    check_size(data, file=file)
    gltf = GltfFile(data, file=file, folder=folder)
    bones, parents = _bones(gltf)
    tracks = _tracks(gltf, {node: bone for bone, node in enumerate(bones)})
    duration = max(float(times[-1]) for times, _, _ in tracks.values())
    frames = math.ceil(duration * rate - 1e-6) + 1
    if not 0.0 < rate <= 100_000.0 or frames * len(bones) * 12 > _MAX_SAMPLED:
        raise gltf.wrong(f"{duration:g} s of {len(bones)} bones at {rate:g} Hz are more than can be read", "animations")
    at = np.minimum(np.arange(frames) / rate, duration)
    offsets, quaternions, scales = _rest(gltf, bones)
    translations = np.broadcast_to(offsets, (frames, len(bones), 3)).copy()
    rotations = np.broadcast_to(matrix_of_quaternion(quaternions), (frames, len(bones), 3, 3)).copy()
    for (bone, path), (times, values, interpolation) in tracks.items():
        if path == "rotation":
            rotations[:, bone] = matrix_of_quaternion(_sampled(times, values, interpolation, at, turns=True)[:, [3, 0, 1, 2]])
        else:
            translations[:, bone] = _sampled(times, values, interpolation, at, turns=False)
    above = np.ones(len(bones))
    for bone, parent in enumerate(parents):
        above[bone] = above[parent] * scales[parent] if parent >= 0 else 1.0
    with located(file, "animations"):
        skeleton = SkeletonMotion(
            names=different_names(gltf.document.nodes[node].name[:150] or f"node {k}" for k, node in enumerate(bones)),
            parents=tuple(parents),
            offsets=vectors_z_up(offsets * above[:, None]),
            rate=rate,
            translations=vectors_z_up(translations * above[:, None]),
            rotations=rotations_z_up(rotations),
            tips={},
            scaled=True,
        )
    return Clip(Path(file).stem or "gltf", skeleton=skeleton, source=f"glTF file {Path(file).name}")


def _bones(gltf: GltfFile) -> tuple[list[int], list[int]]:
    """The nodes that are bones, parents first, and the place of each one's parent in that list (-1: none)."""
    nodes = gltf.document.nodes
    above = [-1] * len(nodes)
    for index, node in enumerate(nodes):
        for child in node.children:
            if child >= len(nodes) or above[child] >= 0:
                raise gltf.wrong(f"the child {child} does not exist or has two parents", f"nodes[{index}].children")
            above[child] = index
    needed = [False] * len(nodes)
    for number, skin in enumerate(gltf.document.skins):
        for joint in skin.joints:
            if joint >= len(nodes):
                raise gltf.wrong(f"the joint {joint} does not exist; there are {len(nodes)} nodes", f"skins[{number}].joints")
            while joint >= 0 and not needed[joint]:
                needed[joint] = True
                joint = above[joint]
    everything = not gltf.document.skins
    order: list[int] = []
    place = {-1: -1}
    stack = [index for index in reversed(range(len(nodes))) if above[index] < 0]
    reached = 0
    while stack:
        index = stack.pop()
        reached += 1
        if everything or needed[index]:
            place[index] = len(order)
            order.append(index)
        stack.extend(reversed(nodes[index].children))
    if reached < len(nodes):
        raise gltf.wrong("some nodes are their own ancestors; a tree is needed", "nodes")
    if not order:
        raise gltf.wrong("there are no nodes to move", "nodes")
    return order, [place[above[index]] for index in order]


def _tracks(gltf: GltfFile, bone_of: dict[int, int]) -> dict[tuple[int, str], tuple[Array, Array, str]]:
    """(bone, path) -> times, values, interpolation, of the first animation that moves a bone."""
    for number, animation in enumerate(gltf.document.animations):
        tracks: dict[tuple[int, str], tuple[Array, Array, str]] = {}
        for index, channel in enumerate(animation.channels):
            place = f"animations[{number}].channels[{index}]"
            path, node = channel.target.path, channel.target.node
            if path not in ("translation", "rotation") or node not in bone_of:
                continue
            if channel.sampler >= len(animation.samplers):
                raise gltf.wrong(f"the sampler {channel.sampler} does not exist", place)
            sampler = animation.samplers[channel.sampler]
            times, values = gltf.numbers(sampler.input, place), gltf.numbers(sampler.output, place)
            per_key = {"LINEAR": 1, "STEP": 1, "CUBICSPLINE": 3}.get(sampler.interpolation)
            if per_key is None:
                raise gltf.wrong(f"the interpolation {sampler.interpolation[:20]!r} is not LINEAR, STEP or CUBICSPLINE", place)
            parts = 4 if path == "rotation" else 3
            if times.shape[1] != 1 or len(times) == 0 or values.shape != (per_key * len(times), parts):
                raise gltf.wrong(f"{values.shape} values do not fit {len(times)} times", place)
            if times[0, 0] < 0.0 or not (np.diff(times[:, 0]) > 0.0).all():
                raise gltf.wrong("the times must rise from 0", place)
            keys = values.reshape(len(times), per_key, parts)
            if path == "rotation" and not (np.linalg.norm(keys[:, per_key // 2], axis=1) > 1e-6).all():
                raise gltf.wrong("a quaternion of length zero is no rotation", place)
            tracks[bone_of[node], path] = (times[:, 0], keys, sampler.interpolation)
        if tracks:
            return tracks
    raise gltf.wrong("there is no animation that moves or turns a bone", "animations")


def _sampled(times: Array, keys: Array, interpolation: str, at: Array, *, turns: bool) -> Array:
    """Values (n, parts) at times ``at``, held before the first key and after the last; quaternions as (x, y, z, w)."""
    middle = keys[:, keys.shape[1] // 2]
    if turns:
        middle = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    if len(times) == 1:
        return np.broadcast_to(middle[0], (len(at), keys.shape[2])).copy()
    at = np.clip(at, times[0], times[-1])
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    step = times[before + 1] - times[before]
    share = ((at - times[before]) / step)[:, None]
    if interpolation == "STEP":
        return middle[np.where(at >= times[-1], len(times) - 1, before)]
    if interpolation == "LINEAR":
        if turns:
            order, back = [3, 0, 1, 2], [1, 2, 3, 0]
            return slerp(middle[before][:, order], middle[before + 1][:, order], share[:, 0])[:, back]
        return middle[before] * (1.0 - share) + middle[before + 1] * share
    s, h = share, step[:, None]
    value = (
        (2 * s**3 - 3 * s**2 + 1) * middle[before]
        + h * (s**3 - 2 * s**2 + s) * keys[before, 2]
        + (3 * s**2 - 2 * s**3) * middle[before + 1]
        + h * (s**3 - s**2) * keys[before + 1, 0]
    )
    if turns:
        norm = np.linalg.norm(value, axis=1, keepdims=True)
        value = np.where(norm > 1e-6, value / np.maximum(norm, 1e-6), middle[before])
    return value


def _rest(gltf: GltfFile, bones: list[int]) -> tuple[Array, Array, Array]:
    """Translation, quaternion (w, x, y, z) and uniform scale of every bone when nothing moves it."""
    offsets, quaternions, scales = np.zeros((len(bones), 3)), np.zeros((len(bones), 4)), np.ones(len(bones))
    for bone, index in enumerate(bones):
        node = gltf.document.nodes[index]
        place = f"nodes[{index}]"
        scale = np.abs(np.array(node.scale))
        if node.matrix is None:
            offsets[bone], quaternions[bone] = node.translation, np.array(node.rotation)[[3, 0, 1, 2]]
        else:
            M = np.array(node.matrix).reshape(4, 4).T
            scale = np.linalg.norm(M[:3, :3], axis=0)
            if scale.min() < 1e-9 or np.linalg.det(M[:3, :3]) <= 0.0:
                raise gltf.wrong("the matrix is flat or a mirror; a pose is needed", place)
            offsets[bone], quaternions[bone] = M[:3, 3], quaternion_of_matrix(M[:3, :3] / scale)
        norm = float(np.linalg.norm(quaternions[bone]))
        if norm < 1e-6:
            raise gltf.wrong("a quaternion of length zero is no rotation", place)
        quaternions[bone] /= norm
        if scale.min() < 1e-9 or scale.max() > 1.001 * scale.min():
            raise gltf.wrong(f"the scale {scale.tolist()} is not the same along all axes; apply it before exporting", place)
        scales[bone] = scale[0]
    return offsets, quaternions, scales
