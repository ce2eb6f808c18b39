"""How sure a share is that was counted: the exact interval of Clopper and Pearson."""

from __future__ import annotations

from bunraku.errors import BadInput


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """Lower and upper bound of a probability of which ``successes`` of ``trials`` were seen, with the confidence ``level``.

    With a = 1 - level: the a/2 quantile of Beta(s, n - s + 1) and the 1 - a/2 quantile of Beta(s + 1, n - s); 0 and 1 at the ends
    (Clopper and Pearson, Biometrika 26, 1934). It never covers with less than the level.
    """
    if not 0 <= successes <= trials or trials < 1 or not 0.0 < level < 1.0:
        raise BadInput(f"{successes} of {trials} with a confidence of {level:g} is no share; give 0 to n of n, and 0 < level < 1")
    from scipy.special import betaincinv

    a = 1.0 - level
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, a / 2))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1.0 - a / 2))
    return low, high
