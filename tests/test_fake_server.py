"""The stand-in for two providers: their own clients understand it, and it refuses what they would refuse."""

from __future__ import annotations

import builtins
import http.client
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anthropic
import openai
import pytest

from lesson_code import fake_server
from lesson_code.fake_server import CHAT_COMPLETIONS, MESSAGES, FakeServer, Fault, Request

USER = {"role": "user", "content": "Hi!"}
CHAT = {"model": "m", "messages": [USER]}
CLAUDE = {**CHAT, "max_tokens": 5}
CHAT_HEADERS = {"Authorization": "Bearer k"}
CLAUDE_HEADERS = {"Authorization": "Bearer k", "anthropic-version": "2026-10-21"}
OLD_CLAUDE_HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}


def ask(
    server: FakeServer, path: str, body: Any, headers: dict[str, str], method: str = "POST"
) -> tuple[int, dict[str, str], Any]:
    """Send a request with nothing but the standard library: status, headers and parsed body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)) as connection:
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), json.loads(answer.read())


def chat(server: FakeServer, body: Any = CHAT, headers: dict[str, str] = CHAT_HEADERS) -> tuple[int, Any]:
    """Ask for a chat completion."""
    status, _, answer = ask(server, CHAT_COMPLETIONS, body, headers)
    return status, answer


def claude(server: FakeServer, body: Any = CLAUDE, headers: dict[str, str] = CLAUDE_HEADERS) -> tuple[int, Any]:
    """Ask for an Anthropic message."""
    status, _, answer = ask(server, MESSAGES, body, headers)
    return status, answer


# The providers' own clients.


@pytest.fixture
def openai_client() -> Iterator[Callable[[FakeServer], openai.OpenAI]]:
    """OpenAI's client for a server; it tries once."""
    clients: list[openai.OpenAI] = []

    def make(server: FakeServer) -> openai.OpenAI:
        clients.append(openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=30))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def anthropic_client() -> Iterator[Callable[[FakeServer], anthropic.Anthropic]]:
    """Anthropic's client for a server; it tries once."""
    clients: list[anthropic.Anthropic] = []

    def make(server: FakeServer) -> anthropic.Anthropic:
        clients.append(anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0, timeout=30))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_openai_client_reads_answer_and_usage(openai_client: Callable[[FakeServer], openai.OpenAI]) -> None:
    """The client that a reader installs could not talk to this server."""
    system = {"role": "system", "content": "12345678"}
    with FakeServer(["Szia, Ada!"]) as server:
        completion = openai_client(server).chat.completions.create(model="m", messages=[system, USER])
    assert "Szia, Ada!" == completion.choices[0].message.content
    assert ("assistant", "stop") == (completion.choices[0].message.role, completion.choices[0].finish_reason)
    assert ("m", "chat.completion") == (completion.model, completion.object)
    assert completion.usage is not None
    # 8 bytes / 4, and 3 bytes / 4 rounded up; 10 bytes / 4 rounded up.
    assert (2 + 1, 3, 2 + 1 + 3) == (
        completion.usage.prompt_tokens,
        completion.usage.completion_tokens,
        completion.usage.total_tokens,
    )
    assert [{"model": "m", "messages": [system, USER]}] == [request.body for request in server.requests]
    assert ["Bearer k"] == [request.headers["authorization"] for request in server.requests]
    # It finds all that it declares, so that its checks for missing fields pass.
    assert completion == type(completion).model_validate(completion.model_dump())


def test_anthropic_client_reads_answer_and_usage(
    anthropic_client: Callable[[FakeServer], anthropic.Anthropic],
) -> None:
    """The client that a reader installs could not talk to this server."""
    with FakeServer(["Szia, Ada!"]) as server:
        message = anthropic_client(server).messages.create(
            model="m",
            max_tokens=5,
            system="12345678",
            messages=[USER],
        )
    assert [("text", "Szia, Ada!")] == [(part.type, part.text) for part in message.content if part.type == "text"]
    assert ("assistant", "m", "end_turn") == (message.role, message.model, message.stop_reason)
    assert (2 + 1, 3) == (message.usage.input_tokens, message.usage.output_tokens)
    (request,) = server.requests
    assert {"model": "m", "max_tokens": 5, "system": "12345678", "messages": [USER]} == request.body
    assert "anthropic-version" in request.headers
    assert message == type(message).model_validate(message.model_dump())


