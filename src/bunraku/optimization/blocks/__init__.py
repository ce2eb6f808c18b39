"""Block-pentadiagonal systems, open or cyclic, with a border: one Cholesky factorization in time linear in the samples."""
