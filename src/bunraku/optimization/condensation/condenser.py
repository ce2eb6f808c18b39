"""Which condensation to take: :func:`condenser`."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from bunraku.errors import BadInput
from bunraku.optimization.condensation.interface import Condenser
from bunraku.optimization.condensation.multifrontal import Multifrontal
from bunraku.optimization.condensation.pardiso import Pardiso

Backend = Literal["auto", "multifrontal", "mkl"]


def condenser(
    pattern: csr_array, coordinates: ArrayLike | None = None, backend: Backend = "auto", *, free: ArrayLike | None = None
) -> Condenser:
    """A condenser for matrices with the CSR ``pattern`` (n, n), whose numbers do not matter.

    ``coordinates`` (nodes, 3) or (n, 3) of the unknowns help the order of elimination; ``free`` (n,) booleans, False where an
    unknown is held. ``backend``: "multifrontal" is our own and what "auto" takes: about as fast as "mkl" (PARDISO of MKL, an
    optional package) at 14 000 nodes, with less than half of its memory and no analysis when the border changes its places.
    """
    if backend == "mkl":
        return Pardiso(pattern, free=free)
    if backend in ("auto", "multifrontal"):
        return Multifrontal(pattern, coordinates, free=free)
    raise BadInput(f"the backend is {backend!r}; there are auto, multifrontal and mkl")
