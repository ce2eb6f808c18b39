"""The optional library MKL (package ``mkl``): where it is, and its sparse solver PARDISO behind one function."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import weakref
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import MissingExtra

Numbers = NDArray[np.int32]
Matrix = tuple[Array, Numbers, Numbers, Numbers, Numbers]
"""Values, where rows begin, columns, which unknowns are border, options."""

SYMMETRIC_POSITIVE = 2
ANALYSE, FACTORIZE, FORWARD, BACKWARD, SOLVE, RELEASE = 11, 22, 331, 333, 33, -1
"""Phases of PARDISO."""


def mkl_available() -> bool:
    """Whether MKL is installed and can be loaded."""
    return _library() is not None


class Handle:
    """PARDISO for one positive definite pattern: upper half, CSR, counted from zero; one thread.

    ``border``: that many last unknowns are not eliminated; factorising returns what remains for them (their Schur complement).
    ``error`` is the code of the analysis.
    """

    def __init__(self, indptr: NDArray[np.int64], indices: NDArray[np.int64], border: int = 0) -> None:
        library = _library()
        if library is None:
            raise MissingExtra("mkl", "mkl", "condensation with backend='mkl'")
        self._library = library
        self.size = len(indptr) - 1
        self.values = np.zeros(len(indices))
        order = np.zeros(self.size, dtype=np.int32)
        order[self.size - border :] = 1
        self._state = np.zeros(64, dtype=np.int64)
        self.options = np.zeros(64, dtype=np.int32)
        self.options[[0, 1, 9, 34]] = 1, 2, 8, 1  # not the defaults; nested dissection; perturbation exponent; count from zero
        self.options[17] = -1  # report the size of the factor
        self.options[35] = 2 if border else 0
        self._matrix: Matrix = (self.values, indptr.astype(np.int32), indices.astype(np.int32), order, self.options)
        self.error = self.run(ANALYSE)
        self._release = weakref.finalize(self, _run, library, RELEASE, self._state, self._matrix, None, None, 1)

    def run(self, phase: int, right: Array | None = None, out: Array | None = None, count: int = 1) -> int:
        """One phase, its error code; ``right`` and ``out``: (count, n) each row a right-hand side and its solution."""
        return _run(self._library, phase, self._state, self._matrix, right, out, count)

    @property
    def memory(self) -> int:
        """Bytes held: what PARDISO reports for analysis and factor, and the matrix."""
        kept = 1024 * (int(self.options[15]) + int(self.options[16]))
        return kept + sum(array.nbytes for array in self._matrix)

    def close(self) -> None:
        """Give the memory back; also done when the handle is no longer used."""
        self._release()


def _run(
    library: Any, phase: int, state: NDArray[np.int64], matrix: Matrix, right: Array | None, out: Array | None, count: int
) -> int:
    """Call PARDISO on one thread."""
    nothing = np.zeros(1)
    error = ctypes.c_int(0)
    values, indptr, indices, order, options = matrix
    numbers = [ctypes.byref(ctypes.c_int(v)) for v in (1, 1, SYMMETRIC_POSITIVE, phase, len(indptr) - 1)]
    threads = library.MKL_Set_Num_Threads_Local(1)
    library.pardiso(
        _at(state),
        *numbers,
        *(_at(array) for array in (values, indptr, indices, order)),
        ctypes.byref(ctypes.c_int(count)),
        _at(options),
        ctypes.byref(ctypes.c_int(0)),
        _at(nothing if right is None else right),
        _at(nothing if out is None else out),
        ctypes.byref(error),
    )
    library.MKL_Set_Num_Threads_Local(threads)
    return int(error.value)


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@cache
def _library() -> Any:
    """The loaded library, without threads of its own where nothing else has set them; None if there is none."""
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            library.MKL_Set_Threading_Layer(1)
            library.pardiso.restype = None
        except (OSError, AttributeError):
            continue
        return library
    return None


def _places() -> Iterator[str]:
    """Where it may be: beside this Python, where the package says, where the system looks."""
    try:
        listed = metadata.files("mkl") or []
        yield from (str(file.locate()) for file in listed if "mkl_rt" in file.name and not file.name.endswith(".lib"))
    except metadata.PackageNotFoundError:
        pass
    roots = [
        sys.prefix,
        *(str(path) for path in Path(np.__file__).parents[4:5]),
        sys.base_prefix,
        os.environ.get("CONDA_PREFIX", ""),
    ]
    for root in (Path(root) for root in dict.fromkeys(roots) if root):
        for folder, pattern in (("lib", "libmkl_rt.so*"), ("lib", "libmkl_rt*.dylib"), ("Library/bin", "mkl_rt*.dll")):
            yield from (str(path) for path in sorted((root / folder).glob(pattern)))
    system = ctypes.util.find_library("mkl_rt")
    if system:
        yield system
