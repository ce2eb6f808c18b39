"""Actuators and equalities of MJCF: motors of single-axis joints, and couplings that are linear."""

from __future__ import annotations

from bunraku.character import Axis, Coupling, Motor
from bunraku.formats.mjcf_context import Context
from bunraku.formats.places import located
from bunraku.formats.xml_tree import Element, Notes

_SERVOS = {"motor", "position", "velocity", "intvelocity", "general"}


def read_motors(context: Context, root: Element, coordinates: dict[str, Axis], notes: Notes) -> tuple[Motor, ...]:
    """One motor per coordinate that an actuator drives through its joint; others are dropped and noted.

    With gear g, a position servo's force kp (c - g q) - kv g v acts on the joint as g times it: stiffness g² kp, damping g² kv of
    the joint's own speed, range c / g, and torque |g| times the force limit. A velocity servo kv (c - g v) has the speed gain g² kv
    and the velocity c / g. A torque motor's limit is |g| times gain times its control range.
    """
    motors: dict[str, Motor] = {}
    names: set[str] = set()
    for raw in [part for section in root.all("actuator") for part in section.children]:
        actuator = context.resolved(raw, "")
        joint = actuator.get("joint") or actuator.get("jointinparent")
        name = actuator.get("name") or joint
        if raw.tag not in _SERVOS or joint not in coordinates:
            notes.add(f"an actuator ({raw.tag[:40]}) that does not turn or slide one joint dropped")
            continue
        if joint in motors:
            notes.add(f"actuator {name}: the joint {joint} has another already; dropped")
            continue
        while name in names:
            name += "_"
        names.add(name)
        with located(raw.file, raw.place):
            motors[joint] = Motor(name=name, coordinate=joint, **_figures(raw.tag, actuator, coordinates[joint], context))
    return tuple(motors.values())


def _figures(kind: str, actuator: Element, axis: Axis, context: Context) -> dict[str, object]:
    gears = actuator.numbers("gear", (1, 6))
    gear = 1.0 if gears is None else float(gears[0])
    control, force = _limits(actuator, "ctrl", context), _limits(actuator, "force", context)
    figures: dict[str, object] = {}
    torque = None if force is None else max(abs(force[0]), abs(force[1])) * abs(gear)
    gains, biases = actuator.numbers("gainprm", (1, 10)), actuator.numbers("biasprm", (1, 10))
    gain = 1.0 if gains is None or kind != "general" else float(gains[0])
    servo = kind in ("position", "intvelocity")
    if kind == "general" and biases is not None and len(biases) > 1 and biases[1] == -gain:
        servo = True
    if servo and gear:
        kp = gain if kind == "general" else actuator.number("kp", 1.0)
        kv = actuator.number("kv", 0.0)
        if kind == "general" and biases is not None and len(biases) > 2:
            kv = -float(biases[2])
        if kp > 0.0:
            figures |= {"stiffness": kp * gear * gear, "derivative": "speed"}
        if kv >= 0.0 and not actuator.get("dampratio"):
            figures["damping"] = kv * gear * gear
        if actuator.get("inheritrange") and control is None and axis.range is not None:
            figures["range"] = axis.range
        elif control is not None:
            figures["range"] = tuple(sorted((control[0] / gear, control[1] / gear)))
    elif kind == "velocity" and gear:
        kv, most = actuator.number("kv", 1.0), 0.0 if control is None else max(abs(control[0]), abs(control[1])) / abs(gear)
        figures |= ({"speed_gain": kv * gear * gear} if kv > 0.0 else {}) | ({"velocity": most} if most > 0.0 else {})
    elif torque is None and control is not None and kind in ("motor", "general"):
        torque = max(abs(control[0]), abs(control[1])) * abs(gain * gear)
    if torque:
        figures["stall_torque"] = torque
    return figures


def _limits(actuator: Element, what: str, context: Context) -> tuple[float, float] | None:
    values = actuator.numbers(f"{what}range", 2)
    limited = actuator.get(f"{what}limited", "auto")
    if values is None or limited == "false" or (limited == "auto" and not context.autolimits):
        return None
    return float(values[0]), float(values[1])


def read_couplings(
    root: Element, coordinates: dict[str, Axis], reference: dict[str, float], motors: tuple[Motor, ...], notes: Notes
) -> tuple[Coupling, ...]:
    """Couplings of ``<equality><joint>``: y - y0 = a0 + a1 (x - x0), with x0, y0 the joints' references; only linear ones."""
    driven = {motor.coordinate for motor in motors}
    couplings: dict[str, Coupling] = {}
    for entry in [part for section in root.all("equality") for part in section.children]:
        if entry.tag in ("connect", "weld"):
            continue
        follower, driver = entry.get("joint1"), entry.get("joint2")
        if entry.tag != "joint" or follower not in coordinates or driver not in coordinates or entry.get("active") == "false":
            notes.add(f"an equality ({entry.tag[:40]}) that couples no two joints dropped")
            continue
        given = entry.numbers("polycoef", (1, 5))
        a = [0.0, 1.0, 0.0, 0.0, 0.0] if given is None else [*(float(part) for part in given), *[0.0] * 5][:5]
        if any(a[2:]) or a[1] == 0.0:
            notes.add(f"the coupling of {follower} to {driver} is not linear; dropped")
            continue
        if follower in driven or follower in couplings or driver == follower:
            notes.add(f"the coupling of {follower} to {driver} dropped: {follower} is driven already")
            continue
        offset = reference.get(follower, 0.0) + a[0] - a[1] * reference.get(driver, 0.0)
        couplings[follower] = Coupling(driver=driver, follower=follower, ratio=a[1], offset=offset)
    for follower, coupling in list(couplings.items()):
        if coupling.driver in couplings:
            notes.add(f"the coupling of {follower} dropped: {coupling.driver} follows another itself")
            del couplings[follower]
    return tuple(couplings.values())
