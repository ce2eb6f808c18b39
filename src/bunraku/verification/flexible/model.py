"""A character with rods as a MuJoCo model that a replay can drive: every rod a chain of rigid links, motors that move as sent.

A beam of length L becomes n hinges, spaced by a = L / n, between n + 1 rigid links, of which the first and the last are half as
long as the others: the curvature of each piece of length a is gathered in its middle, so that the chain is a beam to second order
in 1/n. A hinge turns about x and y, with stiffness E I / a, and about z, with G J / a; from one to the next the order of these
turns is reversed, since they do not commute and a fixed order would make two bendings a twist of first order in 1/n. Damping is
beta times stiffness. Shear and stretch are left out. Driven coordinates are too heavy (``HEAVY``) to be moved by anything but what
they are sent.

MuJoCo steps springs explicitly and damping implicitly: a mode w with damping beta is stable when h^2 w^2 < 4 + 2 h beta w^2, always
when h < 2 beta. Twisting of rods is far faster than anything seen; where its damping is less than ``h`` needs it is raised to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, ElasticMaterial, FlexiblePart, Joint, Pose
from bunraku.errors import BadInput
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.mechanics.systems.character_system import joint_springs
from bunraku.mechanics.tree import compile_tree
from bunraku.verification.flexible.beam_section import BeamSection, beam_section
from bunraku.verification.foreign import mass_matrix, named, simulable

Indices = NDArray[np.int64]

HEAVY = 1e6
"""Inertia [kg m^2, kg] of driven coordinates: a torque of 10 N m turns one by 1e-5 rad/s^2 before it is put right."""

_SAFE = 0.7


@dataclass(frozen=True)
class ChainSpring:
    """A spring of a chain: the coordinate, its stiffness [N m/rad], damping [N m s/rad], and whether it twists."""

    coordinate: str
    stiffness: float
    damping: float
    twists: bool


@dataclass(frozen=True)
class ChainModel:
    """The MuJoCo model, with places of the driven and of the other coordinates in qpos (equal to those in qvel).

    ``driven`` (k,): in the order of the motors; ``followers``: (follower, driver, ratio, offset) of each coupling to a motor;
    ``free`` (m,): what physics moves; ``home`` (nq,): the character at home, rods unbent; ``links``: hinges a rod, 0 where
    parts are no chains. ``timestep`` [s] is at most the one asked for.
    """

    model: Any
    driven: Indices
    free: Indices
    followers: tuple[tuple[int, int, float, float], ...]
    sites: Indices
    home: Array
    links: int

    @property
    def timestep(self) -> float:
        """Step of the simulation [s]."""
        return float(self.model.opt.timestep)

    @property
    def held(self) -> Indices:
        """Places of all prescribed coordinates: driven ones, then followers."""
        return np.concatenate([self.driven, np.array([follower for follower, *_ in self.followers], dtype=np.int64)])

    def prescribed(self, motors: Array) -> Array:
        """Values (..., held) of the prescribed coordinates when the motors are at (..., k)."""
        columns = {int(place): motors[..., i] for i, place in enumerate(self.driven)}
        more = [ratio * columns[driver] + offset for _, driver, ratio, offset in self.followers]
        return np.concatenate([motors, np.stack(more, axis=-1)], axis=-1) if more else motors

    def positions(self, data: Any) -> Array:
        """World positions (frames, 3) [m] of the frames, after MuJoCo's kinematics."""
        return np.array(data.site_xpos[self.sites])

    def rotations(self, data: Any) -> Array:
        """World rotations (frames, 3, 3) of the frames."""
        return np.array(data.site_xmat[self.sites]).reshape(-1, 3, 3)


def chain_model(
    character: Character,
    *,
    links: int,
    frames: Sequence[str],
    timestep: float = 1e-4,
    torsion: bool = True,
) -> ChainModel:
    """The model with ``links`` hinges in every rod, a time step of at most ``timestep`` [s], and sites at frames or bodies."""
    chained, hinges = chain_character(character, links=links, torsion=torsion)
    foreign = bare_model(character, chained, frames, timestep, links=links)
    _springs(foreign, hinges, timestep)
    return foreign


