"""Lesson 1, the window: every figure of the page, every hand-worked case, every error."""

import copy
import doctest
import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code import context_window
from lesson_code.context_window import (
    CAT_CHAT,
    QUIZ_CHAT,
    STRIP_CHAT,
    Message,
    attention_pairs,
    count_tokens,
    filler,
    tokens_read,
    total_tokens,
    truncate,
)

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=300)


# Counting.


def test_words_are_counted() -> None:
    """The toy counter would not count what stands between white space."""
    assert 0 == count_tokens("")
    assert 0 == count_tokens(" \t\n ")
    assert 4 == count_tokens("My cat is Biscuit.")
    assert 3 == count_tokens("  one\ttwo\n\nthree ")


def test_totals() -> None:
    """A chat would not cost the sum of its messages, or the framing would not be charged for each."""
    assert 0 == total_tokens([])
    assert 3 + 4 + 2 + 3 + 2 + 5 == total_tokens(CAT_CHAT)
    assert (3 + 4 + 2 + 3 + 2 + 5) + 6 * 4 == total_tokens(CAT_CHAT, per_message=4)
    assert len("Reply in French.") == total_tokens(CAT_CHAT[:1], counter=len)
    assert 7 + 10 == total_tokens([filler("user", 7)], per_message=10)


def test_filler_has_the_size_it_is_asked_for() -> None:
    """Messages made to a size would have another."""
    assert {"role": "tool", "content": "word word word"} == filler("tool", 3)
    assert {"role": "user", "content": ""} == filler("user", 0)


# The worked example of the page.


def test_worked_example_sizes() -> None:
    """The table of the worked example would show other sizes."""
    assert [3, 4, 2, 3, 2, 5] == [count_tokens(message["content"]) for message in CAT_CHAT]
    assert [3, 4, 2, 3, 2, 5] == [total_tokens([message]) for message in CAT_CHAT]
    assert [
        "Reply in French.",
        "My cat is Biscuit.",
        "Joli nom.",
        "I like tea.",
        "Moi aussi.",
        "What is my cat called?",
    ] == [message["content"] for message in CAT_CHAT]
    assert 6 == len(CAT_CHAT)
    assert ["system", "user", "assistant", "user", "assistant", "user"] == [m["role"] for m in CAT_CHAT]


def test_worked_example_at_12_forgets_the_cat() -> None:
    """The system message and the last question would not be what is left."""
    assert [CAT_CHAT[0], CAT_CHAT[5]] == truncate(CAT_CHAT, 12)
    assert 1 + 1 == len(truncate(CAT_CHAT, 12))
    assert 3 + 5 == total_tokens(truncate(CAT_CHAT, 12))
    assert ["Reply in French.", "What is my cat called?"] == [m["content"] for m in truncate(CAT_CHAT, 12)]


def test_the_picture_of_the_home_page() -> None:
    """The first picture of the site would show another chat, or a cut that the code does not make."""
    assert [
        "system Reply in French.",
        "user My cat is Biscuit.",
        "assistant Joli nom.",
        "user I like tea.",
        "assistant Moi aussi.",
        "user What is my cat called?",
    ] == [f"{m['role']} {m['content']}" for m in CAT_CHAT]
    assert ["system Reply in French.", "user What is my cat called?"] == [
        f"{m['role']} {m['content']}" for m in truncate(CAT_CHAT, 12)
    ]


def test_worked_example_at_12_step_by_step() -> None:
    """The walk the page explains would not be the walk the code takes."""
    # 12 - 3 pinned = 9; messages 6 and 5 take 5 + 2, message 4 has 3 and finds 2; reply 5 goes.
    assert 12 - 3 == 12 - total_tokens(CAT_CHAT[:1])
    assert 3 == total_tokens(CAT_CHAT[:1])
    assert 5 == total_tokens(CAT_CHAT[5:])
    assert 9 - 5 == 12 - total_tokens(CAT_CHAT[:1]) - total_tokens(CAT_CHAT[5:])
    assert 2 == total_tokens(CAT_CHAT[4:5])
    assert 9 - 5 - 2 == 12 - total_tokens(CAT_CHAT[:1]) - total_tokens(CAT_CHAT[4:])
    assert 3 == total_tokens(CAT_CHAT[3:4])
    # Message 3 has 2 tokens and would fit the spare ones, but message 4 would be a hole.
    assert 12 - (3 + 5) == 12 - total_tokens(truncate(CAT_CHAT, 12))
    assert 2 == total_tokens(CAT_CHAT[2:3])


def test_worked_example_at_12_unpinned_forgets_french() -> None:
    """Without pinning, the last three messages would not be what is left."""
    assert 2 + 3 + 2 + 5 == total_tokens(CAT_CHAT[2:])
    assert CAT_CHAT[3:] == truncate(CAT_CHAT, 12, keep_system=False)
    assert 6 - 3 == len(truncate(CAT_CHAT, 12, keep_system=False))
    assert 3 + 2 + 5 == total_tokens(truncate(CAT_CHAT, 12, keep_system=False))


