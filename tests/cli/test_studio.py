"""The command ``bunraku studio``: it starts, says where it is, serves only who knows the address, and ends without a trace."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bunraku.cli.main import _run
from bunraku.system.processes import alive, birth

PROGRAM = (sys.executable, "-c", "from bunraku.cli.main import run; run()", "studio")


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address it says."""
    process = subprocess.Popen([*PROGRAM, "--no-browser", *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "the studio is at" in line:
                break
        else:
            raise AssertionError("".join(said))
        yield process, said[-1].split()[-1]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def status(url: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=300)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def children(pid: int) -> list[tuple[int, str]]:
    """Number and birth of the processes that a process has started."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [(int(one), birth(int(one))) for path in found for one in path.read_text().split()]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_who_knows_the_address_and_ends_at_once(tmp_path: Path, end: signal.Signals) -> None:
    project = tmp_path / "show"
    with started(str(project), "--example", "walker-crawl") as (process, url):
        assert urlsplit(url).hostname == "127.0.0.1"
        path = urlsplit(url).path
        assert len(path) > 20
        code, page = status(url, path)
        assert code == 200
        assert b"page.js" in page
        assert status(url, "/")[0] == 404
        assert status(url, f"{path[:-2]}x/")[0] == 404
        assert (project / ".bunraku" / "lock").is_file()
        below = children(process.pid) if Path("/proc/self").exists() else []
        assert below or not Path("/proc/self").exists(), "the live solver runs"
        if end is signal.SIGINT:
            second = subprocess.run([*PROGRAM, "--no-browser", str(project)], capture_output=True, text=True, timeout=300)
            assert second.returncode == 2
            [line] = second.stderr.strip().splitlines()
            assert f"open in another studio (process {process.pid}" in line
        process.send_signal(end)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0
        assert out == ""
        assert "Traceback" not in err
        assert [one for one in below if alive(*one)] == []
    assert sorted(one.name for one in (project / ".bunraku").iterdir()) == ["journal.jsonl", "work"]
    assert list((project / ".bunraku" / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--open", "missing.character.yaml"], "missing.character.yaml"),
        (["--example", "no-such-example"], "no-such-example"),
        (["--port", "99999"], "99999"),
        (["--host", "host.invalid"], "host.invalid"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    words: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "show"
    assert _run(["studio", str(project), "--no-browser", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    [line] = shown.err.strip().splitlines()
    assert expected in line
    assert not (project / ".bunraku" / "lock").exists()
    if words[0] in ("--open", "--example"):
        assert not project.exists(), "refused before anything starts"


def test_a_busy_port_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert _run(["studio", str(tmp_path), "--no-browser", "--port", str(port)]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert f"port {port} is in use" in line
    assert not (tmp_path / ".bunraku" / "lock").exists()


def test_a_file_is_no_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert _run(["studio", str(tmp_path / "file"), "--no-browser"]) == 2
    assert "a project is a folder" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]
