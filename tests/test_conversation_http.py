"""The real provider, against servers on this computer: what is sent, what is read, and what can go wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from lesson_code.context_window import Message
from lesson_code.conversation import ProviderError, Reply, Store, StoredMessage, http_provider
from lesson_code.conversation.bot import Bot
from lesson_code.conversation.http_provider import HttpProvider
from lesson_code.fake_server import FakeServer, Fault

KEY = "sk-secret-123"
QUESTION: list[Message] = [{"role": "user", "content": "Hi!"}]
both = pytest.mark.parametrize("protocol", ["chat completions", "anthropic"])
# A minute of the day that this version of the API is from.
NOON = datetime(2026, 10, 21, 12, 0, 0, tzinfo=UTC).timestamp()


def provider(protocol: str, url: str, **options: Any) -> HttpProvider:
    """A provider for a server on this computer, that must not really wait."""
    waits: dict[str, Any] = {"sleep": forbidden, "now": lambda: NOON, "timeout": 30.0}
    base = f"{url}/v1" if protocol == "chat completions" else url
    return HttpProvider(protocol, base, KEY, "m-1", **waits | options)


async def forbidden(seconds: float) -> None:
    """Stand in for a wait that no one asked for."""
    raise AssertionError(f"it waits {seconds} seconds")


def ask(asked: HttpProvider, messages: list[Message] = QUESTION, system: str | None = None) -> Reply:
    """Ask once."""
    return asyncio.run(asked.reply(messages, system=system, max_tokens=100))


def failure(asked: HttpProvider) -> str:
    """Ask, and return what the error says; nothing of it may contain the key."""
    with pytest.raises(ProviderError) as caught:
        ask(asked)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def success(protocol: str, text: Any, usage: Any) -> Fault:
    """An answer with this text and this usage."""
    if protocol == "anthropic":
        return Fault(body=json.dumps({"content": [{"type": "text", "text": text}], "usage": usage}))
    return Fault(body=json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}))


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """A server that sends these bytes to one client, whatever it asks."""

    def serve() -> None:
        client, _ = listening.accept()
        with client:
            client.recv(2**16)
            client.sendall(answer)
            client.shutdown(socket.SHUT_WR)
            with suppress(OSError):  # what is left unread would reset the connection, and the answer be lost
                while client.recv(2**16):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def sent_to(listening: socket.socket) -> bytes:
    """Take the next connection, and return the first that comes over it: nothing, if it is closed."""
    listening.settimeout(60.0)
    client, _ = listening.accept()
    with client:
        return client.recv(2**16)


# What is sent and read.


def test_chat_completions() -> None:
    """The system prompt, the limit or the key would be missing, or the usage be another."""
    with FakeServer(["Szia!"]) as server:
        reply = ask(provider("chat completions", server.url), QUESTION, "12345678")
    # 8 bytes / 4, and 3 bytes / 4 rounded up; 5 bytes / 4 rounded up.
    assert Reply("Szia!", 2 + 1, 2) == reply
    (request,) = server.requests
    assert "/v1/chat/completions" == request.path
    assert {
        "model": "m-1",
        "max_completion_tokens": 100,
        "messages": [{"role": "system", "content": "12345678"}, {"role": "user", "content": "Hi!"}],
    } == request.body
    assert (f"Bearer {KEY}", "application/json") == (request.headers["authorization"], request.headers["content-type"])
    assert "anthropic-version" not in request.headers


def test_anthropic() -> None:
    """The system prompt would be a message, the limit be missing, or the usage be another."""
    with FakeServer(["Szia!"]) as server:
        reply = ask(provider("anthropic", server.url), QUESTION, "12345678")
    assert Reply("Szia!", 2 + 1, 2) == reply
    (request,) = server.requests
    assert "/v1/messages" == request.path
    assert {
        "model": "m-1",
        "max_tokens": 100,
        "system": "12345678",
        "messages": [{"role": "user", "content": "Hi!"}],
    } == request.body
    assert (f"Bearer {KEY}", "2026-10-21") == (request.headers["authorization"], request.headers["anthropic-version"])


@both
def test_no_system_prompt(protocol: str) -> None:
    """An empty system prompt would be sent, or the number of a stored message; providers refuse both."""
    stored: StoredMessage = {"id": 7, "role": "user", "content": "Hi!"}
    with FakeServer() as server:
        reply = ask(provider(protocol, server.url), [stored])
    assert "(fake) I was sent 1 message(s); the last was: 'Hi!'" == reply.text
    assert "system" not in server.requests[0].body
    assert QUESTION == server.requests[0].body["messages"]


@both
def test_text_of_any_kind(protocol: str) -> None:
    """Half a character would end in an error, or a whole one arrive as another."""
    with FakeServer() as server:
        ask(provider(protocol, server.url), [{"role": "user", "content": "Ő 日本 \N{PARTY POPPER} \0 \ud800!"}])
    assert [{"role": "user", "content": "Ő 日本 \N{PARTY POPPER} \0 ?!"}] == server.requests[0].body["messages"]


@both
def test_in_a_bot(protocol: str) -> None:
    """The history would not reach a real provider, or with fields that it refuses."""

    async def two_turns() -> str:
        bot = Bot(provider(protocol, server.url), store=store)
        await bot.handle("terminal", "I am Ada.")
        return await bot.handle("terminal", "Who am I?")

    with Store() as store, FakeServer(["Hello, Ada!"]) as server:
        assert "(fake) I was sent 3 message(s); the last was: 'Who am I?'" == asyncio.run(two_turns())
    assert [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello, Ada!"},
        {"role": "user", "content": "Who am I?"},
    ] == server.requests[1].body["messages"]


def test_parts_that_are_no_text_and_input_from_a_cache() -> None:
    """Thinking would be shown as the answer, or cached input not be counted."""
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "It is "},
        {"type": "text", "text": "Ada."},
    ]
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 7,
    }
    with FakeServer([Fault(body=json.dumps({"content": content, "usage": usage}))]) as server:
        assert Reply("It is Ada.", 5 + 20 + 300, 7) == ask(provider("anthropic", server.url))


def test_a_refusal_is_an_answer() -> None:
    """A model that refuses in the field made for it would look like a broken server."""
    message = {"content": None, "refusal": "I cannot help with that."}
    body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 3, "completion_tokens": 6}}
    with FakeServer([Fault(body=json.dumps(body))]) as server:
        assert Reply("I cannot help with that.", 3, 6) == ask(provider("chat completions", server.url))


def stopped(text: str, reason: Any) -> Fault:
    """An answer in both shapes that says why it ends."""
    choice = {"message": {"content": text}, "finish_reason": reason}
    part = {"type": "text", "text": text}
    return Fault(body=json.dumps({"choices": [choice], "content": [part], "stop_reason": reason}))


@pytest.mark.parametrize(
    ("protocol", "reason", "is_whole"),
    [
        ("chat completions", "stop", True),
        ("chat completions", "length", False),
        ("chat completions", None, True),
        ("anthropic", "end_turn", True),
        ("anthropic", "max_tokens", False),
        ("anthropic", "model_context_window_exceeded", False),
        ("anthropic", ["odd"], True),
    ],
)
def test_an_answer_that_was_cut_off_says_so(protocol: str, reason: Any, is_whole: bool) -> None:
    """Half a summary would be taken for a whole one, or a long answer that stops in the middle be an error."""
    with FakeServer([stopped("It is A", reason)]) as server:
        reply = ask(provider(protocol, server.url))
    assert ("It is A", is_whole) == (reply.text, reply.is_whole)


@pytest.mark.parametrize(("protocol", "reason"), [("chat completions", "content_filter"), ("anthropic", "refusal")])
@pytest.mark.parametrize("text", ["It is A", ""])
def test_an_answer_that_was_stopped_is_none(protocol: str, reason: str, text: str) -> None:
    """Half a sentence that the provider took back would be stored as what the model said."""
    with FakeServer([stopped(text, reason)]) as server:
        said = failure(provider(protocol, server.url))
    assert f"stopped the answer ({reason}); put the question in other words" in said


@both
def test_any_status_that_says_success(protocol: str) -> None:
    """A server that answers with another status than 200 would be refused with a good answer."""
    with FakeServer([replace(success(protocol, "Hi!", {}), status=201)]) as server:
        assert "Hi!" == ask(provider(protocol, server.url)).text


@both
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "9", "input_tokens": True, "output_tokens": -1}])
def test_usage_that_is_not_there(protocol: str, usage: Any) -> None:
    """A good answer would be lost because a server does not count, or be counted as nothing."""
    with FakeServer([success(protocol, "12345678", usage)]) as server:
        reply = ask(provider(protocol, server.url), QUESTION, "1234")
    # By the lesson's estimate: the message 3 / 4 up and 4 more, the system prompt 4 / 4; the answer 8 / 4.
    assert Reply("12345678", 1 + 4 + 1, 2) == reply


def test_context_window() -> None:
    """The bot could not keep prompt and reply within the window."""
    assert 8192 == provider("anthropic", "http://localhost", context_window=8192).context_window
    assert provider("anthropic", "http://localhost").context_window is None


# A busy server.


@both
@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        (0, 0),
        (2, 2),
        ("1.5", 1.5),
        (60, 60),
        ("Wed, 21 Oct 2026 12:00:30 GMT", 30),
        ("Wed, 21 Oct 2026 14:00:30 +0200", 30),
        ("Wed, 21 Oct 2026 12:00:30 -0000", 30),
        ("Wed, 21 Oct 2026 11:59:59 GMT", 0),
    ],
)
def test_waits_as_long_as_the_server_says(protocol: str, status: int, retry_after: int | str, seconds: float) -> None:
    """A busy server would be asked again at once, or not at all."""
    waited: list[float] = []

    async def sleep(duration: float) -> None:
        waited.append(duration)

    with FakeServer([Fault(status=status, retry_after=retry_after), "Hello!"]) as server:
        assert "Hello!" == ask(provider(protocol, server.url, sleep=sleep)).text
    assert [seconds] == waited
    assert server.requests[0].body == server.requests[1].body


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the local time be nine hours ahead of the one that HTTP writes."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_dates_are_in_the_time_that_http_writes() -> None:
    """A date without a zone would be taken for local time, and waited for nine hours too long or not at all."""
    waited: list[float] = []

    async def sleep(duration: float) -> None:
        waited.append(duration)

    dates = [f"Wed, 21 Oct 2026 12:00:30 {zone}".strip() for zone in ("GMT", "-0000", "")]
    with FakeServer([Fault(status=429, retry_after=date) for date in dates[:2]]) as server:
        ask(provider("anthropic", server.url, sleep=sleep))
    with FakeServer([Fault(status=429, retry_after=date) for date in dates[2:]]) as server:
        ask(provider("anthropic", server.url, sleep=sleep))
    assert [30, 30, 30] == waited


@both
def test_gives_up_after_three_tries(protocol: str) -> None:
    """A server that stays busy would be asked for ever."""
    waited: list[float] = []

    async def sleep(duration: float) -> None:
        waited.append(duration)

    with FakeServer([Fault(status=429, retry_after=n) for n in range(1, 9)]) as server:
        said = failure(provider(protocol, server.url, sleep=sleep))
    assert ([1, 2], 3) == (waited, len(server.requests))
    assert "answered with status 429" in said
    assert "Retry-After: 3" in said


@both
@pytest.mark.parametrize(
    "retry_after",
    [
        None,
        "",
        "soon",
        -1,
        61,
        "inf",
        "nan",
        "Wed, 21 Oct 2026 12:01:01 GMT",
        "Wed, 99 Oct 2026 12:00:00 GMT",
        "Wed, 21 Oct 99999999999999999999 12:00:00 GMT",
    ],
)
def test_waits_it_does_not_understand_or_will_not_wait(protocol: str, retry_after: str | int | None) -> None:
    """A server could make the bot wait for an hour, or fail in the bot's own code."""
    with FakeServer([Fault(status=429, retry_after=retry_after)]) as server:
        said = failure(provider(protocol, server.url))
    assert 1 == len(server.requests)
    assert "answered with status 429 (This is a planted fault with status 429." in said
    assert "try again later" in said
    assert ("Retry-After" in said) is (retry_after not in (None, ""))


