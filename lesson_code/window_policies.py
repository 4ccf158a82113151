"""Cutting an agent's conversation: the fourth window policy, and what providers refuse.

An agent's run is one question and many steps: the model calls tools, and their results
come back as messages. `task_window` keeps the question and the newest steps, and never
takes a call apart from its results. `rejections` says what a provider would refuse.

Messages have the shape of chat completions: `tool_calls` in the message of a call,
`tool_call_id` in the message of a result. Calls and results that are parts of a content
(`tool_use` and `tool_result`, the shape of Anthropic's messages) are read too.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias, cast

from lesson_code.chatbot import trim_turns
from lesson_code.context_window import (
    SYSTEM_ROLES,
    Message,
    check_whole,
    count_tokens,
    filler,
    truncate,
)
from lesson_code.conversation.window import (
    TOKENS_PER_MESSAGE,
    estimate_tokens,
    fit_window,
)

# A message of an agent has more than a role and a text: any keys, read one by one.
AgentMessage: TypeAlias = Mapping[str, Any]

# Tokens that a picture, a sound or a file is charged. A round guess: providers count
# pixels, seconds or pages, each in their own way. Look yours up.
MEDIA_TOKENS = 1_000

# A message with one of these roles is a result; the second is the older form.
RESULT_ROLES = ("tool", "function")

# What stands for the messages that were left out. Its text is always the same, so that
# it always costs the same. A user may speak twice in a row: neither provider below
# refuses the marker where the window puts it.
MARKER: AgentMessage = {"role": "user", "content": "[Earlier messages left out.]"}


# What a message costs.

# The parts of a content that are text, and the key that holds it.
TEXT_PARTS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "thinking": "thinking",
}


def message_cost(
    message: AgentMessage,
    counter: Callable[[str], int] = count_tokens,
    per_message: int = 0,
    media: int = MEDIA_TOKENS,
) -> int:
    """Count the tokens of a message, whatever it holds.

    Args:
        message: The message.
        counter: Tokens of a text.
        per_message: Tokens that a message costs besides: roles, names, ids, titles.
        media: Tokens of a picture, a sound, a file or a part of an unknown kind,
            however long its data is.

    Raises:
        TypeError: The message has another shape, or a number is not whole.
        ValueError: A number is negative.

    >>> message_cost(tool_call("c1", "weather", "Szeged in May"))
    4
    """
    return _costs([message], counter, per_message, media)[0]


def _costs(
    messages: list[AgentMessage],
    counter: Callable[[str], int],
    per_message: int,
    media: int,
) -> list[int]:
    """Count each message once."""
    check_whole("per_message", per_message)
    check_whole("media", media)
    costs = []
    for index, pieces in enumerate(_checked(messages)):
        counts = [media if piece is None else counter(piece) for piece in pieces]
        for count in counts:
            check_whole(f"the count of message {index}", count)
        costs.append(per_message + sum(counts))
    return costs


def _checked(messages: list[AgentMessage]) -> list[list[str | None]]:
    """Return the pieces of each message, once all are known to have the right shape."""
    if not isinstance(messages, list):
        raise TypeError(f"messages is a {type(messages).__name__}, not a list")
    pieces = []
    for index, message in enumerate(messages):
        pieces.append(list(_pieces(f"message {index}", message)))
        for each in chain(_call_ids(message), _answered_ids(message)):
            if each is not None:
                _check_kind(f"message {index}: the id of a call", each, str)
    return pieces


def _pieces(where: str, message: AgentMessage) -> Iterator[str | None]:
    """Yield the texts of a message, and None for each picture, sound or file."""
    role = message.get("role") if isinstance(message, Mapping) else None
    _check_kind(f"{where}: role", role, str)
    yield from _content_pieces(where, message.get("content"))
    if message.get("refusal") is not None:
        _check_kind(f"{where}: refusal", message["refusal"], str)
        yield message["refusal"]

    # Calls, and the call of the older form.
    calls = message.get("tool_calls") or []
    _check_kind(f"{where}: tool_calls", calls, list)
    for call in calls:
        _check_kind(f"{where}: a call", call, Mapping)
        kind = "custom" if call.get("type") == "custom" else "function"
        yield from _call_pieces(where, call.get(kind))
    if message.get("function_call") is not None:
        yield from _call_pieces(where, message["function_call"])


def _content_pieces(where: str, content: Any) -> Iterator[str | None]:
    """Yield the texts of a content: text, a list of parts, or None."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield from _part_pieces(f"{where}, part {index}", part)
    elif content is not None:
        kind = type(content).__name__
        raise TypeError(f"{where}: content is a {kind}, not text, a list or None")


