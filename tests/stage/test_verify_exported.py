"""An exported file, read back and verified, gives the verdict of the performance; a changed, cut or foreign one does not."""

from __future__ import annotations

import functools
import json
import time
from dataclasses import replace

import numpy as np
import pytest

import bunraku
from bunraku.character import Character
from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.flow.exported import file_commands, is_exported
from bunraku.formats.registry import read_character, write_performance
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.artnet import patched
from bunraku.stage.manifest import as_line, from_text, manifest
from bunraku.stage.readers.exported import Reading, rate_of
from bunraku.stage.registry import export, exporters, read_exported
from bunraku.verification.verify import verify

pytest.importorskip("mujoco")
pytest.importorskip("mcap")

PERFORMANCES = ("nao", "marionette", "swizzlebot", "car", "one-rod", "beetle-quick")
FORMS = tuple(name for name, one in exporters().items() if one.reader)
EXACT = ("csv", "json", "ros", "mcap", "naoqi")
SAME = "commands of the file against the performance"


@pytest.fixture(scope="session")
def given(real):
    """Performances by name: those of `real`, and a beetle that shifts its weight in its skin."""

    @functools.cache
    def made(name: str) -> Performance:
        return shifted(read_character(name)) if name == "beetle-quick" else real(name)

    return made


def shifted(character: Character) -> Performance:
    """A tenth of a second in which every motor of a skinned character goes a little to and fro."""
    names, driven, rate = compile_tree(character).names, character.driven, 200.0
    wave = 0.01 * np.sin(2.0 * np.pi * np.arange(21) / 20.0)
    q = np.array([[character.home.get(name, 0.0) for name in names]] * 21)
    for name in driven:
        q[:, names.index(name)] += wave
    angles = q[:, [names.index(name) for name in driven]]
    channels = [Channel(name, "position", "rad", rate, angles[:, k]) for k, name in enumerate(driven)]
    channels += [Channel(name, "torque", "N·m", rate, np.zeros(21)) for name in driven]
    wish, motion = JointCurves(driven, rate, angles), JointCurves(names, rate, q)
    certificate = Certificate(Status.CONVERGED, ())
    return Performance(character, "shift", tuple(channels), wish, motion, certificate, Provenance("skin", {}, {}, {}))


@pytest.fixture(scope="session")
def verdict_of():
    """The verdict on commands, made once for the same bytes of all channels."""
    kept: dict[object, object] = {}

    def judged(commands, name):
        channels = [(c.name, c.kind, c.rate, c.values.tobytes()) for c in commands.performance.channels]
        key = (name, *channels, *sorted(commands.steps.items()))
        return kept.setdefault(key, None) or kept.update({key: commands.verify()}) or kept[key]

    return judged


@pytest.fixture(scope="session")
def own_verdict(given):
    return functools.cache(lambda name: verify(given(name)))


def written(form, performance, readers, folder, **more):
    """The exported file, and what has to be said to read it against its performance."""
    options = readers.options(form, performance) | more
    if form == "artnet":
        options["rate"] = (
            performance.rate
        )  # by default one that a DMX line takes: coarser commands, which a replay may judge otherwise
    path = export(performance, form, folder / f"show{exporters()[form].suffix}", **options)
    return path, {"servos": options["servos"]} if form == "blender-servo-bin" else {}


