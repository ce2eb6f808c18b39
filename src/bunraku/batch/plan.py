"""From a plan's file to its runs: who, what, with which settings, each with the key of its content."""

from __future__ import annotations

import glob
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.batch.sampling import VariedInput, grid, hypercube_points, random_points, sampled
from bunraku.batch.sources import Source, built_in_path, pack
from bunraku.batch.working import family, foreseen, run_versions
from bunraku.errors import BadInput
from bunraku.formats.batch_yaml import BatchFile, VaryEntry, read_batch_yaml
from bunraku.formats.files import confined, read_bytes
from bunraku.formats.places import Where, known_names
from bunraku.formats.provenance import content_hash
from bunraku.formats.registry import built_in
from bunraku.performers.performer import options_of, performer_class

MAX_RUNS = 100_000


@dataclass(frozen=True)
class Run:
    """One line of the table: what is set, by column, and how; ``key`` is the hash of everything its result depends on."""

    key: str
    settings: dict[str, Any]
    character: Source
    clip: Source
    performer: str
    options: dict[str, Any]
    clip_changes: dict[str, Any]
    dimensions: dict[str, float]


@dataclass(frozen=True)
class BatchPlan:
    """A plan that can be carried out: its runs, each once, in order, and the columns of what varies."""

    name: str
    file: BatchFile
    runs: tuple[Run, ...]
    columns: tuple[str, ...]
    varied: tuple[str, ...]
    overlay: Source | None
    rig: Source | None
    repeated: int = 0

    def job(self, run: Run) -> dict[str, Any]:
        """All that a worker is sent for a run, as plain data."""
        return {
            "key": run.key,
            "character": run.character.plain(),
            "clip": run.clip.plain(),
            "overlay": None if self.overlay is None else self.overlay.plain(),
            "rig": None if self.rig is None else self.rig.plain(),
            "performer": run.performer,
            "options": run.options,
            "clip_changes": run.clip_changes,
            "dimensions": run.dimensions,
            "effort": self.file.spent,
            "keep": self.file.keep_performances,
            "timeout": self.file.timeout,
            "versions": run_versions(self.file.spent, run.performer),
        }


def read_plan(path: Path) -> BatchPlan:
    """The plan of a ``*.batch.yaml``, checked as far as it can be without performing; BadInput names file, line and field."""
    file, content = read_batch_yaml(read_bytes(path), file=str(path))
    return _Reader(file, content.where, path.parent).plan(path)