def _part_pieces(where: str, part: Any) -> Iterator[str | None]:
    """Yield the texts of a part; for media None, so that no data is ever counted."""
    if not isinstance(part, Mapping):
        raise TypeError(f"{where}: it is a {type(part).__name__}, not a part")
    kind = part.get("type", "text")
    _check_kind(f"{where}: type", kind, str)
    if kind in TEXT_PARTS:
        _check_kind(f"{where}: {TEXT_PARTS[kind]}", part.get(TEXT_PARTS[kind]), str)
        yield part[TEXT_PARTS[kind]]
    elif kind == "tool_use":
        yield from _call_pieces(where, part)
    elif kind in ("tool_result", "search_result"):
        yield from _content_pieces(where, part.get("content"))
    elif kind == "document":
        yield from _document_pieces(where, part.get("source"))
    else:
        yield None


def _document_pieces(where: str, source: Any) -> Iterator[str | None]:
    """Yield the texts of a document's source: plain text, parts, or a file."""
    kind = source.get("type") if isinstance(source, Mapping) else None
    if kind == "text":
        _check_kind(f"{where}: data", source.get("data"), str)
        yield source["data"]
    elif kind == "content":
        yield from _content_pieces(where, source.get("content"))
    else:
        yield None


def _call_pieces(where: str, function: Any) -> Iterator[str]:
    """Yield the name of the called function and its arguments, which are text."""
    _check_kind(f"{where}: the function of a call", function, Mapping)
    _check_kind(f"{where}: the name of a called function", function.get("name"), str)
    yield function["name"]
    arguments = function.get("arguments", function.get("input"))
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    yield arguments


def _check_kind(what: str, value: Any, wanted: type) -> None:
    """Accept values of one kind and nothing else."""
    if not isinstance(value, wanted):
        kind = "missing or None" if value is None else f"a {type(value).__name__}"
        names: dict[type, str] = {str: "text", list: "a list", Mapping: "a mapping"}
        raise TypeError(f"{what} is {kind}, not {names[wanted]}")


# What belongs together.


def call_groups(messages: list[AgentMessage]) -> list[list[int]]:
    """Put each call together with all its results; other messages stand alone.

    A result belongs to the nearest earlier call with its id, and without an id to the
    nearest earlier call. A result whose call is nowhere belongs to no group.

    Args:
        messages: The conversation, oldest first.

    Returns:
        The places of the messages of each group, the group of the oldest call first.

    Raises:
        TypeError: A message has another shape.

    >>> call_groups([tool_call("a"), tool_call("b"), tool_result("a", "one")])
    [[0, 2], [1]]
    """
    _checked(messages)
    groups: dict[int, list[int]] = {}
    home: dict[str | None, int] = {}
    for index, message in enumerate(messages):
        if answered := _answered_ids(message):
            owners = sorted({home[each] for each in answered if each in home})
            for later in owners[1:]:
                # One message holds the results of several calls: they are one group.
                groups[owners[0]] += groups.pop(later)
                home = {i: owners[0] if at == later else at for i, at in home.items()}
            if owners:
                groups[owners[0]].append(index)
        else:
            groups[index] = [index]
        if ids := _call_ids(message):
            home |= dict.fromkeys([*ids, None], index)
    return [sorted(group) for group in groups.values()]


