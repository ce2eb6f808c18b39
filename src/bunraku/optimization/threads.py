"""One thread for BLAS: kernels make many small products, and a second thread spins while it waits for a core that is busy.

Programs that start before numpy set variables (`ONE_THREAD`); who is called within a program limits the libraries that are loaded,
for as long as it computes (`one_thread`), and sets the variables for those that are loaded meanwhile: rooms are imported when they
are needed, and scipy brings a BLAS of its own. A BLAS has one number of threads for the whole process: of calls that overlap the
first to come in sets it, and puts it back when it leaves. There is no exception: a frame of a skin of 15,906 nodes, the largest
factorization here, takes 0.29 s with one thread and 0.26 s with two, for 1.7 times the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Variables that bound the threads of every BLAS, for a program that has not loaded one yet."""


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with every BLAS that is loaded held to one thread while it runs, and as before after it.

    A BLAS that is loaded meanwhile, where no variable of the user's bounds it, keeps to one thread.
    """

    @wraps(function)
    def held(*args: P.args, **kwargs: P.kwargs) -> T:
        from threadpoolctl import threadpool_limits

        unset = [name for name in ONE_THREAD if name not in os.environ]
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            with threadpool_limits(1, user_api="blas"):
                return function(*args, **kwargs)
        finally:
            for name in unset:
                os.environ.pop(name, None)

    return held
