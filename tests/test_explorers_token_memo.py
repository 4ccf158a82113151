"""What the explorer of the lesson on the memo shows, at every setting, against a plain second version."""

from __future__ import annotations

from lesson_code.token_memo import two_chats

NAMES = 50 + 4 + 50 + 4 + 50 + 7  # the strings "role", "tool" and "content", each 50 bytes and its characters
KEY = 6 * 8  # the dict begins, two names with their texts, the dict ends
TABLE = 4 * 120 + KEY  # what the table needs for four leaves


def slow_memo(idle: int, budget: int, most: int) -> list[list[int]]:
    """For every 10 seconds: bytes kept alive, hits, misses, and how often nothing was admitted."""
    entries: list[list[int]] = []  # who, size, and when it was used last; the one used longest ago first
    hits = misses = refused = 0
    moments = []
    for moment in range(21):
        chat = range(moment + 1) if moment < 10 else range(10, moment + 1)
        for who in chat:
            size = NAMES + 50 + (2_000 if who < 10 else 20) + TABLE
            known = [entry for entry in entries if entry[0] == who]
            if known:
                hits += 1
            else:
                misses += 1
                if size > budget:
                    refused += 1
                    continue
            entries = [*[entry for entry in entries if entry[0] != who], [who, size, 10 * moment]]
            while len(entries) > most or sum([entry[1] for entry in entries]) > budget:
                if known or 10 * moment - entries[0][2] < idle:
                    break
                entries = entries[1:]
        moments = [*moments, [sum([entry[1] for entry in entries]), hits, misses, refused]]
    return moments


def test_the_memo_at_first() -> None:
    """The explorer would begin with something else than the run that stands above it."""
    # Ten large messages and then eleven small ones, each counted once; all others of 55 and 66 estimates are hits.
    assert 55 + 66 - 21 == two_chats(60, 8_192, 4_096, 2_000)[20][1].hits
    assert 21 == two_chats(60, 8_192, 4_096, 2_000)[20][1].misses
    assert 0 == two_chats(60, 8_192, 4_096, 2_000)[20][1].refused
    large, small = 2_695 + KEY, 715 + KEY
    assert [
        large,
        3 * large,
        5 * large,
        7 * large,
        9 * large,
        10 * large + small,
        10 * large + 3 * small,
        10 * large + 5 * small,
        large + 7 * small,  # the bound holds again, so the last of the large ones may stay
        9 * small,
        11 * small,
    ] == [two_chats(60, 8_192, 4_096, 2_000)[second // 10][0] for second in range(0, 201, 20)]


def test_the_memo_everywhere() -> None:
    """With some bounds a reader would see other hits, or other bytes, than the memo has."""
    assert [
        slow_memo(idle, budget, entries)[20][1]
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ] == [
        two_chats(idle, budget, entries, 2_000)[20][1].hits
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ]
    assert [
        slow_memo(idle, budget, entries)[20][2]
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ] == [
        two_chats(idle, budget, entries, 2_000)[20][1].misses
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ]
    assert [
        slow_memo(idle, budget, entries)[20][3]
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ] == [
        two_chats(idle, budget, entries, 2_000)[20][1].refused
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ]
    assert [
        [slow_memo(idle, budget, entries)[second // 10][0] for second in range(0, 201, 20)]
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ] == [
        [two_chats(idle, budget, entries, 2_000)[second // 10][0] for second in range(0, 201, 20)]
        for entries in (2, 5, 4_096)
        for budget in [2**n for n in (10, 12, 13, 14, 16)]
        for idle in (0, 30, 60, 120)
    ]
