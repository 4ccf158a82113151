"""What the explorer of the lesson on the chatbot shows, at every setting, against a plain second version."""

from __future__ import annotations

from lesson_code.chatbot import DETAILS_CHAT, chat_tokens, trim_history, trim_turns

SIZES = (7, 23, 32, 23, 32, 23, 32, 23, 32, 23, 32, 23, 32)  # the system message, then questions and answers


def slow_start(budget: int, whole: bool) -> int:
    """Try every place to cut, or every second one, and take the first after which the rest fits."""
    for start in range(1, 13, 2 if whole else 1):
        if SIZES[0] + sum(SIZES[start:]) <= budget:
            return start
    return 13


def test_the_messages_of_the_chat() -> None:
    """A row would stand beside another message than the one it tells of."""
    assert [
        "You are a helpful assistant.",
        "Question 1",
        "Answer 1",
        "Question 2",
        "Answer 2",
        "Question 3",
        "Answer 3",
        "Question 4",
        "Answer 4",
        "Question 5",
        "Answer 5",
        "Question 6",
        "Answer 6",
    ] == [message["content"].split(":")[0] for message in DETAILS_CHAT]


def test_trimming_at_first() -> None:
    """The explorer would begin with a cut that does not show what it is there to show."""
    assert 7 + 32 + 23 + 32 == chat_tokens((trim_turns if False else trim_history)(DETAILS_CHAT, 105))
    assert "yes" == (
        "yes" if (trim_turns if False else trim_history)(DETAILS_CHAT, 105)[1]["role"] == "assistant" else "no"
    )
    assert ["sent", *["cut"] * 9, "sent", "sent", "sent"] == [
        "sent" if message in (trim_turns if False else trim_history)(DETAILS_CHAT, 105) else "cut"
        for message in DETAILS_CHAT
    ]


def test_trimming_everywhere() -> None:
    """At some budget a reader would see another message go, or another number of tokens, than is really cut."""
    assert [
        SIZES[0] + sum(SIZES[slow_start(budget, whole) :]) for budget in range(65, 356, 10) for whole in (False, True)
    ] == [
        chat_tokens((trim_turns if whole else trim_history)(DETAILS_CHAT, budget))
        for budget in range(65, 356, 10)
        for whole in (False, True)
    ]
    assert [
        "no" if slow_start(budget, whole) % 2 == 1 else "yes"
        for budget in range(65, 356, 10)
        for whole in (False, True)
    ] == [
        "yes" if (trim_turns if whole else trim_history)(DETAILS_CHAT, budget)[1]["role"] == "assistant" else "no"
        for budget in range(65, 356, 10)
        for whole in (False, True)
    ]
    assert [
        ["cut" if 1 <= place < slow_start(budget, whole) else "sent" for place in range(13)]
        for budget in range(65, 356, 10)
        for whole in (False, True)
    ] == [
        [
            "sent" if message in (trim_turns if whole else trim_history)(DETAILS_CHAT, budget) else "cut"
            for message in DETAILS_CHAT
        ]
        for budget in range(65, 356, 10)
        for whole in (False, True)
    ]
