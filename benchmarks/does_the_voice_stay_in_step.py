"""Does the voice stay in step with the motion in the browser? Two pages play the same minute while the server plays the motion.

The server moves a node of the scene, whose place is the time of the motion, thirty times a second; each page says five
times a second where that node is shown and where its Audio element is. The second page believes in a clock that runs 0.3 %
fast, as if the sound card were slow: left alone it would be off by 180 ms after a minute. Drift is how far the difference
(median over 5 s) wanders after the first 5 s; the bar is 40 ms. Run: python benchmarks/does_the_voice_stay_in_step.py [seconds]
"""

from __future__ import annotations

import io
import sys
import threading
import time
import wave

import numpy as np

from _browser import chromium

BAR = 40.0  # ms
FRAMES = 30.0  # Hz
SKEW = 1.003
FAST_CLOCK = f"const now = performance.now.bind(performance); performance.now = () => {SKEW} * now();"
SAMPLE = """() => {
    const node = window.__viserMutable.nodeRefFromName['/clock'];
    return [performance.now() / 1000, node.position.x, bunraku.audio.currentTime, bunraku.drift ?? NaN];
}"""


def voice(seconds: float) -> bytes:
    """A WAV file, stereo, 16 bit, 48 kHz: a tone that swells like syllables."""
    t = np.arange(int(seconds * 48000)) / 48000
    tone = 8000 * np.sin(2 * np.pi * 220 * t) * (1 + np.sin(2 * np.pi * 4 * t)) / 2
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(48000)
        out.writeframes(np.repeat(tone.astype("<i2")[:, None], 2, axis=1).tobytes())
    return file.getvalue()


def play(node, begin: float, stop: threading.Event) -> None:
    """Move the node with the time of the motion until told to stop."""
    while not stop.wait(1 / FRAMES):
        node.position = (time.perf_counter() - begin, 0.0, 0.0)


def wander(samples: np.ndarray, column: int) -> tuple[float, float, float]:
    """Largest change of the median over 5 s from the first one [ms], and the 50th and 95th percentile of the size [ms]."""
    t, off = samples[:, 0] - samples[0, 0], 1000 * (samples[:, 2] - samples[:, 1]) if column == 1 else samples[:, 3]
    keep = (t > 2.0) & np.isfinite(off)
    t, off = t[keep], off[keep]
    medians = [float(np.median(off[(t >= a) & (t < a + 5.0)])) for a in np.arange(t[0], t[-1] - 4.9, 5.0)]
    return float(np.max(np.abs(np.array(medians) - medians[0]))), *(float(v) for v in np.percentile(np.abs(off), [50, 95]))


def main() -> int:
    from bunraku.studio.server.server import StudioServer

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    server = StudioServer()
    url = server.publish("voice.wav", voice(seconds + 20), "audio/wav")
    node = server.viser.scene.add_frame("/clock", show_axes=False)
    player = server.viser.gui.add_html("")
    results, stop = {}, threading.Event()
    with chromium() as browser:
        pages = {"as it is": browser.new_page(viewport={"width": 480, "height": 300})}
        pages["sound card 0.3 % slow"] = browser.new_page(viewport={"width": 480, "height": 300})
        pages["sound card 0.3 % slow"].add_init_script(FAST_CLOCK)
        for page in pages.values():
            page.goto(server.url)
            page.wait_for_function("window.__viserMutable?.nodeRefFromName['/clock'] != null")
        begin = time.perf_counter()
        motion = threading.Thread(target=play, args=(node, begin, stop))
        motion.start()
        now = time.perf_counter() - begin
        player.content = f'<div data-audio="{url}" data-playing="1" data-time="{now}" data-speed="1" data-stamp="1"></div>'
        samples = {name: [] for name in pages}
        while time.perf_counter() - begin < seconds + 2:
            for name, page in pages.items():
                samples[name].append(page.evaluate(SAMPLE))
            pages["as it is"].wait_for_timeout(200)
        for name, page in pages.items():
            results[name] = np.array(samples[name]), page.evaluate("bunraku.seeks")
        stop.set()
        motion.join()
    server.stop()
    print(f"{seconds:.0f} s of sound and motion; milliseconds")
    print(f"{'page':24s}{'against':22s}{'drift':>8s}{'median':>8s}{'95 %':>8s}{'seeks':>7s}")
    worst = 0.0
    for name, (data, seeks) in results.items():
        kinds = {"the motion shown": 1, "the page's clock": 3} if name == "as it is" else {"the page's clock": 3}
        for kind, column in kinds.items():
            drift, middle, high = wander(data, column)
            worst = max(worst, drift, middle)
            print(f"{name:24s}{kind:22s}{drift:8.1f}{middle:8.1f}{high:8.1f}{seeks:7d}")
    print(f"largest drift or median {worst:.1f} ms, bar {BAR:.0f} ms: {'in step' if worst <= BAR else 'OUT OF STEP'}")
    return 0 if worst <= BAR else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
