"""Attaching a component to a socket of a character, on one side or on both.

Every part is a body of its own, fixed or turning, so that what was attached can be taken away again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.building.character_geometry import home_frames, standing_like, zero_frames
from bunraku.building.components.library import Component, Value, component
from bunraku.building.components.making import Spot, make, wheel_body, wheel_tip
from bunraku.building.components.naming import all_names, free_name, mirrored_name
from bunraku.building.components.piece import mirrored, with_piece
from bunraku.building.components.placing import moved, of_pose
from bunraku.building.components.sockets import Socket, sockets
from bunraku.building.servos import on_wheel
from bunraku.building.tips import TIPS
from bunraku.character import Character
from bunraku.errors import BadInput

_MIDDLE = 1e-6
_GAP = 0.002


def attached(
    character: Character,
    socket_name: str,
    part: str | Component,
    dimensions: Mapping[str, Value] | None = None,
    *,
    mirror: bool = False,
    name: str = "",
) -> Character:
    """The character with a component of the library attached to one of its sockets, standing on the ground as it did before.

    ``dimensions`` replace the component's defaults. ``mirror``: its mirror image at the twin of the socket too, where there is
    one; left and right are exchanged in its name. ``name``: what the new part is called, chosen when left out.
    """
    chosen = component(part) if isinstance(part, str) else part
    sizes = chosen.checked(dimensions or {})
    known = {one.name: one for one in sockets(character)}
    if socket_name not in known:
        listed = ", ".join(repr(one) for one in list(known)[:8])
        raise BadInput(f"{character.name!r} has no free socket {socket_name!r}; it has {len(known)}: {listed} and so on")
    first = known[socket_name]
    second = known[first.twin] if mirror and first.twin not in ("", first.name) else None
    names = _names(character, chosen, first, name, second is not None)
    if chosen.kind == "wheel" and TIPS[chosen.name].kind == "active":
        changed = _driven(character, first, chosen, sizes, names[0])
        changed = changed if second is None else _driven(changed, second, chosen, sizes, names[1])
    else:
        changed = _added(character, first, second, chosen, sizes, names)
    return standing_like(changed, character)


def _added(
    character: Character,
    first: Socket,
    second: Socket | None,
    chosen: Component,
    sizes: Mapping[str, Value],
    names: tuple[str, str],
) -> Character:
    home, zero = home_frames(character), zero_frames(character)
    spot = Spot(first.body, of_pose(first.pose), home[first.body])
    piece = make(chosen, sizes, spot, names[0])
    _check_free(character, piece.names, names[0])
    extended = with_piece(character, piece)
    if second is None:
        return extended
    image = mirrored(make(chosen, sizes, spot, names[1]), zero[first.body], second.body, zero[second.body])
    _check_free(extended, image.names, names[1])
    return with_piece(extended, image)


def _driven(character: Character, place: Socket, chosen: Component, sizes: Mapping[str, Value], name: str) -> Character:
    """A driven wheel in place of the plate on the horn of a motor: it turns without end."""
    axle = next((joint for joint in character.joints if joint.child == place.body and joint.kind == "hinge"), None)
    if place.kind != "horn" or axle is None:
        raise BadInput(
            f"{chosen.name!r} is driven and goes on the horn of a motor; {place.name!r} is none: attach a motor there first"
        )
    outward = of_pose(place.pose)[0][:, 2]
    if abs(float(outward @ np.array(axle.axes[0].direction))) < 1.0 - 1e-9:
        raise BadInput(f"the shaft of {axle.name!r} lies across its socket; a wheel goes on a motor whose shaft points outward")
    if axle.parent != f"{axle.name} case" or place.body != f"{axle.name} output":
        raise BadInput(f"{place.name!r} carries a link already; attach a motor to its end and the wheel to that")
    if any(joint.parent == place.body for joint in character.joints):
        raise BadInput(f"the horn {place.name!r} carries something else; take that away first")
    _check_free(character, {name}, name)
    model, radius = TIPS[chosen.name], float(sizes["radius"])
    center = (0.0, 0.0, _GAP + model.width / 2.0)
    wheel = wheel_body(model, radius, name, center, axle.axis)
    tip = wheel_tip(model, name, center, axle.axis, radius)
    return character.changed(
        bodies=tuple(wheel if body.name == place.body else body for body in character.bodies),
        joints=tuple(joint.changed(child=name, range=None) if joint.name == axle.name else joint for joint in character.joints),
        motors=tuple(on_wheel(motor) if motor.coordinate == axle.name else motor for motor in character.motors),
        frames=tuple(frame.changed(body=name) if frame.body == place.body else frame for frame in character.frames),
        may_touch=tuple(tuple(name if body == place.body else body for body in pair) for pair in character.may_touch),
        end_effectors=(*character.end_effectors, tip),
    )


def _names(character: Character, chosen: Component, first: Socket, name: str, both: bool) -> tuple[str, str]:
    """The name of the new part, and that of its mirror image."""
    side = float(moved(zero_frames(character)[first.body], first.pose.position)[1][1])
    left, right = ("left", "right") if side > 0.0 else ("right", "left")
    if name:
        other = mirrored_name(name)
        if not both or other != name:
            return name, other
        return f"{name} {left}", f"{name} {right}"
    taken = all_names(character)
    if abs(side) < _MIDDLE:
        return free_name(chosen.kind, taken), ""
    free = free_name(f"{left} {chosen.kind}", taken if not both else taken | {mirrored_name(one) for one in taken})
    return free, mirrored_name(free)


def _check_free(character: Character, names: set[str], name: str) -> None:
    clash = names & all_names(character)
    if clash:
        raise BadInput(f"{sorted(clash)[0]!r} is taken in {character.name!r}; call the new part something else than {name!r}")
