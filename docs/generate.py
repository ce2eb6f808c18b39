"""Generate the reference pages: command line, file formats, performer options, and one page for each room of the code."""

import contextlib
import io
import pkgutil
import re
import sys
from pathlib import Path

ROOMS = ["geometry", "optimization", "statistics", "character", "motion", "formats", "mechanics", "retargeting", "rhythm"]
ROOMS += ["building", "gait", "performers", "design", "verification", "stage", "fabrication"]


def escape_docstring(app, what, name, obj, options, lines):
    """Bars and stars in formulas are not reST markup; ``code`` stays as it is."""
    for i, line in enumerate(lines):
        pieces = re.split(r"(``[^`]*``|:[a-z]+:`[^`]*`)", line)
        lines[i] = "".join(
            piece if k % 2 else re.sub(r"(\w)_(?=\W|$)", r"\1\\_", re.sub(r"([*|])", r"\\\1", piece))
            for k, piece in enumerate(pieces)
        )


def own_names(app, doctree):
    """A class named in a signature is the one that its module knows by that name, when others are called the same."""
    from sphinx.addnodes import pending_xref

    for link in doctree.findall(pending_xref):
        module, target = sys.modules.get(link.get("py:module") or ""), link["reftarget"]
        found = getattr(module, target, None) if link.get("refdomain") == "py" and "." not in target else None
        if isinstance(found, type) and found.__module__.startswith("bunraku."):
            link["reftarget"] = f"{found.__module__}.{found.__qualname__}"


def write_reference(folder: Path) -> None:
    """Write all pages; only files whose text changed are touched."""
    folder.mkdir(exist_ok=True)
    pages = {"cli.md": command_line(), "file-formats.md": file_formats(), "options.md": performer_options()}
    pages |= {f"{room}.rst": room_page(room) for room in ROOMS}
    listing = "\n".join(sorted(name.rsplit(".", 1)[0] for name in pages))
    pages["index.md"] = f"# Reference\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n"
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def command_line() -> str:
    """The help of every command, as printed."""
    from bunraku.cli.main import _run, app

    text = ["# Command line\n"]
    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    for name in ["", *names]:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            _run([*([name] if name else []), "--help"])
        text.append(f"## bunraku {name}\n\n```text\n{stream.getvalue().strip()}\n```\n")
    return "\n".join(text)


def file_formats() -> str:
    """The table of formats from the registry."""
    from bunraku.formats.registry import formats
    from bunraku.stage.registry import exporters

    rows = ["# File formats\n", "| file | holds | reads | writes |", "|---|---|---|---|"]
    for form in formats():
        suffixes, does = ", ".join(f"`{suffix}`" for suffix in form.suffixes), {True: "yes", False: ""}
        rows.append(f"| {form.name}: {suffixes} | {form.kind} | {does[bool(form.reader)]} | {does[bool(form.writer)]} |")
    rows += ["\n## Exports of a performance\n", "| name | file | meaning |", "|---|---|---|"]
    rows += [f"| `{name}` | `{exporter.suffix}` | {exporter.meaning} |" for name, exporter in exporters().items()]
    return "\n".join(rows) + "\n"


def performer_options() -> str:
    """The options of every performer, from their dataclasses."""
    from bunraku.cli.options import describe_options
    from bunraku.performers.fit import REGISTRY
    from bunraku.performers.performer import performer_class

    text = ["# Performers and their options\n"]
    for name in REGISTRY:
        meaning, options = (performer_class(name).__doc__ or "").strip(), "\n".join(describe_options(name))
        text.append(f"## {name}\n\n{meaning}\n\n```text\n{options}\n```\n")
    return "\n".join(text)


def room_page(room: str) -> str:
    """Every public module of a room with its members."""
    import importlib

    package = importlib.import_module(f"bunraku.{room}")
    title = f"bunraku.{room}"
    text = [title, "=" * len(title), "", f".. automodule:: bunraku.{room}\n   :no-members:\n"]
    for module in pkgutil.walk_packages(package.__path__, f"bunraku.{room}."):
        if module.name.rsplit(".", 1)[-1].startswith("_") or module.name.endswith("_kernels"):
            continue
        heading = module.name
        rule = "-" * len(heading)
        if module.ispkg:
            text += [heading, rule, "", f".. automodule:: {heading}\n   :no-members:\n"]
        else:
            text += [heading, rule, "", f".. automodule:: {heading}\n   :members:\n   :show-inheritance:\n"]
    return "\n".join(text)