def test_worked_example_whole() -> None:
    """A chat that just fits would be cut."""
    assert 3 + 4 + 2 + 3 + 2 + 5 == total_tokens(truncate(CAT_CHAT, 19))
    assert 3 + 4 + 2 + 3 + 2 + 5 == total_tokens(truncate(CAT_CHAT, 1_000))
    assert CAT_CHAT == truncate(CAT_CHAT, 19)
    assert CAT_CHAT == truncate(CAT_CHAT, 1_000)
    assert CAT_CHAT == truncate(CAT_CHAT, 19, keep_system=False)
    # At 18 message 2 does not fit, and reply 3 has lost its question.
    assert [CAT_CHAT[0], *CAT_CHAT[3:]] == truncate(CAT_CHAT, 18)
    assert 3 + 3 + 2 + 5 == total_tokens(truncate(CAT_CHAT, 18))


def test_worked_example_too_small() -> None:
    """A window too small for what must be kept would fail without its figures, or not at all."""
    with pytest.raises(ValueError, match=r"^the pinned messages need 3 tokens, the limit is 2$"):
        truncate(CAT_CHAT, 2)
    with pytest.raises(ValueError, match=rf"^keeping the newest turn needs {3 + 5} tokens, the limit is 7$"):
        truncate(CAT_CHAT, 7)
    with pytest.raises(ValueError, match=r"^keeping the newest turn needs 8 tokens, the limit is 3$"):
        truncate(CAT_CHAT, 3)
    with pytest.raises(ValueError, match=r"^keeping the newest turn needs 5 tokens, the limit is 2$"):
        truncate(CAT_CHAT, 2, keep_system=False)
    assert 3 + 5 == total_tokens(truncate(CAT_CHAT, 8))
    assert 5 == total_tokens(truncate(CAT_CHAT, 5, keep_system=False))


# Other hand-worked cuts.


def test_strip_of_seven_messages() -> None:
    """The figure of the strip would show another window."""
    assert ["user", "assistant", "user", "assistant", "user", "assistant", "user"] == [m["role"] for m in STRIP_CHAT]
    assert [30, 20, 40, 25, 35, 30, 20] == [total_tokens([message]) for message in STRIP_CHAT]
    assert 7 == len(STRIP_CHAT)
    assert 30 + 20 + 40 + 25 + 35 + 30 + 20 == total_tokens(STRIP_CHAT)
    assert STRIP_CHAT[2:] == truncate(STRIP_CHAT, 150)
    assert 7 - 2 == len(truncate(STRIP_CHAT, 150))
    assert 7 - 2 == len(truncate(STRIP_CHAT, 190 - 40))
    assert 40 + 25 + 35 + 30 + 20 == total_tokens(truncate(STRIP_CHAT, 150))
    assert 40 + 25 + 35 + 30 + 20 == total_tokens(truncate(STRIP_CHAT, 190 - 40))
    assert 40 + 25 + 35 + 30 + 20 + 40 == total_tokens(truncate(STRIP_CHAT, 190 - 40)) + 40
    assert ["user", "assistant", "user", "assistant", "user", "assistant", "user"] == [
        message["role"] for message in STRIP_CHAT
    ]


def test_check_yourself_truncation() -> None:
    """Question 3 would have another answer."""
    assert [2, 3, 1, 6, 4, 3] == [total_tokens([message]) for message in QUIZ_CHAT]
    assert ["system", "user", "assistant", "user", "assistant", "user"] == [m["role"] for m in QUIZ_CHAT]
    # Budget 10 - 2 = 8; the newest leaves 5, the reply leaves 1, 6 does not fit; the reply goes.
    assert 10 - 2 == 10 - total_tokens(QUIZ_CHAT[:1])
    assert 8 - 3 == 10 - total_tokens(QUIZ_CHAT[:1]) - total_tokens(QUIZ_CHAT[5:])
    assert 8 - 3 - 4 == 10 - total_tokens(QUIZ_CHAT[:1]) - total_tokens(QUIZ_CHAT[4:])
    assert 6 == total_tokens(QUIZ_CHAT[3:4])
    assert [QUIZ_CHAT[0], QUIZ_CHAT[5]] == truncate(QUIZ_CHAT, 10)
    assert [2, 3] == [total_tokens([message]) for message in truncate(QUIZ_CHAT, 10)]
    assert 1 + 1 == len(truncate(QUIZ_CHAT, 10))
    assert 2 + 3 == total_tokens(truncate(QUIZ_CHAT, 10))