# What can go wrong.


@both
@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "look at what it says"),
        (401, "check the API key"),
        (403, "check its permissions"),
        (404, "check the base URL and the name of the model"),
        (413, "send less"),
        (418, "check the base URL"),
        (500, "try again later"),
        (503, "try again later"),
    ],
)
def test_refused(protocol: str, status: int, advice: str) -> None:
    """A refusal would be tried again, or say neither what happened nor what to do."""
    with FakeServer([Fault(status=status, retry_after=None if status == 503 else 0)]) as server:
        said = failure(provider(protocol, server.url))
    assert 1 == len(server.requests)
    assert f"127.0.0.1:{server.url.rpartition(':')[2]} answered with status {status}" in said
    assert advice in said


@both
def test_refused_by_the_server_itself(protocol: str) -> None:
    """What the provider says of a request would not be passed on."""
    with FakeServer() as server:
        asked = HttpProvider(protocol, f"{server.url}/elsewhere", KEY, "m-1")
        assert "There is nothing at /elsewhere/" in failure(asked)


@both
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("not json", "did not answer in JSON"),
        ("", "did not answer in JSON"),
        ("[" * 100_000, "did not answer in JSON"),
        ("null", "without the parts"),
        ("[]", "without the parts"),
        ("{}", "without the parts"),
        ('{"choices": [], "content": null}', "without the parts"),
        ('{"choices": [{"message": {"content": 5}}], "content": [{"type": "text", "text": 5}]}', "without the parts"),
        ('{"choices": [{"message": {"content": "Hi"}}], "content": [], "usage": [1]}', "without the parts"),
        ('{"choices": [{"message": {"content": ["Hi"]}}], "content": [{}]}', "without the parts"),
    ],
)
def test_malformed_answers(protocol: str, body: str, words: str) -> None:
    """A broken answer would be stored as an answer, or end the bot."""
    with FakeServer([Fault(body=body)]) as server:
        assert words in failure(provider(protocol, server.url))


