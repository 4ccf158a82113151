"""A chatbot with memory, built step by step around a model that has none.

A model answers from the messages that it is sent, and from nothing else. So each kind
of memory is a rule of the app for what to send: the chat itself, the newest part of it
that fits, a summary of the rest, facts that the user wants kept, and old messages that
are looked up again.
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from lesson_code.context_window import SYSTEM_ROLES, Message

# Messages of agents have more keys than those of chats; both kinds can be trimmed.
AnyMessage = TypeVar("AnyMessage", bound=Mapping[str, object])


# Memory must fit the window.


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text: four characters each, rounded down, at least 1.

    >>> count_tokens("You are a helpful assistant.")
    7
    """
    return max(1, len(text) // 4)


def chat_tokens(
    messages: list[AnyMessage], counter: Callable[[str], int] = count_tokens
) -> int:
    """Add up the tokens of a chat, tool calls included.

    Args:
        messages: The chat, oldest first.
        counter: Tokens of a text.

    Raises:
        TypeError: A content is neither text nor None.
    """
    return sum(counter(_text(index, message)) for index, message in enumerate(messages))


def trim_history(
    messages: list[AnyMessage],
    budget: int,
    counter: Callable[[str], int] = count_tokens,
) -> list[AnyMessage]:
    """Keep the system message and the newest messages that fit, one by one.

    This is the naive cut: it may keep an answer whose question is gone.

    Args:
        messages: The chat, oldest first; it is not changed.
        budget: Tokens the result may have.
        counter: Tokens of a text.

    Raises:
        TypeError: A content is neither text nor None.
        ValueError: The newest message does not fit beside the system message.
    """
    pinned, rest = _split_system(messages)
    return pinned + _newest_that_fit(
        "message", pinned, [[m] for m in rest], budget, counter
    )


def trim_turns(
    messages: list[AnyMessage],
    budget: int,
    counter: Callable[[str], int] = count_tokens,
) -> list[AnyMessage]:
    """Keep the system message and the newest whole turns that fit.

    Args:
        messages: The chat, oldest first; it is not changed.
        budget: Tokens the result may have.
        counter: Tokens of a text.

    Raises:
        TypeError: A content is neither text nor None.
        ValueError: The newest turn does not fit beside the system message.
    """
    pinned, rest = _split_system(messages)
    return pinned + _newest_that_fit("turn", pinned, split_turns(rest), budget, counter)


def split_turns(messages: list[AnyMessage]) -> list[list[AnyMessage]]:
    """Cut a chat into turns: each question with everything that answers it.

    A turn begins at a user message and holds all up to the next one: answers, tool
    calls and their results. What stands before the first question is a turn too.
    """
    turns: list[list[AnyMessage]] = []
    for message in messages:
        if not turns or message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    return turns


def _newest_that_fit(
    unit: str,
    pinned: list[AnyMessage],
    parts: list[list[AnyMessage]],
    budget: int,
    counter: Callable[[str], int],
) -> list[AnyMessage]:
    """Join the newest parts that fit beside what is pinned; at least one must."""
    sizes = [chat_tokens(part, counter) for part in parts]
    room = budget - chat_tokens(pinned, counter)
    first = len(parts)
    while first > 0 and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    if room < 0 or (parts and first == len(parts)):
        needed = budget - room + sum(sizes[-1:])
        raise ValueError(
            f"the system message and the newest {unit} need {needed} tokens, "
            f"the budget is {budget}"
        )
    return [message for part in parts[first:] for message in part]


def _split_system(
    messages: list[AnyMessage],
) -> tuple[list[AnyMessage], list[AnyMessage]]:
    """Split off the system messages that open a chat."""
    first = 0
    while first < len(messages) and messages[first]["role"] in SYSTEM_ROLES:
        first += 1
    return messages[:first], messages[first:]


def _text(index: int, message: Mapping[str, object]) -> str:
    """Return all of a message that is sent as text: its content and its tool calls."""
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError(
            f"message {index}: content is a {type(content).__name__}, "
            "neither text nor None"
        )
    calls = message.get("tool_calls")
    return (content or "") + (json.dumps(calls, ensure_ascii=False) if calls else "")


# A real model in place of the stand-in.


def for_anthropic(messages: list[Message]) -> tuple[str, list[Message]]:
    """Split a chat as Anthropic's messages API wants it.

    Args:
        messages: The chat, oldest first; it is not changed.

    Returns:
        The text of all system messages, empty if there is none, and the other
        messages in order.

    Raises:
        ValueError: No message is left, the first of them is no question, or one has
            neither the role user nor assistant.

    >>> for_anthropic([{"role": "system", "content": "Be brief."},
    ...                {"role": "user", "content": "Hi"}])
    ('Be brief.', [{'role': 'user', 'content': 'Hi'}])
    """
    system = [m["content"] for m in messages if m["role"] in SYSTEM_ROLES]
    rest = [m for m in messages if m["role"] not in SYSTEM_ROLES]
    for message in rest:
        if message["role"] not in ("user", "assistant"):
            raise ValueError(
                f"a message with the role {message['role']!r} cannot be sent: "
                "Anthropic's API takes tool results in another form"
            )
    if not rest or rest[0]["role"] != "user":
        raise ValueError(
            "the chat must begin with a question, after the system message"
        )
    return "\n\n".join(system), rest


# The chats that the lesson works through.

DETAILS_CHAT: list[Message] = [
    {"role": "system", "content": "You are a helpful assistant."},
    *(
        message
        for i in range(1, 7)
        for message in (
            Message(role="user", content=f"Question {i}: " + "details " * 10),
            Message(role="assistant", content=f"Answer {i}: " + "explanation " * 10),
        )
    ),
]
