"""The printer of lesson 1: every figure with its call, and the comparison with the live file."""

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lesson_code import show_numbers
from lesson_code.kv_memory import CONFIG_URL, load_config
from lesson_code.show_numbers import CALLS, SOURCE_BASED, differences, figures, main

TESTS = Path(__file__).parent


def test_prints_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    """A figure would be missing, or stand under the wrong module."""
    assert 0 == main([])
    out = capsys.readouterr().out
    first, second = out.split("\n\n")
    assert ["lesson_code.context_window", "lesson_code.kv_memory"] == [first.split()[0], second.split()[0]]
    assert len(CALLS["context_window"]) + 1 == len(first.splitlines())
    assert len(CALLS["kv_memory"]) + 1 == len(second.splitlines())


def test_a_figure_of_each_kind() -> None:
    """A figure would be printed in another form, or not be marked as what it is."""
    window = [re.sub(" +", " ", line).strip() for line in figures("context_window").splitlines()]
    memory = [re.sub(" +", " ", line).strip() for line in figures("kv_memory").splitlines()]
    assert "8 total_tokens(truncate(CAT_CHAT, 12))" in window
    assert "838,881,280 attention_pairs(40_960)" in window
    assert "[50, 200, 450, 800, 1250] [tokens_read(n, 50) for n in range(1, 6)]" in window
    assert "3.996 round(attention_pairs(1_000) / attention_pairs(500), 3)" in window
    assert "4 round(attention_pairs(40_960) / attention_pairs(20_480), 3)" in window
    assert "1,048,576 source 1_048_576" in window
    assert "630,000 source round(1_048_576 * 60 / 100, -4)" in window
    assert "6,039,797,760 kv_bytes_at_max_context(load_config())" in memory
    assert "140.625 kv_bytes(load_config(), 1_000) / 2**20" in memory
    assert "16,400,000,000 source 8_200_000_000 * BYTES_PER_VALUE['bfloat16']" in memory
    assert "131,072 source 131_072" in memory


def test_figures_are_aligned() -> None:
    """The values would not end, or the marks and calls not begin, in one column."""
    for name, calls in CALLS.items():
        pairs = zip(figures(name).splitlines()[1:], calls, strict=True)
        # A list takes the room it needs; the column is that of the numbers.
        pairs = [(line, call) for line, call in pairs if not line.lstrip().startswith("[")]
        lines = [line for line, _ in pairs]
        starts = {line.index(call, len(line) - len(call)) for line, call in pairs}
        assert 1 == len(starts)
        column = starts.pop()
        marks = {line[column - 10 : column] for line in lines}
        assert {"  source  ", "          "} == marks
        assert all(line[column - 11] != " " for line in lines)
        assert any(line[0] != " " for line in lines)


def test_every_call_is_asserted_by_hand() -> None:
    """A figure would be printed that no test states with a value of its own."""
    asserted = set()
    for topic in CALLS:
        files = [TESTS / f"test_{topic}.py", TESTS / f"test_explorers_{topic}.py"]
        for node in [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]:
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                asserted |= {ast.dump(side) for side in node.test.comparators}
    for calls in CALLS.values():
        for call in calls:
            expression = ast.parse(call, mode="eval").body
            assert isinstance(expression, ast.Constant) or ast.dump(expression) in asserted, call


def test_the_list_of_calls() -> None:
    """A call would stand twice, or a figure from a source not be printed at all."""
    assert CALLS.keys() == SOURCE_BASED.keys()
    for name, calls in CALLS.items():
        assert len(set(calls)) == len(calls)
        assert SOURCE_BASED[name] == calls[: len(SOURCE_BASED[name])]
        assert all(call in SOURCE_BASED[name] for call in calls if not re.search("[a-z]", call))


def test_help_and_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    """The reader would not be told what the command can do."""
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert 0 == stop.value.code
    assert "--fetch [URL]" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["--fetsch"])
    assert 2 == stop.value.code


# The comparison with the live file.


def live(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | OSError) -> list[str]:
    """Let the live file be this, or fail like this; the list fills with the addresses asked for."""
    asked: list[str] = []

    def fetch_config(url: str) -> dict[str, Any]:
        asked.append(url)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(show_numbers, "fetch_config", fetch_config)
    return asked


def test_fetch_equal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A live file that is the snapshot would count as another."""
    asked = live(monkeypatch, load_config())
    assert 0 == main(["--fetch"])
    assert [CONFIG_URL] == asked
    assert (f"{CONFIG_URL} equals the snapshot: 26 fields\n", "") == capsys.readouterr()


def test_fetch_from_another_address(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The reader could not ask a mirror."""
    asked = live(monkeypatch, load_config())
    assert 0 == main(["--fetch", "http://mirror/config.json"])
    assert ["http://mirror/config.json"] == asked
    assert "http://mirror/config.json equals the snapshot: 26 fields\n" == capsys.readouterr().out


def test_fetch_different(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A change in the live file would pass unseen, or without both values."""
    changed = load_config() | {"num_hidden_layers": 40, "sliding_window": 4096, "pad_token_id": 1}
    del changed["head_dim"]
    live(monkeypatch, changed)
    assert 1 == main(["--fetch"])
    assert [
        "missing: head_dim, in the snapshot 128",
        "changed: num_hidden_layers, in the snapshot 36, now 40",
        "added: pad_token_id = 1",
        "changed: sliding_window, in the snapshot null, now 4096",
    ] == capsys.readouterr().out.splitlines()


def test_fetch_impossible(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No network would look like a difference, or end in a traceback."""
    live(monkeypatch, OSError("no configuration from there: unreachable"))
    assert 2 == main(["--fetch"])
    assert ("", "no configuration from there: unreachable\n") == capsys.readouterr()


def test_differences_field_by_field() -> None:
    """Values that only look alike to Python would count as equal, or a null as a missing field."""
    assert [] == differences({}, {})
    assert [] == differences({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}})
    assert ["changed: a, in the snapshot 1, now true"] == differences({"a": 1}, {"a": True})
    assert ['changed: a, in the snapshot null, now "x"'] == differences({"a": None}, {"a": "x"})
    assert ["added: a = null"] == differences({}, {"a": None})
    assert ["missing: a, in the snapshot null"] == differences({"a": None}, {})


# As the reader starts it.


def test_exit_status_of_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell would be told that all is well when it is not."""
    monkeypatch.setattr(sys, "argv", ["show_numbers", "--fetch", "nowhere"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(show_numbers.__file__, run_name="__main__")
    assert 2 == stop.value.code
    out, err = capsys.readouterr()
    assert ("", 1) == (out, len(err.splitlines()))


def test_runs_from_any_folder_with_nothing_but_python(tmp_path: Path) -> None:
    """The reader who takes the code home would need the site, its packages or its folder."""
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-m", "lesson_code.show_numbers"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("", 0) == (done.stderr, done.returncode)
    assert sum(len(calls) + 1 for calls in CALLS.values()) + 1 == len(done.stdout.splitlines())
