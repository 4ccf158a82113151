"""What the explorer of the page on window policies shows, at every setting, against plain second versions."""

from __future__ import annotations

from lesson_code.window_policies import (
    CASES,
    always_answer,
    newest_steps,
    strict_window,
    verdict,
    whole_turns,
)

# Who speaks, and what it costs: by its text alone, written down as JSON, and as the task window counts it.
CALL = '[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "' + "word" * 14 + '"}}]'
CHAT = (
    ("system", 10, 10, 10),
    ("user", 10, 10, 10),
    ("assistant", 20, 20, 20),
    ("user", 10, 10, 10),
    ("assistant", 20, 20, 20),
    ("user", 10, 10, 10),
)
AGENT = (
    ("system", 10, 10, 10),
    ("user", 10, 10, 10),
) + (("assistant", 1 + 4, 34 + 4, 20), ("tool", 30, 30, 30)) * 4  # 133 characters of JSON are 34 tokens
MARKER = 7 + 4  # 28 characters, and what every message costs


def slow_said(case: str) -> tuple[tuple[str, int, int, int], ...]:
    """The messages of a conversation."""
    return AGENT if case == "an agent at work" else CHAT


def slow_verdict(case: str, first: int, limit: int) -> str:
    """Say how many messages are kept from a place on, besides the system message; at the end nothing is."""
    said = slow_said(case)
    if first == len(said):
        return "refuses"
    kept = f"{1 + len(said) - first} of {len(said)}"
    return kept if said[0][3] + sum([real for _, _, _, real in said[first:]]) <= limit else f"{kept}, too long"


def slow_strict(case: str, limit: int) -> str:
    """Cut by the texts alone; no reply in front."""
    said = slow_said(case)
    first = 1
    while sum([text for _, text, _, _ in said[first:]]) + 10 > limit:
        first += 1
    while first > 1 and first < len(said) and said[first][0] != "user":
        first += 1
    return slow_verdict(case, first, limit)


def slow_turns(case: str, limit: int) -> str:
    """Cut in front of a user's message, by what the JSON costs."""
    said = slow_said(case)
    for first in range(1, len(said)):
        if said[first][0] == "user" and sum([written for _, _, written, _ in said[first:]]) + 10 <= limit:
            return slow_verdict(case, first, limit)
    return "refuses"


def slow_always(case: str, limit: int) -> str:
    """Cut by the texts alone, but never the last message; no reply in front."""
    said = slow_said(case)
    first = 1
    while first < len(said) - 1 and sum([text for _, text, _, _ in said[first:]]) + 10 > limit:
        first += 1
    while first < len(said) and said[first][0] != "user":
        first += 1
    return slow_verdict(case, first, limit)


def slow_task(case: str, limit: int) -> str:
    """Keep the orders, the question and the newest step; then add groups, the newest first, as long as they fit."""
    real = [cost for _, _, _, cost in slow_said(case)]
    if sum(real) <= limit:
        return f"{len(real)} of {len(real)}"
    kept, needed = (4, 10 + 10 + MARKER + 20 + 30) if case == "an agent at work" else (2, 10 + 10 + MARKER)
    if needed > limit:
        return "refuses"
    end = len(real) - (2 if case == "an agent at work" else 1)
    for first in (6, 4, 2) if case == "an agent at work" else (4, 3, 2, 1):
        needed += sum(real[first:end])
        if needed > limit:
            break
        kept, end = kept + end - first, first
    return f"{kept} of {len(real)}"


def test_policies_at_first() -> None:
    """The explorer would begin with something else than a row of the table that stands above it."""
    assert 34 == -(-len(CALL) // 4)
    assert ["refuses", "refuses", "refuses", "6 of 10"] == [
        verdict(policy, CASES["an agent at work"][0], 140)
        for policy in (strict_window, whole_turns, always_answer, newest_steps)
    ]


def test_policies_everywhere() -> None:
    """At some limit a reader would be told that a policy keeps, or sends, what it does not."""
    assert [
        [slow_strict(case, limit), slow_turns(case, limit), slow_always(case, limit), slow_task(case, limit)]
        for case in ("a chat that fits", "an agent at work")
        for limit in range(10, 301, 10)
    ] == [
        [verdict(policy, CASES[case][0], limit) for policy in (strict_window, whole_turns, always_answer, newest_steps)]
        for case in ("a chat that fits", "an agent at work")
        for limit in range(10, 301, 10)
    ]
