"""A character as a mechanical system, with everything its description says: loops, strings, tendons, motors, damping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.constraints import Constraint, Distance
from bunraku.mechanics.dynamics.forces import CoordinateForce, Damping, Force
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, Potential
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.systems.loops import close_loops, loop_gaps
from bunraku.mechanics.systems.strings import home_lengths, with_carriages
from bunraku.mechanics.tree import compile_tree


def character_system(
    character: Character,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    damping: float | Mapping[str, float] | None = None,
    kinematic: Sequence[str] = (),
    torques: bool = False,
    potentials: Sequence[Potential] = (),
    forces: Sequence[Force] = (),
    constraints: Sequence[Constraint] = (),
    inputs: Sequence[str] = (),
) -> System:
    """The system of a character: its joints' coordinates, dynamic but for ``kinematic`` ones, its strings and their carriages.

    Closed chains are found from the character's loops and need not be stated; rows that repeat others are left out. Inputs are the
    tensions [N] of its tendons, by their names; with ``torques`` also the torque [N·m or N] of each motor, by its name; then
    ``inputs`` for the given ``forces``. ``gravity`` [m/s²]. ``damping`` of the joints [N·m·s/rad or N·s/m]: one number for all
    coordinates, a number for each of some (the others undamped), or None for what the joints state. Flexible parts are unbent and
    have no mass here; `bunraku.mechanics.flexible` lets them bend.
    """
    tree = compile_tree(with_carriages(character))
    prescribed = (*kinematic, *character.prescribed)
    coefficients = _damping(character, damping)
    drive: list[Force] = [Damping(coefficients)] if coefficients else []
    drives = [(name, tendon.name, arm) for tendon in character.tendons for name, arm in tendon.moment_arms.items()]
    driving = [tendon.name for tendon in character.tendons]
    if torques:
        drives += [(motor.coordinate, motor.name, 1.0) for motor in character.motors]
        driving += [motor.name for motor in character.motors]
    ratios = {c.follower: (c.driver, c.ratio) for c in character.couplings}
    for name, source, arm in drives:
        driver, ratio = ratios.get(name, (name, 1.0))
        drive.append(CoordinateForce(driver, source, arm * ratio))
    names = (*driving, *inputs)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"two inputs are called {twice!r}; rename a tendon, motor or input")
    held: list[Constraint] = [Distance(s.carriage, Place(s.hook, s.point), s.coordinate, s.name) for s in character.strings]
    held += close_loops(character, tree, kinematic=prescribed).constraints
    return build_system(
        tree,
        kinematic=prescribed,
        lengths=[string.coordinate for string in character.strings],
        inputs=names,
        gravity=gravity,
        potentials=[*joint_springs(character), *potentials],
        forces=[*drive, *forces],
        constraints=[*held, *constraints],
        armature={axis.name: joint.armature for joint in character.joints for axis in joint.axes if joint.armature},
    )


def joint_springs(character: Character) -> list[CoordinateSpring]:
    """The springs of the joints without motor: each coordinate is drawn to its home value (a follower acts on its driver)."""
    driven = set(character.driven)
    ratios = {c.follower: (c.driver, c.ratio, c.offset) for c in character.couplings}
    springs = []
    for joint in character.joints:
        for axis in joint.axes if joint.stiffness else ():
            driver, ratio, offset = ratios.get(axis.name, (axis.name, 1.0, 0.0))
            if driver in driven:
                continue
            home = ratio * character.home.get(driver, 0.0) + offset
            springs.append(CoordinateSpring(driver, joint.stiffness * ratio**2, (home - offset) / ratio))
    return springs


def character_home(character: Character, system: System) -> Array:
    """The home configuration (nq,) of a character's system: joints and carriages at home, strings as long as at home, loops closed.

    A home that does not close is moved to the nearest pose that does; BadInput says how far apart its ends are when there is none.
    """
    q = system.home.copy()
    if character.strings:
        q[[system.index(string.coordinate) for string in character.strings]] = home_lengths(character)
    if not character.loops:
        return q
    closed = make_consistent(system, q)
    if not closed.status.good:
        gaps = loop_gaps(character, system.tree, system.tree_configuration(q))
        name = max(gaps, key=lambda key: gaps[key][0])
        raise BadInput(f"no pose near home closes every loop; {name!r} is {1e3 * gaps[name][0]:.3g} mm open there")
    return closed.q


def _damping(character: Character, damping: float | Mapping[str, float] | None) -> dict[str, float]:
    """The damping by coordinate, where there is any; followers of couplings have none of their own."""
    if damping is None:
        coefficients = {axis.name: joint.damping for joint in character.joints for axis in joint.axes}
    elif isinstance(damping, Mapping):
        coefficients = dict(damping)
    else:
        coefficients = dict.fromkeys(character.coordinates, float(damping))
    bad = [name for name, value in coefficients.items() if not (np.isfinite(value) and value >= 0.0)]
    if bad:
        raise BadInput(f"the damping of {bad[0]!r} is {coefficients[bad[0]]}; it must be a number that is not negative")
    followers = {coupling.follower for coupling in character.couplings}
    return {name: value for name, value in coefficients.items() if value and name not in followers}