@pytest.mark.parametrize("name", PERFORMANCES)
@pytest.mark.parametrize("form", FORMS)
def test_the_verdict_is_that_of_the_performance(form, name, given, own_verdict, verdict_of, readers, tmp_path):
    performance = given(name)
    try:
        path, said = written(form, performance, readers, tmp_path)
    except BadInput as error:
        refused = str(error)
        if not any(
            words in refused for words in ("cannot express", "are made from angles", "takes angles in rad", "no joint of NAO")
        ):
            raise
        return
    commands = file_commands(path, against=performance, **said)
    assert bool(commands.steps) == (form not in EXACT)
    original, found = own_verdict(name), verdict_of(commands, name)
    if form in EXACT:
        pairs = zip(commands.performance.channels, performance.channels, strict=True)
        assert all(read.values.tobytes() == own.values.tobytes() and read.rate == own.rate for read, own in pairs)
        assert {key: found.figures[key] for key in original.figures} == pytest.approx(original.figures, rel=0, abs=0, nan_ok=True)
    states = {check.name: check.state for check in found.checks}
    assert states.pop(SAME) == "holds"
    assert states == {check.name: check.state for check in original.checks}
    assert found.holds == original.holds


def test_a_thinned_file_is_judged_at_its_own_rate(given, own_verdict, tmp_path):
    """Every fifth sample of skates: the same states, of a replay that is sent less."""
    performance = given("swizzlebot")
    commands = file_commands(export(performance, "artnet", tmp_path / "show.artnet.pcap"), against=performance)
    assert (commands.every, commands.performance.rate) == (5, 40.0)
    states = {check.name: check.state for check in commands.verify().checks}
    assert states.pop(SAME) == "holds"
    assert states == {check.name: check.state for check in own_verdict("swizzlebot").checks}


def test_a_motion_is_no_commands(given, readers, tmp_path):
    path = export(given("nao"), "gltf", tmp_path / "show.glb")
    with pytest.raises(BadInput, match="holds a motion and no commands; export one of csv, json"):
        file_commands(path, against=given("nao"))


@pytest.mark.parametrize("name", ["nao", "swizzlebot"])
@pytest.mark.parametrize("form", FORMS)
def test_a_changed_sample_changes_the_verdict(form, name, given, readers, tmp_path):
    """Also where a torque of the same name, which most formats do not hold, is unchanged."""
    if (form, name) == ("naoqi", "swizzlebot"):  # skates are no NAO
        return
    performance = given(name)
    first = performance.channels[0]
    values = first.values.copy()
    values[120] += 0.02
    changed = performance.changed(channels=(replace(first, values=values), *performance.channels[1:]))
    path, said = written(form, changed, readers, tmp_path)
    found = file_commands(path, against=performance, **said).verify(replay=False)
    check = next(check for check in found.checks if check.name == SAME)
    assert check.broken
    assert first.name in check.note
    assert not found.holds


def test_what_is_read_is_as_near_as_the_file_can_hold(given, readers, tmp_path):
    performance = given("nao")
    for form in FORMS:
        path, said = written(form, performance, readers, tmp_path)
        reading = Reading(performance.character, performance.channels, **said)
        exported = read_exported(path, reading)
        every = round(performance.rate / exported.channels[0].rate)
        assert [(c.name, c.kind, c.unit) for c in exported.channels] == [(c.name, c.kind, c.unit) for c in performance.channels]
        for own, found in zip(performance.channels, exported.channels, strict=True):
            step = exported.steps.get(own.name, 0.0)
            assert np.abs(found.values - own.values[::every]).max() <= 0.5 * step * (1.0 + 1e-9), form
            assert found.rate == performance.rate / every


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("blender-servo-bin", "artnet")])
def test_alone_a_file_needs_its_character_only(form, given, readers, tmp_path):
    """The format says names, units and rate; nothing that was not judged is shown as holding."""
    performance = given("nao")
    path, _ = written(form, performance, readers, tmp_path)
    commands = file_commands(path, character="nao")
    assert [c.name for c in commands.performance.channels] == [c.name for c in performance.channels]
    assert commands.performance.rate == performance.rate
    if form not in ("csv", "arduino"):
        return
    verdict = commands.verify()
    assert not [check for check in verdict.checks if check.name == "replay in other physics"]
    still = {check.name: check.state for check in commands.verify(replay=False).checks}
    assert still["replay in other physics"] == "not checked"
    states = {check.name: check.state for check in verdict.checks}
    assert states["what was wished"] == states["its plan"] == "not checked"
    assert states["fell"] == states["balance margin"] == states["range excess"] == "holds"
    assert not [check.name for check in verdict.checks if check.stands_against and check.name != "torque saturation"]
    assert states["velocity excess"] == "holds"
    assert "give --against" in verdict.sentence


