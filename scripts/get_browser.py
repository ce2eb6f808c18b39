"""A Chromium for the tests of the studio: if none is found, playwright is asked for its own, then, as root, apt. It never fails.

Run: python scripts/get_browser.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 180.0
"""How long [s] a download may take."""


def found() -> str:
    """Where a browser is: BUNRAKU_CHROMIUM, one of the system, or playwright's own; empty if there is none."""
    given = os.environ.get("BUNRAKU_CHROMIUM") or next((place for place in map(shutil.which, NAMES) if place), None)
    if given:
        return given
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        place = playwright.chromium.executable_path
    return place if Path(place).is_file() else ""


def ways() -> list[list[list[str]]]:
    """Ways to get one, each a few commands, in the order to try them; the system's packages only where nobody need be asked."""
    own = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        return [own, [["apt-get", "update", "-qq"], ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]]]
    return [own]


def main() -> int:
    """Look, install if needed, say what came of it."""
    trouble = "nothing tried"
    try:
        if found():
            return 0
        print("No Chromium is here; getting one for the tests of the studio (about 170 MB, once)", flush=True)
        for commands in ways():
            try:
                for command in commands:
                    subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True, stdin=subprocess.DEVNULL)  # noqa: S603
            except (OSError, subprocess.SubprocessError) as error:
                trouble = f"{commands[0][0]}: {type(error).__name__}"
            if found():
                return 0
    except Exception as error:
        trouble = type(error).__name__
    print(f"NO BROWSER ({trouble}): tests of the studio that need one will be skipped; see BUNRAKU_CHROMIUM")
    return 0


if __name__ == "__main__":
    sys.exit(main())
