"""Values of expressions and output of blocks, from a worker process that runs the lesson code.

An expression is evaluated once, however often it is quoted; as long as the code that it may run stays the same, a
later build of the same process takes the value it already has. Nothing is kept beyond the process, so a build by
hand and continuous integration compute everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from live_numbers import worker
from live_numbers.dependencies import Code
from live_numbers.forms import Value
from live_numbers.project import Project
from live_numbers.worker import PACKAGE, READY, Broken

SECONDS = 60.0
"""How long one expression or block may take, unless `extra.live_numbers.seconds` in mkdocs.yml says otherwise."""

PATIENCE = 3
"""After so many runaways the rest is not tried: a build with a broken loop must end too."""

STOPPED = "stopped: it did not end within"

FIXED = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "COLUMNS": "80",
    "LINES": "24",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "",
}
OTHERWISE = FIXED | {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "COLUMNS": "132", "HOME": "/nowhere"}
"""The surroundings of the second opinion: a figure that depends on them is unstable."""


@dataclass(frozen=True)
class Outcome:
    """What came of an expression or a block: a value (for a block: what it printed), or an error.

    Where a module cannot be imported, `broken` says in which file and line, and why. `needs` are the things that a
    block used and that Python in a browser does not have.
    """

    value: Value | None = None
    error: str = ""
    broken: Broken | None = None
    needs: tuple[str, ...] = ()


class Worker:
    """One interpreter with the lesson code of one moment loaded."""

    def __init__(self, root: Path, surroundings: dict[str, str], seconds: float) -> None:
        """Start it; `seconds` bounds its imports, and every request.

        Args:
            root: the folder that holds `lesson_code`.
            surroundings: environment variables it runs under.
            seconds: how long it may take to answer.
        """
        self.seconds = seconds
        self.process = subprocess.Popen(
            [sys.executable, "-P", worker.__file__, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            env={**os.environ, **surroundings},
            text=True,
            encoding="utf-8",
        )
        self.questions: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.asked = 0
        threading.Thread(target=_feed, args=(self.process.stdin, self.questions), daemon=True).start()
        threading.Thread(target=_pump, args=(self.process.stdout, self.answers), daemon=True).start()

    @cached_property
    def failure(self) -> str:
        """Why it can answer nothing, or an empty text; waits until it has imported the lessons."""
        answer, error = self._receive()
        return "" if answer == READY else f"{PACKAGE} cannot be imported: {error}"

    def ask(self, request: dict[str, str]) -> Outcome:
        """One answer; a worker that runs away or dies gives an error, and is no use afterwards."""
        self.send([request])
        return self.answer()

    def send(self, requests: list[dict[str, str]]) -> None:
        """Put questions; the answers come in the same order."""
        self.questions.put("".join(json.dumps(request) + "\n" for request in requests))

    def answer(self) -> Outcome:
        """The answer to the next question that was put."""
        if self.failure:
            return Outcome(error=self.failure)
        line, error = self._receive()
        if error:
            return Outcome(error=error)
        self.asked += 1
        try:
            answer: dict[str, Any] = json.loads(line)
            in_turn = answer["number"] == self.asked - 1
        except (ValueError, LookupError, TypeError):  # a line that is no answer at all
            in_turn = False
        if not in_turn:
            self.close()
            return Outcome(error="the code disturbs the interpreter that runs it: does it fork?")
        broken = answer.get("broken")
        place = Broken(**broken) if broken else None
        return Outcome(answer.get("value"), answer.get("error", ""), place, tuple(answer.get("needs", ())))

    def _receive(self) -> tuple[str, str]:
        """The next line of the worker, or what is wrong with it."""
        try:
            line = self.answers.get(timeout=self.seconds)
        except queue.Empty:
            self.close()
            return "", f"{STOPPED} {self.seconds:g} seconds"
        if not line:
            status = self.process.wait()
            self.close()
            return "", f"the code ended the interpreter (exit status {status})"
        return line.strip(), ""

    @property
    def alive(self) -> bool:
        """Whether it can be asked again."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.questions.put("")


def _feed(pipe: IO[str] | None, questions: queue.SimpleQueue[str]) -> None:
    """Hand over every question until an empty one: a worker that is too busy to read must not hold up the builder."""
    assert pipe is not None
    with contextlib.suppress(BrokenPipeError), pipe:  # it has died: what it left behind says so
        while question := questions.get():
            pipe.write(question)
            pipe.flush()


