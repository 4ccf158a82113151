"""What a memo of token counts saves, and what it costs: `python tests/benchmarks/token_memo.py`.

It prints ratios of times that were taken in the same run, how many characters a visit to a leaf is worth, how many
bytes an entry needs for each leaf besides its strings, and what eviction from the front costs in a plain dict beside an
`OrderedDict`. Seconds differ from one computer to the next, so none are printed; the ratios differ too, but less.
"""

from __future__ import annotations

import gc
import re
import sys
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from lesson_code.context_window import count_tokens  # noqa: E402 - the path is set first
from lesson_code.token_memo import LEAF_BYTES, TokenMemo, estimate_message_tokens, read_message  # noqa: E402 - as above

LENGTHS = (0, 20, 100, 500, 1_000, 10_000, 100_000)
PIECES = re.compile(r"\w+|[^\w\s]")
COUNTERS: dict[str, Callable[[str], int]] = {
    "words": count_tokens,
    "a regular expression": lambda text: sum(1 for _ in PIECES.finditer(text)),
    "len(text) // 4": lambda text: len(text) // 4,
}


def main() -> None:
    """Measure and print everything."""
    print("times faster with a memo than counting anew, when the message is in the memo:")
    print(f"{'characters':>24}" + "".join(f"{length:>9,}" for length in LENGTHS))
    worth = {}
    for name, counter in COUNTERS.items():
        anew = [best(lambda m=m, c=counter: estimate_message_tokens(m, c)) for m in map(of_length, LENGTHS)]
        known = [hit(of_length(length), counter) for length in LENGTHS]
        print(f"{name:>24}" + "".join(f"{a / k:>9.2f}" for a, k in zip(anew, known, strict=True)))
        leaves = len(read_message(of_length(0)).texts)
        character = (anew[-1] - anew[0]) / LENGTHS[-1]
        worth[name] = anew[0] / (2 * leaves) / character
    print("\na visit to a leaf takes as long as reading so many characters:")
    for name, characters in list(worth.items())[:-1]:
        print(f"{name:>24}{characters:>9.0f}")
    print(f"\nbytes that an entry needs for each leaf, besides its strings (the lesson says {LEAF_BYTES}):")
    for parts in (0, 1, 2, 5, 20):
        leaves, overhead = per_leaf(parts)
        print(f"{leaves:>17} leaves{overhead:>9.0f}")
    print("\nputting in and evicting from the front, in a plain dict and in an OrderedDict:")
    for entries in (1_000, 4_096, 20_000):
        print(f"{entries:>16,} entries{churn({}, entries) / churn(OrderedDict(), entries):>9.1f} times as long")


def of_length(length: int) -> dict[str, Any]:
    """A message with a text of so many characters, in words."""
    return {"role": "user", "content": ("word " * (length // 5 + 1))[:length]}


def of_parts(parts: int, number: int) -> dict[str, Any]:
    """A message with so many parts, or with a plain text if there are none; each text has 40 characters of its own."""
    texts = [f"{number * 100 + part:040}" for part in range(max(1, parts))]
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts] if parts else texts[0]}


def best(call: Callable[[], object]) -> float:
    """Seconds that a call takes, at best: of several rounds of at least 20 thousandths of a second each."""
    times, spent = 1, 0.0
    while spent < 0.02:
        times *= 2
        spent = rounds(call, times)
    return min(rounds(call, times) for _ in range(5)) / times


def rounds(call: Callable[[], object], times: int) -> float:
    """Seconds that so many calls take."""
    start = perf_counter()
    for _ in range(times):
        call()
    return perf_counter() - start


def hit(each: object, counter: Callable[[str], int]) -> float:
    """Seconds for an estimate that the memo has."""
    memo = TokenMemo(counter=counter)
    return best(lambda: memo.estimate(each))


def per_leaf(parts: int, entries: int = 1_000) -> tuple[int, float]:
    """Leaves of a message, and bytes that an entry takes for each of them besides its strings, by `tracemalloc`.

    All messages are there before the measurement begins, and stay: what is added is what the memo adds.
    """
    messages = [of_parts(parts, number) for number in range(entries)]
    memo = TokenMemo(max_bytes=10**12)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for each in messages:
        memo.estimate(each)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    leaves = len(read_message(messages[0]).texts)
    assert len(memo) == entries
    return leaves, (after - before) / entries / leaves


def churn(table: dict[int, int], entries: int) -> float:
    """Seconds to put in as many again as a full table holds, each time evicting the one at the front."""

    def turn(number: int) -> None:
        table[number] = number
        del table[next(iter(table))]

    for number in range(entries):
        table[number] = number
    start = perf_counter()
    for number in range(entries, 3 * entries):
        turn(number)
    return perf_counter() - start


if __name__ == "__main__":
    main()
