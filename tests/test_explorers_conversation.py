"""What the explorer of the lesson on conversation state shows, at every setting, against a plain second version."""

from __future__ import annotations

from lesson_code.conversation import runs
from lesson_code.conversation.window import total_cost

COSTS = (11, 23, 8, 20, 7, 19, 11, 23, 8, 20, 9, 21, 10)  # questions and answers in turn, and the last question


def slow_start(budget: int) -> int:
    """The first question from which on all fits; the last one if none does."""
    for start in range(0, 13, 2):
        if sum(COSTS[start:]) <= budget:
            return start
    return 12


def test_the_messages_of_the_conversation() -> None:
    """A row would stand beside another message than the one it tells of."""
    assert [
        "My cat is called Biscuit.",
        "the answer to it",
        "She likes tuna.",
        "the answer to it",
        "I drink tea.",
        "the answer to it",
        "Which tea is best with milk?",
        "the answer to it",
        "And with lemon?",
        "the answer to it",
        "It is raining here.",
        "the answer to it",
        "What is my cat called?",
    ] == [message["content"] if message["role"] == "user" else "the answer to it" for message in runs.sent_at(10_000)]


def test_the_budget_at_first() -> None:
    """The explorer would begin with something else than the table that stands above it."""
    assert 9 + 21 + 10 == total_cost(runs.sent_at(60))
    assert "yes" == ("yes" if total_cost(runs.sent_at(60)) <= 60 else "no")
    assert [*["left out"] * 10, "sent", "sent", "sent"] == [
        "sent" if message in sent else "left out" for sent in [runs.sent_at(60)] for message in runs.sent_at(10_000)
    ]


def test_the_budget_everywhere() -> None:
    """At some budget a reader would see another message left out than the bot leaves out."""
    assert [sum(COSTS[slow_start(budget) :]) for budget in range(5, 201, 5)] == [
        total_cost(runs.sent_at(budget)) for budget in range(5, 201, 5)
    ]
    assert ["no" if sum(COSTS[slow_start(budget) :]) > budget else "yes" for budget in range(5, 201, 5)] == [
        "yes" if total_cost(runs.sent_at(budget)) <= budget else "no" for budget in range(5, 201, 5)
    ]
    assert [
        ["left out" if place < slow_start(budget) else "sent" for place in range(13)] for budget in range(5, 201, 5)
    ] == [
        [
            "sent" if message in sent else "left out"
            for sent in [runs.sent_at(budget)]
            for message in runs.sent_at(10_000)
        ]
        for budget in range(5, 201, 5)
    ]
