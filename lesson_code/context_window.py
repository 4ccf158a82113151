"""The context window: what a model reads, what fits, and what an app cuts.

The model keeps nothing between calls. The app keeps the chat, oldest message first,
and sends all of it again before each reply. When it no longer fits, the app cuts the
oldest part: that is the forgetting.
"""

from collections.abc import Callable
from typing import TypedDict


class Message(TypedDict):
    """One message of a chat: who speaks, and what."""

    role: str
    content: str


SYSTEM_ROLES = ("system", "developer")
REPLY_ROLES = ("assistant", "tool")


def count_tokens(text: str) -> int:
    """Count tokens the toy way: words between white space.

    Real tokenizers differ from words and from each other, so a limit means something
    only under the counter that measured it.

    >>> count_tokens("My cat is Biscuit.")
    4
    """
    return len(text.split())


def total_tokens(
    messages: list[Message],
    counter: Callable[[str], int] = count_tokens,
    per_message: int = 0,
) -> int:
    """Add up the tokens of a chat.

    Args:
        messages: The chat, oldest first.
        counter: Tokens of a text.
        per_message: Tokens that each message costs besides its text.

    Raises:
        TypeError: A content is not text, or a count is no whole number.
        ValueError: `per_message` or a count is negative.
    """
    return sum(_sizes(messages, counter, per_message))


def truncate(
    messages: list[Message],
    limit: int,
    keep_system: bool = True,
    counter: Callable[[str], int] = count_tokens,
    per_message: int = 0,
) -> list[Message]:
    """Cut a chat to its newest messages that fit: the sliding window.

    Args:
        messages: The chat, oldest first; it is not changed.
        limit: Tokens the result may have.
        keep_system: Always keep the system messages that open the chat.
        counter: Tokens of a text.
        per_message: Tokens that each message costs besides its text.

    Raises:
        TypeError: A content is not text, or a number is not whole.
        ValueError: The pinned messages or the newest turn do not fit,
            or a number is negative.

    >>> [message["content"] for message in truncate(CAT_CHAT, 12)]
    ['Reply in French.', 'What is my cat called?']
    """
    check_whole("limit", limit)
    sizes = _sizes(messages, counter, per_message)
    end = len(messages)

    # System messages that open the chat are pinned: always kept, charged first.
    pinned = 0
    while keep_system and pinned < end and messages[pinned]["role"] in SYSTEM_ROLES:
        pinned += 1
    room = limit - sum(sizes[:pinned])
    if room < 0:
        raise ValueError(
            f"the pinned messages need {limit - room} tokens, the limit is {limit}"
        )

    # Walk from newest to oldest, and stop where one does not fit: no holes.
    start = end
    while start > pinned and sizes[start - 1] <= room:
        start -= 1
        room -= sizes[start]

    # After a cut, replies at the front have lost their question.
    if start > pinned:
        while start < end and messages[start]["role"] in REPLY_ROLES:
            start += 1
        if start == end:
            newest = _newest_turn(messages, pinned)
            needed = sum(sizes[:pinned]) + sum(sizes[newest:])
            raise ValueError(
                f"keeping the newest turn needs {needed} tokens, the limit is {limit}"
            )

    return messages[:pinned] + messages[start:]


def tokens_read(
    n_replies: int, tokens_per_message: int, window: int | None = None
) -> int:
    """Count what the model reads when the app sends the chat before each reply.

    Questions and replies all have the same size. A reply's own tokens are written,
    not read.

    Args:
        n_replies: How many questions are answered.
        tokens_per_message: The size of every message.
        window: Tokens that may be sent; `truncate` cuts the history to them.

    Raises:
        TypeError: A number is not whole.
        ValueError: A number is negative, or the window is smaller than a message.

    >>> tokens_read(3, 10)  # 10 + 30 + 50
    90
    """
    check_whole("n_replies", n_replies)
    check_whole("tokens_per_message", tokens_per_message)
    if window is not None:
        check_whole("window", window)
    history: list[Message] = []
    read = 0
    for _ in range(n_replies):
        history.append({"role": "user", "content": ""})
        if window is not None and len(history) * tokens_per_message > window:
            # What was cut can never come back, so go on without it.
            history = truncate(history, window, counter=lambda text: tokens_per_message)
        read += len(history) * tokens_per_message
        history.append({"role": "assistant", "content": ""})
    return read