class _Reader:
    """Makes the runs of a plan's file."""

    def __init__(self, file: BatchFile, where: Where, folder: Path) -> None:
        self.file, self.where, self.folder = file, where, folder

    def plan(self, path: Path) -> BatchPlan:
        characters = self._sources("character", self.file.characters, "characters")
        clips = self._sources("clip", self.file.clips, "clips")
        overlay = self._extra("overlay", self.file.overlay)
        rig = self._extra("rig", self.file.rig)
        self._check_performers()
        for place, entry in enumerate(self.file.vary):
            self._check_design(entry, place, characters, overlay)
        axes = [
            VariedInput("character", tuple(characters)),
            VariedInput("clip", tuple(clips)),
            VariedInput("performer", self.file.performers),
            *(self._axis(entry, place) for place, entry in enumerate(self.file.vary)),
        ]
        combinations = self._combinations(axes)
        runs: dict[str, Run] = {}
        shared = content_hash(overlay.digest if overlay else "", rig.digest if rig else "", self.file.spent)
        alike = {
            performer: content_hash(shared, self.file.keep_performances, run_versions(self.file.spent, performer))
            for performer in self.file.performers
        }
        digests = {id(source): source.digest for source in (*characters, *clips)}
        for values in combinations:
            run = self._run(values, alike, digests)
            runs.setdefault(run.key, run)
        columns = tuple(axis.name for axis in axes)
        varied = tuple(axis.name for axis in axes if axis.varies)
        name = self.file.name or path.name.removesuffix(".yaml").removesuffix(".batch")
        repeated = len(combinations) - len(runs)
        plan = BatchPlan(name, self.file, tuple(runs.values()), columns, varied, overlay, rig, repeated)
        self._check_options(plan)
        return plan

    def _sources(self, kind: typing.Literal["character", "clip"], names: tuple[str, ...], field: str) -> list[Source]:
        sources: dict[str, Source] = {}
        for place, name in enumerate(names):
            at = self.where.at(field, place)
            for source in self._matching(kind, name, at):
                sources.setdefault(source.label, source)
        return list(sources.values())

    def _matching(self, kind: typing.Literal["character", "clip"], name: str, at: Where) -> list[Source]:
        asset = built_in_path(kind, name)
        if asset is not None and not (self.folder / name).is_file():
            return [pack(name, asset, built_in=True)]
        if any(letter in name for letter in "*?["):
            confined(name.replace("*", "x").replace("?", "x").replace("[", "x"), self.folder, at)
            hits = sorted(glob.glob(name, root_dir=self.folder, recursive=True))
            if not hits:
                raise at.wrong(f"no file beside the plan matches {name[:100]!r}")
            return [pack(hit, confined(hit, self.folder, at)) for hit in hits]
        path = confined(name, self.folder, at)
        if not path.is_file():
            raise at.wrong(f"{name[:100]!r} is neither a file beside the plan nor a built-in {kind}; "
                           f"{known_names(name, built_in(kind))}")  # fmt: skip
        return [pack(name, path)]

    def _extra(self, field: str, name: str | None) -> Source | None:
        if name is None:
            return None
        asset = built_in_path(field, name) if field == "overlay" else None
        if asset is not None:
            return pack(name, asset)
        path = confined(name, self.folder, self.where.at(field))
        if not path.is_file():
            raise self.where.at(field).wrong(f"there is no file {name[:100]!r} beside the plan; check the name")
        return pack(name, path)

    def _check_performers(self) -> None:
        """Names of performers, and options of those that are named."""
        for place, name in enumerate(self.file.performers):
            if not name:
                continue
            try:
                performer_class(name)
            except BadInput as error:
                raise self.where.at("performers", place).wrong(str(error)) from error
            known = [field.name for field in options_of(name)]
            for option, at in self._options():
                if option not in known:
                    raise at.wrong(f"the performer {name!r} has no option {option[:60]!r}; {known_names(option, known, 40)}")

    def _check_options(self, plan: BatchPlan) -> None:
        """Options of a plan that names no performer: one that is chosen takes each of them."""
        from bunraku.performers.fit import REGISTRY
        from bunraku.performers.performer import options_of

        missing = self._options()
        if any(self.file.performers) or not missing:
            return
        chosen: dict[str, None] = {}
        known: set[str] = set()
        for run in {(one.character.label, one.clip.label): one for one in plan.runs}.values():
            who, name, captured = foreseen(plan.job(run))
            if who is None:
                continue  # whatever its options are, it is refused
            for one in REGISTRY if captured else (name,):  # who performs a capture is known when it is retargeted
                chosen[one] = None
                known |= {field.name for field in options_of(one)}
            missing = [(option, at) for option, at in missing if option not in known]
            if not missing:
                return
        if chosen:
            option, at = missing[0]
            names = ", ".join(chosen)
            raise at.wrong(f"no performer of this plan ({names}) has an option {option[:60]!r}; {known_names(option, known, 40)}")

    def _options(self) -> list[tuple[str, Where]]:
        """Every option that the plan sets or varies, and where."""
        given = [(option, self.where.at("options", option)) for option in self.file.options]
        return given + [(one.option, self.where.at("vary", k, "option")) for k, one in enumerate(self.file.vary) if one.option]

    def _check_design(self, entry: VaryEntry, place: int, characters: list[Source], overlay: Source | None) -> None:
        """The dimensions exist in every character with the overlay over it, and their ends lie within what can be built."""
        if entry.design is None:
            return
        for source in characters:
            design = family(source, overlay)
            bounds = {one.name: (one.low, one.high) for one in design.parameters}
            for name, ends in entry.design.items():
                at = self.where.at("vary", place)
                if name not in bounds:
                    raise at.wrong(f"{source.label} has no dimension {name[:60]!r}; {known_names(name, bounds, 40)}")
                low, high = bounds[name]
                for value in ends:
                    if not low - 1e-9 <= value <= high + 1e-9:
                        raise at.wrong(
                            f"{name} = {1e3 * value:g} mm cannot be built; {source.label} takes {1e3 * low:g} to {1e3 * high:g} mm"
                        )

    def _axis(self, entry: VaryEntry, place: int) -> VariedInput:
        if entry.values is not None:
            if entry.design is not None:
                low, high = sorted(entry.ends)
                outside = [value for value in entry.values if not low <= float(value) <= high]
                if outside:
                    raise self.where.at("vary", place, "values").wrong(
                        f"{outside[0]} lies outside low and high, {low:g} to {high:g}"
                    )
            return VariedInput(entry.column, tuple(entry.values))
        if entry.count is None and self.file.sampling.kind == "grid":
            raise self.where.at("vary", place).wrong("a range needs a count in a grid: how many values from low to high")
        low, high = entry.ends
        return VariedInput(entry.column, (), low, high, entry.count or 0, entry.spacing, self._whole(entry))

    def _whole(self, entry: VaryEntry) -> bool:
        """Whether an option takes whole numbers only."""
        named = [name for name in self.file.performers if name]
        if entry.option is None or not named:
            return False
        return all(typing.get_type_hints(performer_class(name)).get(entry.option) is int for name in named)

    def _combinations(self, axes: list[VariedInput]) -> list[tuple[Any, ...]]:
        sampling = self.file.sampling
        if sampling.kind == "grid":
            total = math.prod(len(axis.steps()) for axis in axes)
            if total > MAX_RUNS:
                raise self.where.at("vary").wrong(f"the grid has {total} combinations; at most {MAX_RUNS} are run: sample it")
            return grid(axes)
        make = random_points if sampling.kind == "random" else hypercube_points
        return sampled(axes, make(sampling.runs or 1, sum(axis.varies for axis in axes), sampling.seed))

    def _run(self, values: tuple[Any, ...], alike: Mapping[str, str], digests: Mapping[int, str]) -> Run:
        character, clip, performer = values[:3]
        options = dict(self.file.options)
        changes: dict[str, Any] = {}
        dimensions: dict[str, float] = {}
        settings: dict[str, Any] = {"character": character.label, "clip": clip.label, "performer": performer}
        for entry, value in zip(self.file.vary, values[3:], strict=True):
            settings[entry.column] = value
            if entry.option is not None:
                options[entry.option] = value
            elif entry.clip is not None:
                changes[entry.clip] = value
            else:
                dimensions |= _lengths(entry, float(value))
        parts = (digests[id(character)], digests[id(clip)], performer, options, changes, dimensions)
        key = content_hash("run/1", alike[performer], *parts).removeprefix("sha256:")
        return Run(key, settings, character, clip, performer, options, changes, dimensions)


def _lengths(entry: VaryEntry, value: float) -> dict[str, float]:
    """Every dimension of an axis at a value: linear, the ends exactly."""
    low, high = entry.ends
    share = (value - low) / (high - low)
    return {name: first + share * (last - first) if share != 1.0 else last for name, (first, last) in (entry.design or {}).items()}