def _call_ids(message: AgentMessage) -> list[str | None]:
    """Return the ids of the calls that a message makes."""
    parts = [part for part in _parts(message) if part.get("type") == "tool_use"]
    calls = [*(message.get("tool_calls") or []), *parts]
    ids = [call.get("id") or None for call in calls]
    return [*ids, None] if message.get("function_call") else ids


def _answered_ids(message: AgentMessage) -> list[str | None]:
    """Return the ids of the calls whose results a message holds; None for no id."""
    if message["role"] in RESULT_ROLES:
        return [message.get("tool_call_id") or None]
    parts = [part for part in _parts(message) if part.get("type") == "tool_result"]
    return [part.get("tool_use_id") or None for part in parts]


def _parts(message: AgentMessage) -> list[Mapping[str, Any]]:
    """Return the parts of a content that is a list of them."""
    content = message.get("content")
    return content if isinstance(content, list) else []


# The window.


def task_window(
    messages: list[AgentMessage],
    limit: int,
    counter: Callable[[str], int] = count_tokens,
    per_message: int = 0,
    media: int = MEDIA_TOKENS,
) -> list[AgentMessage]:
    """Cut an agent's conversation: keep its orders, its question and its newest groups.

    A group is a call with all its results, or any other message. The question is the
    newest message of a user that is neither the marker nor holds a result. `MARKER`
    stands behind the newest message that is missing, or in front of the group around
    it. Results without a call and older markers go. What fits as it is comes back.

    Args:
        messages: The conversation, oldest first; it is not changed.
        limit: Tokens the result may have.
        counter: Tokens of a text.
        per_message: Tokens that each message costs besides its content.
        media: Tokens of a picture, a sound or a file.

    Raises:
        TypeError: A message has another shape, or a number is not whole.
        ValueError: The system messages that open the conversation, the question, the
            marker and the last group behind the question do not fit, nothing but
            system messages would be left, or a number is negative.
    """
    check_whole("limit", limit)
    costs = _costs(messages, counter, per_message, media)
    least = sum(costs)
    if least <= limit:
        return messages[:]

    # What always stays: system messages that open it, the question, the newest step.
    pinned, question = _pinned(messages), _question(messages)
    groups = _loose_groups(messages, pinned, question)
    first = len(groups)
    if groups and groups[-1][-1] > max(question, default=-1):
        first -= 1
    kept = [*range(pinned), *question, *chain(*groups[first:])]
    needed = message_cost(MARKER, counter, per_message, media)
    needed += sum(costs[index] for index in kept)
    if len(kept) > pinned:
        least = min(least, needed)
    if limit < least:
        raise ValueError(
            "system messages, question and last step, with a marker for any gap, need "
            f"{least} tokens, the limit is {limit}"
        )

    # Walk from newest to oldest, and stop where a group does not fit: no holes.
    room = limit - needed
    while first > 0 and (size := sum(costs[i] for i in groups[first - 1])) <= room:
        first -= 1
        room -= size
        kept += groups[first]

    gap = _gap(messages, kept, groups[first:])
    kept.sort()
    before = [messages[index] for index in kept if index < gap]
    return [*before, MARKER, *(messages[index] for index in kept if index >= gap)]


def _gap(messages: list[AgentMessage], kept: list[int], groups: list[list[int]]) -> int:
    """Find the place that the marker goes in front of."""
    # Behind the newest that is missing; an old marker counts if nothing else is.
    missing = sorted(set(range(len(messages))).difference(kept))
    real = [index for index in missing if messages[index] != MARKER]
    gap = real[-1] + 1 if real else missing[0]

    # Never inside a group: then it goes in front of it.
    for group in reversed(groups):
        if group[0] < gap <= group[-1]:
            gap = group[0]
    return gap


