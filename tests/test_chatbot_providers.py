"""Lesson 2, real models: the adapters run with the providers' own clients, against a server of ours."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import openai
import pytest

from lesson_code.chatbot import LLM, Chatbot, anthropic_messages, chat_completions, model_summary
from lesson_code.context_window import Message
from lesson_code.fake_server import FakeServer, Fault

SYSTEM: Message = {"role": "system", "content": "Be brief."}


@contextmanager
def openai_model(server: FakeServer, **options: Any) -> Iterator[LLM]:
    """Make a model behind chat completions."""
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", **options) as client:
        yield chat_completions(client, "some-model")


@contextmanager
def anthropic_model(server: FakeServer, **options: Any) -> Iterator[LLM]:
    """Make a model behind Anthropic messages."""
    with anthropic.Anthropic(base_url=server.url, api_key="any", **options) as client:
        yield anthropic_messages(client, "some-model", max_tokens=99)


MODELS = {"openai": openai_model, "anthropic": anthropic_model}
both = pytest.mark.parametrize("provider", MODELS)


def fails(provider: str, fault: Fault, error: type[Exception], match: str, **options: Any) -> FakeServer:
    """Ask a chatbot whose provider fails, and see that it says so and that its chat stays as it was."""
    with FakeServer(["Hello!", fault]) as server, MODELS[provider](server, max_retries=0, **options) as llm:
        bot = Chatbot("Be brief.", llm)
        bot.send("Hi")
        before = list(bot.messages)
        with pytest.raises(error, match=match):
            bot.send("And now?")
        assert before == bot.messages
    return server


def completion(message: dict[str, Any], reason: str) -> str:
    """Write a chat completion as the provider would."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason, "logprobs": None}
    return json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})


def answer(content: list[dict[str, Any]], reason: str) -> str:
    """Write an Anthropic message as the provider would."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    body = {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": content, "usage": usage}
    return json.dumps(body | {"stop_reason": reason, "stop_sequence": None})


def test_chat_completions_are_sent_the_whole_chat() -> None:
    """The system message or an earlier turn would not reach the provider."""
    with FakeServer(["Hello, Asha!", "Asha."]) as server, openai_model(server) as llm:
        bot = Chatbot("Be brief.", llm)
        assert "Hello, Asha!" == bot.send("Hi, my name is Asha.")
        assert "Asha." == bot.send("What's my name?")
    assert ["/v1/chat/completions"] * 2 == [request.path for request in server.requests]
    assert {
        "model": "some-model",
        "messages": [
            SYSTEM,
            {"role": "user", "content": "Hi, my name is Asha."},
            {"role": "assistant", "content": "Hello, Asha!"},
            {"role": "user", "content": "What's my name?"},
        ],
    } == server.requests[1].body


def test_anthropic_gets_the_system_text_apart() -> None:
    """The standing orders would be sent as a message, which this API refuses."""
    with FakeServer(["Hello, Asha!", "Asha."]) as server, anthropic_model(server) as llm:
        bot = Chatbot("Be brief.", llm)
        assert "Hello, Asha!" == bot.send("Hi, my name is Asha.")
        assert "Asha." == bot.send("What's my name?")
    assert ["/v1/messages"] * 2 == [request.path for request in server.requests]
    assert {
        "model": "some-model",
        "max_tokens": 99,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hi, my name is Asha."},
            {"role": "assistant", "content": "Hello, Asha!"},
            {"role": "user", "content": "What's my name?"},
        ],
    } == server.requests[1].body


def test_anthropic_without_a_system_message() -> None:
    """An empty system text would be sent."""
    with FakeServer(["Hello!"]) as server, anthropic_model(server) as llm:
        assert "Hello!" == llm([{"role": "user", "content": "Hi"}])
    assert {"model", "max_tokens", "messages"} == set(server.requests[0].body)


def test_anthropic_text_in_several_blocks() -> None:
    """Only the first part of an answer would be read, or a thought be taken for text."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    blocks = [thought, {"type": "text", "text": "Hel"}, {"type": "text", "text": "lo!"}]
    with FakeServer([Fault(body=answer(blocks, "end_turn"))]) as server, anthropic_model(server) as llm:
        assert "Hello!" == Chatbot("Be brief.", llm).send("Hi")


@both
def test_a_model_as_summariser(provider: str) -> None:
    """The summariser of the page would not run with a real model's client."""
    with FakeServer(["The budget is 2000."]) as server, MODELS[provider](server) as llm:
        assert "The budget is 2000." == model_summary(llm)("", [{"role": "user", "content": "My budget is 2000."}])


