"""Flexible parts taken as rigid: the character as it is when nothing bends, with the mass of its parts."""

from __future__ import annotations

from bunraku.character import WORLD, Body, Character, FlexiblePart, Joint, Pose, Shape


def with_rigid_parts(character: Character) -> Character:
    """The character with its flexible parts as rigid bodies, fixed to what they stand on.

    The fixed joints that the parts took the place of hold again, so the parts only add their mass, inertia and, of ready shapes, a
    solid to look at. A joint that closes a loop between bodies now rigidly connected is left out.
    """
    from bunraku.mechanics.elastic.part import part_solids  # meshes and sparse matrices: nothing that a rigid robot needs
    from bunraku.mechanics.flexible.carried import lump_of_solid

    solids = part_solids(character)
    taken = {body.name for body in character.bodies} | {joint.name for joint in (*character.joints, *character.loops)}
    taken |= {frame.name for frame in character.frames}
    bodies, joints = list(character.bodies), list(character.joints)
    for part in character.flexibles:
        lump, name = lump_of_solid(solids[part.name]), part.name
        while name in taken:
            name += "_part"
        taken.add(name)
        J, c = lump.inertia, lump.center
        bodies.append(
            Body(
                name=name,
                mass=lump.mass,
                center_of_mass=(float(c[0]), float(c[1]), float(c[2])),
                inertia=tuple(float(J[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))),
                shapes=_shapes(part),
            )
        )
        joints.append(Joint(name=name, kind="fixed", parent=part.base, child=name, pose=part.pose))
    rigid: Character = character.changed(bodies=tuple(bodies), joints=tuple(joints), flexibles=(), loops=_moving_loops(character))
    return rigid


def _moving_loops(character: Character) -> tuple[Joint, ...]:
    """The joints that close loops between bodies that are not rigidly connected by fixed joints."""
    root = {body.name: body.name for body in character.bodies} | {WORLD: WORLD}

    def of(body: str) -> str:
        while root[body] != body:
            body = root[body]
        return body

    for joint in character.joints:
        if joint.kind == "fixed":
            root[of(joint.child)] = of(joint.parent)
    return tuple(loop for loop in character.loops if of(loop.parent) != of(loop.child))


def rigid_note(character: Character) -> str:
    """One line that says which parts are taken as rigid; empty when there are none."""
    names = [part.name for part in character.flexibles]
    if not names:
        return ""
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"flexible parts are taken as rigid and unbent: {', '.join(names[:6])}{more}"


def _shapes(part: FlexiblePart) -> tuple[Shape, ...]:
    """The solid of a ready shape, to look at; it collides with nothing."""
    shape = part.shape
    match shape.kind:
        case "rod" | "tube":
            half = 0.5 * (shape.length or 0.0)
            size: tuple[float, ...] = (0.5 * (shape.diameter or 0.0), half)
            return (Shape(kind="cylinder", size=size, pose=Pose(position=(0.0, 0.0, half)), collides=False),)
        case "box":
            x, y, z = shape.size or (0.0, 0.0, 0.0)
            return (Shape(kind="box", size=(x / 2, y / 2, z / 2), pose=Pose(position=(0.0, 0.0, z / 2)), collides=False),)
        case "plate":
            low, high = ([function(corner[i] for corner in shape.outline) for i in (0, 1)] for function in (min, max))
            half = 0.5 * (shape.thickness or 0.0)
            middle = Pose(position=(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), half))
            size = (0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), half)
            return (Shape(kind="box", size=size, pose=middle, collides=False),)
        case _:
            return ()
