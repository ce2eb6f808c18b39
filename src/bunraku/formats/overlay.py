"""A limits overlay, ``bunraku: overlay/1``: what a URDF or MJCF file does not say about a robot, laid over it.

Motors are chosen by the coordinate they drive, exactly or by a pattern (``"*Hip*"``); entries apply in order, later ones win.
Everything else adds to what the character has and replaces what has the same name.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import create_model

from bunraku.character import WORLD, Character, Joint, Motor
from bunraku.character.description import Description, Name, quantity
from bunraku.errors import BadInput
from bunraku.formats.places import Where, known_names, located
from bunraku.formats.units import build
from bunraku.formats.yaml_file import read_yaml


class _Choice(Description):
    match: Name


class _Changes(Description):
    name: Name | None = None
    base: Literal["free", "fixed"] | None = None
    base_height: float | None = quantity("length", None)
    motors: tuple[MotorChange, ...] = ()
    drop_motors: tuple[Name, ...] = ()


def _derived(title: str, base: type[Description], source: type[Description], fields: Iterable[str], meaning: str) -> Any:
    """A description with the fields of ``base`` and some of those of ``source``, whose bounds and quantities it so shares."""
    taken: dict[str, Any] = {name: (source.model_fields[name].annotation, source.model_fields[name]) for name in fields}
    return create_model(title, __base__=base, __module__=__name__, __doc__=meaning, **taken)


_CHANGEABLE = tuple(name for name in Motor.model_fields if name not in ("name", "coordinate"))
_NAMED = {"couplings": "follower", "dependent_ranges": "coordinate"} | dict.fromkeys(
    ("frames", "feet", "end_effectors", "carriages", "strings", "loops", "tendons"), "name"
)
"""Sections whose parts replace those of the same name, with the field that names them."""
_ADDED = (*_NAMED, "groups", "home", "may_touch", "source")

if TYPE_CHECKING:
    MotorChange = _Choice
    Overlay = _Changes
else:
    MotorChange = _derived(
        "MotorChange",
        _Choice,
        Motor,
        _CHANGEABLE,
        """What to change on the motors whose coordinate matches ``match``; fields as in `character.Motor`, only those given change.

        A coordinate named exactly that has no motor gets one.
        """,
    )
    Overlay = _derived(
        "Overlay",
        _Changes,
        Character,
        _ADDED,
        """The sections of an overlay file; all may be left out. Those of `character.Character` are added to it.

        ``base`` frees or fixes the root in the world; ``base_height`` is where it stands at home. A freed base with feet and no
        height is raised or lowered until the lowest sole point touches the ground at home.
        """,
    )


def apply_overlay(character: Character, data: bytes, *, file: str) -> Character:
    """The character with an overlay file laid over it."""
    content = read_yaml(data, file=file, kind="overlay")
    overlay = build(Overlay, content.data, file=file, lines=content.lines)
    where = content.where
    joints, home = _base(character, overlay, where)
    motors = _motors(character, overlay, where)
    added: dict[str, Any] = {name: getattr(overlay, name) for name in _ADDED}
    followers = {coupling.follower for coupling in added["couplings"]}
    fields: dict[str, Any] = {
        "joints": joints,
        "motors": tuple(motor for motor in motors if motor.coordinate not in followers),
        **{
            name: tuple({getattr(part, key): part for part in (*getattr(character, name), *added[name])}.values())
            for name, key in _NAMED.items()
        },
        "groups": character.groups | added["groups"],
        "home": home | added["home"],
        "may_touch": tuple(dict.fromkeys((*character.may_touch, *added["may_touch"]))),
        "name": overlay.name or character.name,
        "source": "; ".join(part for part in (character.source, added["source"]) if part),
    }
    try:
        changed: Character = character.changed(**fields)
        if overlay.base == "free" and overlay.base_height is None and changed.feet:
            base = next(joint for joint in changed.joints if joint.parent == WORLD)
            changed = changed.changed(
                home=changed.home | {f"{base.name}.tz": changed.home.get(f"{base.name}.tz", 0.0) - _lowest(changed)}
            )
    except BadInput as error:
        raise where.wrong(str(error).removeprefix("Character: ")) from error
    return changed


def _base(character: Character, overlay: Overlay, where: Where) -> tuple[tuple[Joint, ...], dict[str, float]]:
    home = dict(character.home)
    if overlay.base is None and overlay.base_height is None:
        return character.joints, home
    roots = [joint for joint in character.joints if joint.parent == WORLD]
    if len(roots) != 1:
        names = ", ".join(joint.child for joint in roots)
        raise where.at("base").wrong(f"{len(roots)} bodies hang on the world ({names[:100]}); base is for robots with one root")
    root = roots[0]
    if root.kind not in ("fixed", "free"):
        raise where.at("base").wrong(
            f"the root hangs on the world by a {root.kind} joint, {root.name!r}; it cannot be freed or fixed"
        )
    joint = root
    if overlay.base is not None and overlay.base != root.kind:
        taken = {other.name for other in character.joints if other is not root} | set(character.coordinates)
        name = "base" if "base" not in taken else root.name
        joint = Joint(name=name, kind=overlay.base, parent=WORLD, child=root.child, pose=root.pose)
        home = {key: value for key, value in home.items() if key not in {axis.name for axis in root.axes}}
    if overlay.base_height is not None:
        if joint.kind != "free":
            x, y, _ = joint.pose.position
            joint = joint.changed(pose=joint.pose.changed(position=(x, y, overlay.base_height)))
        else:
            home[f"{joint.name}.tz"] = overlay.base_height - joint.pose.position[2]
    return tuple(joint if other is root else other for other in character.joints), home


def _motors(character: Character, overlay: Overlay, where: Where) -> list[Motor]:
    motors = {motor.coordinate: motor for motor in character.motors}
    for pattern in overlay.drop_motors:
        gone = [name for name in motors if fnmatchcase(name, pattern)]
        if not gone:
            raise where.at("drop_motors").wrong(f"{pattern!r} matches no motor; {known_names(pattern, motors)}")
        for name in gone:
            del motors[name]
    for index, change in enumerate(overlay.motors):
        chosen = [name for name in motors if fnmatchcase(name, change.match)]
        if not chosen and change.match in character.coordinates:
            motors[change.match] = Motor(name=change.match, coordinate=change.match)
            chosen = [change.match]
        if not chosen:
            raise where.at("motors", index, "match").wrong(
                f"{change.match!r} matches no motor; {known_names(change.match, motors)}"
            )
        fields = {name: getattr(change, name) for name in change.model_fields_set if name != "match"}
        for name in chosen:
            with located(where.file, where.at("motors", index).place):
                motors[name] = motors[name].changed(**fields)
    return list(motors.values())


def _lowest(character: Character) -> float:
    """Height [m] of the lowest sole point at home."""
    from bunraku.mechanics.measures.balance import foot_points
    from bunraku.mechanics.tree import compile_tree

    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    nodes, points = foot_points(character, tree)
    world = (at.rotation[nodes] @ points[..., None])[..., 0] + at.position[nodes]
    return float(np.where(nodes < 0, points[:, 2], world[:, 2]).min())