def test_framing_is_charged_for_each_message() -> None:
    """The tokens around a message would be forgotten, or charged once for the whole chat."""
    three = [filler("user", 2)] * 3
    assert 3 * (2 + 1) == total_tokens(three, per_message=1)
    assert three == truncate(three, 9, per_message=1)
    assert three[1:] == truncate(three, 8, per_message=1)
    assert three == truncate(three, 6)
    pinned = [filler("system", 2), filler("user", 2)]
    assert pinned == truncate(pinned, 2 * (2 + 1), per_message=1)
    with pytest.raises(ValueError, match="pinned messages need 3 tokens, the limit is 2"):
        truncate(pinned, 2, per_message=1)


def test_another_counter_makes_another_cut() -> None:
    """The limit would not be measured with the counter that is given."""
    chat: list[Message] = [{"role": "user", "content": text} for text in ("aaaa", "bb", "cc")]
    assert 4 + 2 + 2 == total_tokens(chat, counter=len)
    assert chat == truncate(chat, 8, counter=len)
    assert chat[1:] == truncate(chat, 7, counter=len)
    assert chat[1:] == truncate(chat, 5, counter=len)
    assert 1 + 1 + 1 == total_tokens(chat)
    assert chat == truncate(chat, 5)


def test_a_reply_goes_with_its_question_only_after_a_cut() -> None:
    """A chat that opens with a reply would lose it uncut, or a cut one would keep it."""
    chat = [filler("assistant", 2), filler("user", 1), filler("assistant", 2), filler("user", 1)]
    assert chat == truncate(chat, 2 + 1 + 2 + 1)
    assert chat[1:] == truncate(chat, 5)
    assert chat[1:] == truncate(chat, 1 + 2 + 1)
    assert chat[3:] == truncate(chat, 3)
    assert chat[3:] == truncate(chat, 1)
    replies = [filler("assistant", 2), filler("assistant", 1)]
    assert replies == truncate(replies, 2 + 1)
    with pytest.raises(ValueError, match="newest turn needs 3 tokens, the limit is 2"):
        truncate(replies, 2)


def test_all_replies_at_the_front_go_not_only_the_first() -> None:
    """A call or its result would open the chat without the question it belongs to."""
    chat = [
        filler("user", 9),
        filler("assistant", 1),
        filler("tool", 1),
        filler("assistant", 1),
        filler("user", 1),
    ]
    assert chat[4:] == truncate(chat, 12)
    assert chat == truncate(chat, 9 + 1 + 1 + 1 + 1)
    late = [
        filler("user", 9),
        filler("tool", 1),
        filler("user", 1),
        filler("assistant", 1),
        filler("user", 1),
    ]
    assert late[2:] == truncate(late, 12)


def test_only_an_orphan_reply_would_fit() -> None:
    """The newest question would go unseen, and a lone reply be sent for it."""
    chat = [filler("user", 5), filler("assistant", 2)]
    with pytest.raises(ValueError, match=rf"newest turn needs {5 + 2} tokens, the limit is 6"):
        truncate(chat, 6)
    longer = [filler("system", 1), filler("user", 8), filler("assistant", 2), *chat]
    with pytest.raises(ValueError, match=rf"newest turn needs {1 + 5 + 2} tokens, the limit is 7"):
        truncate(longer, 7)
    assert [longer[0], *chat] == truncate(longer, 8)


def test_agent_loops_defeat_the_strict_window() -> None:
    """A question with many calls and results would be cut in the middle of its own turn."""
    loop = [filler("user", 5)] + [filler("assistant", 4), filler("tool", 6)] * 3
    assert loop == truncate(loop, 5 + 3 * (4 + 6))
    with pytest.raises(ValueError, match=rf"newest turn needs {5 + 3 * (4 + 6)} tokens, the limit is 34"):
        truncate(loop, 34)


def test_no_holes() -> None:
    """An older small message would be kept behind a big one that is not."""
    chat: list[Message] = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "A"},
        {"role": "user", "content": "one two three four five"},
        {"role": "user", "content": "C"},
        {"role": "user", "content": "D"},
    ]
    assert ["S", "C", "D"] == [message["content"] for message in truncate(chat, 6)]
    assert 1 + 5 + 1 + 1 == total_tokens(truncate(chat, 8))
    assert chat == truncate(chat, 9)


def test_only_the_leading_system_messages_are_pinned() -> None:
    """A system message elsewhere would be kept for ever, or one of the leading run be lost."""
    chat = [
        filler("system", 1),
        filler("developer", 2),
        filler("user", 4),
        filler("system", 3),
        filler("user", 1),
    ]
    assert [chat[0], chat[1], chat[4]] == truncate(chat, 1 + 2 + 1)
    assert [chat[0], chat[1], chat[3], chat[4]] == truncate(chat, 1 + 2 + 3 + 1)
    assert [chat[3], chat[4]] == truncate(chat, 7, keep_system=False)
    late = [filler("user", 2), filler("system", 2), filler("user", 2)]
    assert late[1:] == truncate(late, 5)
    assert late[2:] == truncate(late, 3)


