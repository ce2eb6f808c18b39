"""How fast is exudyn? Its reduced floating frame and ours on the same rod, in one process.

The study's upright rod (0.7 m, 0.1 kg at the tip, 26,466 unknowns) dances for 4 s in steps of 0.5 ms. exudyn: FFRFreducedOrder with
its own ten Hurty-Craig-Bampton modes (RBE3 interfaces), generalized-alpha (0.9), a motor callback in Python, modified Newton (the
faster of its two). Ours, linear: the same ten modes without the quadratic strain, which must be the same motion within 0.01 mm RMS;
ours as used: bending, twist and modal derivatives with the exact strain. Beside it, how far linear elasticity is from that: what a
rod's own weight and large bending make. Judged: 0.01 mm, and ours as used at least 5 times as fast, thread CPU time of one core,
the best of three runs each (exudyn: the whole dance and twice its first half second). Without exudyn (pip install 'bunraku[peers]')
only our own speed is printed.

Run: python benchmarks/how_fast_is_exudyn.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_matrix

from _rods import STEEL, dance, one_rod, rms
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.elastic.part import PartSolid, part_solid
from bunraku.mechanics.elastic.reduction.reduce import child_interface, mass_invariants
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.mechanics.tree import compile_tree

DT, SECONDS, MODES = 5e-4, 4.0, 10
STEPS = round(SECONDS / DT)
SAME, FASTER = 1e-5, 5.0
GRAVITY = [0.0, 0.0, -9.81]


def exudyn_modes(made: PartSolid):
    """Exudyn's view of the mesh with its ten modes: six of the end interface, four with both interfaces held."""
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection

    fem, faces = FEMinterface(), (made.base, made.children[0])
    fem.nodes = {"Position": np.array(made.solid.mesh.nodes)}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(made.solid.mass), csr_matrix(made.solid.stiffness())
    fem.surface = [{"Name": "none", "Trigs": np.zeros((0, 3), dtype=int)}]
    fem.ComputeHurtyCraigBamptonModes(
        [face.nodes.tolist() for face in faces],
        nEigenModes=MODES - 6,
        computationMode=HCBstaticModeSelection.RBE3,
        boundaryNodesWeights=[face.weights for face in faces],
        timerTreshold=10**9,
    )
    return fem


def exudyn_run(fem, made: PartSolid, steps: int) -> tuple[np.ndarray, float]:
    """Tip positions (steps + 1, 3) [m] and thread CPU time [s] a step."""
    import exudyn
    import exudyn.itemInterface as items  # noqa: N813
    from exudyn.FEM import ObjectFFRFreducedOrderInterface
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    container = exudyn.SystemContainer()
    mbs = container.AddSystem()
    rod = ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(
        mbs, stiffnessProportionalDamping=STEEL.strain_damping, gravity=GRAVITY
    )["oFFRFreducedOrder"]
    start, end = (
        mbs.AddMarker(
            items.MarkerSuperElementRigid(
                bodyNumber=rod, meshNodeNumbers=face.nodes.tolist(), weightingFactors=face.weights.tolist()
            )
        )
        for face in (made.base, made.children[0])
    )
    ground = mbs.AddObject(items.ObjectGround())
    hub = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=made.base.centroid.tolist()))

    def motor(_mbs, t: float, _item, _parameters) -> list[float]:
        return [0.0, 0.0, 0.0, 0.0, float(dance(np.float64(t))), 0.0]

    mbs.AddObject(items.GenericJoint(markerNumbers=[hub, start], constrainedAxes=[1] * 6, offsetUserFunction=motor))
    tip = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(mass=0.1, inertiaTensor=7.84e-6 * np.eye(3)),
        referencePosition=made.children[0].centroid.tolist(),
        gravity=GRAVITY,
        returnDict=True,
    )["bodyNumber"]
    fixed = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=tip, localPosition=[0.0, 0.0, 0.0]))
    mbs.AddObject(items.GenericJoint(markerNumbers=[end, fixed], constrainedAxes=[1] * 6))
    sensor = mbs.AddSensor(
        items.SensorBody(bodyNumber=tip, storeInternal=True, outputVariableType=exudyn.OutputVariableType.Position)
    )
    mbs.Assemble()
    options = exudyn.SimulationSettings()
    options.timeIntegration.numberOfSteps, options.timeIntegration.endTime = steps, steps * DT
    options.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    options.timeIntegration.newton.useModifiedNewton = True
    options.timeIntegration.verboseMode = 0
    options.solution.sensors.writePeriod, options.solution.file.write = DT, False
    begin = time.thread_time()
    mbs.SolveDynamic(options)
    spent = time.thread_time() - begin
    return np.array(mbs.GetSensorStoredData(sensor))[:, 1:], spent / steps


