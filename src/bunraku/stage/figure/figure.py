"""A character ready to be posed: where its bodies are at many configurations at once, and with them its solids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character
from bunraku.errors import BadInput
from bunraku.formats.files import read_reference
from bunraku.formats.places import Where
from bunraku.formats.surface_file import SURFACE_SUFFIXES, read_surface
from bunraku.geometry.rotations import matrix_of_quaternion, multiply_quaternions, quaternion_of_matrix
from bunraku.geometry.surfaces.solid_angle import exact_winding_number
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.systems.strings import with_carriages
from bunraku.mechanics.tree import compile_tree, rotation_of
from bunraku.stage.figure.parts import FollowingSkin, PartSurface, following_skin, part_surfaces
from bunraku.stage.figure.solids import body_names, solids_of, unit_mesh

MeshArrays = tuple[NDArray[np.float32], NDArray[np.int32]]

MAX_MESH_BYTES = 64 * 1024 * 1024
"""The largest mesh that is read to be drawn."""


def meshes_of(character: Character, folder: Path | None) -> tuple[dict[str, MeshArrays], tuple[str, ...]]:
    """Vertices (v, 3) and faces (f, 3) by file, and a note on each file that cannot be drawn.

    Files are looked for below ``folder``; a leading ``package://`` or ``file://`` is taken as naming that folder.
    """
    meshes: dict[str, MeshArrays] = {}
    notes = []
    files = dict.fromkeys(shape.file or "" for body in character.bodies for shape in body.shapes if shape.kind == "mesh")
    for file in files:
        try:
            meshes[file] = _read(character, file, folder)
        except BadInput as error:
            notes.append(f"the mesh {file[:80]!r} is not drawn: {error}")
    return meshes, tuple(notes)


def _read(character: Character, file: str, folder: Path | None) -> MeshArrays:
    if folder is None:
        raise BadInput("its folder is not known")
    if Path(file).suffix.lower() not in SURFACE_SUFFIXES:
        raise BadInput(f"only {', '.join(SURFACE_SUFFIXES)} are read")
    name = file.removeprefix("package://").removeprefix("file://")
    data = read_reference(name, folder, Where(character.name), limit=MAX_MESH_BYTES)
    surface = read_surface(data, file=name)
    return surface.vertices.astype(np.float32), surface.faces.astype(np.int32)


INSIDE = 0.75
"""A solid with a greater winding number of the skin about its middle is inside; half of it, on the skin, is a sole."""


@dataclass(frozen=True)
class Placed:
    """Where the solids of one kind are over m frames: ``positions`` (m, n, 3) [m] and ``wxyz`` (m, n, 4), float32."""

    positions: NDArray[np.float32]
    wxyz: NDArray[np.float32]


class Figure:
    """A character ready to be posed.

    ``names``: the coordinates that pose it, its own and then x and y of each carriage. ``bodies``: what is posed, its bodies and
    then its carriages. ``solids``: what is drawn of them, by kind. ``notes``: what could not be drawn, and why. ``folder``: where
    files of meshes are looked for; without one their shapes are left out.
    """

    def __init__(self, character: Character, *, folder: Path | None = None) -> None:
        self.character = character
        self.bodies = body_names(character)
        self.meshes, notes = meshes_of(character, folder)
        self.solids = solids_of(character, meshes=tuple(self.meshes))
        self.tree = compile_tree(with_carriages(character))
        self.names = self.tree.names
        self._nodes = np.array([self.tree.nodes[name] for name in self.bodies], dtype=np.int64)
        self._turns = {kind: matrix_of_quaternion(solids.quaternion) for kind, solids in self.solids.items()}
        self._mass = self.tree.mass[self._nodes]
        self._center = self.tree.center_of_mass[self._nodes]
        self.skin, said = _skin(character, self.bodies)
        self.notes = (*notes, *said)

    @cached_property
    def seen(self) -> dict[str, NDArray[np.int64]]:
        """Which solids of each kind can be seen: those whose middle is not inside the skin at home."""
        whole = {kind: np.arange(len(solids)) for kind, solids in self.solids.items()}
        if self.skin is None:
            return whole
        corners = self.skin.rest[self.skin.faces]
        home = self.placed(*self.poses(self.home[None]))
        return {kind: chosen[exact_winding_number(corners, home[kind].positions[0]) < INSIDE] for kind, chosen in whole.items()}

    @cached_property
    def parts(self) -> tuple[PartSurface, ...]:
        """The surfaces of its flexible parts."""
        return part_surfaces(self.character)

    @cached_property
    def model(self) -> FlexibleCharacterSystem:
        """How its flexible parts bend; the first time ever this takes up to ten seconds a part, then it is on disk."""
        return flexible_system(self.character)

    @property
    def home(self) -> Array:
        """The configuration at home (nq,)."""
        return self.tree.home.copy()

    @property
    def mass(self) -> float:
        """Mass [kg] of all bodies, flexible parts and the skin."""
        return (
            float(self._mass.sum())
            + sum(part.mass for part in self.parts)
            + (0.0 if self.skin is None else float(self.skin.mass.sum()))
        )

    def mesh(self, kind: str) -> MeshArrays:
        """Vertices (v, 3) float32 and faces (f, 3) int32 of the unit shape of a kind of :attr:`solids`."""
        return self.meshes[kind[5:]] if kind.startswith("mesh:") else unit_mesh(kind)

    def configurations(self, names: tuple[str, ...], values: ArrayLike, base: Array | None = None) -> Array:
        """Configurations (m, nq) from curves (m, len(names)) of some coordinates: the rest at ``base`` (home), followers following.

        Names of string lengths pose nothing and are left out.
        """
        array = np.asarray(values, dtype=np.float64)
        lengths = {string.coordinate for string in self.character.strings}
        kept = [j for j, name in enumerate(names) if name not in lengths]
        return self.tree.expand(tuple(names[j] for j in kept), array[:, kept], base)

    def poses(self, q: ArrayLike) -> tuple[Array, Array]:
        """World rotations (m, bodies, 3, 3) and positions (m, bodies, 3) at configurations ``q`` (m, nq); flexible parts unbent."""
        values = np.asarray(q, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise BadInput(f"configurations of shape {values.shape} arrived; (m, {len(self.names)}) is needed")
        R, p = self.tree.poses(values)
        return R[:, self._nodes], p[:, self._nodes]

    def placed(self, R: Array, p: Array) -> dict[str, Placed]:
        """Where the solids of every kind are when the bodies are at ``R`` (m, bodies, 3, 3) and ``p`` (m, bodies, 3)."""
        turn = quaternion_of_matrix(R)
        placed = {}
        for kind, solids in self.solids.items():
            at = p[:, solids.body] + np.einsum("mnij,nj->mni", R[:, solids.body], solids.position)
            wxyz = multiply_quaternions(turn[:, solids.body], solids.quaternion)
            placed[kind] = Placed(_small(at), _small(wxyz))
        return placed

    def box(self, R: Array, p: Array) -> tuple[Array, Array]:
        """Lower and upper corners (m, 3) [m] of the box around all solids but carriages, the bodies at ``R``, ``p``; exact."""
        low, high = np.full((len(p), 3), np.inf), np.full((len(p), 3), -np.inf)
        for kind, solids in self.solids.items():
            own = np.flatnonzero(solids.body < len(self.character.bodies))
            if not len(own):
                continue
            body = solids.body[own]
            turned = np.einsum("mnij,njk->mnik", R[:, body], self._turns[kind][own])
            middle = p[:, body] + np.einsum("mnij,nj->mni", R[:, body], solids.position[own])
            below, above = self._reach(kind, turned * solids.scale[own][:, None, :])
            low = np.minimum(low, (middle - below).min(axis=1))
            high = np.maximum(high, (middle + above).max(axis=1))
        return low, high

    def points(self, R: Array, p: Array) -> tuple[tuple[str, ...], Array]:
        """Names, and places (m, k, 3) [m] over the poses, of the character's frames and the middles of its end effectors."""
        place = {name: i for i, name in enumerate(self.bodies)}
        marks = [(frame.name, frame.body, frame.pose.position) for frame in self.character.frames]
        taken = {name for name, _, _ in marks}
        marks += [(tip.name, tip.body, tip.center) for tip in self.character.end_effectors if tip.name not in taken]
        points = np.zeros((len(p), len(marks), 3))
        for j, (_, body, local) in enumerate(marks):
            at = np.array(local)
            points[:, j] = at if body == WORLD else p[:, place[body]] + R[:, place[body]] @ at
        return tuple(name for name, _, _ in marks), points

    def strings(self, R: Array, p: Array) -> Array:
        """Both ends (m, strings, 2, 3) [m] of every string, at the carriage and at the hook."""
        place = {name: i for i, name in enumerate(self.bodies)}
        frames = {frame.name: frame for frame in self.character.frames}
        ends = np.zeros((len(p), len(self.character.strings), 2, 3))
        for j, string in enumerate(self.character.strings):
            frame, local = frames.get(string.hook), np.array(string.point)
            if frame is not None:
                local = np.array(frame.pose.position) + rotation_of(frame.pose) @ local
            body = place[string.hook if frame is None else frame.body]
            ends[:, j, 0] = p[:, place[string.carriage]]
            ends[:, j, 1] = p[:, body] + R[:, body] @ local
        return ends

    def moment(self, R: Array, p: Array) -> Array:
        """Mass times centre of mass (m, 3) [kg·m] of all bodies and the skin that follows them."""
        centers = p + np.einsum("mbij,bj->mbi", R, self._center)
        bodies: Array = np.einsum("b,mbi->mi", self._mass, centers)
        return bodies if self.skin is None else bodies + self.skin.moment(R, p)

    def _reach(self, kind: str, A: Array) -> tuple[Array, Array]:
        """How far (m, n, 3) the unit shape under the linear maps ``A`` (m, n, 3, 3) reaches below and above its middle."""
        if kind == "box":
            reach = np.abs(A).sum(axis=3)
        elif kind == "ball":
            reach = np.sqrt((A * A).sum(axis=3))
        elif kind == "tube":
            reach = np.sqrt((A[..., :2] ** 2).sum(axis=3)) + np.abs(A[..., 2])
        else:
            turned = np.einsum("mnij,vj->mniv", A, self.mesh(kind)[0].astype(np.float64))
            return -turned.min(axis=3), turned.max(axis=3)
        return reach, reach


def _small(values: Array) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)


def _skin(character: Character, bodies: tuple[str, ...]) -> tuple[FollowingSkin | None, tuple[str, ...]]:
    """The skin that follows the bodies, if there is one, or why it is not drawn."""
    if character.skin is None:
        return None, ()
    try:
        return following_skin(character, bodies), ()
    except BadInput as error:
        return None, (f"the skin is not drawn: {error}",)