def test_nothing_but_pinned_messages() -> None:
    """System messages alone would be refused though they fit, or kept though they do not."""
    chat = [filler("system", 2), filler("developer", 3)]
    assert chat == truncate(chat, 2 + 3)
    with pytest.raises(ValueError, match="pinned messages need 5 tokens, the limit is 4"):
        truncate(chat, 4)
    assert chat[1:] == truncate(chat, 4, keep_system=False)


def test_empty_chats_and_empty_windows() -> None:
    """Nothing would not fit a window of nothing."""
    assert [] == truncate([], 0)
    assert [] == truncate([], 100, keep_system=False)
    assert [filler("user", 0)] == truncate([filler("user", 0)], 0)
    assert [filler("user", 0)] == truncate([filler("user", 3), filler("user", 0)], 0)
    with pytest.raises(ValueError, match="newest turn needs 1 tokens, the limit is 0"):
        truncate([filler("user", 1)], 0)


def test_the_input_stays_as_it_was() -> None:
    """The app's own record of the chat would be cut, so that it could never be shown again."""
    chat = copy.deepcopy(CAT_CHAT)
    cut = truncate(chat, 12)
    whole = truncate(chat, 100)
    assert chat == CAT_CHAT
    assert cut[0] is chat[0]
    assert cut[1] is chat[5]
    whole.append(filler("user", 1))
    cut.clear()
    assert chat == CAT_CHAT


# What is not a chat.


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ([{"type": "text", "text": "hi"}], "a list"),
        ({"text": "hi"}, "a dict"),
        (5, "a int"),
        (b"hi", "a bytes"),
        (None, "missing or None"),
    ],
)
@pytest.mark.parametrize("ask", [total_tokens, lambda chat: truncate(chat, 1_000), lambda chat: truncate(chat, 1)])
def test_content_that_is_not_text(content: object, kind: str, ask: Callable[[list[Message]], object]) -> None:
    """Pictures and tool calls would be counted as nothing, or fail without saying where."""
    chat = [*CAT_CHAT[:3], {"role": "user", "content": content}, filler("user", 1)]
    expected = f"message 3: content is {kind}, not text; for tool calls and media see the window-policies lesson"
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        ask(chat)  # type: ignore[arg-type] # the wrong type is the case


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"role": "user"}, "message 1: content is missing or None, not text"),
        ({"content": "hi"}, "message 1: role is missing or None, not text"),
        ({"role": None, "content": "hi"}, "message 1: role is missing or None, not text"),
        ({"role": ["user"], "content": "hi"}, "message 1: role is a list, not text"),
        ({}, "message 1: role is missing or None, not text"),
        ("hi", "message 1: role is missing or None, not text"),
    ],
)
def test_what_is_no_message(message: Message, complaint: str) -> None:
    """A malformed message would fail deep inside, without its place in the list."""
    with pytest.raises(TypeError, match=complaint):
        truncate([filler("user", 1), message], 100)
    with pytest.raises(TypeError, match=complaint):
        total_tokens([filler("user", 1), message])


@pytest.mark.parametrize("messages", [tuple(CAT_CHAT), iter(CAT_CHAT), "hello", CAT_CHAT[0], None])
def test_what_is_no_list(messages: list[Message]) -> None:
    """Something that is no list of messages would be read as one."""
    kind = type(messages).__name__
    with pytest.raises(TypeError, match=f"^messages is a {kind}, not a list$"):
        truncate(messages, 100)
    with pytest.raises(TypeError, match=f"^messages is a {kind}, not a list$"):
        total_tokens(messages)


TAKES_A_NUMBER: dict[str, Callable[[int], object]] = {
    "limit": lambda number: truncate([], number),
    "per_message": lambda number: truncate([], 5, per_message=number),
    "per_message ": lambda number: total_tokens([], per_message=number),
    "n_replies": lambda number: tokens_read(number, 10),
    "tokens_per_message": lambda number: tokens_read(0, number),
    "window": lambda number: tokens_read(0, 10, number),
    "n": lambda number: attention_pairs(number),
    "tokens": lambda number: filler("user", number),
    "the count of message 0": lambda number: total_tokens(CAT_CHAT, counter=lambda text: number),
    "the count of message 1": lambda number: truncate(
        CAT_CHAT, 50, counter=lambda text: 1 if text == "Reply in French." else number
    ),
}


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
@pytest.mark.parametrize("number", [True, False, 1.0, 2.5, "3", [4]])
def test_what_is_no_whole_number(name: str, number: int) -> None:
    """Half a token would be counted, or True as one."""
    expected = f"{name.strip()} must be a whole number, not {number!r}"
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        TAKES_A_NUMBER[name](number)


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_negative_numbers(name: str) -> None:
    """Less than nothing would be counted."""
    with pytest.raises(ValueError, match=f"^{name.strip()} must be 0 or more, not -1$"):
        TAKES_A_NUMBER[name](-1)


