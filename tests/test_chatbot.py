"""Lesson 2, the chatbot: every figure of the page, every hand-worked case, every error."""

import copy
import doctest
import re
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code import chatbot
from lesson_code.chatbot import (
    DETAILS_CHAT,
    chat_tokens,
    count_tokens,
    for_anthropic,
    split_turns,
    trim_history,
    trim_turns,
)
from lesson_code.context_window import Message, filler

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=300)


def user(content: str) -> Message:
    """Make a question."""
    return {"role": "user", "content": content}


def assistant(content: str) -> Message:
    """Make an answer."""
    return {"role": "assistant", "content": content}


def system(content: str) -> Message:
    """Make a system message."""
    return {"role": "system", "content": content}


def test_examples_in_the_docstrings() -> None:
    """An example in the code would show something else than what comes out."""
    assert (0, 2) == doctest.testmod(chatbot)


# Memory must fit the window.

# "You are a helpful assistant." has 28 characters, a question 12 + 10 x 8, an answer 10 + 10 x 12.
SYSTEM, QUESTION, ANSWER = 28 // 4, 92 // 4, 130 // 4


def test_four_characters_are_a_token_rounded_down() -> None:
    """The estimate would be rounded up, or nothing would cost nothing."""
    assert [1, 1, 1, 1, 1, 1, 1, 1, 2] == [count_tokens("x" * n) for n in range(9)]
    assert 7 == count_tokens("You are a helpful assistant.")
    assert 3 // 4 + 1 == count_tokens("日本語")


def test_the_chat_of_details() -> None:
    """The chat that the page cuts would have other messages or sizes."""
    assert 1 + 6 * 2 == len(DETAILS_CHAT)
    assert (SYSTEM, QUESTION, ANSWER) == (7, 23, 32)
    assert [7, 23, 32, 23, 32, 23, 32, 23, 32, 23, 32, 23, 32] == [chat_tokens([m]) for m in DETAILS_CHAT]
    assert 7 + 6 * (23 + 32) == chat_tokens(DETAILS_CHAT)
    assert system("You are a helpful assistant.") == DETAILS_CHAT[0]
    assert user("Question 1: " + "details " * 10) == DETAILS_CHAT[1]
    assert DETAILS_CHAT[12]["content"].startswith("Answer 6: explanation explanation ")


def test_at_120_the_cut_falls_between_turns_by_luck() -> None:
    """The budget of the page would keep something else than the system message and two turns."""
    assert [DETAILS_CHAT[0], *DETAILS_CHAT[9:]] == trim_history(DETAILS_CHAT, 120)
    assert 1 + 4 == len(trim_history(DETAILS_CHAT, 120))
    assert 7 + 2 * (23 + 32) == chat_tokens(trim_history(DETAILS_CHAT, 120))
    assert trim_turns(DETAILS_CHAT, 120) == trim_history(DETAILS_CHAT, 120)


def test_at_100_the_naive_cut_leaves_an_orphan() -> None:
    """The page would show an orphan where there is none, or the fix would leave it."""
    assert ["system", "assistant", "user", "assistant"] == [m["role"] for m in trim_history(DETAILS_CHAT, 100)]
    assert 7 + 32 + 23 + 32 == chat_tokens(trim_history(DETAILS_CHAT, 100))
    assert ["system", "user", "assistant"] == [m["role"] for m in trim_turns(DETAILS_CHAT, 100)]
    assert 7 + 23 + 32 == chat_tokens(trim_turns(DETAILS_CHAT, 100))


def test_what_fits_is_left_alone() -> None:
    """A chat within the budget would be cut, or handed back as the very list that the app keeps."""
    whole = 7 + 6 * (23 + 32)
    for trim in (trim_history, trim_turns):
        assert trim(DETAILS_CHAT, whole) == DETAILS_CHAT
        assert trim(DETAILS_CHAT, whole) is not DETAILS_CHAT
        assert len(trim(DETAILS_CHAT, whole - 1)) < len(DETAILS_CHAT)
        assert trim([], 0) == []
        assert trim(DETAILS_CHAT[:1], 7) == DETAILS_CHAT[:1]