@both
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_empty_answers(protocol: str, text: str) -> None:
    """Nothing would be stored as an answer; some providers refuse a history with that for ever."""
    with FakeServer([success(protocol, text, {})]) as server:
        said = failure(provider(protocol, server.url))
    assert "sent an empty answer" in said
    assert "more than 100 tokens" in said


def test_no_text_at_all() -> None:
    """A model that only thought, or only called tools, would be quoted with nothing."""
    body = {"content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}], "usage": {}}
    with FakeServer([Fault(body=json.dumps(body))]) as server:
        assert "sent an empty answer" in failure(provider("anthropic", server.url))


@both
def test_timeout(protocol: str) -> None:
    """A server that never answers would be waited for for ever."""
    with FakeServer([Fault(hang=True)]) as server:
        said = failure(provider(protocol, server.url, timeout=0.05))
    assert "did not answer within 0.05 seconds; try again" in said


def test_timeout_where_no_socket_counts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow look-up of the host would be waited for for ever, or the key be sent when nobody waits any more."""
    ended = threading.Event()
    look_up = socket.getaddrinfo

    def slow(*arguments: Any, **options: Any) -> Any:
        ended.wait(30.0)
        return look_up(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            assert "did not answer within" in failure(provider("anthropic", url, timeout=0.05))
        finally:
            ended.set()
        assert b"" == sent_to(listening)


def test_nobody_there() -> None:
    """A wrong port would end in a traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # it is ours, and does not listen
        said = failure(provider("anthropic", f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert "cannot be reached" in said
    assert "check the base URL" in said


def test_nobody_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt host would end in a traceback."""

    def unknown(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    said = failure(provider("anthropic", "http://api.example.invalid"))
    assert "api.example.invalid cannot be reached" in said
    assert "Name or service not known" in said


def test_https_where_only_http_is_spoken() -> None:
    """The key would be sent in the clear where encryption was asked for."""
    with FakeServer() as server:
        asked = provider("anthropic", server.url.replace("http:", "https:"))
        assert "cannot be reached, or broke off" in failure(asked)
    assert [] == server.requests


@both
@pytest.mark.parametrize("part", ["", "{}", '{"choices": ['])
def test_broken_off(protocol: str, part: str) -> None:
    """Half an answer would be stored, or be blamed on the protocol; that of a refusal would hide the refusal."""
    cut = Fault(body=part, headers={"Content-Length": "1000"})
    with FakeServer([cut, replace(cut, status=401)]) as server:
        assert f"broke off (IncompleteRead({len(part)} bytes read" in failure(provider(protocol, server.url))
        assert "answered with status 401" in failure(provider(protocol, server.url))


def test_a_success_without_an_answer() -> None:
    """An empty body would be stored as an answer."""
    with raw_server(b"HTTP/1.1 204 No Content\r\n\r\n") as url:
        assert "did not answer in JSON" in failure(provider("anthropic", url))


def test_broken_off_between_two_chunks() -> None:
    """As above, where the server does not say beforehand how long the answer is."""
    with raw_server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n") as url:
        assert "cannot be reached, or broke off" in failure(provider("anthropic", url))
    with raw_server(b"HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n") as url:
        assert "answered with status 401; check the API key" in failure(provider("anthropic", url))


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 2", b"\x1b[2J\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200])
def test_no_http(answer: bytes) -> None:
    """Something else than a web server at that port would end in a traceback, or write to the terminal."""
    with raw_server(answer) as url:
        said = failure(provider("anthropic", url))
    assert "cannot be reached, or broke off" in said
    assert said.isprintable()


@both
def test_an_answer_of_any_size(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server could fill the memory."""
    monkeypatch.setattr(http_provider, "LARGEST_ANSWER", 1000)
    with FakeServer([success(protocol, "x" * n, {}) for n in (500, 1000)]) as server:
        assert "x" * 500 == ask(provider(protocol, server.url)).text
        assert "sent more than 1000 bytes" in failure(provider(protocol, server.url))


# The key.


@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(protocol: str, status: int) -> None:
    """The key and the conversation would be sent to whomever the server names."""
    with FakeServer() as elsewhere:
        away = Fault(status=status, headers={"Location": f"{elsewhere.url}/v1/messages"})
        with FakeServer([away]) as server:
            said = failure(provider(protocol, server.url))
    assert [] == elsewhere.requests
    assert f"answered with status {status}" in said
    assert "correct the URL" in said


@both
def test_a_server_that_repeats_the_key(protocol: str) -> None:
    """The key would stand in a log, because the other end wrote it there."""
    said = json.dumps({"error": {"message": f"Wrong key:\n\x1b[31m{KEY}{' so long' * 100}"}})
    with FakeServer([Fault(status=401, body=said, retry_after=KEY)]) as server:
        text = failure(provider(protocol, server.url))
    assert "answered with status 401 (Wrong key: [31m[the key] so long" in text
    assert text.isprintable()
    assert len(text) < 400


def test_a_status_line_that_repeats_the_key() -> None:
    """As above, where no server should write anything."""
    with raw_server(f"Bearer {KEY} is wrong\r\n\r\n".encode()) as url:
        assert "[the key] is wrong" in failure(provider("anthropic", url))


def test_nothing_shows_the_key() -> None:
    """The key would stand in a log, because somebody printed the provider."""
    asked = HttpProvider("anthropic", "https://api.example.org/", KEY, "m-1")
    assert "HttpProvider('https://api.example.org', 'm-1')" == repr(asked)
    assert KEY not in f"{asked} {asked!r}"


@pytest.mark.parametrize(
    "body",
    [[], "text", {"error": "text"}, {"error": {"text": 5}}, "[" * 100_000],
)
def test_errors_in_no_known_shape(body: Any) -> None:
    """An error would be lost because another error came of it."""
    with FakeServer([Fault(status=400, body=json.dumps(body))]) as server:
        said = failure(provider("chat completions", server.url))
    assert said.endswith("answered with status 400; look at what it says of the request")


# What cannot be right.


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "api.example.org",
        "ftp://api.example.org",
        "file:///etc/passwd",
        "http://",
        "http:///v1",
        "http://ex ample.org",
        "http://example.org/\nv1",
        "http://\t",
        "http://példa.hu",
        "http://user:password@example.org",
        "http://example.org/?key=1",
        "http://example.org/#v1",
        "http://example.org:port",
        "http://example.org:0",
        "http://example.org:65536",
        "http://[::1",
        "http://api..example.org",
        f"http://example.org:{KEY}/v1",
        f"http://{KEY}\N{ACCOUNT OF}/v1",
        f"http://[{KEY}/v1",
        f"http://{'a' * 64}.org",
        KEY,
    ],
)
def test_addresses_that_are_none(base_url: str) -> None:
    """The key could be sent to another host than the one meant, or a file be read."""
    with pytest.raises(ValueError, match=r"^the base URL must ") as caught:
        HttpProvider("anthropic", base_url, KEY, "m-1")
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert "password@" not in shown


@pytest.mark.parametrize("key", ["", " ", f"{KEY}\n", f"{KEY}\r\nX: y", "kulcs-ő", "a b"])
def test_keys_that_are_none(key: str) -> None:
    """A key with a line break would write headers of its own, or stand in an error."""
    with pytest.raises(ValueError, match="the API key must be") as caught:
        HttpProvider("anthropic", "http://example.org", key, "m-1")
    assert KEY not in str(caught.value)


def test_other_things_that_cannot_be_right() -> None:
    """A slip would only be seen when the first user writes."""
    with pytest.raises(ValueError, match="must be 'chat completions' or 'anthropic', not 'openai'"):
        HttpProvider("openai", "http://example.org", KEY, "m-1")
    with pytest.raises(ValueError, match="name of the model"):
        HttpProvider("anthropic", "http://example.org", KEY, "")
    for timeout in (0, -1, float("nan"), float("inf"), 1e12, 86_401):
        with pytest.raises(ValueError, match="timeout"):
            HttpProvider("anthropic", "http://example.org", KEY, "m-1", timeout=timeout)


# Cancelling, and many at once.


def during_a_call(
    protocol: str, then: Callable[[Bot, asyncio.Task[str]], Coroutine[Any, Any, None]]
) -> tuple[list[Message], FakeServer]:
    """Let a bot ask a server that hangs, and do something then; return what is stored, and the server."""
    asked = threading.Event()

    def replies() -> Iterator[Fault | str]:
        asked.set()
        yield Fault(hang=True)
        yield "Hello again!"

    async def run() -> FakeServer:
        with FakeServer(replies()) as server:
            bot = Bot(provider(protocol, server.url), store=store)
            task = asyncio.create_task(bot.handle("terminal", "Hello?"))
            await asyncio.to_thread(asked.wait)
            await then(bot, task)
        return server

    with Store() as store:
        server = asyncio.run(run())
        return [{"role": m["role"], "content": m["content"]} for m in store.messages("terminal")], server


@both
def test_cancelled(protocol: str) -> None:
    """A call that nobody waits for any more would go on, leave half an exchange, or keep the session."""

    async def then(bot: Bot, task: asyncio.Task[str]) -> None:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "Hello again!" == await bot.handle("terminal", "Hello??")

    stored, server = during_a_call(protocol, then)
    assert [{"role": "user", "content": "Hello??"}, {"role": "assistant", "content": "Hello again!"}] == stored
    assert [["Hello?"], ["Hello??"]] == [[m["content"] for m in r.body["messages"]] for r in server.requests]


@both
def test_a_cancelled_call_cuts_its_connection(protocol: str) -> None:
    """The provider would go on writing, and send the bill."""
    arrived, cut = threading.Event(), threading.Event()

    def serve() -> None:
        client, _ = listening.accept()
        with client:
            client.recv(2**16)
            arrived.set()
            while client.recv(2**16):
                pass
            cut.set()

    async def run(url: str) -> None:
        asked = provider(protocol, url, timeout=3600.0)
        task = asyncio.create_task(asked.reply(QUESTION, system=None, max_tokens=100))
        await asyncio.to_thread(arrived.wait)
        assert not cut.is_set()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(cut.wait, 30.0)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        asyncio.run(run(f"http://127.0.0.1:{listening.getsockname()[1]}"))
        thread.join()


def test_a_call_cancelled_while_it_connects_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server would get key and question once it has time, though nobody waits for the answer any more."""
    connecting = threading.Event()
    connect = socket.create_connection

    def told(*arguments: Any, **options: Any) -> socket.socket:
        connecting.set()
        return connect(*arguments, **options)

    async def run(url: str) -> None:
        task = asyncio.create_task(provider("anthropic", url).reply(QUESTION, system=None, max_tokens=100))
        await asyncio.to_thread(connecting.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        address = listening.getsockname()
        with connect(address):  # the one that the queue has room for
            monkeypatch.setattr(socket, "create_connection", told)
            asyncio.run(run(f"http://127.0.0.1:{address[1]}"))
        assert b"" == sent_to(listening)  # from the one in the queue
        assert b"" == sent_to(listening)


@both
def test_a_provider_that_fails_leaves_nothing(protocol: str) -> None:
    """A question without an answer would be stored, so that the next history has two in a row."""

    async def fail() -> None:
        bot = Bot(provider(protocol, server.url), store=store)
        with pytest.raises(ProviderError):
            await bot.handle("terminal", "Hello?")

    with Store() as store, FakeServer([Fault(status=500)]) as server:
        asyncio.run(fail())
        assert [] == store.messages("terminal")


@both
def test_a_slow_answer_holds_up_no_other_session(protocol: str) -> None:
    """Thirty slow answers would fill the threads, and the thirty-first user wait for them."""
    count = 30
    arrived = threading.Semaphore(0)

    def replies() -> Iterator[Fault | str]:
        for _ in range(count):
            arrived.release()
            yield Fault(hang=True)
        yield "Hello!"

    async def run() -> str:
        with FakeServer(replies()) as server, Store() as store:
            bot = Bot(provider(protocol, server.url), store=store)
            slow = [asyncio.create_task(bot.handle(f"session {n}", "Hi")) for n in range(count)]
            for _ in slow:
                assert await asyncio.to_thread(arrived.acquire, timeout=30.0)
            answer = await bot.handle("another session", "Hi")
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
        return answer

    assert "Hello!" == asyncio.run(run())
