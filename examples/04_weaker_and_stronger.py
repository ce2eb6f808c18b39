"""
4. Weaker and stronger
======================

The same behaviour at several intensities, the future work of the paper: gestures grow and shrink about the home pose,
the times of their peaks stay.
"""

import numpy as np

import bunraku

LEVELS = (0.3, 0.6, 1.0, 1.5)


def lesson(clip_name: str = "no-problem"):
    """The performances of one clip at each intensity."""
    nao, clip = bunraku.load_character("nao"), bunraku.load_clip(clip_name)
    return {level: bunraku.perform(nao, clip, intensity=level, once=True) for level in LEVELS}


if __name__ == "__main__":
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(9, 3), layout="constrained")
    for level, performance in lesson().items():
        positions = performance.positions()
        print(f"intensity {level}: {np.ptp(positions.values, axis=0).sum():.2f} rad of amplitude over all joints")
        axis.plot(positions.times, positions.column("RShoulderPitch"), label=f"{level:g}")
    axis.set(xlabel="time [s]", ylabel="RShoulderPitch [rad]")
    axis.legend(title="intensity", frameon=False)
    pyplot.show()
