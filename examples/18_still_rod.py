"""
18. A rod that stops still
==========================

A thin steel rod with a weight at its tip is turned by 30 degrees, held, and turned back. Played as it is, the wish makes the rod
swing on for seconds: it has almost no damping. The performance turns the motor a little differently: it starts early and waits for
the weight to follow; before it stops it gives way, and lets the weight straighten the rod. Nothing is slowed down: the tip is where
it was wished to be, when it was wished. A shaper of the textbooks, two copies of the wish half a period apart and a quarter early,
is quiet too, but cuts the corners. In MuJoCo, with the rod as a chain of rigid links, the same happens.
"""

import numpy as np

import bunraku
from bunraku.verification.flexible.judge import judged_again

PAUSE = (0.85, 2.15)  # s, its corners left out


def lesson():
    """The performance and the verdict on it, with MuJoCo's replay; the tip's errors with the shaper."""
    character, clip = bunraku.load_character("one-rod"), bunraku.load_clip("tick")
    performance = bunraku.perform(character, clip, once=True)
    shaped = bunraku.perform(character, clip, performer="zv-advanced", once=True)
    return performance, bunraku.verify(performance), judged_again(shaped)[1].after


def rms(error, span=(0.0, np.inf)):
    """RMS distance [m] of the tip from its target between two times [s]."""
    return float(np.sqrt((error.of("tip", *span) ** 2).mean()))


if __name__ == "__main__":
    from matplotlib import pyplot

    performance, verdict, shaped = lesson()
    judged, chains, played = verdict.judge.judged, verdict.replay.chains, performance.positions()
    print(performance.certificate.status.sentence)
    for name, error in (("the wish as it is", judged.before), ("shaped", shaped), ("performance", judged.after)):
        whole, pause, peak = 1e3 * rms(error), 1e3 * rms(error, PAUSE), 1e3 * error.peak
        print(f"{name}: the tip is off by {whole:.2f} mm RMS, {pause:.3f} mm in the pause, {peak:.1f} mm at most")
    for check in verdict.checks:
        if "MuJoCo" in check.name:
            print(f"{check.name}: {1e3 * check.value:.3f} mm")
    figure, axes = pyplot.subplots(3, 1, figsize=(10, 7.5), sharex=True, layout="constrained")
    t = judged.after.times
    axes[0].plot(t, 100 * judged.before.seen.positions[:, 0, 0], color="#2f6f9f", linewidth=1, label="the wish, played as it is")
    axes[0].plot(t, 100 * judged.targets.positions[:, 0, 0], color="#b9bec6", linewidth=5, label="target: each pose at rest")
    axes[0].plot(t, 100 * judged.after.seen.positions[:, 0, 0], color="#c1272d", label="performance")
    axes[0].plot(chains.times[::8], 100 * chains.positions[::8, 0, 0], "k.", markersize=4, label="performance in MuJoCo")
    axes[0].set(ylabel="tip, x [cm]")
    for error, color, label in (
        (judged.before, "#2f6f9f", "the wish"),
        (shaped, "#6a9a3a", "shaped"),
        (judged.after, "#c1272d", "performance"),
    ):
        axes[1].semilogy(t, 1e3 * np.maximum(error.distance[: len(t), 0], 1e-6), color=color, linewidth=1, label=label)
    axes[1].set(ylabel="tip off [mm]", ylim=(1e-2, 500))
    axes[2].plot(played.times, np.degrees(performance.wish.values), color="#b9bec6", linewidth=5, label="wish")
    axes[2].plot(played.times, np.degrees(played.values), color="#c1272d", label="performance")
    axes[2].set(ylabel="motor [deg]", xlabel="time [s]")
    for axis in axes:
        axis.legend(frameon=False, fontsize=8, loc="upper right", ncols=1 if axis is not axes[1] else 3)
    pyplot.show()
