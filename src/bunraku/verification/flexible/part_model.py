"""A character with flexible parts of any shape: rigid bodies by MuJoCo, the parts by scikit-fem, in one equation of motion.

Every body that a part carries moves by three slides and three hinges from where it stands when nothing bends; those are the
part's first coordinates, its modes follow MuJoCo's. MuJoCo gives kinematics, mass matrix, bias and closed loops of the bodies. A
part adds, with the twist (v0, w) of its frame and its Jacobian J in axes of that frame, for points r = x + Phi y that weigh rho,

    J' int rho [1; r x] (a0 + dw x r + w x (w x r) + 2 w x r' + Phi y'') dV     to what moves its base,
       int rho Phi' ( the same ) dV + elastic force                             to its own coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.character import WORLD, Character, ElasticMaterial, FlexiblePart
from bunraku.errors import BadInput
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.compliance import soft_motors, with_deflections
from bunraku.mechanics.tree import compile_tree
from bunraku.verification.flexible.elastic_part import Elasticity, ElasticPart, elastic_part
from bunraku.verification.flexible.model import ChainModel, bare_model
from bunraku.verification.foreign import mass_matrix


class Unbalance(NamedTuple):
    """Force (n,) missing for a motion, Jacobian (c, n) and gaps (c,) of the closed loops."""

    force: Array
    loops: Array
    gaps: Array


@dataclass(frozen=True, eq=False)
class PlacedPart:
    """A part on body number ``base``, in which its frame stands at ``pose``; ``places`` (r,) of its coordinates among all."""

    elastic: ElasticPart
    base: int
    pose: Rigid
    places: Indices


@dataclass(frozen=True, eq=False)
class PartsModel:
    """Bodies and parts together: n coordinates, those of MuJoCo before the modes of the parts."""

    bodies: ChainModel
    parts: tuple[PlacedPart, ...]
    size: int

    @property
    def free(self) -> Indices:
        """Places of what physics moves."""
        return np.concatenate([self.bodies.free, np.arange(self.bodies.model.nv, self.size)])

    def place(self, data: Any, q: Array, v: Array) -> None:
        """MuJoCo's bodies at q and v (n,)."""
        import mujoco

        nv = self.bodies.model.nv
        data.qpos[:], data.qvel[:] = q[:nv], v[:nv]
        mujoco.mj_fwdPosition(self.bodies.model, data)
        mujoco.mj_fwdVelocity(self.bodies.model, data)

    def balance(self, data: Any, q: Array, v: Array, a: Array) -> Unbalance:
        """What is missing for the accelerations a (n,) at q and v (n,), without the forces of loops."""
        import mujoco

        model, nv = self.bodies.model, self.bodies.model.nv
        self.place(data, q, v)
        f, moved = np.zeros(self.size), np.zeros(nv)
        mujoco.mj_mulM(model, data, moved, np.ascontiguousarray(a[:nv]))
        f[:nv] = moved + data.qfrc_bias - data.qfrc_passive
        for part in self.parts:
            J = _jacobian(model, data, part)
            base, own = _inertial(part.elastic, J, self._base_twist(data, part, J, v, a), *(x[part.places] for x in (q, v, a)))
            f[:nv] += base
            f[part.places] += own + part.elastic.force(q[part.places], v[part.places])
        rows = np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        loops = np.zeros((len(rows), self.size))
        loops[:, :nv] = data.efc_J.reshape(-1, nv)[rows]
        tied = np.abs(loops[:, self.bodies.free]).max(axis=1, initial=0.0) > 0.0
        return Unbalance(f, loops[tied], np.array(data.efc_pos[rows])[tied])

    def matrices(self, data: Any, q: Array) -> tuple[Array, Array, Array]:
        """Mass, damping and stiffness (n, n) at q, where MuJoCo's bodies were placed last; of loops and turning frames nothing."""
        model, nv = self.bodies.model, self.bodies.model.nv
        M, D, K = (np.zeros((self.size, self.size)) for _ in range(3))
        M[:nv, :nv] = mass_matrix(model, data)
        D[range(nv), range(nv)] = model.dof_damping
        K[range(nv), range(nv)] = model.jnt_stiffness
        for part in self.parts:
            elastic, y, places = part.elastic, q[part.places], part.places
            J = np.zeros((6 + elastic.size, self.size))
            J[:6, :nv] = _jacobian(model, data, part)
            J[range(6, 6 + elastic.size), places] = 1.0
            M += J.T @ _mass(elastic, y) @ J
            stiff, damping = elastic.tangents(y)
            K[np.ix_(places, places)] += stiff
            D[np.ix_(places, places)] += damping
        return M, D, K

    def _base_twist(self, data: Any, part: PlacedPart, J: Array, v: Array, a: Array) -> Array:
        """Velocity, turning velocity, acceleration less gravity, turning acceleration (4, 3) of the part's frame, in its axes."""
        import mujoco

        model, nv = self.bodies.model, self.bodies.model.nv
        R, p = _pose(data, part)
        rates = np.zeros((2, 3, nv))
        mujoco.mj_jacDot(model, data, rates[0], rates[1], p, part.base)
        twist = (J @ v[:nv]).reshape(2, 3)
        bent = (J @ a[:nv]).reshape(2, 3) + (rates @ v[:nv]) @ R
        bent[0] -= R.T @ model.opt.gravity
        return np.vstack([twist, bent])