def linear_system(made: PartSolid, basis: np.ndarray) -> System:
    """Our system of the rod in the span of ``basis`` (3 n, MODES), linear elasticity."""
    solid = made.solid
    squares, mix = eigh(basis.T @ (solid.stiffness() @ basis), basis.T @ (solid.mass @ basis))
    shapes = np.ascontiguousarray((basis @ mix).T)
    N, E = mass_invariants(solid, shapes)
    face = child_interface(made.children[0], shapes)
    segment = FlexibleSegment(solid.total_mass, N, E, (face,), np.diag(np.sqrt(squares)), beta=STEEL.strain_damping)
    tree = compile_tree(one_rod(level=False))
    return build_system(tree, kinematic=("turn",), segments=[Flexible("rod", segment, "hub", ("tip",))])


def own_run(system: System, start: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Tip positions (STEPS + 1, 3) [m] and the least thread CPU time [s] a step of three runs."""
    K = dance(DT * np.arange(STEPS + 1))[:, None]
    simulate(system, K[:5], DT, start=start)
    spent = []
    for _ in range(3):
        begin = time.thread_time()
        motion = simulate(system, K, DT, start=start)
        spent.append(time.thread_time() - begin)
    motion.require()
    return track(system, positions=("tip",)).observe(motion.q).positions[:, 0], min(spent) / STEPS


def main() -> int:
    """Prints the table; 1 when a bar is missed."""
    character = one_rod(level=False)
    made = part_solid(character, character.flexibles[0])
    used = flexible_system(character).system
    own, spent = own_run(used, None)
    print(f"{'model':34s} {'modes':>5s} {'steps/s':>9s} {'x':>6s}")
    print(f"{'ours, as used (nonlinear)':34s} {used.nd:5d} {1.0 / spent:9.0f}")
    try:
        import exudyn
    except ImportError:
        print("exudyn is not installed (pip install 'bunraku[peers]'): nothing to compare with")
        return 0
    fem = exudyn_modes(made)
    foreign, theirs = exudyn_run(fem, made, STEPS)
    theirs = min(theirs, *(exudyn_run(fem, made, 1000)[1] for _ in range(2)))
    system = linear_system(made, fem.modeBasis["matrix"])
    linear, quick = own_run(system, np.zeros(system.nq))
    print(f"{'ours, linear':34s} {system.nd:5d} {1.0 / quick:9.0f} {theirs / quick:6.1f}")
    print(f"{'exudyn ' + exudyn.__version__ + ', FFRFreducedOrder':34s} {MODES:5d} {1.0 / theirs:9.0f} {1.0:6.1f}")
    off, ratio = rms(linear - foreign), theirs / spent
    print(f"ours, linear, from exudyn: {1e3 * off:.4f} mm RMS (bar {1e3 * SAME:g})")
    print(f"ours, as used, {ratio:.1f} times as fast (bar {FASTER:g})")
    print(f"linear elasticity from ours, as used: {1e3 * rms(linear - own):.1f} mm RMS")
    return int(not (off <= SAME and ratio >= FASTER))


if __name__ == "__main__":
    sys.exit(main())