@pytest.mark.parametrize(
    ("status", "openai_error", "anthropic_error"),
    [
        (400, openai.BadRequestError, anthropic.BadRequestError),
        (401, openai.AuthenticationError, anthropic.AuthenticationError),
        (429, openai.RateLimitError, anthropic.RateLimitError),
        (500, openai.InternalServerError, anthropic.InternalServerError),
        (529, openai.InternalServerError, anthropic.InternalServerError),
    ],
)
def test_clients_read_the_errors(
    status: int,
    openai_error: type[openai.APIStatusError],
    anthropic_error: type[anthropic.APIStatusError],
    openai_client: Callable[[FakeServer], openai.OpenAI],
    anthropic_client: Callable[[FakeServer], anthropic.Anthropic],
) -> None:
    """A planted fault would reach the client as something else than the provider's error."""
    with FakeServer([Fault(status=status), Fault(status=status)]) as server:
        with pytest.raises(openai_error, match=f"planted fault with status {status}"):
            openai_client(server).chat.completions.create(model="m", messages=[USER])
        with pytest.raises(anthropic_error, match=f"planted fault with status {status}"):
            anthropic_client(server).messages.create(model="m", max_tokens=5, messages=[USER])


# What it answers.


def test_replies_in_order_then_an_echo() -> None:
    """A script would be answered out of order, or its end would go unnoticed."""
    system = {"role": "system", "content": "Be brief."}
    long = {"model": "m", "messages": [system, USER, {"role": "assistant", "content": "Hello."}, USER]}
    with FakeServer(["one", Fault(status=500), "two"]) as server:
        assert "one" == chat(server)[1]["choices"][0]["message"]["content"]
        assert 500 == claude(server)[0]
        assert "two" == claude(server)[1]["content"][0]["text"]
        echo = "(fake) I was sent 3 message(s); the last was: 'Hi!'"
        assert echo == chat(server, long)[1]["choices"][0]["message"]["content"]
    assert [CHAT, CLAUDE, CLAUDE, long] == [request.body for request in server.requests]


def test_echo_of_parts_and_of_a_system_prompt_alone() -> None:
    """Content in parts, as both providers allow it, would end in an error."""
    parts = [{"type": "text", "text": "Hi"}, {"type": "image"}, "?", {"type": "text", "text": "!"}]
    with FakeServer() as server:
        body = {**CLAUDE, "messages": [{"role": "user", "content": parts}]}
        status, answer = claude(server, body)
        assert "(fake) I was sent 1 message(s); the last was: 'Hi!'" == answer["content"][0]["text"]
        assert (200, 1) == (status, answer["usage"]["input_tokens"])
        body = {**CHAT, "messages": [{"role": "system", "content": "Be brief."}]}
        answer = chat(server, body)[1]
        assert "(fake) I was sent 0 message(s); the last was: ''" == answer["choices"][0]["message"]["content"]


def test_lone_surrogates_are_answered() -> None:
    """Half a character in a message would kill the answer."""
    body = {**CHAT, "messages": [{"role": "user", "content": "\ud800"}]}
    with FakeServer() as server:
        status, answer = chat(server, body)
    assert (200, "(fake) I was sent 1 message(s); the last was: '\ud800'") == (
        status,
        answer["choices"][0]["message"]["content"],
    )


def test_planted_headers_and_body() -> None:
    """A test could not plant what a broken server sends."""
    with FakeServer(
        [Fault(status=429, retry_after=0), Fault(body="[]"), Fault(status=307, headers={"Location": "/x"})]
    ) as server:
        status, headers, _ = ask(server, MESSAGES, CLAUDE, CLAUDE_HEADERS)
        assert (429, "0") == (status, headers["Retry-After"])
        status, headers, answer = ask(server, MESSAGES, CLAUDE, CLAUDE_HEADERS)
        assert (200, [], "2") == (status, answer, headers["Content-Length"])
        assert "Retry-After" not in headers
        status, headers, _ = ask(server, MESSAGES, CLAUDE, CLAUDE_HEADERS)
        assert (307, "/x") == (status, headers["Location"])