def _pinned(messages: list[AgentMessage]) -> int:
    """Count the system messages that open a conversation."""
    roles = [message["role"] in SYSTEM_ROLES for message in messages]
    return [*roles, False].index(False)


def _question(messages: list[AgentMessage]) -> list[int]:
    """Find the newest message that a user wrote; an empty list if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        written = message["role"] == "user" and message != MARKER
        if written and not _answered_ids(message):
            return [index]
    return []


def _loose_groups(
    messages: list[AgentMessage], pinned: int, question: list[int]
) -> list[list[int]]:
    """Return the groups that may be dropped, the one of the newest message last."""
    loose = [
        group
        for group in call_groups(messages)
        if group[0] >= pinned and group != question and messages[group[0]] != MARKER
    ]
    return sorted(loose, key=max)


# What a provider refuses.


def rejections(messages: list[AgentMessage], provider: str) -> list[str]:
    """Say what a provider would refuse in these messages, and why.

    Args:
        messages: What would be sent, oldest first.
        provider: A key of `PROVIDERS`.

    Returns:
        The reasons, each with the place of its message; none if all is well.

    Raises:
        TypeError: A message has another shape.
        ValueError: The provider is not known.

    >>> rejections([tool_result("c1", "sunny")], "chat completions")
    ['message 0: a result without its call before it']
    """
    if provider not in PROVIDERS:
        raise ValueError(f"the provider is one of {[*PROVIDERS]}, not {provider!r}")
    _checked(messages)
    return list(PROVIDERS[provider](messages))


def _chat_completions(messages: list[AgentMessage]) -> Iterator[str]:
    """Yield what the chat completions API refuses: OpenAI's, and many that copy it."""
    if not messages:
        yield "the list is empty"
    for index, message in enumerate(messages):
        if message.get("content") is None and not _call_ids(message):
            yield f"message {index}: neither content nor a call"
        for part in _parts(message):
            if part.get("type") in ("tool_use", "tool_result"):
                kind = part["type"]
                yield f"message {index}: {kind} is a part that this API does not have"
    yield from _unpaired(messages)


def _anthropic(messages: list[AgentMessage]) -> Iterator[str]:
    """Yield what Anthropic's API refuses; leading system messages go apart from it."""
    first, last = _pinned(messages), len(messages) - 1
    if first > last:
        yield "no message is left beside the system prompt"
    elif messages[first]["role"] == "assistant":
        yield f"message {first}: the first message is not from the user"
    for index, message in enumerate(messages[first:], first):
        called = _call_ids(message) or message["role"] in RESULT_ROLES
        texts = [p["text"] for p in _parts(message) if p.get("type", "text") == "text"]
        unfinished = index == last and message["role"] == "assistant"
        if message["role"] in SYSTEM_ROLES:
            yield f"message {index}: a system message among the others"
        elif not (message.get("content") or called or unfinished):
            yield f"message {index}: neither content nor a call"
        elif "" in texts:
            yield f"message {index}: an empty text"
    yield from _unpaired(messages)


def _unpaired(messages: list[AgentMessage]) -> Iterator[str]:
    """Yield calls and results without an id, or not directly behind each other."""
    caller = 0
    waiting: list[str | None] = []
    for index, message in enumerate(messages):
        answered = _answered_ids(message)
        if None in answered and message["role"] != "function":
            yield f"message {index}: a result without an id"
        if None in _call_ids(message) and not message.get("function_call"):
            yield f"message {index}: a call without an id"
        for each in answered:
            if each in waiting:
                waiting.remove(each)
            else:
                yield f"message {index}: a result without its call before it"
        if not answered:
            if waiting:
                yield f"message {caller}: a call without all its results behind it"
            caller, waiting = index, _call_ids(message)
    if waiting:
        yield f"message {caller}: a call without all its results behind it"


PROVIDERS: dict[str, Callable[[list[AgentMessage]], Iterator[str]]] = {
    "chat completions": _chat_completions,
    "anthropic": _anthropic,
}