def fates(messages: list[Message], limit: int, keep_system: bool = True) -> list[str]:
    """Say of each message whether `truncate` keeps it.

    Each is "sent" or "cut", or all are "not sent" where it refuses.

    >>> fates(CAT_CHAT, 12)
    ['sent', 'cut', 'cut', 'cut', 'cut', 'sent']
    """
    own = [message.copy() for message in messages]  # so that no two are the same
    try:
        kept = {id(message) for message in truncate(own, limit, keep_system)}
    except ValueError:
        return ["not sent"] * len(own)
    return ["sent" if id(message) in kept else "cut" for message in own]


def limit_used(messages: list[Message], limit: int, keep_system: bool = True) -> str:
    """Say how much of a limit `truncate` uses, or why it refuses.

    >>> limit_used(CAT_CHAT, 12)
    '8 of 12 tokens'
    """
    try:
        kept = truncate(messages, limit, keep_system)
    except ValueError as error:
        return str(error)
    return f"{total_tokens(kept)} of {limit} tokens"


def attention_pairs(n: int) -> int:
    """Count the query/key pairs that one full-attention head compares.

    Each of n tokens meets itself and all before it: 1 + 2 + ... + n.

    >>> attention_pairs(4)
    10
    """
    check_whole("n", n)
    return n * (n + 1) // 2


def filler(role: str, tokens: int) -> Message:
    """Make a message of that many words, for when only its size matters."""
    check_whole("tokens", tokens)
    return {"role": role, "content": " ".join(["word"] * tokens)}


def _sizes(
    messages: list[Message], counter: Callable[[str], int], per_message: int
) -> list[int]:
    """Count each message once."""
    check_whole("per_message", per_message)
    if not isinstance(messages, list):
        raise TypeError(f"messages is a {type(messages).__name__}, not a list")
    sizes = []
    for index, message in enumerate(messages):
        count = counter(_text(index, message))
        check_whole(f"the count of message {index}", count)
        sizes.append(count + per_message)
    return sizes


def _text(index: int, message: Message) -> str:
    """Return the text of a message, once its role and content are known to be text."""
    for key in ("role", "content"):
        value = message.get(key) if isinstance(message, dict) else None
        if not isinstance(value, str):
            kind = "missing or None" if value is None else f"a {type(value).__name__}"
            raise TypeError(
                f"message {index}: {key} is {kind}, not text; "
                "for tool calls and media see the window-policies lesson"
            )
    return message["content"]


def _newest_turn(messages: list[Message], pinned: int) -> int:
    """Find where the newest turn starts: at the last message that is no reply."""
    start = len(messages) - 1
    while start > pinned and messages[start]["role"] in REPLY_ROLES:
        start -= 1
    return start


def check_whole(name: str, value: int) -> None:
    """Accept whole numbers from 0 on, and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be 0 or more, not {value}")


# The chats that the lesson works through.
CAT_CHAT: list[Message] = [
    {"role": "system", "content": "Reply in French."},
    {"role": "user", "content": "My cat is Biscuit."},
    {"role": "assistant", "content": "Joli nom."},
    {"role": "user", "content": "I like tea."},
    {"role": "assistant", "content": "Moi aussi."},
    {"role": "user", "content": "What is my cat called?"},
]
STRIP_CHAT = [
    filler("user", 30),
    filler("assistant", 20),
    filler("user", 40),
    filler("assistant", 25),
    filler("user", 35),
    filler("assistant", 30),
    filler("user", 20),
]
QUIZ_CHAT = [
    filler("system", 2),
    filler("user", 3),
    filler("assistant", 1),
    filler("user", 6),
    filler("assistant", 4),
    filler("user", 3),
]
