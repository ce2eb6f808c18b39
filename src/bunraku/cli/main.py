"""The entry point: assembles the commands, turns errors into one line and an exit code. Imports nothing heavy."""

from __future__ import annotations

import errno
import os
import sys
import threading
from typing import Annotated, Any

import typer

from bunraku import __version__
from bunraku.cli import (
    batch,
    bench,
    calibrate,
    choreograph,
    compare,
    demo,
    design,
    doctor,
    export,
    fabricate,
    fit,
    inspect,
    perform,
    play,
    plot,
    render,
    report,
    retarget,
    schema,
    studio,
    study,
    verify,
)
from bunraku.cli.options import OpenCommand
from bunraku.errors import BunrakuError
from bunraku.optimization.threads import ONE_THREAD
from bunraku.system.console import forgive_signs

app = typer.Typer(
    name="bunraku",
    help="From what an artist wants to what a physical robotic character can perform, with proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a check failed, 2 bad input, 3 not converged (best result written), 70 internal error, "
    "130 cancelled.",
)
COMMANDS = (
    demo, perform, choreograph, retarget, verify, design, fit, inspect, plot, render, report, compare, export, play, calibrate,
    fabricate, studio, batch, study, schema, doctor, bench,
)  # fmt: skip
"""In the order of the help; a command is the function that its module is named after."""
OPEN = (perform, export)
"""Commands that take options of a performer or a format beside their own."""
for module in COMMANDS:
    settings: dict[str, Any] = {"cls": OpenCommand, "context_settings": {"allow_extra_args": True}} if module in OPEN else {}
    name = module.__name__.rpartition(".")[2]
    app.command(name, **settings)(getattr(module, name))


def _version(asked: bool) -> None:
    if asked:
        print(f"bunraku {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line and exit with the code of the contract."""
    forgive_signs()
    threading.excepthook = _in_thread
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    for name, value in {"MPLBACKEND": "Agg", **ONE_THREAD}.items():  # before numpy is loaded: later they do nothing
        os.environ.setdefault(name, value)
    command = typer.main.get_command(app)
    try:
        result = command.main(arguments or ["--help"], prog_name="bunraku", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except BunrakuError as error:
        return _say(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _say("cancelled", 130)
    except typer.Exit as error:
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(_trouble(error), 2)
    except MemoryError:
        return _say("not enough memory for this input; use a shorter clip or a lower rate", 2)
    except Exception as error:
        if hasattr(error, "format_message"):
            known = {command.name for command in app.registered_commands}
            place = f" {arguments[0]}" if arguments and arguments[0] in known else ""
            return _say(f"{error.format_message()} See: bunraku{place} --help", 2)
        return _say(_reported(error, arguments), 70)


def _reported(error: BaseException, arguments: list[str]) -> str:
    from bunraku.formats.unexpected import command, reported

    return reported(error, command(arguments))


def _in_thread(failed: threading.ExceptHookArgs) -> None:
    """An error that ends a thread is a line, too."""
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        _say(_reported(failed.exc_value, sys.argv[1:]), 70)


def _trouble(error: OSError) -> str:
    """An error of the system in a sentence: about a file where it names one, else about the network address or the machine."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{error.filename}: {reason}; check that it exists and may be used"
    address = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.ECONNREFUSED, errno.ECONNRESET, errno.ENETUNREACH)
    if error.errno in address or isinstance(error, ConnectionError):
        return f"the network address cannot be used ({reason}); give another --port, or end the program that uses it"
    return f"the system refused ({reason}); check rights and space"


def _say(message: str, code: int) -> int:
    print("bunraku: " + " ".join(message.split()), file=sys.stderr)
    return code


if __name__ == "__main__":
    run()
