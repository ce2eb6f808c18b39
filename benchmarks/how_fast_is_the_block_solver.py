"""How fast is the block solver? Factor and solve of cyclic and open block-pentadiagonal systems with a border of 3.

Thread CPU time of one process after warm-up, best of several, beside scipy's SuperLU and dense Cholesky on the same matrices.
Bars: 30 unknowns a sample, 12 samples, cyclic: <= 0.7 ms; 200 samples <= 35 ms; time per sample grows at most 1.5 times from 12 to
400 samples; 60 right-hand sides cost less than two factorizations. Run: python benchmarks/how_fast_is_the_block_solver.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from bunraku.optimization.blocks.blocks import factor

BORDER = 3


def system(T: int, nv: int, cyclic: bool, seed: int = 0):
    """Blocks of a sum of squares over three neighbouring samples and the border, made definite by 0.1 on the diagonal."""
    rng = np.random.default_rng(seed)
    H, B, C = np.zeros((T, 3, nv, nv)), np.zeros((T, BORDER, nv)), 0.1 * np.eye(BORDER)
    for i in range(T):
        H[i, 0] += 0.1 * np.eye(nv)
        J, D = rng.normal(size=(3, nv, nv)), rng.normal(size=(nv, BORDER))
        reach = [k for k in range(3) if cyclic or i + k < T]
        for a in reach:
            for b in reach[: reach.index(a) + 1]:
                H[(i + b) % T, a - b] += J[a].T @ J[b]
            B[(i + a) % T] += D.T @ J[a]
        C += D.T @ D
    return H, B, C


def dense(H, B, C, cyclic: bool):
    """The whole symmetric matrix."""
    T, nv = len(H), H.shape[-1]
    A = np.zeros((T * nv + BORDER, T * nv + BORDER))
    for i in range(T):
        for d in range(3):
            if i + d < T or cyclic:
                j = (i + d) % T
                A[j * nv : (j + 1) * nv, i * nv : (i + 1) * nv] += np.tril(H[i, 0]) if d == 0 else H[i, d]
        A[T * nv :, i * nv : (i + 1) * nv] = B[i]
    A[T * nv :, T * nv :] = np.tril(C)
    return A + A.T - np.diag(np.diag(A))


def best(run, times: int = 7) -> float:
    """Least thread CPU time [ms]."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        run()
        spent.append(time.thread_time() - begin)
    return 1e3 * min(spent)


def ours(H, B, C, right, cyclic: bool):
    memory = [factor(H, B, C, cyclic=cyclic)]

    def run() -> None:
        memory[0] = factor(H, B, C, 1e-6, cyclic=cyclic, into=memory[0])
        memory[0].solve_packed(right)

    return run


def main() -> int:
    rng, kept = np.random.default_rng(1), {}
    print("  nv    T          n   factor + solve   + 60 sides   SuperLU        dense Cholesky      [ms]")
    for nv, T, cyclic in [(30, T, True) for T in (12, 24, 48, 100, 200, 400)] + [(30, 200, False), (46, 12, True), (46, 48, True)]:
        H, B, C = system(T, nv, cyclic)
        n = T * nv + BORDER
        one, many = rng.normal(size=n), rng.normal(size=(n, 60))
        spent, sides = best(ours(H, B, C, one, cyclic)), best(ours(H, B, C, many, cyclic))
        kept[nv, T, cyclic] = spent, sides
        peers = ""
        if n <= 1500:
            A = dense(H, B, C, cyclic)
            S = sparse.csc_array(A)
            error = np.abs(factor(H, B, C, cyclic=cyclic).solve_packed(one) - np.linalg.solve(A, one)).max()
            lu = best(lambda S=S, one=one: splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0).solve(one), 3)
            cholesky = best(lambda A=A, one=one: cho_solve(cho_factor(A, lower=True), one), 3)
            peers = f"{lu:8.2f} ({lu / spent:5.1f} x) {cholesky:8.2f} ({cholesky / spent:5.1f} x)   error {error:.0e}"
        print(f"{nv:4d} {T:4d} {'cyclic' if cyclic else 'open  '} {n:5d} {spent:12.2f} {sides:14.2f}   {peers}")
    growth = (kept[30, 400, True][0] / 400) / (kept[30, 12, True][0] / 12)
    fast = kept[30, 12, True][0] <= 0.7 and kept[30, 200, True][0] <= 35.0
    print(f"time per sample, 400 against 12 samples: {growth:.2f} times")
    sides = all(many <= 3.0 * one for one, many in kept.values())
    print(
        f"within 0.7 ms and 35 ms: {'yes' if fast else 'NO'}; linear: {'yes' if growth <= 1.5 else 'NO'}; 60 sides cheap: {sides}"
    )
    return 0 if fast and growth <= 1.5 and sides else 1


if __name__ == "__main__":
    sys.exit(main())