def test_what_a_file_does_not_say_is_asked_for(given, readers, tmp_path):
    """A log of Art-Net alone needs its patch, a binary file of servos their ids and its rate."""
    performance = given("nao")
    path = export(performance, "artnet", tmp_path / "show.artnet.pcap")
    with pytest.raises(BadInput, match="does not name its channels; give --against PERFORMANCE, or --patch"):
        file_commands(path, character="nao")
    slots = patched(performance.character, performance.channels, None)
    names = [channel.name for channel in performance.channels]
    patch = {name: slot.model_dump() for name, slot in zip(names, slots, strict=True)}
    read = file_commands(path, character="nao", patch=patch).performance
    assert [channel.name for channel in read.channels] == names
    assert read.rate == pytest.approx(100.0 / 3.0, rel=1e-15)
    path, said = written("blender-servo-bin", performance, readers, tmp_path)
    ids = {name: fields | {"id": k} for k, (name, fields) in enumerate(said["servos"].items())}
    with pytest.raises(BadInput, match="how many frames a second there are; give --rate"):
        file_commands(path, character="nao", servos=ids)
    with pytest.raises(BadInput, match="or --servos FILE with the id of every servo"):
        file_commands(path, character="nao", rate=100.0)
    read = file_commands(path, character="nao", servos=ids, rate=100.0).performance
    for own, found in zip(performance.channels, read.channels, strict=True):
        assert np.abs(found.values - own.values).max() <= 0.5 * np.radians(300.0) / 2000.0 * (1.0 + 1e-9)


def test_alone_an_excess_that_steps_can_make_is_not_checked(given, readers, tmp_path):
    """A head that turns exactly as fast as its motor may: rounded to steps, some of its steps are faster."""
    performance = given("nao")
    fastest = next(motor.velocity for motor in performance.character.motors if motor.coordinate == "HeadYaw")
    turned = np.minimum(np.arange(len(performance.motion.values)), 4) * fastest / performance.rate
    channels = tuple(replace(c, values=turned) if c.name == "HeadYaw" else c for c in performance.channels)
    said = {}
    for form in ("csv", "arduino"):
        path, _ = written(form, performance.changed(channels=channels), readers, tmp_path)
        verdict = file_commands(path, character="nao").verify(replay=False)
        said[form] = {check.name: check.state for check in verdict.checks}["velocity excess"]
        assert ("keeps every motor limit" in verdict.sentence) == (form == "csv")
    assert said == {"csv": "holds", "arduino": "not checked"}


def test_alone_a_jump_breaks_the_limits_also_of_a_file_that_counts(given, readers, tmp_path):
    performance = given("nao")
    first = performance.channels[0]
    values = np.where(np.arange(len(first.values)) == 50, first.values + 0.3, first.values)
    changed = performance.changed(channels=(replace(first, values=values), *performance.channels[1:]))
    for form in ("csv", "arduino"):
        path, _ = written(form, changed, readers, tmp_path)
        checks = {check.name: check.state for check in file_commands(path, character="nao").verify(replay=False).checks}
        assert checks["velocity excess"] == checks["worst limit violation"] == "broken", form


def test_alone_what_moves_over_the_ground_is_judged_by_its_limits(given, readers, tmp_path):
    path, _ = written("csv", given("car"), readers, tmp_path)
    verdict = bunraku.verify(path, character="car")
    states = {check.name: check.state for check in verdict.checks}
    assert states == {
        "worst limit violation": "holds",
        "replay in other physics": "not checked",
        "what was wished": "not checked",
        "its plan": "not checked",
    }
    fast = tuple(replace(channel, values=50.0 * channel.values) for channel in given("car").channels if channel.kind == "velocity")
    path, _ = written("csv", given("car").changed(channels=fast), readers, tmp_path)
    assert not bunraku.verify(path, character="car").holds


