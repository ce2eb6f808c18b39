"""BLAS and LAPACK of SciPy, called inside compiled kernels on parts of matrices: leading dimensions are free, nothing is copied.

SciPy offers the addresses of its BLAS routines for such use (``scipy.linalg.cython_blas``). A kernel gets them as numbers, at run
time, so that it can still be kept compiled. All arguments of the routines below are numbers: addresses in bytes, sizes, factors;
characters by their code. Matrices are stored column by column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from numpy.typing import NDArray

NAMES = ("dgemm", "dtrsm", "dsyrk", "dgemv", "dtrsv", "dpotrf")
GEMM, TRSM, SYRK, GEMV, TRSV, POTRF = range(6)
"""Places of the routines among :func:`addresses`."""

_CHAR, _INT, _REAL, _POINTER = "c", "i", "d", "p"


def addresses() -> NDArray[np.int64]:
    """The addresses (6,) of dgemm, dtrsm, dsyrk, dgemv, dtrsv, dpotrf."""
    room = {name: "scipy.linalg.cython_lapack" if name == "dpotrf" else "scipy.linalg.cython_blas" for name in NAMES}
    return np.array([get_cython_function_address(room[name], name) for name in NAMES], dtype=np.int64)


def _routine(kinds: str) -> Any:
    """Code that calls the routine at an address with arguments of these kinds, each passed by reference as Fortran does."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, integer, real = ir.IntType(8), ir.IntType(32), ir.DoubleType()
        passed = []
        for kind, value in zip(kinds, arguments[1:], strict=True):
            if kind == _POINTER:
                passed.append(builder.inttoptr(value, byte.as_pointer()))
                continue
            number = value if kind == _REAL else builder.trunc(value, byte if kind == _CHAR else integer)
            room = cgutils.alloca_once(builder, {_CHAR: byte, _INT: integer, _REAL: real}[kind])
            builder.store(number, room)
            passed.append(builder.bitcast(room, byte.as_pointer()))
        call = ir.FunctionType(ir.VoidType(), [byte.as_pointer()] * len(passed))
        builder.call(builder.inttoptr(arguments[0], call.as_pointer()), passed)
        return context.get_dummy_value()

    return types.void(types.int64, *[types.float64 if kind == _REAL else types.int64 for kind in kinds]), codegen


@intrinsic  # type: ignore[misc]
def gemm(context, address, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):  # type: ignore[no-untyped-def]
    return _routine("cciiidpipidpi")


@intrinsic  # type: ignore[misc]
def trsm(context, address, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb):  # type: ignore[no-untyped-def]
    return _routine("cccciidpipi")


@intrinsic  # type: ignore[misc]
def syrk(context, address, uplo, trans, n, k, alpha, a, lda, beta, c, ldc):  # type: ignore[no-untyped-def]
    return _routine("cciidpidpi")


@intrinsic  # type: ignore[misc]
def gemv(context, address, trans, m, n, alpha, a, lda, x, incx, beta, y, incy):  # type: ignore[no-untyped-def]
    return _routine("ciidpipidpi")


@intrinsic  # type: ignore[misc]
def trsv(context, address, uplo, trans, diag, n, a, lda, x, incx):  # type: ignore[no-untyped-def]
    return _routine("cccipipi")


@intrinsic  # type: ignore[misc]
def potrf(context, address, uplo, n, a, lda, info):  # type: ignore[no-untyped-def]
    return _routine("cipip")