def bare_model(character: Character, loose: Character, frames: Sequence[str], timestep: float, *, links: int = 0) -> ChainModel:
    """The character in MuJoCo as ``loose``, in which something else stands for its flexible parts, without springs for it."""
    model = _compiled(character, loose, frames, timestep)
    place = {model.joint(i).name: int(model.jnt_qposadr[i]) for i in range(model.njnt)}
    driven = np.array([place[name] for name in character.driven], dtype=np.int64)
    followers = tuple(
        (place[c.follower], place[c.driver], c.ratio, c.offset) for c in character.couplings if c.driver in character.driven
    )
    held = {*driven.tolist(), *(follower for follower, *_ in followers)}
    free = np.array([i for i in range(model.nq) if i not in held], dtype=np.int64)
    frame_names = {frame.name for frame in character.frames}
    sites = np.array([model.site(name if name in frame_names else f"body {name}").id for name in frames], dtype=np.int64)
    home = np.zeros(model.nq)
    tree = compile_tree(character)
    for name, value in zip(tree.names, tree.home, strict=True):
        home[place[name]] = value
    model.jnt_stiffness[:] = 0.0
    for spring in joint_springs(character):
        joint = model.joint(spring.coordinate).id
        model.jnt_stiffness[joint], model.qpos_spring[place[spring.coordinate]] = spring.stiffness, spring.rest
    return ChainModel(model, driven, free, followers, sites, home, links)


def _compiled(character: Character, chained: Character, frames: Sequence[str], timestep: float) -> Any:
    """The MuJoCo model of the character with chains, without springs and with light motors."""
    import mujoco

    text, notes = export_mjcf(
        chained, free_base_as_quaternion=False, floor=False, self_collision=False, actuators=False, timestep_s=timestep
    )
    lost = next((note for note in notes if "closes a loop is not written" in note), None)
    if lost is not None:
        raise BadInput(f"{character.name!r} cannot be replayed as chains: {lost}")
    with simulable(character):
        spec = mujoco.MjSpec.from_string(text)
        frame_names = {frame.name for frame in character.frames}
        for name in frames:
            if name not in frame_names:
                if name not in {body.name for body in character.bodies}:
                    raise BadInput(f"there is no frame or body {name!r} in {character.name!r}")
                named(spec.bodies, name).add_site(name=f"body {name}")
        for equality in spec.equalities:
            equality.solimp = [0.9999, 0.9999, 0.001, 0.5, 2.0]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.tolerance, spec.option.iterations = 1e-12, 100
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        return spec.compile()


def _springs(foreign: ChainModel, hinges: Sequence[ChainSpring], timestep: float) -> None:
    """Springs and heavy motors, and the largest stable step that divides ``timestep`` by a power of two."""
    import mujoco

    model = foreign.model
    for hinge in hinges:
        joint = model.joint(hinge.coordinate).id
        model.jnt_stiffness[joint] = hinge.stiffness
        model.dof_damping[model.jnt_dofadr[joint]] += hinge.damping
    h = timestep
    if len(foreign.free):
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        full = mass_matrix(model, data)
        model.stat.meaninertia = float(np.mean(np.diag(full)[foreign.free]))
        h = _stable_step(foreign, hinges, full, timestep)
    for hinge in hinges:
        if hinge.twists and hinge.damping < 0.6 * h * hinge.stiffness:
            model.dof_damping[model.jnt_dofadr[model.joint(hinge.coordinate).id]] += 0.6 * h * hinge.stiffness - hinge.damping
    model.opt.timestep = h
    model.eq_solref[:, 0] = np.where(model.eq_type == mujoco.mjtEq.mjEQ_JOINT, model.eq_solref[:, 0], 2.0 * h)
    for place in foreign.held:
        joint = int(model.dof_jntid[place])
        model.jnt_limited[joint], model.dof_armature[place] = False, HEAVY
    mujoco.mj_setConst(model, mujoco.MjData(model))


def _stable_step(foreign: ChainModel, hinges: Sequence[ChainSpring], mass: Array, timestep: float) -> float:
    """The largest h = timestep / 2^k with h^2 w^2 < 4 + 2 h beta w^2 for the fastest bending mode w, held in by a margin."""
    model = foreign.model
    bending = [hinge for hinge in hinges if not hinge.twists]
    places = np.array([int(model.jnt_qposadr[model.joint(hinge.coordinate).id]) for hinge in bending], dtype=np.int64)
    if not len(places):
        return timestep
    root = np.sqrt(np.array([hinge.stiffness for hinge in bending]))
    inverse_mass = np.linalg.inv(mass[np.ix_(foreign.free, foreign.free)])
    where = np.searchsorted(foreign.free, places)
    fastest = float(np.linalg.eigvalsh(root[:, None] * inverse_mass[np.ix_(where, where)] * root).max())
    beta = min(hinge.damping / hinge.stiffness for hinge in bending)
    h = timestep
    while h**2 * fastest > _SAFE * 4.0 + 2.0 * _SAFE * h * beta * fastest:
        h *= 0.5
    return h


