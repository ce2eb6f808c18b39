"""What a study shows, ready to be performed: every behaviour under both conditions, read before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bunraku.character import Character
from bunraku.flow.perform import perform as run
from bunraku.formats.files import confined
from bunraku.formats.places import Where
from bunraku.formats.provenance import content_hash, versions
from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.formats.study_yaml import StudyPlan
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.performers.performer import make_performer
from bunraku.study.design import CONDITIONS


@dataclass(frozen=True, eq=False)
class Act:
    """A behaviour: ``perform`` makes its performance under each condition; ``made_of`` is a hash of what goes into its films."""

    behaviour: str
    made_of: str
    perform: tuple[Callable[[Monitor], Performance], ...]


def acts_of(plan: StudyPlan, base: Path) -> list[Act]:
    """All behaviours in the order of the plan; files that it names are looked for in ``base`` and nowhere else."""
    conditions = [getattr(plan.conditions, name) for name in CONDITIONS]
    acts = []
    if plan.clips:
        who = read_character(_source(plan.character, base, "character"))
        for one in conditions:
            make_performer(one.performer, dict(one.options))
        for b, source in enumerate(plan.clips):
            wish = read_clip(_source(source, base, f"clips[{b}]"))
            made_of = content_hash(who, wish, [one.model_dump() for one in conditions], plan.film, versions())
            ways = tuple(partial(_perform, who, wish, one.performer, dict(one.options)) for one in conditions)
            acts.append(Act(plan.behaviours[b], made_of, ways))
    for b, shown in enumerate(plan.performances):
        done = [read_performance(_source(getattr(shown, name), base, f"performances[{b}].{name}")) for name in CONDITIONS]
        films = [(one.provenance.performer, one.character, one.motion.values, one.rate, one.audio) for one in done]
        acts.append(Act(shown.name, content_hash(films, plan.film, versions()), tuple(partial(_performed, one) for one in done)))
    return acts


def _source(name: str, base: Path, place: str) -> str:
    """A file beside the plan, or the name of something built in."""
    path = confined(name, base, Where("the plan", (), {}, place))
    return str(path) if path.is_file() or path.suffix else name


def _performed(performance: Performance, monitor: Monitor) -> Performance:
    return performance


def _perform(who: Character, wish: Clip, performer: str, options: dict[str, object], monitor: Monitor) -> Performance:
    return run(who, wish, performer, options=options, monitor=monitor).performance
