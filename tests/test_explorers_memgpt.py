"""What the explorer of the lesson on MemGPT shows, at every setting, against a replay message by message."""

from __future__ import annotations

import random
import statistics
from typing import Any

from lesson_code.memgpt import rerun_accuracy, rerun_asked, rerun_count, rerun_interval, trying


def slow_talk(rng: random.Random) -> list[Any]:
    """All messages of forty sessions: None for small talk, or what it is about and its value."""
    messages: list[Any] = []
    known: list[int] = []
    for _ in range(40):
        places = rng.sample(range(12), 2)
        for place in range(12):
            if place not in places:
                messages.append(None)
                continue
            if known and rng.random() < 0.25:
                about = rng.choice(known)
            else:
                about = rng.choice([each for each in range(30) if each not in known] or known)
            messages.append((about, rng.randint(100, 999)))
            known = sorted({*known, about})
    return messages


def slow_life(messages: list[Any], asked: list[int], rng: random.Random, knobs: tuple[Any, ...]) -> list[Any]:
    """Live through all messages with MemGPT, and answer what is asked: a value, or why there is none."""
    window, slots, warning, recall = knobs
    held = 0
    core: list[Any] = []  # updated longest ago first
    archive: list[Any] = []
    for message in messages:
        held = window // 2 if held == window else held + 1
        if message:
            warned = warning and held / window >= 0.7
            if rng.random() < (0.95 if warned else 0.6):
                archive.append(message)
            core = [*[fact for fact in core if fact[0] != message[0]], message]
            core = core[len(core) - slots :] if len(core) > slots else core
    seen = dict([*core, *[message for message in messages[-held:] if message]])
    answers = []
    for about in asked:
        answer: Any = seen.get(about)
        if answer is None:
            answer = "not found"
            if rng.random() < 0.9:
                answer = slow_pick(archive, about, rng)
            said = [message for message in messages[:-held] if message and message[0] == about]
            if isinstance(answer, str) and recall > 0 and said and rng.random() < recall:
                answer = slow_pick(said, about, rng)
        answers.append(answer)
    return answers


def slow_pick(facts: list[Any], about: int, rng: random.Random) -> Any:
    """The newest value, or with a chance of 0.1 an older one."""
    values = [value for each, value in facts if each == about]
    if len(values) > 1 and rng.random() >= 0.9:
        return values[rng.randrange(len(values) - 1)]
    return values[-1] if values else "never saved"


def slow_results() -> dict[Any, list[list[str]]]:
    """How every question of 200 conversations is answered, for each setting and length."""
    lengths = (5, 10, 20, 40)
    settings = [
        (window, slots, warning, recall)
        for window in (20, 40, 80)
        for slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
    ]
    talk = random.Random("conversations")
    choose = {length: random.Random(f"questions {length}") for length in lengths}
    luck = {(knobs, length): random.Random(f"MemGPT {length}") for knobs in settings for length in lengths}
    results: dict[Any, list[list[str]]] = {key: [] for key in luck}
    for _ in range(200):
        whole = slow_talk(talk)
        for length in lengths:
            messages = whole[: 12 * length]
            right = dict([message for message in messages if message])
            asked = choose[length].sample(sorted(right), min(6, len(right)))
            for knobs in settings:
                answers = slow_life(messages, asked, luck[knobs, length], knobs)
                ends = []
                for about, answer in zip(asked, answers, strict=True):
                    ends.append(answer if isinstance(answer, str) else "right" if answer == right[about] else "stale")
                results[knobs, length].append(ends)
    return results


SLOW = slow_results()


def slow_count(kind: str, knobs: tuple[Any, ...], length: int) -> int:
    """How many answers are of a kind."""
    return sum([ends.count(kind) for ends in SLOW[knobs, length]])


def slow_share(knobs: tuple[Any, ...], length: int) -> float:
    """Right answers / questions."""
    return slow_count("right", knobs, length) / sum([len(ends) for ends in SLOW[knobs, length]])


def slow_error(knobs: tuple[Any, ...], length: int) -> float:
    """What chance may do: 1.96 standard errors, from how far each conversation is from the common share."""
    share = slow_share(knobs, length)
    off = [ends.count("right") - share * len(ends) for ends in SLOW[knobs, length]]
    return 1.96 * statistics.stdev(off) * 200**0.5 / sum([len(ends) for ends in SLOW[knobs, length]])


def test_memgpt_at_first() -> None:
    """The explorer would begin with something else than what these settings give."""
    assert 6 * 200 == rerun_asked(20, 200)
    assert slow_share((40, 8, True, 0.0), 20) == rerun_accuracy(trying(40, 8, True, 0.0), 20, 200)
    assert round(slow_error((40, 8, True, 0.0), 20), 3) == round(
        rerun_interval(trying(40, 8, True, 0.0), 20, 200)[1] - rerun_accuracy(trying(40, 8, True, 0.0), 20, 200), 3
    )
    assert [slow_count(kind, (40, 8, True, 0.0), 20) for kind in ("right", "stale", "never saved", "not found")] == [
        rerun_count(kind, trying(40, 8, True, 0.0), 20, 200) for kind in ("right", "stale", "never saved", "not found")
    ]


def test_memgpt_everywhere() -> None:
    """With some settings a reader would be shown another memory than the one that was described."""
    assert [
        slow_share((window, core_slots, warning, recall), sessions)
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ] == [
        rerun_accuracy(trying(window, core_slots, warning, recall), sessions, 200)
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ]
    assert [
        round(slow_error((window, core_slots, warning, recall), sessions), 3)
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ] == [
        round(
            rerun_interval(trying(window, core_slots, warning, recall), sessions, 200)[1]
            - rerun_accuracy(trying(window, core_slots, warning, recall), sessions, 200),
            3,
        )
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ]
    assert [
        [
            slow_count(kind, (window, core_slots, warning, recall), sessions)
            for kind in ("right", "stale", "never saved", "not found")
        ]
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ] == [
        [
            rerun_count(kind, trying(window, core_slots, warning, recall), sessions, 200)
            for kind in ("right", "stale", "never saved", "not found")
        ]
        for window in (20, 40, 80)
        for core_slots in (0, 4, 8, 16)
        for warning in (False, True)
        for recall in (0.0, 0.9)
        for sessions in (5, 10, 20, 40)
    ]
