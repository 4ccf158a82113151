"""What the explorers of the lesson on the context window show, at every setting, against plain second versions."""

from __future__ import annotations

import pytest

from lesson_code.context_window import CAT_CHAT, fates, filler, limit_used, tokens_read

SIZES = (3, 4, 2, 3, 2, 5)  # words of "Reply in French.", "My cat is Biscuit." and so on
REPLIES = (2, 4)


def slow_fates(limit: int, pin: bool) -> list[str]:
    """Try every place to cut, the oldest first, and take the first that fits."""
    pinned = [0] if pin else []
    for start in range(len(pinned), 7):
        kept = [*pinned, *range(start, 6)]
        if sum(SIZES[place] for place in kept) > limit:
            continue
        while start > len(pinned) and start in REPLIES:
            kept.remove(start)
            start += 1
        if start < 6:
            return ["sent" if place in kept else "cut" for place in range(6)]
        break
    return ["not sent"] * 6


def slow_use(limit: int, pin: bool) -> str:
    """Add up what `slow_fates` sends, or say what is missing."""
    if pin and limit < 3:
        return f"the pinned messages need 3 tokens, the limit is {limit}"
    sent = [size for size, fate in zip(SIZES, slow_fates(limit, pin), strict=True) if fate == "sent"]
    least = 3 + 5 if pin else 5
    if not sent:
        return f"keeping the newest turn needs {least} tokens, the limit is {limit}"
    return f"{sum(sent)} of {limit} tokens"


def test_truncation_at_first() -> None:
    """The explorer would begin with something else than the walk through the rule that stands above it."""
    assert ["sent", "cut", "cut", "cut", "cut", "sent"] == fates(CAT_CHAT, 12, True)
    assert f"{3 + 5} of 12 tokens" == limit_used(CAT_CHAT, 12, True)
    assert "no" == ("yes" if fates(CAT_CHAT, 12, True)[1] == "sent" else "no")


def test_truncation_everywhere() -> None:
    """At some limit a reader would see a message stay that is cut, or be told a wrong number of tokens."""
    assert [slow_fates(limit, keep_system) for limit in range(2, 21) for keep_system in (False, True)] == [
        fates(CAT_CHAT, limit, keep_system) for limit in range(2, 21) for keep_system in (False, True)
    ]
    assert [slow_use(limit, keep_system) for limit in range(2, 21) for keep_system in (False, True)] == [
        limit_used(CAT_CHAT, limit, keep_system) for limit in range(2, 21) for keep_system in (False, True)
    ]
    assert [
        "yes" if slow_fates(limit, keep_system)[1] == "sent" else "no"
        for limit in range(2, 21)
        for keep_system in (False, True)
    ] == [
        "yes" if fates(CAT_CHAT, limit, keep_system)[1] == "sent" else "no"
        for limit in range(2, 21)
        for keep_system in (False, True)
    ]


def slow_read(replies: int, size: int, window: int) -> int:
    """Take the largest odd number of messages that fits: what is sent begins and ends with a question."""
    read = 0
    for reply in range(1, replies + 1):
        messages = 2 * reply - 1
        while messages * size > window:
            messages -= 2
        read += messages * size
    return read


def test_reading_again_at_first() -> None:
    """The explorer would begin with something else than the table that stands above it."""
    assert [50 * 10 * 10, 50 * (1 + 3 + 5 + 7) + 450 * 6] == [tokens_read(10, 50), tokens_read(10, 50, 450)]
    assert 450 == tokens_read(10, 50, 450) - tokens_read(10 - 1, 50, 450)
    assert 3_500 / 1_000 == tokens_read(10, 50, 450) / (2 * 10 * 50)


def test_reading_again_everywhere() -> None:
    """For some size, window and number of replies a reader would see other counts than reading really takes."""
    assert [
        [slow_read(replies, size, 10**9), slow_read(replies, size, window)]
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ] == [
        [tokens_read(replies, size), tokens_read(replies, size, window)]
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ]
    assert [
        slow_read(replies, size, window) - slow_read(replies - 1, size, window)
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ] == [
        tokens_read(replies, size, window) - tokens_read(replies - 1, size, window)
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ]
    assert [
        slow_read(replies, size, window) / (2 * replies * size)
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ] == [
        tokens_read(replies, size, window) / (2 * replies * size)
        for replies in range(1, 41)
        for size in (10, 50, 100, 200)
        for window in (250, 450, 1_000, 2_000, 1_000_000)
    ]


def test_messages_that_are_alike_are_told_apart() -> None:
    """A message that stands twice in a chat would be called sent where only its double is."""
    assert fates([filler("user", 2)] * 3, 4) == ["cut", "sent", "sent"]


def test_what_no_limit_mends_is_still_an_error() -> None:
    """A chat that cannot be read would look like one that does not fit."""
    with pytest.raises(TypeError, match="content is missing"):
        fates([{"role": "user"}], 4)  # type: ignore[typeddict-item]
