"""Closed chains: which joints of a graph with cycles make the tree, and which are cut and close its loops.

A character's joints may make cycles: a body that is the child of two joints, or a joint whose child is the world. The tree is
grown from the world, breadth first, along joints in their own direction (parent to child); what then leads into a body that hangs
already is cut. Among joints into the same body a fixed joint that a flexible part takes the place of is kept before all others,
then those that something refers to (motors, couplings, tendons), then free ones and those with a range, damping, spring, friction
or rotor; then the nearest to the world; then the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from heapq import heappop, heappush

from bunraku.character.body import Body, Pose
from bunraku.character.joint import Joint

_NONE = Pose()


def cut_loops(
    joints: Sequence[Joint],
    bodies: Sequence[Body],
    world: str,
    needed: Collection[str],
    bending: Collection[tuple[str, str]] = (),
) -> tuple[tuple[Joint, ...], tuple[Joint, ...], tuple[Body, ...]]:
    """Split joints into those of the tree and those that close its loops, both in the order given; and the bodies it then has.

    ``needed`` are the coordinates that something refers to, ``bending`` the ends (base, child) of flexible parts. A joint of the
    tree whose frame stands apart from its child's (``child_pose``) ends at a new massless body ``child@joint``, to which the
    child is fixed. Raises ValueError when a body cannot be reached from the world, or a joint that is needed had to be cut.
    """
    weight = {joint.name: _weight(joint, needed, bending) for joint in joints}
    best: dict[str, int] = defaultdict(int)
    below: dict[str, list[int]] = defaultdict(list)
    for index, joint in enumerate(joints):
        best[joint.child] = max(best[joint.child], weight[joint.name])
        below[joint.parent].append(index)
    depth, kept, open_ = {world: 0}, set(), list[tuple[bool, int, int]]()

    def reach(body: str) -> None:
        for index in below[body]:
            heappush(open_, (weight[joints[index].name] < best[joints[index].child], depth[body], index))

    reach(world)
    while open_:
        taken = joints[heappop(open_)[2]]
        if taken.child not in depth:
            depth[taken.child] = depth[taken.parent] + 1
            kept.add(taken.name)
            reach(taken.child)
    if len(depth) <= len(bodies):
        _lost(joints, [body.name for body in bodies if body.name not in depth])
    for joint in joints:
        cut = [axis.name for axis in joint.axes if axis.name in needed]
        if joint.name not in kept and cut:
            raise ValueError(
                f"joint {joint.name!r} closes a loop, so the coordinate {cut[0]!r}, which something refers to, is lost; move "
                "the motor, coupling or tendon to another joint of the loop"
            )
    tree = [joint for joint in joints if joint.name in kept]
    return _straight(tree, [joint for joint in joints if joint.name not in kept], bodies)


def check_loops(loops: Sequence[Joint], ends: Collection[str]) -> None:
    """Raise ValueError when joints that close loops do not fit the bodies called ``ends`` (the world included)."""
    for loop in loops:
        if loop.kind == "free":
            raise ValueError(f"the free joint {loop.name!r} closes a loop, and a free joint closes nothing; leave it out")
        if loop.parent == loop.child:
            raise ValueError(f"joint {loop.name!r} connects {loop.parent!r} with itself; name two bodies")
        for end in (loop.parent, loop.child):
            if end not in ends:
                raise ValueError(f"joint {loop.name!r} closes a loop at {end!r}, which is no body")


def _weight(joint: Joint, needed: Collection[str], bending: Collection[tuple[str, str]]) -> int:
    """How much would be lost by cutting a joint.

    3 when a flexible part takes its place, 2 when something refers to it, 1 when it does more than connect, else 0.
    """
    if joint.kind == "fixed" and (joint.parent, joint.child) in bending:
        return 3
    if any(axis.name in needed for axis in joint.axes):
        return 2
    more = joint.kind == "free" or joint.range is not None or any(joint.ranges)
    return int(more or max(joint.damping, joint.stiffness, joint.friction, joint.armature) > 0.0)


def _lost(joints: Sequence[Joint], lost: list[str]) -> None:
    hung = {joint.child for joint in joints}
    loose = sorted(name for name in lost if name not in hung)
    if loose:
        raise ValueError(f"the body {loose[0]!r} hangs on no joint; connect it, or fix it to 'world'")
    raise ValueError(f"the bodies {' - '.join(sorted(lost)[:8])} hang on each other and none on the world; connect one to 'world'")


def _straight(
    tree: Sequence[Joint], loops: Sequence[Joint], bodies: Sequence[Body]
) -> tuple[tuple[Joint, ...], tuple[Joint, ...], tuple[Body, ...]]:
    """The same with every ``child_pose`` of the tree turned into a fixed joint behind a massless body."""
    if all(joint.child_pose == _NONE for joint in tree):
        return tuple(tree), tuple(loops), tuple(bodies)
    straight, between = [], []
    names = {body.name for body in bodies} | {joint.name for joint in (*tree, *loops)}
    for joint in tree:
        if joint.child_pose == _NONE:
            straight.append(joint)
            continue
        name = f"{joint.child}@{joint.name}"
        while name in names:
            name += "_"
        names.add(name)
        between.append(Body(name=name))
        straight.append(joint.changed(child=name, child_pose=_NONE))
        straight.append(Joint(name=name, kind="fixed", parent=name, child=joint.child, pose=joint.child_pose.inverse()))
    return tuple(straight), tuple(loops), (*bodies, *between)