def test_what_hangs_on_strings_needs_its_performance(given, readers, tmp_path):
    path, _ = written("csv", given("marionette"), readers, tmp_path)
    with pytest.raises(BadInput, match="how it starts is not in the file: give --against"):
        file_commands(path, character="marionette")
    thin = export(given("marionette"), "artnet", tmp_path / "thin.artnet.pcap")
    with pytest.raises(BadInput, match="one sample of 3; what physics moves or feedback corrects is judged at 100 Hz"):
        file_commands(thin, against=given("marionette"))


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_file_is_refused(form, given, readers, tmp_path):
    path, said = written(form, given("nao"), readers, tmp_path)
    data = path.read_bytes()
    for share in (0.0, 0.01, 0.3, 0.7, 0.97):
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(BadInput) as refused:
            file_commands(path, against=given("nao"), **said)
        assert "\n" not in str(refused.value)
        assert path.name in str(refused.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_foreign_file_is_refused(form, given, readers, tmp_path):
    path = tmp_path / f"show{exporters()[form].suffix}"
    noise = np.random.default_rng(1).integers(0, 256, 4000).astype(np.uint8).tobytes()
    foreign = [b"", b"\n", b"{}", b"[]", b"time_s\n0\n1\n", b"a,b\n1,2\n", b'{"positions": 3}', b"0x3c", noise, b"NAMES = [\n]\n"]
    for data in foreign:
        path.write_bytes(data)
        with pytest.raises(BadInput) as refused:
            file_commands(path, against=given("nao"))
        assert "\n" not in str(refused.value)


def test_numbers_that_are_none_and_rates_that_are_wrong_are_refused(given, readers, tmp_path):
    performance = given("nao")
    path, _ = written("csv", performance, readers, tmp_path)
    text = path.read_text()
    for bad, words in (
        (text.replace("# rate_hz: 100.0", "# rate_hz: 99.0"), "states 99 Hz, and sample"),
        (text.replace("\n0.01,", "\nnan,", 1), "not finite"),
        (text.replace("HeadYaw", "Neck"), "'Neck', which the performance of"),
        ("\n".join(line if line[0] == "#" else line.rpartition(",")[0] for line in text.splitlines()), "lacks the channel"),
        (text.replace("HeadYaw", "HeadPitch"), "one channel twice"),
        ("\n".join(text.splitlines()[:-1]) + "\n", "780 samples, and 781 were exported"),
    ):
        path.write_text(bad)
        with pytest.raises(BadInput, match=words):
            file_commands(path, against=performance)
    path, _ = written("json", performance, readers, tmp_path)
    content = json.loads(path.read_text())
    for bad in (None, 10**400):
        content["channels"][0]["values"][5] = bad
        path.write_text(json.dumps(content))
        with pytest.raises(BadInput, match="'HeadYaw' holds"):
            file_commands(path, against=performance)
    path, _ = written("arduino-sketch", performance, readers, tmp_path)
    path.write_text(path.read_text().replace("STEP_US = 10000UL", "STEP_US = 5000UL"))
    with pytest.raises(BadInput, match="exported at 100 Hz and would be played at 200 Hz"):
        file_commands(path, against=performance)


HOSTILE = {
    "ros": json.dumps(
        {
            "joint_names": ["HeadYaw"],
            "points": [{"positions": [10**400], "time_from_start": {"sec": second, "nanosec": 0}} for second in range(3)],
        }
    ),
    "json": json.dumps(
        {
            "format": "bunraku-performance",
            "channels": [{"name": "HeadYaw", "kind": "position", "unit": "rad", "rate_hz": 10**400, "values": [0.0]}],
        }
    ),
    "naoqi": "NAMES = [\n" * 200_000,
    "blender-servo-h": "const byte FPS = 9;\nconst int LENGTH = 3;\n" + "ANIMATION_DATA[LENGTH] = {\n" * 200_000,
    "arduino": "RATE_HZ = 9.0f;\nconst uint32_t FRAMES = 3;\n" + "const int16_t a[FRAMES] PROGMEM = {\n" * 100_000,
    "csv": "time_s,HeadYaw\n" + "# a: position [\n" * 200_000 + "0,1\n",
}
"""Numbers beyond all floats, and openings without an end: a search that begins again at each takes hours."""


@pytest.mark.parametrize("form", HOSTILE)
def test_a_hostile_file_is_refused_at_once(form, given, tmp_path):
    channel = Channel("HeadYaw", "position", "rad", 9.0, np.zeros(3))
    named = f"// {as_line(manifest(9.0, [channel], [0], [(0.0, 1.0)]))}\n" if form in ("blender-servo-h", "arduino") else ""
    path = tmp_path / f"show{exporters()[form].suffix}"
    path.write_text(named + HOSTILE[form])
    began = time.process_time()
    with pytest.raises(BadInput):
        read_exported(path, Reading(given("nao").character))
    assert time.process_time() - began < 5.0


def test_a_script_is_never_executed(given, readers, tmp_path):
    path, _ = written("naoqi", given("nao"), readers, tmp_path)
    first = repr(float(given("nao").channels[0].values[0]))
    trap = f"open({str(tmp_path / 'trap')!r}, 'w').close() or {first}"
    path.write_text(path.read_text().replace(first, trap, 1))
    with pytest.raises(BadInput, match="the list FIRST is damaged"):
        file_commands(path, against=given("nao"))
    assert not (tmp_path / "trap").exists()


def test_a_calibration_that_is_given_counts_and_not_the_file(given, readers, tmp_path):
    """A servo built in the other way round plays another performance."""
    performance = given("nao")
    path, _ = written("arduino-sketch", performance, readers, tmp_path)
    servos = readers.options("arduino-sketch", performance)["servos"]
    assert file_commands(path, against=performance, servos=servos).verify(replay=False).checks[0].holds
    turned = servos | {"HeadYaw": servos["HeadYaw"] | {"reverse": True}}
    assert file_commands(path, against=performance, servos=turned).verify(replay=False).checks[0].broken


@pytest.mark.parametrize("layout", ["positions", "servos", "frames"])
def test_every_layout_of_the_add_on(layout, given, readers, tmp_path):
    performance = given("nao")
    for keys in ("id", "name"):
        path, _ = written("blender-servo", performance, readers, tmp_path, layout=layout, keys=keys)
        assert file_commands(path, against=performance).verify(replay=False).checks[0].holds


@pytest.mark.parametrize("form", ["blender-servo-h", "blender-servo-bin"])
def test_servos_that_are_skipped_stay_where_they_were(form, given, readers, tmp_path):
    path, said = written(form, given("nao"), readers, tmp_path, skip_unchanged=True)
    assert file_commands(path, against=given("nao"), **said).verify(replay=False).checks[0].holds


@pytest.mark.parametrize("rate", [1.0, 12.5, 24.0, 25.0, 29.97, 30000 / 1001, 44.1, 50.0, 60.0, 100 / 3, 200 / 7, 240.0, 1000.0])
def test_times_tell_the_rate_exactly(rate):
    k = np.arange(200)
    nanoseconds = np.array([round(i * 1e9 / rate) for i in k.tolist()])
    assert rate_of(nanoseconds * 1e-9, 0.51e-9) == pytest.approx(rate, rel=1e-15)
    assert rate_of(k / rate, 1e-9) == pytest.approx(rate, rel=1e-15)
    for wrong in (np.r_[0.0, 0.1, 0.3], np.r_[0.1, 0.2], np.r_[0.0, 0.0], np.zeros(1)):
        with pytest.raises(BadInput):
            rate_of(wrong, 1e-9)


def test_the_command_line_and_python_ask_whose_commands_they_are(given, readers, tmp_path, capsys):
    def run(*words):
        return _run(["verify", *map(str, words)]), capsys.readouterr().err

    path, _ = written("csv", given("nao"), readers, tmp_path)
    kept = tmp_path / "show.performance.npz"
    write_performance(kept, given("nao"))
    assert is_exported(path)
    assert not is_exported(kept)
    for words in ((path,), (path, "--character", "nao", "--against", kept)):
        code, said = run(*words)
        assert code == 2
        assert "--character, or --against" in said
    code, said = run(kept, "--against", kept)
    assert code == 2
    assert "--against is for an exported file" in said
    code, said = run(path, "--against", kept, "--no-replay", "--all")
    assert code == 0
    assert f"{SAME}: 0" in said
    with pytest.raises(BadInput, match="against is for an exported file"):
        bunraku.verify(kept, against=kept)
    assert bunraku.verify(path, against=kept, replay=False).holds


def test_what_a_file_says_of_its_channels_ends_no_comment():
    channel = Channel("*/ ??/\n<a>&", "position", "rad", 50.0, np.zeros(1))
    line = as_line(manifest(50.0, (channel,)))
    assert line.isascii()
    assert not set(line) & set("*/?<>&\n")
    assert from_text(f"// {line}\n", file="x").channels[0].name == channel.name


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_read_or_refused_in_one_line(form, given, performance, readers, tmp_path):
    """Sixty files with a few bytes changed, left out or doubled: channels, or bad input, and nothing else."""
    performance = given("nao") if form == "naoqi" else performance
    path, said = written(form, performance, readers, tmp_path)
    data, draw = path.read_bytes(), np.random.default_rng(5)
    reading = Reading(performance.character, performance.channels, **said)
    outcomes = set()
    for _ in range(60):
        bad = bytearray(data)
        for _ in range(int(draw.integers(1, 4))):
            place = int(draw.integers(0, len(bad)))
            match int(draw.integers(0, 3)):
                case 0:
                    bad[place] = int(draw.integers(0, 256))
                case 1:
                    del bad[place : place + int(draw.integers(1, 40))]
                case _:
                    bad[place:place] = bad[place : place + int(draw.integers(1, 40))]
        path.write_bytes(bytes(bad))
        try:
            read_exported(path, reading)
            outcomes.add("read")
        except BadInput as error:
            outcomes.add("refused")
            if "\n" in str(error):
                raise
    assert "refused" in outcomes


@pytest.mark.parametrize("name", ["a\"'\\*/ ??/ #error {x} <b>&amp; é∞ ☃", 'bunraku: {"rate_hz"', "b\u2028c"])
@pytest.mark.parametrize("form", FORMS)
def test_hostile_names_come_back(form, name, performance, readers, tmp_path):
    """Names that would end a comment or begin another manifest, of a joint and of the clip."""
    first, *rest = performance.character.joints
    who = performance.character.changed(
        joints=(first.changed(name=name), *rest),
        motors=(performance.character.motors[0].changed(coordinate=name), *performance.character.motors[1:]),
    )
    names = (name, *performance.motion.names[1:])
    curves = JointCurves(names, performance.rate, performance.motion.values)
    channels = tuple(replace(channel, name=new) for channel, new in zip(performance.channels, names, strict=True))
    odd = performance.changed(character=who, clip_name=name, channels=channels, wish=curves, motion=curves)
    try:
        path, said = written(form, odd, readers, tmp_path)
    except BadInput as error:
        refused = str(error)
        if "cannot be a column's name" not in refused and "is no joint of NAO" not in refused:
            raise
        return
    commands = file_commands(path, against=odd, **said)
    assert [channel.name for channel in commands.performance.channels] == list(names)
    assert commands.verify(replay=False).checks[0].holds
