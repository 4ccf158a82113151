"""How fast the lesson replays the published table, beside the plain replay: `python tests/benchmarks/memgpt.py`.

Both run in turns in this one process, so that the ratio holds on any machine. The digits are compared too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from lesson_code.memgpt import METHODS, SESSIONS, accuracy, verdicts, write_chances
from tests.test_memgpt import plain_accuracy

ROUNDS = 7
MOST = 1 / 3  # of the plain replay's time

Table = dict[tuple[str, int], float]


def table(cell: Callable[[str, int], float]) -> Table:
    """Compute the twenty cells."""
    return {(method, sessions): cell(method, sessions) for method in METHODS for sessions in SESSIONS}


def timed(cell: Callable[[str, int], float]) -> tuple[float, Table]:
    """Compute the cells anew; the seconds of the processor that took, and the cells."""
    verdicts.cache_clear()
    write_chances.cache_clear()
    start = time.process_time()
    cells = table(cell)
    return time.process_time() - start, cells


def main() -> None:
    """Run both in turns, and hold the lesson to its promise."""
    plain, lesson = [], []
    for _ in range(ROUNDS):
        seconds, expected = timed(plain_accuracy)
        plain.append(seconds)
        seconds, cells = timed(accuracy)
        lesson.append(seconds)
        assert cells == expected, "the lesson has other digits than the plain replay"
    ratio = median(lesson) / median(plain)
    print(f"plain replay  {median(plain):.3f} s for the table, the median of {ROUNDS}; best {min(plain):.3f} s")
    print(f"lesson        {median(lesson):.3f} s, the same digits; best {min(lesson):.3f} s")
    print(f"ratio         {ratio:.2f} of the medians, {min(lesson) / min(plain):.2f} of the best; at most {MOST:.2f}")
    assert ratio <= MOST, "the lesson is too slow"


if __name__ == "__main__":
    main()
