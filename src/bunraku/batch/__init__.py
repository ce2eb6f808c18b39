"""Many runs: a plan becomes a table, on Dask."""