# Four policies, one measure.


def strict_window(messages: list[AgentMessage], limit: int) -> list[AgentMessage]:
    """Cut as the lesson on the context window does."""
    # Lesson 1 reads nothing but roles and texts, and says so if there is more.
    return [*truncate(cast(list[Message], messages), limit, True, *MEASURE)]


def whole_turns(messages: list[AgentMessage], limit: int) -> list[AgentMessage]:
    """Cut as the lesson on the chatbot does."""
    counter, per_message = MEASURE
    return trim_turns(messages, limit, lambda text: counter(text) + per_message)


def always_answer(messages: list[AgentMessage], limit: int) -> list[AgentMessage]:
    """Cut as the lesson on conversation state does; the system prompt is charged."""
    first = _pinned(messages)
    room = limit - sum(message_cost(each, *MEASURE) for each in messages[:first])
    return [*messages[:first], *fit_window(cast(list[Message], messages[first:]), room)]


def newest_steps(messages: list[AgentMessage], limit: int) -> list[AgentMessage]:
    """Cut with the task window."""
    return task_window(messages, limit, *MEASURE)


# The rule of the lesson on conversation state: characters, and a little per message.
MEASURE = (estimate_tokens, TOKENS_PER_MESSAGE)


def verdict(
    policy: Callable[[list[AgentMessage], int], list[AgentMessage]],
    messages: list[AgentMessage],
    limit: int,
) -> str:
    """Say how much of a conversation a policy keeps, and whether that can be sent.

    >>> verdict(strict_window, [sized("user", 10)], 9)
    'refuses'
    """
    try:
        sent = policy(messages, limit)
    except TypeError:
        return "cannot read it"
    except ValueError:
        return "refuses"
    kept = f"{sum(each != MARKER for each in sent)} of {len(messages)}"
    if sum(message_cost(each, *MEASURE) for each in sent) > limit:
        return f"{kept}, too long"
    if any(rejections(sent, provider) for provider in PROVIDERS):
        return f"{kept}, rejected"
    return kept


# Naive cuts and counts, as they stand in many programs. Each loses something.


def naive_newest(messages: list[AgentMessage], n: int) -> list[AgentMessage]:
    """Keep the newest messages, whatever they are."""
    return messages[-n:]


def naive_pin(messages: list[AgentMessage], n: int) -> list[AgentMessage]:
    """Keep the first message, as if there were only one order, and the newest."""
    return [messages[0], *messages[1:][-n:]]


def naive_summary(messages: list[AgentMessage], n: int) -> list[AgentMessage]:
    """Put a summary in the place of all but the newest messages."""
    summary = {"role": "system", "content": "Summary: cities were looked up."}
    return [messages[0], summary, *messages[-n:]]


def naive_fit(
    messages: list[AgentMessage], limit: int, pinned: int = 0
) -> list[AgentMessage]:
    """Drop the oldest message behind the pinned ones until the rest fits the limit."""
    kept = messages[:]
    while limit and kept[pinned:] and sum(map(message_cost, kept)) > limit:
        del kept[pinned]
    return kept


def naive_cost(message: AgentMessage, counter: Callable[[str], int]) -> int:
    """Count a content as if it were always text."""
    return counter(message["content"])


def naive_json_cost(message: AgentMessage, counter: Callable[[str], int]) -> int:
    """Count a message as it is written down, pictures and all."""
    return counter(json.dumps(message))


# Messages for examples.


def outline(messages: list[AgentMessage]) -> list[str]:
    """Say in a few words what each message is; the marker is what was left out.

    >>> outline([filler("user", 3), tool_call("a"), tool_result("a", "sunny")])
    ['user', 'assistant calls a', 'tool answers a']
    """
    words = []
    for message in messages:
        word = "(left out)" if message == MARKER else message["role"]
        for verb, ids in (
            ("calls", _call_ids(message)),
            ("answers", _answered_ids(message)),
        ):
            word += f" {verb} {' '.join(map(str, ids))}" if ids else ""
        words.append(word)
    return words