@both
@pytest.mark.parametrize(("status", "name"), [(429, "RateLimitError"), (500, "InternalServerError")])
def test_the_client_tries_again(provider: str, status: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full queue or a hiccup at the provider would lose the question."""
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    fault = Fault(status=status, retry_after=7)
    with FakeServer([fault, fault, "Hello!"]) as server, MODELS[provider](server, max_retries=2) as llm:
        bot = Chatbot("Be brief.", llm)
        assert "Hello!" == bot.send("Hi")
    assert 3 == len(server.requests)
    assert [7, 7] == waits
    assert [SYSTEM, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}] == bot.messages
    # Without another try it fails, and says how.
    module = {"openai": openai, "anthropic": anthropic}[provider]
    fails(provider, fault, getattr(module, name), f"planted fault with status {status}")


@both
def test_a_provider_that_never_answers(provider: str) -> None:
    """The app would wait for ever, or keep a question without an answer."""
    module = {"openai": openai, "anthropic": anthropic}[provider]
    fails(provider, Fault(hang=True), module.APITimeoutError, "timed out", timeout=0.2)


@both
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(body="not json"), Exception),
        (Fault(body='{"choices": ['), Exception),
        (Fault(body="<html>", headers={"Content-Type": "text/html"}), ValueError),
        (Fault(body="{}"), ValueError),
        (Fault(body='{"choices": [], "content": null}'), ValueError),
        (Fault(body="[]"), ValueError),
        (Fault(body='{"choices": [{}], "content": [{}]}'), ValueError),
        (Fault(body='{"choices": [null], "content": [null]}'), ValueError),
        (Fault(body='{"choices": {"0": 1}, "content": {"0": 1}}'), ValueError),
        (Fault(body='{"choices": [{"message": null}], "content": [{"type": "text", "text": null}]}'), ValueError),
        (Fault(body='{"choices": [{"message": "Hi"}], "content": [{"type": "text"}]}'), ValueError),
    ],
)
def test_a_body_that_is_no_answer(provider: str, fault: Fault, error: type[Exception]) -> None:
    """Whatever a broken gateway sends would become a part of the chat."""
    fails(provider, fault, error, "no answer|no whole answer|JSON|Expecting")


CALL: dict[str, Any] = {"id": "1", "type": "function", "function": {"name": "remember", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "reason", "complaint"),
    [
        ({"content": None, "refusal": "I cannot help with that."}, "stop", "stopped with 'stop' after 0 characters"),
        ({"content": None, "tool_calls": []}, "tool_calls", "stopped with 'tool_calls' after 0 characters"),
        ({"content": "Half an ans"}, "length", f"stopped with 'length' after {len('Half an ans')} characters"),
        ({"content": ""}, "content_filter", "stopped with 'content_filter'"),
        ({"content": ""}, "stop", "stopped with 'stop'"),
        ({"content": [{"type": "text", "text": "Hi"}]}, "stop", "stopped with 'stop' after 0 characters"),
        (
            {"content": None, "function_call": {"name": "f", "arguments": ""}},
            "function_call",
            "stopped with 'function_",
        ),
        ({"content": "I will not.", "refusal": "No."}, "stop", "stopped with 'stop' after 11 characters, beside 'No.'"),
        ({"content": "Let me see.", "tool_calls": [CALL]}, "stop", "stopped with 'stop' after 11 characters, beside "),
        ({"content": "Hm.", "function_call": CALL["function"]}, "stop", "stopped with 'stop' after 3 char.*, beside "),
    ],
)
def test_chat_completions_without_a_whole_answer(message: dict[str, Any], reason: str, complaint: str) -> None:
    """None, or half an answer, would be kept as what the model said."""
    fails("openai", Fault(body=completion(message, reason)), ValueError, f"no whole answer: it {complaint}")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([], "end_turn"),
        ([], "refusal"),
        ([{"type": "text", "text": "I will not"}], "refusal"),
        ([{"type": "text", "text": "Half an ans"}], "max_tokens"),
        ([{"type": "text", "text": "Half an ans"}], "model_context_window_exceeded"),
        ([{"type": "tool_use", "id": "1", "name": "remember", "input": {}}], "tool_use"),
        ([{"type": "text", "text": "Let me see."}], "pause_turn"),
        (
            [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "1", "name": "remember", "input": {}}],
            "end_turn",
        ),
    ],
)
def test_anthropic_without_a_whole_answer(content: list[dict[str, Any]], reason: str) -> None:
    """Nothing, or half an answer, would be kept as what the model said."""
    match = f"no whole answer: it stopped with '{reason}'"
    fails("anthropic", Fault(body=answer(content, reason)), ValueError, match)


def test_an_answer_of_blanks() -> None:
    """An answer of nothing but white space would be kept, and refused when it is sent again."""
    fails("openai", Fault(body=completion({"content": " \n"}, "stop")), ValueError, "the model gave no answer")


@pytest.mark.parametrize("broken", [lambda messages: None, lambda messages: "", lambda messages: 5])
def test_a_model_that_is_none(broken: Callable[[list[Message]], Any]) -> None:
    """What a home-made model returns by mistake would be kept."""
    bot = Chatbot("Be brief.", broken)
    with pytest.raises(ValueError, match="the model gave no answer, but"):
        bot.send("Hi")
    assert [SYSTEM] == bot.messages