def test_a_hanging_answer_ends_with_the_server() -> None:
    """Closing would wait for a client for ever, or a client for an answer that never comes."""
    outcome: list[str] = []

    def wait(server: FakeServer) -> None:
        try:
            chat(server)
        except (http.client.HTTPException, ConnectionError) as error:
            outcome.append(type(error).__name__)

    def replies() -> Iterator[Fault]:
        asked.set()
        yield Fault(hang=True)

    asked = threading.Event()
    with FakeServer(replies()) as server:
        client = threading.Thread(target=wait, args=(server,))
        client.start()
        asked.wait()
    client.join()
    assert ["RemoteDisconnected"] == outcome


def test_clients_that_say_nothing_do_not_keep_it_open(capfd: pytest.CaptureFixture[str]) -> None:
    """A connection without a request, or with half of one, would block the end of a test."""
    with FakeServer() as server:
        address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        silent, half = socket.create_connection(address), socket.create_connection(address)
        half.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        # Those before it were taken in order, so that both are being served.
        assert 200 == chat(server)[0]
    with silent, half:
        assert b"" == silent.recv(1)
    assert ("", "") == capfd.readouterr()


def test_many_at_once() -> None:
    """Two clients would wait for each other, or get the same reply."""
    answers: list[str] = []

    def client(server: FakeServer) -> None:
        answers.append(chat(server)[1]["choices"][0]["message"]["content"])

    with FakeServer([f"reply {n}" for n in range(20)]) as server:
        clients = [threading.Thread(target=client, args=(server,)) for _ in range(20)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
    assert {f"reply {n}" for n in range(20)} == set(answers)
    assert 20 == len(server.requests)


# What it refuses.


@pytest.mark.parametrize(
    ("status", "words", "body", "headers"),
    [
        (401, "Authorization", CHAT, {}),
        (401, "Authorization", CHAT, {"Authorization": "Bearer "}),
        (401, "Authorization", CHAT, {"Authorization": "Basic k"}),
        (401, "Authorization", CHAT, {"x-api-key": "k"}),
        (400, "valid JSON", b"{", CHAT_HEADERS),
        (400, "valid JSON", b"\xff", CHAT_HEADERS),
        (400, "valid JSON", b"[" * 100_000, CHAT_HEADERS),
        (400, "JSON object", [], CHAT_HEADERS),
        (400, "model", {"messages": [USER]}, CHAT_HEADERS),
        (400, "model", {"model": "", "messages": [USER]}, CHAT_HEADERS),
        (400, "stream", {**CHAT, "stream": True}, CHAT_HEADERS),
        (400, "messages", {"model": "m"}, CHAT_HEADERS),
        (400, "messages", {"model": "m", "messages": []}, CHAT_HEADERS),
        (400, "messages.1", {"model": "m", "messages": [USER, "Hi!"]}, CHAT_HEADERS),
        (400, "messages.0", {"model": "m", "messages": [{"content": "Hi!"}]}, CHAT_HEADERS),
        (400, "messages.0", {"model": "m", "messages": [{"role": "user", "content": None}]}, CHAT_HEADERS),
    ],
)
def test_refused_chat_completions(status: int, words: str, body: Any, headers: dict[str, str]) -> None:
    """A client that sends nonsense would be answered as if all were well."""
    with FakeServer(["unused"]) as server:
        answered, answer = chat(server, body, headers)
        assert status == answered
        assert {"message", "type", "param", "code"} == answer["error"].keys()
        assert words in answer["error"]["message"]
        # The refusal has used up no reply.
        assert "unused" == chat(server)[1]["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("status", "kind", "words", "body", "headers"),
    [
        (401, "authentication_error", "Authorization", CLAUDE, {"anthropic-version": "2026-10-21"}),
        (400, "invalid_request_error", "anthropic-version", CLAUDE, {"x-api-key": "k"}),
        (400, "invalid_request_error", "anthropic-version", CLAUDE, CHAT_HEADERS),
        (400, "invalid_request_error", "valid JSON", b"{", CLAUDE_HEADERS),
        (400, "invalid_request_error", "temperature", {**CLAUDE, "temperature": 1}, CLAUDE_HEADERS),
        (400, "invalid_request_error", "top_k", {**CLAUDE, "top_k": 5}, CLAUDE_HEADERS),
        (400, "invalid_request_error", "max_tokens", CHAT, CLAUDE_HEADERS),
        (400, "invalid_request_error", "max_tokens", {**CHAT, "max_tokens": 0}, CLAUDE_HEADERS),
        (400, "invalid_request_error", "max_tokens", {**CHAT, "max_tokens": True}, CLAUDE_HEADERS),
        (
            400,
            "invalid_request_error",
            "messages.1: the role is 'user' or 'assistant', not 'system'",
            {**CLAUDE, "messages": [USER, {"role": "system", "content": "Be brief."}]},
            CLAUDE_HEADERS,
        ),
    ],
)
def test_refused_anthropic_messages(status: int, kind: str, words: str, body: Any, headers: dict[str, str]) -> None:
    """A client that sends nonsense would be answered as if all were well, or in the other provider's shape."""
    with FakeServer(["unused"]) as server:
        answered, answer = claude(server, body, headers)
        assert (status, "error", kind) == (answered, answer["type"], answer["error"]["type"])
        assert words in answer["error"]["message"]
        assert "unused" == claude(server)[1]["content"][0]["text"]


def test_old_clients_of_anthropic_are_answered() -> None:
    """A client from before the version of 2026 would be refused for its header, or for a temperature."""
    with FakeServer(["Hello."]) as server:
        status, answer = claude(server, {**CLAUDE, "temperature": 1}, OLD_CLAUDE_HEADERS)
    assert (200, "Hello.") == (status, answer["content"][0]["text"])


@pytest.mark.parametrize(
    ("status", "method", "path"),
    [
        (404, "POST", "/v1/responses"),
        (404, "POST", "/v1/messages/count_tokens"),
        (404, "GET", "/"),
        (405, "GET", CHAT_COMPLETIONS),
        (405, "DELETE", MESSAGES),
    ],
)
def test_wrong_path_and_method(status: int, method: str, path: str) -> None:
    """A client with a wrong address would be told nothing, or get an answer all the same."""
    with FakeServer() as server:
        answered, _, answer = ask(server, path, CHAT, CHAT_HEADERS, method)
    assert status == answered
    assert path.startswith(MESSAGES) is ("request_id" in answer)
    assert ("Only POST" if status == 405 else f"nothing at {path}") in answer["error"]["message"]
    assert [path] == [request.path for request in server.requests]


@pytest.mark.parametrize(("length", "status"), [("", 400), ("-1", 400), ("²", 400), (str(2**25 + 1), 413)])
def test_length_of_the_request(length: str, status: int) -> None:
    """A request without a length would be waited for, and one of any size be read into memory."""
    with FakeServer() as server:
        netloc = urlsplit(server.url).netloc
        with closing(http.client.HTTPConnection(netloc, timeout=30)) as connection:
            connection.putrequest("POST", CHAT_COMPLETIONS)
            if length:
                connection.putheader("Content-Length", length.encode("latin-1"))
            connection.endheaders()
            assert status == connection.getresponse().status
    assert [Request(CHAT_COMPLETIONS, server.requests[0].headers, None)] == server.requests


def test_a_text_in_place_of_a_list() -> None:
    """Each letter of the text would be a reply."""
    with pytest.raises(TypeError, match=r"put the text in \[ \]"):
        FakeServer("Hello!")


def test_a_bug_in_a_script_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """A script that fails would look like a client that went away."""
    with FakeServer(1 / n for n in (0,)) as server, pytest.raises(http.client.RemoteDisconnected):
        chat(server)
    assert "ZeroDivisionError" in capfd.readouterr().err


# As the reader starts it.


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C would end in a traceback, or leave the server running."""
    said: list[str] = []
    wait = threading.Event.wait

    def say(text: str, flush: bool) -> None:
        said.append(text)
        monkeypatch.setattr(threading.Event, "wait", interrupted)

    def interrupted(event: threading.Event) -> None:
        monkeypatch.setattr(threading.Event, "wait", wait)
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "print", say)
    before = threading.active_count()
    runpy.run_path(fake_server.__file__, run_name="__main__")
    assert 1 == len(said)
    assert before == threading.active_count()


def test_runs_with_nothing_but_python(tmp_path: Path) -> None:
    """The reader who takes the code home would need packages, or could not stop it."""
    with subprocess.Popen(
        [sys.executable, "-S", "-W", "error", "-m", "lesson_code.fake_server"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (0, "", "") == (process.returncode, out, err)
    assert line.startswith("http://127.0.0.1:")
    assert line.endswith(" answers until Ctrl-C; any key will do.\n")
