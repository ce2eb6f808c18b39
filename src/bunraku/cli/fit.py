"""``bunraku fit``: Young's modulus, damping and servo delay of a part from the recorded motion of a marker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.cli.files import check_target
from bunraku.formats.files import read_bytes

if TYPE_CHECKING:
    from bunraku.mechanics.identification.fit import MaterialFit
    from bunraku.mechanics.identification.intervals import Estimate


def fit(
    character: Annotated[str, typer.Argument(help="The rig: built-in name or .character.yaml with the part on a motor")],
    marker: Annotated[Path, typer.Argument(help="Recorded marker: .csv with time_s and x_mm, y_mm[, z_mm] (or _m, _px)")],
    part: Annotated[str, typer.Option(help="The flexible part whose material is fitted")],
    clip: Annotated[
        str | None, typer.Option(help="What the motor was sent, from time 0; without it the record is free vibration")
    ] = None,
    at: Annotated[str | None, typer.Option(help="Frame or body that carries the marker [the body at the part's end]")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The character with what was found: .character.yaml")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of columns that state none: m, cm, mm, in or px")] = None,
    rate: Annotated[float | None, typer.Option(help="Rate of the record [Hz], if it has no time column")] = None,
    mm_per_px: Annotated[float | None, typer.Option(help="Millimetres a pixel; found with the rest if not given")] = None,
    confidence: Annotated[float, typer.Option(help="Probability with which each interval holds the truth")] = 0.95,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the record against the model: MARKER-fit.png")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON on stdout")] = False,
) -> int:
    """Fit Young's modulus, strain-rate damping and servo delay to a recorded marker, each with its interval."""
    check_target(output, ".character.yaml")
    picture = Path(f"{marker.stem}-fit.png")
    check_target(picture if plot else None)
    from bunraku.formats.marker_csv import read_marker
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.mechanics.identification.fit import fit_material
    from bunraku.mechanics.identification.part import find_part, fitted_character, part_rig

    who = read_character(character)
    find_part(who, part)
    record = read_marker(read_bytes(marker), file=str(marker), unit=unit, rate=rate, mm_per_px=mm_per_px)
    command = read_clip(clip).need_joints("a fit") if clip is not None else None
    with watching() as monitor:
        rig = part_rig(who, part, marker=at)
        begin, end = float(record.times[0]), float(record.times[-1])
        model = rig.driven(command, end) if command is not None else rig.released(begin, end)
        result = fit_material(record, model, confidence=confidence, monitor=monitor)
    _tell(result, confidence)
    if plot:
        from bunraku.verification.plots.figure import save_figure
        from bunraku.verification.plots.fit import draw_fit

        save_figure(draw_fit(record, result), picture)
        say(f"wrote {picture}")
    if output is not None:
        from bunraku.formats.registry import write_character

        write_character(output, fitted_character(who, part, result))
        say(f"wrote {output}")
    if json:
        emit_json(_facts(result, confidence) | {"part": part, "marker": str(marker)})
    return exit_code(result.status)


def _tell(result: MaterialFit, confidence: float) -> None:
    percent = f"{100 * confidence:.4g} %"
    say(result.status.sentence)
    say(f"  Young's modulus  {_span(result.young, 1e-9)} GPa ({percent})")
    say(f"  strain damping   {_span(result.damping, 1e3)} ms: {_span(result.damping_ratio, 100)} % of critical")
    if result.delay is not None:
        say(f"  servo delay      {_span(result.delay, 1e3)} ms")
    size = f"noise {1e3 * result.noise:.3g} mm, {100 * result.explained:.4g} % of the motion explained"
    say(f"  vibration at {result.frequency:.4g} Hz, {result.vibration.cycles:.3g} cycles; {size}")
    for warning in result.warnings:
        say(f"  ! {warning}")


def _span(estimate: Estimate, factor: float) -> str:
    return f"{factor * estimate.value:.5g} [{factor * estimate.low:.5g}, {factor * estimate.high:.5g}]"


def _facts(result: MaterialFit, confidence: float) -> dict[str, Any]:
    def pair(estimate: Estimate) -> list[float]:
        return [estimate.low, estimate.high]

    return {
        "status": result.status.value,
        "confidence": confidence,
        "young_pa": result.young.value,
        "young_interval_pa": pair(result.young),
        "strain_damping_s": result.damping.value,
        "strain_damping_interval_s": pair(result.damping),
        "damping_ratio": result.damping_ratio.value,
        "damping_ratio_interval": pair(result.damping_ratio),
        "delay_s": None if result.delay is None else result.delay.value,
        "delay_interval_s": None if result.delay is None else pair(result.delay),
        "frequency_hz": result.frequency,
        "cycles": result.vibration.cycles,
        "noise_m": result.noise,
        "explained": result.explained,
        "iterations": result.iterations,
        "warnings": list(result.warnings),
    }
