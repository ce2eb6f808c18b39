"""The table's bytes, and the same values in Parquet."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bunraku.batch.table import Table, write_table

TABLE = Table(
    ("run", "clip", "x", "holds", "value", "reason"),
    (
        ("aa", "=SUM(A1)", 0.1, True, 1.0 / 3.0, 'it said "no", then'),
        ("bb", "-2", 2, False, None, ""),
        ("cc", "c", -1.5e-7, None, "nan", ""),
    ),
    ("value",),
)


def test_csv_bytes(tmp_path: Path) -> None:
    path = write_table(TABLE, tmp_path)[0]
    assert path.read_bytes() == (
        b"run,clip,x,holds,value,reason\n"
        b'aa,\'=SUM(A1),0.1,true,0.3333333333333333,"it said ""no"", then"\n'
        b"bb,-2,2,false,,\n"
        b"cc,c,-1.5e-07,,nan,\n"
    )
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert float(rows[0]["value"]) == 1.0 / 3.0


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write_table(TABLE, tmp_path)[1]
    found = parquet.read_table(path).to_pydict()
    assert found["x"] == [0.1, 2.0, -1.5e-7]
    assert found["holds"] == [True, False, None]
    assert found["value"][:2] == [1.0 / 3.0, None]
    assert found["value"][2] != found["value"][2]
    assert found["clip"] == ["=SUM(A1)", "-2", "c"]
