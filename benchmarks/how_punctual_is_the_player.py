"""How punctual is the player? 26 servos at 100 Hz on a simulated Dynamixel bus in a process of its own, a sound card that errs.

The player's master clock is a simulated sound card whose quartz errs by 80 ppm (48 ms in 10 minutes) and tells its time in blocks
of 10 ms. Lateness is that of the moment a command leaves the player. Skew and drift are measured at the other end: when whole
commands arrived at the bus, against the time of that clock. An emergency stop by OSC is timed from its sending to the release: of
a dry run, of the bus, and of a bus whose answers have begun to come a quarter of a second late. On a busy computer the figures are
those of the computer: look at the load.

Run: python benchmarks/how_punctual_is_the_player.py [--minutes 0.5]
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import socket
import sys
import threading
import time
from multiprocessing.connection import Connection

import numpy as np

from bunraku.character import Body, Character, Joint, Motor
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.drivers import open_driver
from bunraku.stage.devices.fault import DeviceFault
from bunraku.stage.devices.simulated.fault import SimulatedFault
from bunraku.stage.devices.simulated.machine import SimulatedMachine
from bunraku.stage.player.clock import SimulatedSoundClock
from bunraku.stage.player.cues import Cues
from bunraku.stage.player.described import described_device
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.player.rehearsal import simulated_machine
from bunraku.stage.player.undisturbed import undisturbed

SERVOS, RATE, ERROR = 26, 100.0, 80e-6
MEDIAN_MS, P99_MS, SKEW_MS, DRIFT_MS = 0.5, 5.0, 20.0, 1.0


def performance(minutes: float) -> Performance:
    """Every joint swings at a frequency of its own, within its limits, from rest to rest."""
    names = tuple(f"joint{j:02d}" for j in range(SERVOS))
    who = Character(
        name="puppet",
        bodies=tuple(Body(name=f"b{j}", mass=0.1) for j in range(SERVOS)),
        joints=tuple(
            Joint(name=n, kind="hinge", parent=f"b{j - 1}" if j else "world", child=f"b{j}", range=(-1.5, 1.5))
            for j, n in enumerate(names)
        ),
        motors=tuple(Motor(name=n, coordinate=n, velocity=6.0, acceleration=60.0) for n in names),
    )
    t = np.arange(round(60.0 * minutes * RATE) + 1)[:, None] / RATE
    edge = np.minimum(1.0, np.minimum(t, t[-1] - t))
    values = edge**2 * (3.0 - 2.0 * edge) * np.sin(2.0 * np.pi * np.linspace(0.2, 0.7, SERVOS) * t)
    curves = JointCurves(names, RATE, values)
    channels = tuple(Channel(n, "position", "rad", RATE, values[:, j]) for j, n in enumerate(names))
    return Performance(who, "swing", channels, curves, curves, Certificate(Status.CONVERGED, ()), Provenance("bench", {}, {}, {}))


def serve(device: Device, line: Connection) -> None:
    """The bus, until the player hangs up; then the arrival of every command."""
    with undisturbed(), simulated_machine(device) as bus:
        line.send(bus.port)
        line.recv()
        line.send([arrival for arrival, _, _ in bus.commands])


def stops(show: Performance, driver_name: str, *, late: bool = False, count: int = 20) -> np.ndarray:
    """Times [ms] from the sending of an emergency stop by OSC, at any moment of a period, to the release of the machine.

    ``late``: the answer that the player waits for comes a quarter of a second late.
    """
    device, rng, found = described_device([show], driver_name), np.random.default_rng(0), []
    while len(found) < count:
        with contextlib.ExitStack() as stack:
            with undisturbed():
                bus = stack.enter_context(simulated_machine(device)) if driver_name != "dry-run" else None
            player = Player(Show(show), device.changed(port=bus.port, timeout_ms=50.0) if bus is not None else device)
            try:
                driver, sent, released = open_driver(player.device), [], []
            except DeviceFault:  # a computer so busy that the bus seems silent
                continue
            stack.callback(driver.close)
            release = driver.release
            driver.release = lambda release=release, released=released: (release(), released.append(time.monotonic()))[0]
            cues = stack.enter_context(Cues(0))

            def stop(port: int, after: float, bus: SimulatedMachine | None = bus, sent: list[float] = sent) -> None:
                time.sleep(after)
                if late and bus is not None:
                    bus.fault = SimulatedFault.LATE
                    time.sleep(0.015)  # by then the player waits for an answer
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                    sent.append(time.monotonic())
                    line.sendto(b"/bunraku/estop\0\0,\0\0\0", ("127.0.0.1", port))

            assert cues.port is not None
            with undisturbed():
                sender = threading.Thread(target=stop, args=(cues.port, rng.uniform(0.2, 0.4)))
                sender.start()
            record = player.run(driver, SimulatedSoundClock(), cues)
            sender.join()
            assert record.stopped
            if released[0] > sent[0]:  # else a computer so busy that the bus seemed silent before
                found.append(1e3 * (released[0] - sent[0]))
    return np.array(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to play")
    minutes = parser.parse_args().minutes
    show = performance(minutes)
    device = described_device([show], "dynamixel").changed(missed_deadlines=1000, timeout_ms=50.0)
    here, there = multiprocessing.Pipe()
    bus = multiprocessing.get_context("spawn").Process(target=serve, args=(device, there), daemon=True)
    load = os.getloadavg()[0]
    bus.start()
    try:
        player = Player(Show(show), device.changed(port=here.recv()))
        clock = SimulatedSoundClock(error=ERROR)
        driver = open_driver(player.device)
        with contextlib.closing(driver), Cues() as cues:
            record = player.run(driver, clock, cues)
            time.sleep(0.05)
        here.send("end")
        arrived = np.array(here.recv())
    finally:
        bus.join(5.0)
        bus.terminate()
    for sentence in record.sentences:
        print(sentence)
    figures = record.figures
    # the driver's own first writes put the goal where the servo stands; the commands of the show are the last ones
    arrived, times = arrived[-record.tape.ticks :][-len(record.tape.times) :], record.tape.times
    whole = len(arrived) == len(times)
    skew = 1e3 * (np.array([clock.true(moment) for moment in arrived]) - times) if whole else np.array([np.inf])
    tenth = max(len(skew) // 10, 1)
    drift = float(np.median(skew[-tenth:]) - np.median(skew[:tenth]))
    print(f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after, on {os.cpu_count()} cores; {minutes:g} minutes")
    print(f"every command arrived: {'yes' if whole else 'NO'}; missed deadlines {record.missed}")
    rows = (
        ("lateness, median", figures["lateness_median_ms"], MEDIAN_MS),
        ("lateness, 99 %", figures["lateness_p99_ms"], P99_MS),
        ("skew at the bus to the sound card, 99 %", float(np.percentile(np.abs(skew), 99)), SKEW_MS),
        ("drift at the bus over the whole time", abs(drift), DRIFT_MS),
        (f"(what the quartz alone would make: {1e3 * ERROR * 60.0 * minutes:.1f} ms)", None, None),
    )
    kinds = (("a dry run", "dry-run", False), ("the bus", "dynamixel", False), ("a bus that is late", "dynamixel", True))
    for what, name, late in kinds:
        reaction = stops(show, name, late=late)
        rows = (*rows, (f"stop by OSC to release of {what}, worst of 20", float(reaction.max()), 1e3 / RATE))
    met = whole and not record.stopped
    for what, value, bar in rows:
        if value is None or bar is None:
            print(f"  {what}")
            continue
        print(f"  {what:52} {value:8.3f} ms  (at most {bar:g}): {'holds' if value <= bar else 'DOES NOT HOLD'}")
        met = met and value <= bar
    return 0 if met else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
