"""Guests of a studio: they come, edit, play, press and leave, some without a word. Run as a process of its own by the soak.

Run: python benchmarks/_guests.py URL --seed 7 --guests 8 --seconds 1800; prints one JSON line: what they did and what went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

from _client import Client, Widget

STAY = (1.0, 20.0)
"""How long a guest stays [s]."""
AWAY = (0.2, 3.0)
"""How long until the next one comes [s]."""
PAUSE = (0.6, 2.4)
"""Between two acts [s]."""
ABRUPT = 0.3
"""The share that leaves without a word."""
CHOSEN = ("Speed", "Socket", "What", "Add", "Which", "Motor")
"""Dropdowns that guests choose in."""
TICKED = ("Show sockets", "Before (grey)", "Wished (green)", "Go along with the character", "Mirror")


class Guest:
    """One guest at the page of ``client``, led by a random generator of its own."""

    def __init__(self, client: Client, rng: random.Random, done: Counter[str]) -> None:
        self._client, self._rng, self._done = client, rng, done
        self._acts: dict[Callable[[], object], float] = {
            self.drag_slider: 5.0,
            self.undo_or_redo: 4.0,
            self.play: 2.0,
            self.choose: 2.0,
            self.tick: 1.0,
            self.select: 2.0,
            self.scrub: 2.0,
            self.toggle_footfall: 0.5,
            self.target: 1.0,
            self.run_or_cancel: 0.3,
            self.save: 0.3,
            self.download: 0.15,
            self.open_again: 0.15,
        }

    def act(self) -> None:
        """One thing a person would do."""
        one = self._rng.choices(list(self._acts), list(self._acts.values()))[0]
        one()
        self._done[one.__name__] += 1

    def drag_slider(self) -> None:
        """Drag a slider by up to a tenth of its range, in a few steps."""
        slider = self._one(self._client.of_kind("GuiSliderMessage"))
        if slider is None:
            return
        low, high = float(slider.props["min"]), float(slider.props["max"])
        start, step = float(slider.value), float(slider.props["step"])
        end = start + self._rng.uniform(-0.1, 0.1) * (high - low)
        if slider.label == "Forward [m]":
            end = self._rng.uniform(0.35, 0.55)
        elif slider.label in ("Aside [m]", "Turn [deg]"):
            end = 0.0
        count = self._rng.randint(2, 5)
        for k in range(1, count + 1):
            value = start + (end - start) * k / count
            self._client.set(slider, round(min(max(round(value / step) * step, low), high), 4))
            time.sleep(0.08)

    def undo_or_redo(self) -> None:
        """The buttons at the top."""
        self._press_in("Undo", self._rng.choice(["Undo", "Undo", "Redo"]))

    def save(self) -> None:
        """Save the project."""
        self._press_in("Undo", "Save")

    def play(self) -> None:
        """A button of the transport."""
        self._press_in("Play", self._rng.choice(["Start", "Back", "Play", "Play", "Next", "Loop"]))

    def choose(self) -> None:
        """Another entry of a dropdown."""
        found = self._one([one for one in self._client.of_kind("GuiDropdownMessage") if one.label in CHOSEN])
        if found is not None:
            self._client.set(found, self._rng.choice(found.props["options"]))

    def tick(self) -> None:
        """A checkbox."""
        found = self._one([one for one in self._client.of_kind("GuiCheckboxMessage") if one.label in TICKED])
        if found is not None:
            self._client.set(found, not found.value)

    def select(self) -> None:
        """A click on the outline."""
        self._click("select")

    def toggle_footfall(self) -> None:
        """A click on a foot's bar, and mostly back again."""
        self._click("gait.toggle")
        if self._rng.random() < 0.8:
            time.sleep(self._rng.uniform(*PAUSE))
            self._press_in("Undo", "Undo")

    def scrub(self) -> None:
        """Drag the playhead."""
        x = self._rng.uniform(20.0, 300.0)
        for k, phase in enumerate(("start", "move", "move", "move", "end")):
            self._event("time.scrub", phase=phase, x=x + 20.0 * k, y=10.0)

    def target(self) -> None:
        """Add a target, look at one, or remove it."""
        button = self._client.labelled("GuiButtonMessage", self._rng.choice(["Add a target at this time", "Remove this target"]))
        if button is not None:
            self._client.set(button, True)
        else:
            self._click("target.select")

    def run_or_cancel(self) -> None:
        """Run the performer, or stop it."""
        button = self._client.labelled("GuiButtonMessage", self._rng.choice(["Run", "Run", "Cancel"]))
        if button is not None:
            self._client.set(button, True)

    def download(self) -> None:
        """Take the performance along."""
        button = self._client.labelled("GuiButtonMessage", "Download the performance")
        if button is not None:
            self._client.set(button, True)

    def open_again(self) -> None:
        """The example as it came."""
        button = self._client.labelled("GuiButtonMessage", "swizzlebot")
        if button is not None:
            self._client.set(button, True)

    def _one(self, found: list[Widget]) -> Widget | None:
        return self._rng.choice(found) if found else None

    def _press_in(self, member: str, option: str) -> None:
        """Press one of the buttons of the group that has ``member``."""
        for group in self._client.of_kind("GuiButtonGroupMessage"):
            if member in group.props["options"]:
                self._client.set(group, option)
                return

    def _click(self, name: str) -> None:
        found = self._client.clicks(name)
        if found:
            self._event(name, **self._rng.choice(found))

    def _event(self, name: str, /, **fields: object) -> None:
        status = self._client.event(name, **fields)
        if status != 204:
            raise RuntimeError(f"event {name} was answered with {status}")


def come_and_go(url: str, rng: random.Random, until: float, done: Counter[str], faults: list[str]) -> None:
    """One chair: guest after guest until the time is over."""
    while time.monotonic() < until:
        try:
            client = Client(url)
        except Exception as error:
            faults.append(f"connecting: {type(error).__name__}: {error}")
            time.sleep(1.0)
            continue
        done["visits"] += 1
        guest, leaves = Guest(client, rng, done), min(time.monotonic() + rng.uniform(*STAY), until)
        try:
            if not client.ready.wait(30.0):
                faults.append("the page was not there after 30 s")
            while time.monotonic() < leaves and not client.fault:
                guest.act()
                time.sleep(rng.uniform(*PAUSE))
        except Exception as error:
            faults.append(f"{type(error).__name__}: {error}")
        if client.fault:
            faults.append(f"cut off: {client.fault}")
        done["messages"] += client.messages
        client.leave(abruptly=rng.random() < ABRUPT)
        time.sleep(rng.uniform(*AWAY))


def main() -> int:
    """Let them all come, and say what they did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--guests", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    until, done, faults = time.monotonic() + given.seconds, Counter[str](), list[str]()
    chairs = [
        threading.Thread(target=come_and_go, args=(given.url, random.Random(f"{given.seed} {k}"), until, done, faults))
        for k in range(given.guests)
    ]
    for chair in chairs:
        chair.start()
    for chair in chairs:
        chair.join()
    print(json.dumps({"done": dict(done), "faults": faults[:20], "count": len(faults)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