def _pump(pipe: IO[str] | None, answers: queue.SimpleQueue[str]) -> None:
    """Hand on every line of the pipe, and an empty one at its end."""
    assert pipe is not None
    with pipe:
        for line in pipe:
            answers.put(line)
    answers.put("")


class Evaluator:
    """Answers for one state of the code."""

    def __init__(self, project: Project, code: Code, seconds: float = SECONDS) -> None:
        """Nothing is started before the first question.

        Args:
            project: whose `lesson_code` is run.
            code: what the answers belong to.
            seconds: the most that one expression or block may take.
        """
        self.project = project
        self.code = code
        self.seconds = seconds
        self.asked = 0
        self._ran_away = 0
        self._worker: Worker | None = None
        self._known: dict[tuple[str, str], Outcome] = {}
        self._waiting: dict[tuple[str, str], None] = {}

    def answers_for(self, other: Evaluator) -> bool:
        """Whether its answers hold for another project, code and time limit as well."""
        return (self.project, self.code.key, self.seconds) == (other.project, other.code.key, other.seconds)

    def take_over(self, other: Evaluator) -> None:
        """Keep those answers of another state of the code that an edit cannot have changed."""
        if self.project == other.project:
            for (kind, code), outcome in other._known.items():
                if not outcome.error and self.code.key_for(code) == other.code.key_for(code):
                    self._known[kind, code] = outcome

    def start(self) -> None:
        """Start the worker ahead of the first question, so that it imports while the builder reads."""
        self._worker = Worker(self.project.root, FIXED, self.seconds)

    def doctest(self, module: str) -> Outcome:
        """How many examples the docstrings of a module hold, or the one that is false."""
        return self._answer("doctest", module)

    def figure(self, canonical: str) -> Outcome:
        """The value of an expression whose names are written out in full."""
        return self._answer("figure", canonical)

    def block(self, code: str) -> Outcome:
        """What a block prints."""
        return self._answer("block", code)

    def stable(self, kind: str, codes: list[str]) -> dict[str, bool]:
        """A second opinion: whether a fresh interpreter, asked in reverse and elsewhere, gives the same answers."""
        worker = Worker(self.project.root, OTHERWISE, self.seconds)
        same = {}
        for code in reversed(codes):
            if not worker.alive and not worker.failure:
                worker.close()
                worker = Worker(self.project.root, OTHERWISE, self.seconds)
            same[code] = worker.ask({kind: code}) == self._answer(kind, code)
        worker.close()
        return same

    def close(self) -> None:
        """End the worker; answers stay known."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None
        self._waiting.clear()

    def _answer(self, kind: str, code: str) -> Outcome:
        known = self._known.get((kind, code))
        if known is None:
            known = self._known[kind, code] = self._ask(kind, code)
        return known

    def ahead(self, figures: Iterable[str]) -> None:
        """Put questions that will be asked soon, so that the worker is at them while the builder does other things."""
        keys = [("figure", code) for code in dict.fromkeys(figures)]
        keys = [key for key in keys if key not in self._known and key not in self._waiting]
        if keys and self._ran_away < PATIENCE:
            self._ready().send([{kind: code} for kind, code in keys])
            self._waiting.update(dict.fromkeys(keys))

    def _ready(self) -> Worker:
        """A worker that can be asked."""
        if self._worker is not None and not self._worker.alive and not self._worker.failure:
            self._worker.close()
            self._worker = None
        if self._worker is None:
            self._worker = Worker(self.project.root, FIXED, self.seconds)
        return self._worker

    def _ask(self, kind: str, code: str) -> Outcome:
        """The answer to a question, after those that were put before it."""
        while self._waiting and (worker := self._worker) is not None:  # dead or alive: it may have answered before
            key = next(iter(self._waiting))
            del self._waiting[key]
            self._known[key] = outcome = self._counted(worker.answer())
            if not worker.alive:
                self._waiting.clear()  # the rest is asked again, of another worker
            if key == (kind, code):
                return outcome
        if (kind, code) in self._known:
            return self._known[kind, code]
        if self._ran_away >= PATIENCE:
            return Outcome(error=f"not run, because {PATIENCE} others ran away")
        return self._counted(self._ready().ask({kind: code}))

    def _counted(self, outcome: Outcome) -> Outcome:
        self.asked += 1
        self._ran_away += outcome.error.startswith(STOPPED)
        return outcome
