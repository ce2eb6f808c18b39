"""
2. In time with the voice
=========================

The paper's three conditions on one clip: the *reference* breaks the motors' velocity limits, the stretched *control*
keeps them and falls behind the voice, the *optimized* motion keeps them and stays in time. The last is what ``bunraku
perform`` does.
"""

from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.performer import make_performer
from bunraku.verification.comparison import comparison_row


def lesson(clip_name: str = "not-done-yet"):
    """Perform one built-in clip three ways; return the performances by name."""
    nao, clip = read_character("nao"), read_clip(clip_name)
    return {name: make_performer(name).perform(nao, clip) for name in ("reference", "stretch", "speech")}


if __name__ == "__main__":
    from matplotlib import pyplot

    from bunraku.verification.plots.joints import draw_comparison, draw_overview

    results = lesson()
    for name, result in results.items():
        row = comparison_row(result)
        lags = f"lag {row['lag_ms']:6.1f} ms, worst 3 s {row['worst_lag_ms']:6.1f} ms"
        print(f"{name:>10}: {row['velocity_violations']:4.0f} too fast, {lags}")
    draw_overview(results["speech"])
    draw_comparison(list(results.values()))
    pyplot.show()