def test_a_cut_does_not_change_the_chat() -> None:
    """The app's own record would be cut, so that it could never be shown or saved."""
    chat = copy.deepcopy(DETAILS_CHAT)
    trim_history(chat, 100)
    trim_turns(chat, 100)
    assert chat == DETAILS_CHAT


def test_when_not_even_the_newest_fits() -> None:
    """The model would be sent its standing orders alone, and answer nobody."""
    with pytest.raises(
        ValueError, match=rf"^the system message and the newest turn need {7 + 23 + 32} tokens, the budget is 61$"
    ):
        trim_turns(DETAILS_CHAT, 61)
    assert 3 == len(trim_turns(DETAILS_CHAT, 62))
    with pytest.raises(
        ValueError, match=rf"^the system message and the newest message need {7 + 32} tokens, the budget is 38$"
    ):
        trim_history(DETAILS_CHAT, 38)
    assert 2 == len(trim_history(DETAILS_CHAT, 39))


@pytest.mark.parametrize("trim", [trim_history, trim_turns])
def test_when_not_even_the_system_message_fits(trim: Callable[..., list[Message]]) -> None:
    """A budget below the system message would be overrun."""
    with pytest.raises(ValueError, match=r"newest (turn|message) need 7 tokens, the budget is 6$"):
        trim(DETAILS_CHAT[:1], 6)
    with pytest.raises(ValueError, match=r"the budget is -1$"):
        trim(DETAILS_CHAT, -1)


def test_all_system_messages_that_open_the_chat_are_kept() -> None:
    """A summary behind the system message would be the first thing to go."""
    chat = [system("xxxx"), {"role": "developer", "content": "xxxx"}, *DETAILS_CHAT[1:]]
    assert trim_turns(chat, 2 + 23 + 32) == [*chat[:2], *chat[-2:]]
    assert trim_history(chat, 2 + 32) == [*chat[:2], chat[-1]]


