"""
6. Live
=======

Frames pushed one at a time, legal frames out, a little later. The look-ahead of 0.8 s is what lets the motion start
early; whatever arrives, also nonsense, no limit is ever broken. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.motion import MotionLimits
from bunraku.performers.speech.stream import SpeechStream


def lesson(ticks: int = 600):
    """Push a fast wave with a burst of nonsense in it; return what was pushed, what came out, and the limits."""
    limits, rate = MotionLimits.of(bunraku.load_character("nao")), 100.0
    stream = SpeechStream(limits, rate=rate, look_ahead=0.8)
    j = limits.names.index("LShoulderPitch")
    pushed, performed = np.zeros((ticks, len(limits.names))), []
    for k in range(ticks):
        pushed[k, j] = 1.2 * np.sin(2 * np.pi * 1.6 * k / rate)
        frame = np.full_like(pushed[k], np.nan) if 300 <= k < 320 else pushed[k]
        stream.push(frame)
        performed.append(stream.out.copy())
    return pushed, np.array(performed), limits, rate


if __name__ == "__main__":
    from matplotlib import pyplot

    pushed, performed, limits, rate = lesson()
    print(f"worst relative excess over any limit: {limits.excess(performed, rate).relative:.1e}")
    j = limits.names.index("LShoulderPitch")
    figure, axis = pyplot.subplots(figsize=(9, 3), layout="constrained")
    axis.plot(
        np.arange(len(pushed)) / rate + 0.81, pushed[:, j], color="#8a8f98", label="pushed (shown later by look-ahead + 1 frame)"
    )
    axis.plot(np.arange(len(performed)) / rate, performed[:, j], color="#c1272d", label="performed")
    axis.set(xlabel="time [s]", ylabel="LShoulderPitch [rad]", xlim=(0, len(pushed) / rate))
    axis.legend(frameon=False, fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    pyplot.show()
