"""
2. In time with the voice
=========================

The paper's three conditions on one clip: the *reference* breaks the motors' velocity limits, the stretched *control*
keeps them and falls behind the voice, the *optimized* motion keeps them and stays in time. The last is what ``bunraku
perform`` does.
"""

import bunraku


def lesson(clip_name: str = "not-done-yet"):
    """Perform one built-in clip three times; return the performances by the performer's name."""
    nao, clip = bunraku.load_character("nao"), bunraku.load_clip(clip_name)
    return {name: bunraku.perform(nao, clip, performer=name, once=True) for name in ("reference", "stretch", "speech")}


if __name__ == "__main__":
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(9, 3.5), layout="constrained")
    for (name, performance), color in zip(lesson().items(), ("#8a8f98", "#2f6f9f", "#c1272d"), strict=True):
        check, positions = performance.certificate.check, performance.positions()
        lag, worst = (1e3 * check(figure).value for figure in ("lag", "worst lag in 3 s"))
        print(f"{name:>10}: {check('velocity violations').value:4.0f} too fast, lag {lag:6.1f} ms, worst 3 s {worst:6.1f} ms")
        axis.plot(positions.times, positions.column("RShoulderPitch"), color=color, label=name)
    axis.set(xlabel="time [s]", ylabel="RShoulderPitch [rad]")
    axis.legend(frameon=False, ncols=3)
    pyplot.show()