AGENT_CHAT: list[Mapping[str, object]] = [
    {"role": "system", "content": "Help."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Sunny."},
    {"role": "assistant", "content": "It is sunny."},
    {"role": "user", "content": "Thanks."},
]


def test_tool_calls_and_results_stay_with_their_question() -> None:
    """A result would be sent without its call, which providers refuse."""
    assert [AGENT_CHAT[1:5], AGENT_CHAT[5:]] == split_turns(AGENT_CHAT[1:])
    # The call is counted as the JSON that is sent.
    call = '[{"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]'
    assert 21 == len(call) // 4
    assert [5 // 4, 8 // 4, 21, 6 // 4, 12 // 4, 7 // 4] == [chat_tokens([m]) for m in AGENT_CHAT]
    whole = 1 + 2 + 21 + 1 + 3 + 1
    assert trim_turns(AGENT_CHAT, whole) == AGENT_CHAT
    assert trim_turns(AGENT_CHAT, whole - 1) == [AGENT_CHAT[0], AGENT_CHAT[5]]
    with pytest.raises(ValueError, match=rf"newest turn need {whole - 1} tokens, the budget is {whole - 2}"):
        trim_turns(AGENT_CHAT[:5], whole - 2)


def test_a_tool_call_is_charged() -> None:
    """A long tool call would be sent for nothing, and the window overrun."""
    calls = [{"id": "1", "function": {"name": "save", "arguments": "é" * 400}}]
    assert 400 // 4 < chat_tokens([{"role": "assistant", "content": None, "tool_calls": calls}]) < 600 // 4
    assert 1 == chat_tokens([{"role": "assistant", "content": None, "tool_calls": []}])


def test_turns() -> None:
    """A turn would begin somewhere else than at a question."""
    a, b, c, d = assistant("a"), user("b"), user("c"), assistant("d")
    note = system("note")
    assert [] == split_turns([])  # nothing is no turn
    assert [[a], [b], [c, d]] == split_turns([a, b, c, d])
    assert [[b, note, a], [c]] == split_turns([b, note, a, c])


def test_a_content_that_cannot_be_counted() -> None:
    """A picture would be counted as nothing."""
    chat = [*DETAILS_CHAT[:2], {"role": "user", "content": [{"type": "image"}]}]
    with pytest.raises(TypeError, match=r"^message 2: content is a list, neither text nor None$"):
        chat_tokens(chat)


def test_another_counter() -> None:
    """The budget would be measured with another counter than the one that is given."""
    assert trim_turns(DETAILS_CHAT, 28 + 92 + 130, counter=len) == [DETAILS_CHAT[0], *DETAILS_CHAT[11:]]
    assert trim_history(DETAILS_CHAT, 28 + 130, counter=len) == [DETAILS_CHAT[0], DETAILS_CHAT[12]]
    assert 28 + 92 == chat_tokens(DETAILS_CHAT[:2], counter=len)


# Trimming against a slow, obvious reference.

chats = st.builds(
    lambda opening, rest: opening + rest,
    st.lists(st.builds(filler, st.sampled_from(["system", "developer"]), st.integers(0, 4)), max_size=2),
    st.lists(
        st.builds(
            filler, st.sampled_from(["user", "assistant", "tool", "user", "assistant", "system"]), st.integers(0, 4)
        ),
        max_size=9,
    ),
)


def words(text: str) -> int:
    """Count words, so that small chats have small sizes."""
    return len(text.split())


def slow_trim(chat: list[Message], budget: int, starts: tuple[str, ...]) -> list[Message] | None:
    """Try every end of the chat, the longest first; a cut may fall in front of the roles in `starts` only."""
    opening = []
    rest = list(chat)
    while rest and rest[0]["role"] in ("system", "developer"):
        opening.append(rest.pop(0))
    for first in range(len(rest) + 1):
        kept = opening + rest[first:]
        may_start = first == 0 or (first < len(rest) and rest[first]["role"] in starts)
        if may_start and sum(words(m["content"]) for m in kept) <= budget:
            return kept
    return None


@pytest.mark.parametrize(
    ("trim", "starts"),
    [(trim_turns, ("user",)), (trim_history, ("user", "assistant", "tool", "system", "developer"))],
)
def test_trimming_equals_the_slow_reference(trim: Callable[..., list[Message]], starts: tuple[str, ...]) -> None:
    """Some chat would be cut elsewhere than where trying out every cut puts it."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(chats, st.integers(0, 20))
    def check(chat: list[Message], budget: int) -> None:
        expected = slow_trim(chat, budget, starts)
        if expected is None:
            fired["refused"] += 1
            with pytest.raises(ValueError, match=f"the budget is {budget}$"):
                trim(chat, budget, words)
        else:
            fired["whole" if len(expected) == len(chat) else "cut"] += 1
            assert expected == trim(chat, budget, words)

    check()
    assert {"refused", "whole", "cut"} == set(fired)
    assert min(fired.values()) >= 10, fired


# A real model in place of the stand-in.


def test_the_system_text_goes_apart() -> None:
    """The system message or a summary would be sent as something the user said, or not at all."""
    chat = [
        system("Be brief."),
        system("Conversation summary: tea."),
        user("Hi"),
        assistant("Hello"),
        {"role": "developer", "content": "Still brief."},
        user("Bye"),
    ]
    before = copy.deepcopy(chat)
    text, rest = for_anthropic(chat)
    assert "Be brief.\n\nConversation summary: tea.\n\nStill brief." == text
    assert [user("Hi"), assistant("Hello"), user("Bye")] == rest
    assert ("", [user("Hi")]) == for_anthropic([user("Hi")])
    assert before == chat


@pytest.mark.parametrize("chat", [[], [system("Be brief.")], [system("Be brief."), assistant("Hello"), user("Hi")]])
def test_a_chat_that_does_not_begin_with_a_question(chat: list[Message]) -> None:
    """An orphan answer would go out as the beginning of a conversation."""
    with pytest.raises(ValueError, match=r"^the chat must begin with a question, after the system message$"):
        for_anthropic(chat)


def test_tool_results_have_another_form_there() -> None:
    """A tool result would be sent in a form that the provider refuses."""
    with pytest.raises(ValueError, match=re.escape("a message with the role 'tool' cannot be sent")):
        for_anthropic([user("Weather?"), {"role": "tool", "content": "Sunny."}])