def test_a_window_of_none_is_no_number_elsewhere() -> None:
    """No limit at all would be taken for a limit."""
    with pytest.raises(TypeError, match="limit must be a whole number, not None"):
        truncate([], None)  # type: ignore[arg-type] # the wrong type is the case


# Truncation against a slow, obvious reference.

PINNED = ("system", "developer")
REPLIES = ("assistant", "tool")
sizes = st.integers(0, 6)
chats = st.builds(
    lambda opening, rest: opening + rest,
    st.lists(st.builds(filler, st.sampled_from(PINNED), sizes), max_size=2),
    st.lists(
        st.builds(filler, st.sampled_from(["user", *PINNED, *REPLIES, "user", "assistant"]), sizes),
        max_size=8,
    ),
)
limits = st.integers(0, 20)


def slow_truncate(chat: list[Message], limit: int, keep_system: bool, framing: int) -> list[Message] | str:
    """Try every run that ends with the newest message, the longest first; a text names what does not fit."""

    def size(messages: list[Message]) -> int:
        return sum(len(message["content"].split()) + framing for message in messages)

    pinned, rest = [], list(chat)
    while keep_system and rest and rest[0]["role"] in PINNED:
        pinned.append(rest.pop(0))
    if size(pinned) > limit:
        return f"pinned messages need {size(pinned)} tokens"
    if size(pinned + rest) <= limit:
        return pinned + rest
    runs = [rest[first:] for first in range(1, len(rest))]
    for run in runs:
        if run[0]["role"] not in REPLIES and size(pinned + run) <= limit:
            return pinned + run
    turns = [run for run in [rest, *runs] if run[0]["role"] not in REPLIES] or [rest]
    return f"newest turn needs {size(pinned + turns[-1])} tokens"


def test_truncate_equals_the_slow_reference() -> None:
    """Some chat would be cut elsewhere than where trying out every cut puts it."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(chats, limits, st.booleans(), st.integers(0, 2))
    def check(chat: list[Message], limit: int, keep_system: bool, framing: int) -> None:
        expected = slow_truncate(chat, limit, keep_system, framing)
        if isinstance(expected, str):
            fired[expected.split()[0]] += 1
            with pytest.raises(ValueError, match=rf"{expected}, the limit is {limit}"):
                truncate(chat, limit, keep_system, per_message=framing)
        else:
            fired["cut" if len(expected) < len(chat) else "whole"] += 1
            assert expected == truncate(chat, limit, keep_system, per_message=framing)

    check()
    assert {"pinned", "newest", "cut", "whole"} == set(fired)
    assert min(fired.values()) >= 10, fired


def test_truncate_keeps_its_four_promises() -> None:
    """A cut would be over the limit, have holes, open with a reply, or keep less than it could."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(chats, limits, st.booleans())
    def check(chat: list[Message], limit: int, keep_system: bool) -> None:
        before = copy.deepcopy(chat)
        try:
            kept = truncate(chat, limit, keep_system)
        except ValueError as error:
            fired["refused"] += 1
            needed = int(re.findall(r"\d+", str(error))[0])
            assert needed > limit
            return
        assert before == chat

        fired["within the limit"] += 1
        assert total_tokens(kept) <= limit

        pinned = 0
        while keep_system and pinned < len(chat) and chat[pinned]["role"] in PINNED:
            pinned += 1
        first = len(chat) - (len(kept) - pinned)
        fired["newest run"] += 1
        assert [id(m) for m in chat[:pinned] + chat[first:]] == [id(m) for m in kept]

        if first == pinned:
            return
        fired["no leading reply after a cut"] += 1
        assert kept[pinned]["role"] not in REPLIES
        for longer in range(pinned, first):
            fits = total_tokens(chat[:pinned] + chat[longer:]) <= limit
            fired["maximal, as more does not fit" if not fits else "maximal, as more opens with a reply"] += 1
            assert not fits or chat[longer]["role"] in REPLIES

    check()
    assert {
        "refused",
        "within the limit",
        "newest run",
        "no leading reply after a cut",
        "maximal, as more does not fit",
        "maximal, as more opens with a reply",
    } == set(fired)
    assert min(fired.values()) >= 10, fired


