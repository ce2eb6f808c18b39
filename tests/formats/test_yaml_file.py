"""Our YAML: YAML 1.2 scalars, lines, bounds, and versions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.formats import yaml_file as migrations
from bunraku.formats.yaml_file import dump_yaml, load_yaml, read_yaml


def test_scalars_follow_yaml_1_2() -> None:
    text = b"a: No\nb: 1e-3\nc: '5'\nd: 5\ne: ~\nf: true\ng: .5\nh: 012\ni: on\nj: 2024-01-01\nk: 1:30\nl: !!str 7\n"
    text += b"m: 123456789012345678901234567890"
    data, _ = load_yaml(text, file="f")
    assert data == {
        "a": "No", "b": 0.001, "c": "5", "d": 5, "e": None, "f": True, "g": 0.5, "h": 12, "i": "on",
        "j": "2024-01-01", "k": "1:30", "l": "7", "m": 123456789012345678901234567890.0,
    }  # fmt: skip


def test_every_entry_knows_its_line() -> None:
    _, lines = load_yaml(b"a: 1\nb:\n  - c: 2\n\n  - d: {e: 3,\n     f: 4}\n", file="f")
    assert lines["a",] == 1
    assert lines["b", 0, "c"] == 3
    assert lines["b", 1, "d", "e"] == 5
    assert lines["b", 1, "d", "f"] == 6


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (b"a: 1\nb: 2\na: 3\n", "twice", 3),
        (b"a: 1\nb: [1, 2\nc: 3\n", "not valid YAML", None),
        (b"a: !!python/object:os.system x\n", "tag", 1),
        (b"a: 1\n---\nb: 2\n", "second document", 2),
        (b"a: &x [1]\nb: *y\n", "alias", 2),
        (b"a: &x [*x]\n", "alias", 1),
        (b"[1, 2]: 3\n", "key", 1),
        (b"a: \xff\n", "UTF-8", 1),
        (b"a:\n  b: \x01\n", "not valid YAML", None),
    ],
)
def test_what_is_refused_is_refused_with_its_line(text: bytes, said: str, line: int | None) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        load_yaml(text, file="f.yaml")
    assert caught.value.file == "f.yaml"
    assert (caught.value.place or "").startswith(f"line {line}" if line else "line ")


def test_an_alias_bomb_and_deep_nesting_are_refused_quickly() -> None:
    bomb = b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12)
    )
    with pytest.raises(BadInput, match="unfolds to more than"):
        load_yaml(bomb, file="f")
    for deep in (
        b"[" * 100_000,
        b"a: " + b"{a: " * 5000,
        b"- " * 5000,
        b"".join(b"a%d: &a%d [*a%d]\n" % (n, n, n - 1) for n in range(1, 3)),
    ):
        with pytest.raises(BadInput):
            load_yaml(deep, file="f")
    chain = b"a0: &a0 [1]\n" + b"".join(b"a%d: &a%d [*a%d]\n" % (n, n, n - 1) for n in range(1, 60))
    with pytest.raises(BadInput, match="nested deeper"):
        load_yaml(chain, file="f")


def test_an_alias_stands_for_its_anchor() -> None:
    assert load_yaml(b"a: &x {b: [1, 2]}\nc: *x\n", file="f")[0] == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["1e5", "No", ".5", "1_0", "0o7", "~", "12:30:00", "=", "<<"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8).filter(lambda key: key != "bunraku"), PLAIN, max_size=5))
@settings(max_examples=150, deadline=None)
def test_dumped_data_reads_back_exactly(data: dict[str, Any]) -> None:
    assert read_yaml(dump_yaml("clip", data), file="f", kind="clip").data == data


def test_signed_zero_and_tiny_numbers_survive() -> None:
    values = [-0.0, 5e-324, 1e16, 1e22, -1.7976931348623157e308, 0.1 + 0.2]
    back = read_yaml(dump_yaml("clip", {"v": values}), file="f").data["v"]
    assert [v.hex() for v in back] == [v.hex() for v in values]
    assert math.copysign(1.0, back[0]) == -1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"name: x\n", "no header"),
        (b"- 1\n", "no mapping"),
        (b"", "no mapping"),
        (b"bunraku: 5\n", "not understood"),
        (b"bunraku: character/1\n", "this is a character file"),
        (b"bunraku: clip/7\n", "newer Bunraku.*upgrade"),
        (b"bunraku: clip/0\n", "no Bunraku can read"),
    ],
)
def test_headers(text: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        read_yaml(text, file="f", kind="clip")
    assert caught.value.file == "f"
    assert caught.value.place


def test_an_old_file_is_led_through_every_migration(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {("clip", 1): lambda data: {"name": data["title"]}, ("clip", 2): lambda data: data | {"rate_hz": 50}}
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    monkeypatch.setitem(migrations.CURRENT, "clip", 3)
    assert read_yaml(b"bunraku: clip/1\ntitle: x\n", file="f", kind="clip").data == {"name": "x", "rate_hz": 50}
    assert read_yaml(b"bunraku: clip/2\nname: y\n", file="f", kind="clip").data == {"name": "y", "rate_hz": 50}
    assert read_yaml(b"bunraku: clip/3\nname: z\n", file="f", kind="clip").data == {"name": "z"}
    with pytest.raises(BadInput, match="newer"):
        read_yaml(b"bunraku: clip/4\n", file="f", kind="clip")
    assert dump_yaml("clip", {}).startswith(b"bunraku: clip/3")