def parts_model(character: Character, *, frames: Sequence[str]) -> PartsModel:
    """The model that tracks ``frames`` (frames or bodies), soft motors on springs; BadInput says what cannot be judged so."""
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    joints = {joint.child: joint for joint in character.joints}
    for part in character.flexibles:
        X_WB = at.pose(part.base) if part.base != WORLD else NO_MOVE
        for child in part.children:
            pose = compose(inverse(X_WB), at.pose(child.body))
            joints[child.body] = joints[child.body].changed(kind="free", sequence="xyz", parent=part.base, pose=as_pose(pose))
    loose = character.changed(joints=tuple(joints.values()), flexibles=(), materials=())
    soft = soft_motors(character, None)
    loose = with_deflections(loose, soft)
    commanded = {motor.coordinate for motor in soft}  # two hinges on one axis: without a rotor MuJoCo's mass matrix is singular
    rotors = [joint.changed(armature=1.0) if joint.name in commanded else joint for joint in loose.joints]
    bodies = bare_model(character, loose.changed(joints=tuple(rotors)), frames, 1e-3)
    for motor in soft:
        joint = bodies.model.joint(motor.deflection).id
        bodies.model.jnt_stiffness[joint] = motor.stiffness
        bodies.model.dof_damping[bodies.model.jnt_dofadr[joint]] += motor.damping
    placed, size = list[PlacedPart](), int(bodies.model.nv)
    materials = {material.name: material for material in character.materials}
    for part in character.flexibles:
        X_WB = at.pose(part.base) if part.base != WORLD else NO_MOVE
        elastic = _elastic(
            character, part, materials[part.material], [compose(inverse(X_WB), at.pose(c.body)) for c in part.children]
        )
        base = bodies.model.body(part.base).id if part.base != WORLD else 0
        axes = [axis.name for child in part.children for axis in joints[child.body].axes]
        moves = [int(bodies.model.jnt_qposadr[bodies.model.joint(name).id]) for name in axes]
        more = elastic.size - len(moves)
        placed.append(PlacedPart(elastic, base, of_pose(part.pose), np.array([*moves, *range(size, size + more)], dtype=np.int64)))
        size += more
    return PartsModel(bodies, tuple(placed), size)


def _elastic(character: Character, part: FlexiblePart, material: ElasticMaterial, bodies: Sequence[Rigid]) -> ElasticPart:
    mesh, X_PB = part_solid(character, part).solid.mesh, inverse(of_pose(part.pose))
    stated = Elasticity(material.young, material.poisson, material.density, material.strain_damping)
    carried = [(child.patch, compose(X_PB, X_BC)) for child, X_BC in zip(part.children, bodies, strict=True)]
    try:
        return elastic_part(mesh, stated, part.base_patch, carried)
    except BadInput as error:
        raise BadInput(f"the flexible part {part.name!r} is not judged by scikit-fem: {error}") from error


def _pose(data: Any, part: PlacedPart) -> Rigid:
    return compose((data.xmat[part.base].reshape(3, 3), data.xpos[part.base]), part.pose)


def _jacobian(model: Any, data: Any, part: PlacedPart) -> Array:
    """J (6, nv): velocity and turning velocity of the part's frame, in its axes."""
    import mujoco

    R, p = _pose(data, part)
    J = np.zeros((2, 3, model.nv))
    mujoco.mj_jac(model, data, J[0], J[1], p, part.base)
    return np.asarray((R.T @ J).reshape(6, -1))


def _inertial(part: ElasticPart, J: Array, base: Array, y: Array, rate: Array, second: Array) -> tuple[Array, Array]:
    """Forces of inertia and weight (nv,) on what moves the base and (r,) on the part; ``base`` (4, 3) as `_base_twist` has it."""
    _, w, a0, dw = base
    Omega, z = _cross(w), np.concatenate([[1.0], y])
    turned = Omega @ Omega + _cross(dw)
    moving = 2.0 * np.tensordot(rate, part.second[1:], axes=1), np.tensordot(second, part.second[1:], axes=1)
    # int rho (acceleration) field' for each field, (r + 1, 3, 3)
    fields = a0[:, None] * part.first[:, None, :]
    fields = fields + turned @ np.tensordot(z, part.second, axes=1) + Omega @ moving[0] + moving[1]
    total = part.mass * a0 + turned @ (z @ part.first) + 2.0 * Omega @ (rate @ part.first[1:]) + second @ part.first[1:]
    moment = _axial(np.tensordot(z, fields, axes=1))
    return J.T @ np.concatenate([total, moment]), np.einsum("aii->a", fields[1:])


def _mass(part: ElasticPart, y: Array) -> Array:
    """The mass matrix (6 + r, 6 + r) of the base's twist and y."""
    z = np.concatenate([[1.0], y])
    M = np.zeros((6 + part.size, 6 + part.size))
    s, products = _cross(z @ part.first), np.tensordot(z, part.second, axes=1)  # products[b] = int rho r field_b'
    spread = np.tensordot(z, products, axes=1)
    M[:3, :3] = part.mass * np.eye(3)
    M[3:6, :3], M[:3, 3:6] = s, -s
    M[3:6, 3:6] = np.trace(spread) * np.eye(3) - spread
    M[:3, 6:] = part.first[1:].T
    M[3:6, 6:] = np.stack([_axial(product.T) for product in products[1:]], axis=1)
    M[6:, :6] = M[:6, 6:].T
    M[6:, 6:] = np.einsum("abii->ab", part.second[1:, 1:])
    return M


def _cross(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _axial(B: Array) -> Array:
    """Int rho r x b of B = int rho b r' (3, 3)."""
    return np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])