def test_the_figure_in_an_error_is_the_least_limit_that_works() -> None:
    """Whoever raises the limit to what the error asks for would get the next error."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(chats)
    def check(chat: list[Message]) -> None:
        try:
            truncate(chat, 0, keep_system=False)
        except ValueError as error:
            needed = int(re.findall(r"\d+", str(error))[0])
            fired["refused"] += 1
            assert total_tokens(truncate(chat, needed, keep_system=False)) <= needed
            with pytest.raises(ValueError, match=f"newest turn needs {needed} tokens, the limit is {needed - 1}"):
                truncate(chat, needed - 1, keep_system=False)

    check()
    assert fired["refused"] >= 10


@pytest.mark.parametrize("limit", [10**9, 60_000, 6, 3])
def test_each_message_is_counted_once(limit: int) -> None:
    """The work would grow faster than the chat, as it does when every step counts the rest again."""
    counted: Counter[str] = Counter()

    def counter(text: str) -> int:
        counted[text] += 1
        return 1

    chat: list[Message] = [{"role": ("user", "assistant")[n % 2], "content": str(n)} for n in range(20_001)]
    kept = truncate(chat, limit, keep_system=False, counter=counter)
    assert {1} == set(counted.values())
    # An even number that fits would open with a reply: one less is kept.
    assert min(len(chat), limit - (limit + 1) % 2) == len(kept)


# Reading it all again.


def test_proof_that_it_works() -> None:
    """The smallest example of re-reading would not add up."""
    assert 10 + 30 + 50 == tokens_read(3, 10)
    assert [10, 30, 50] == [tokens_read(n, 10) - tokens_read(n - 1, 10) for n in range(1, 4)]
    assert 10 + 30 + 30 == tokens_read(3, 10, 30)
    assert 10 + 30 + 30 == tokens_read(3, 10, window=30)
    assert 10 + 30 + 50 == tokens_read(3, 10, 50)
    assert 10 + 30 + 30 == tokens_read(3, 10, 49)


def test_nothing_to_read() -> None:
    """No replies, or messages of nothing, would be read."""
    assert 0 == tokens_read(0, 50)
    assert 0 == tokens_read(0, 50, 0)
    assert 0 == tokens_read(5, 0)
    assert 0 == tokens_read(5, 0, 0)
    assert 50 == tokens_read(1, 50)
    assert 50 == tokens_read(1, 50, 50)


def test_table_of_the_first_five_replies() -> None:
    """A column of the table of replies 1 to 5 would be wrong."""
    assert [1, 3, 5, 7, 9] == [2 * n - 1 for n in range(1, 6)]
    assert [50, 150, 250, 350, 450] == [tokens_read(n, 50) - tokens_read(n - 1, 50) for n in range(1, 6)]
    assert [50, 200, 450, 800, 1_250] == [tokens_read(n, 50) for n in range(1, 6)]
    assert 50 * 1 == tokens_read(1, 50) - tokens_read(0, 50)
    assert 50 * 3 == tokens_read(2, 50) - tokens_read(1, 50)
    assert 50 * 5 == tokens_read(3, 50) - tokens_read(2, 50)
    assert 50 * 7 == tokens_read(4, 50) - tokens_read(3, 50)
    assert 50 * 9 == tokens_read(5, 50) - tokens_read(4, 50)
    assert 50 * 1 == tokens_read(1, 50)
    assert 50 * (1 + 3) == tokens_read(2, 50)
    assert 50 * (1 + 3 + 5) == tokens_read(3, 50)
    assert 50 * (1 + 3 + 5 + 7) == tokens_read(4, 50)
    assert 50 * (1 + 3 + 5 + 7 + 9) == tokens_read(5, 50)


def test_the_law_of_re_reading() -> None:
    """What is read would not grow with the square of the replies."""
    assert [50 * n * n for n in range(1, 21)] == [tokens_read(n, 50) for n in range(1, 21)]
    assert [50 * n * n for n in range(1, 41)] == [tokens_read(n, 50) for n in range(1, 41)]
    assert 10 * 10 == tokens_read(10, 50) / tokens_read(1, 50)
    assert 10 * 10 == tokens_read(100, 50) / tokens_read(10, 50)
    assert 50 * 100 * 100 == tokens_read(100, 50)


def test_written_and_read() -> None:
    """Ten and twenty replies would not be written once and read five and ten times."""
    assert 10 * (50 + 50) == total_tokens([filler("user", 50), filler("assistant", 50)] * 10)
    assert 50 * 10 * 10 == tokens_read(10, 50)
    assert 5_000 / 1_000 == tokens_read(10, 50) / total_tokens([filler("user", 50), filler("assistant", 50)] * 10)
    assert 5_000 / 1_000 == tokens_read(10, 50) / (2 * 10 * 50)
    assert 20 * (50 + 50) == total_tokens([filler("user", 50), filler("assistant", 50)] * 20)
    assert 50 * 20 * 20 == tokens_read(20, 50)
    assert 20_000 / 2_000 == tokens_read(20, 50) / total_tokens([filler("user", 50), filler("assistant", 50)] * 20)
    assert 20_000 / 2_000 == tokens_read(20, 50) / (2 * 20 * 50)


def test_a_window_caps_what_each_reply_reads() -> None:
    """A 450-token window would not stop the growth at nine messages."""
    assert [550, 650, 750, 850, 950] == [tokens_read(n, 50) - tokens_read(n - 1, 50) for n in range(6, 11)]
    assert 50 * 11 == tokens_read(6, 50) - tokens_read(5, 50)
    assert 50 * 19 == tokens_read(10, 50) - tokens_read(9, 50)
    assert [50, 150, 250, 350, 450, 450, 450, 450, 450, 450] == [
        tokens_read(n, 50, 450) - tokens_read(n - 1, 50, 450) for n in range(1, 11)
    ]
    assert 50 * 9 == tokens_read(6, 50, 450) - tokens_read(5, 50, 450)
    assert 50 * 9 == tokens_read(10, 50, 450) - tokens_read(9, 50, 450)
    assert 450 // 50 == (tokens_read(10, 50, 450) - tokens_read(9, 50, 450)) // 50


def test_a_window_of_450_makes_re_reading_linear() -> None:
    """The totals with a window of 450 tokens would not be those of the page."""
    assert 50 + 150 + 250 + 350 + 450 == tokens_read(5, 50, 450)
    assert 1_250 + 450 * 5 == tokens_read(10, 50, 450)
    assert 50 * 40 * 40 == tokens_read(40, 50)
    assert 1_250 + 450 * 35 == tokens_read(40, 50, 450)
    assert 450 * 35 == tokens_read(40, 50, 450) - tokens_read(5, 50, 450)
    assert 40 - 5 == (tokens_read(40, 50, 450) - tokens_read(5, 50, 450)) // 450
    assert 50 * 10 * 10 == tokens_read(10, 50, 1_000)


def test_a_window_of_400_holds_eight_and_sends_seven() -> None:
    """The orphan reply would be sent, which shows that the cut is not that of truncate."""
    assert 8 == 400 // 50
    assert 400 // 50 == len(truncate([filler("user", 50)] * 10, 400))
    assert 7 == (tokens_read(10, 50, 400) - tokens_read(9, 50, 400)) // 50
    assert [7 * 50] * 6 == [tokens_read(n, 50, 400) - tokens_read(n - 1, 50, 400) for n in range(5, 11)]
    assert [350, 350, 350, 350, 350, 350] == [
        tokens_read(n, 50, 400) - tokens_read(n - 1, 50, 400) for n in range(5, 11)
    ]
    assert 7 * 50 == tokens_read(10, 50, 400) - tokens_read(9, 50, 400)
    assert 50 + 150 + 250 + 350 + 6 * 350 == tokens_read(10, 50, 400)


def test_the_tables_of_the_page() -> None:
    """A column would show something else than its heading says."""
    assert [1, 3, 5, 7, 9] == [(tokens_read(n, 50) - tokens_read(n - 1, 50)) // 50 for n in range(1, 6)]
    # Ten replies to ten questions are 20 messages of 50 tokens.
    assert [20 * 50, 40 * 50] == [total_tokens([filler("user", 50), filler("assistant", 50)] * n) for n in (10, 20)]
    assert [50 * 10 * 10, 50 * 20 * 20] == [tokens_read(n, 50) for n in (10, 20)]


def test_the_curve_of_the_window() -> None:
    """The straight line of the picture would be drawn somewhere else."""
    # The first five replies read 50, 150, ... 450 tokens, every later one 450.
    assert [50, 200, 450, 800, 1_250] + [1_250 + 450 * n for n in range(1, 16)] == [
        tokens_read(n, 50, 450) for n in range(1, 21)
    ]
    assert 1_250 + 450 * 15 == tokens_read(20, 50, 450)


def test_check_yourself_re_reading() -> None:
    """Question 5 would have another answer."""
    assert 40 * 12 * 12 == tokens_read(12, 40)
    assert [40, 120] + [200] * 10 == [tokens_read(n, 40, 200) - tokens_read(n - 1, 40, 200) for n in range(1, 13)]
    assert 40 + 120 + 200 + 9 * 200 == tokens_read(12, 40, 200)


def test_a_window_smaller_than_one_message() -> None:
    """Replies would be given to questions the model never saw."""
    with pytest.raises(ValueError, match="newest turn needs 50 tokens, the limit is 49"):
        tokens_read(1, 50, 49)
    with pytest.raises(ValueError, match="newest turn needs 1 tokens, the limit is 0"):
        tokens_read(1, 1, 0)


def slow_tokens_read(n_replies: int, size: int, window: int | None) -> int:
    """Cut the full history anew before each reply."""
    chat: list[Message] = []
    read = 0
    for _ in range(n_replies):
        chat.append(filler("user", size))
        read += total_tokens(chat if window is None else truncate(chat, window))
        chat.append(filler("assistant", size))
    return read


def test_what_was_cut_never_comes_back() -> None:
    """Going on from the cut history would lose messages that the full history would still send."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(st.integers(0, 12), st.integers(0, 5), st.none() | st.integers(5, 80))
    def check(n_replies: int, size: int, window: int | None) -> None:
        expected = slow_tokens_read(n_replies, size, window)
        fired["capped" if expected < slow_tokens_read(n_replies, size, None) else "whole"] += 1
        assert expected == tokens_read(n_replies, size, window)

    check()
    assert {"capped", "whole"} == set(fired)
    assert min(fired.values()) >= 10, fired