def tool_call(call_id: str, name: str = "f", arguments: str = "") -> AgentMessage:
    """Make a message that calls a tool and says nothing else."""
    return tool_calls((call_id, name, arguments))


def tool_calls(*calls: tuple[str, str, str]) -> AgentMessage:
    """Make a message that calls several tools at once: id, name and arguments each."""
    made = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": given}}
        for i, name, given in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def tool_result(call_id: str, text: str) -> AgentMessage:
    """Make the message of a tool's result."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def agent_step(number: int, tokens: int) -> list[AgentMessage]:
    """Make a call of five words, and a result of so many."""
    call = tool_call(str(number), "find", "one word after another")
    return [call, tool_result(str(number), filler("tool", tokens)["content"])]


def picture_question(size: int) -> AgentMessage:
    """Make a question of four words about a black picture of so many bytes."""
    data = base64.b64encode(bytes(size)).decode()
    parts = [
        {"type": "text", "text": "What does this show?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    return {"role": "user", "content": parts}


def sized(role: str, tokens: int) -> AgentMessage:
    """Make a message that costs so many tokens by `MEASURE`."""
    return {"role": role, "content": "word" * (tokens - TOKENS_PER_MESSAGE)}


def sized_step(call: int, result: int, content: str | None = "") -> list[AgentMessage]:
    """Make a call and its result that cost so many tokens each by `MEASURE`."""
    # The name costs one token, and so does a content that is empty text.
    arguments = call - TOKENS_PER_MESSAGE - (1 if content is None else 2)
    made = tool_call("1", "find", "word" * arguments)
    found = sized("tool", result)["content"]
    return [{**made, "content": content}, tool_result("1", found)]


# The conversations that the lesson works through.

AGENT_RUN: list[AgentMessage] = [
    filler("system", 10),
    filler("user", 8),
    *agent_step(1, 25),
    *agent_step(2, 40),
    *agent_step(3, 15),
    *agent_step(4, 30),
]

WEATHER_RUN: list[AgentMessage] = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "system", "content": "Use degrees Celsius."},
    {"role": "user", "content": "Which is warmest: Szeged, Pécs or Győr?"},
    tool_calls(("a", "weather", "Szeged"), ("b", "weather", "Pécs")),
    tool_result("a", "Szeged has 31 degrees and clear skies."),
    tool_result("b", "Pécs has 28 degrees and some clouds."),
    tool_call("c", "weather", "Győr"),
    tool_result("c", "It is 26 degrees in Győr."),
]

LONG_CHAT: list[AgentMessage] = [
    sized("system", 10),
    *[sized("user", 10), sized("assistant", 20)] * 2,
    sized("user", 10),
]
START: list[AgentMessage] = [sized("system", 10), sized("user", 10)]
ASKED_AGAIN: list[AgentMessage] = [sized("assistant", 20), sized("user", 10)]

# Each conversation of the comparison, and the limit that it is cut to.
CASES: dict[str, tuple[list[AgentMessage], int]] = {
    "a chat that fits": (LONG_CHAT, 80),
    "the same chat, too long": (LONG_CHAT, 70),
    "a question that is too long": ([*LONG_CHAT[:3], sized("user", 100)], 60),
    "a greeting before the question": (ASKED_AGAIN, 60),
    "an agent at work": ([*START, *sized_step(20, 30) * 4], 140),
    "an agent, asked again": ([*START, *sized_step(20, 30) * 2, *ASKED_AGAIN], 110),
    "a long text in a call": ([*START, *sized_step(200, 10), *ASKED_AGAIN], 100),
    "a call without words": ([*START, *sized_step(20, 30, None), *ASKED_AGAIN], 200),
    "a question with a picture": ([*LONG_CHAT[:3], picture_question(3)], 1_050),
}