def chain_character(character: Character, *, links: int, torsion: bool = True) -> tuple[Character, list[ChainSpring]]:
    """The character with a chain for every flexible part, and the springs of the chains. Parts that are no beams raise BadInput."""
    if links < 2:
        raise BadInput(f"{links} links were asked for; a chain needs 2 or more")
    soft = next((motor.name for motor in character.motors if motor.torsional_stiffness is not None), None)
    if soft is not None:
        raise BadInput(f"the motor {soft!r} states a torsional stiffness; chains are driven by rigid motors only")
    materials = {material.name: material for material in character.materials}
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    bodies, joints, hinges = list(character.bodies), {joint.child: joint for joint in character.joints}, list[ChainSpring]()
    for part in character.flexibles:
        section, material = beam_section(part), materials[part.material]
        X_WB: Rigid = at.pose(part.base) if part.base != WORLD else NO_MOVE
        X_BC = compose(inverse(X_WB), at.pose(part.children[0].body))
        rigidity = dict(zip("xyz", section.rigidity(material), strict=True))
        pieces, linked, springs, X_BE = _chain(part, section, material, rigidity, links, torsion)
        last = joints[part.children[0].body]
        joints[last.child] = last.changed(parent=pieces[-1].name, pose=as_pose(compose(inverse(X_BE), X_BC)))
        bodies += pieces
        joints |= {joint.child: joint for joint in linked}
        hinges += springs
    return character.changed(bodies=tuple(bodies), joints=tuple(joints.values()), flexibles=(), materials=()), hinges


def _chain(
    part: FlexiblePart, section: BeamSection, material: ElasticMaterial, rigidity: Mapping[str, float], links: int, torsion: bool
) -> tuple[list[Body], list[Joint], list[ChainSpring], Rigid]:
    """Links, joints and springs of one part, and where the last link's frame stands on the base when nothing bends."""
    a, X_BP = section.length / links, of_pose(part.pose)
    start: Rigid = NO_MOVE
    if part.base_patch == "end":  # from the far end back: the same section, seen from the other side
        start = np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, section.length])
    X_BE = compose(X_BP, start)
    bodies, joints, springs = list[Body](), list[Joint](), list[ChainSpring]()
    for i in range(links + 1):
        length = a if 0 < i < links else 0.5 * a
        body, name = _link(f"{part.name} link {i}", section, material.density, length), f"{part.name} hinge {i}"
        if i == 0:
            joints.append(Joint(name=name, kind="fixed", parent=part.base, child=body.name, pose=as_pose(X_BE)))
        else:
            ahead = Pose(position=(0.0, 0.0, 0.5 * a if i == 1 else a))
            joint = Joint(name=name, parent=bodies[-1].name, child=body.name, pose=ahead, **_turns(i, torsion))
            for axis in joint.axes:
                about = "xyz"[int(np.argmax(np.abs(axis.direction)))]
                springs.append(
                    ChainSpring(axis.name, rigidity[about] / a, material.strain_damping * rigidity[about] / a, about == "z")
                )
            joints.append(joint)
        bodies.append(body)
    return bodies, joints, springs, compose(X_BE, (np.eye(3), np.array([0.0, 0.0, section.length - 0.5 * a])))


def _turns(i: int, torsion: bool) -> dict[str, Any]:
    if torsion:
        return {"kind": "ball", "sequence": "xyz" if i % 2 else "zyx"}
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    return {"kind": "universal", "axis": x if i % 2 else y, "second_axis": y if i % 2 else x}


def _link(name: str, section: BeamSection, density: float, length: float) -> Body:
    line, along = density * section.area * length, density * section.area * length**3 / 12.0
    x, y = (density * second * length for second in section.bending)
    return Body(name=name, mass=line, center_of_mass=(0.0, 0.0, 0.5 * length), inertia=(x + along, y + along, x + y, 0.0, 0.0, 0.0))