def test_the_window_is_that_of_truncate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The capped figures would come from a formula, or the work grow with the square of the replies."""
    handed: list[int] = []
    roles: set[str] = set()

    def spy(messages: list[Message], limit: int, counter: Callable[[str], int]) -> list[Message]:
        handed.append(len(messages))
        roles.update(message["role"] for message in messages)
        return truncate(messages, limit, counter=counter)

    monkeypatch.setattr(context_window, "truncate", spy)
    assert 1_250 + 450 * 995 == tokens_read(1_000, 50, 450)
    # Replies 1 to 5 have at most nine messages, which fit; from then on it is those, a reply and a question.
    assert [9 + 2] * 995 == handed
    handed.clear()
    tokens_read(10, 50, 400)
    # The fifth question makes nine; from then on it is the seven that were sent, a reply and a question.
    assert [9] * 6 == handed
    assert {"user", "assistant"} == roles
    handed.clear()
    tokens_read(1_000, 50)
    tokens_read(1_000, 50, 10**9)
    assert [] == handed


# Attention.


def test_attention_pairs() -> None:
    """A token would not be compared with itself and all before it."""
    assert 0 == attention_pairs(0)
    assert 1 == attention_pairs(1)
    assert 1 + 2 + 3 + 4 == attention_pairs(4)
    assert 500 * 501 // 2 == attention_pairs(500)
    assert 1_000 * 1_001 // 2 == attention_pairs(1_000)
    assert 2_000 * 2_001 // 2 == attention_pairs(2_000)
    assert 20_480 * 20_481 // 2 == attention_pairs(20_480)
    assert 40_960 * 40_961 // 2 == attention_pairs(40_960)
    assert [sum(range(1, n + 1)) for n in range(50)] == [attention_pairs(n) for n in range(50)]
    assert [500_500, 2_001_000, 838_881_280] == [attention_pairs(n) for n in (1_000, 2_000, 40_960)]


def test_twice_the_prompt_is_four_times_the_pairs() -> None:
    """The ratio to half the size would not come close to four."""
    assert round((1_000 * 1_001 / 2) / (500 * 501 / 2), 3) == round(attention_pairs(1_000) / attention_pairs(500), 3)
    assert round((2_000 * 2_001 / 2) / (1_000 * 1_001 / 2), 3) == round(
        attention_pairs(2_000) / attention_pairs(1_000), 3
    )
    assert round((40_960 * 40_961 / 2) / (20_480 * 20_481 / 2), 3) == round(
        attention_pairs(40_960) / attention_pairs(20_480), 3
    )
    assert 2 * 1_001 / 501 == attention_pairs(1_000) / attention_pairs(500)
    assert 2 * 2_001 / 1_001 == attention_pairs(2_000) / attention_pairs(1_000)
    assert 2 * 40_961 / 20_481 == attention_pairs(40_960) / attention_pairs(20_480)
    assert 3.996 == round(attention_pairs(1_000) / attention_pairs(500), 3)
    assert 3.998 == round(attention_pairs(2_000) / attention_pairs(1_000), 3)
    assert 4.000 == round(attention_pairs(40_960) / attention_pairs(20_480), 3)


# Windows of real models, and the examples in the docstrings.


def test_the_gemini_window_in_words() -> None:
    """A window of 2 to the power of 20 tokens would be another number of words."""
    # A hundredth of 1,048,576 is 10,485.76: times 60 and 80 that is 629,145.6 and 838,860.8.
    assert 629_146 == round(1_048_576 * 60 / 100)
    assert 838_861 == round(1_048_576 * 80 / 100)
    assert 630_000 == round(1_048_576 * 60 / 100, -4)
    assert 840_000 == round(1_048_576 * 80 / 100, -4)
    assert 2**20 == 1_048_576


def test_examples_in_docstrings() -> None:
    """An example that a reader sees in the code would show another result."""
    result = doctest.testmod(context_window)
    assert (0, 6) == (result.failed, result.attempted)
