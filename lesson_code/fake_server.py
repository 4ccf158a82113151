"""A stand-in for two providers of chat models, to try a client on without a key.

It speaks OpenAI-compatible chat completions at `/v1/chat/completions` and Anthropic
messages at `/v1/messages`, on this computer only, and answers what it is told to.
Faults can be planted. There is no model in it, and nothing is streamed.

python -m lesson_code.fake_server
"""

import json
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any, Self

CHAT_COMPLETIONS = "/v1/chat/completions"
MESSAGES = "/v1/messages"

# Since this version, Anthropic messages refuse temperature, top_p and top_k:
# https://platform.claude.com/docs/en/api/migration-2026-10-21
NO_SAMPLING = "2026-10-21"

# A request may be no larger, in bytes.
MAX_REQUEST = 32 * 2**20

# What errors are called, by HTTP status: Anthropic's names, used for both.
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Fault:
    """An answer that is no success.

    Args:
        status: The HTTP status; from 400 on, the body is the provider's error.
        retry_after: The `Retry-After` header: seconds, or a date as HTTP writes it.
        hang: Never answer, until the server closes.
        body: Send this text as the body.
        headers: Send these headers too.
    """

    status: int = 200
    retry_after: int | str | None = None
    hang: bool = False
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """A request as the server got it.

    Args:
        path: As asked for, such as `/v1/messages`.
        headers: By their names in lower case.
        body: The parsed JSON, or `None` where there was none.
    """

    path: str
    headers: dict[str, str]
    body: Any


class FakeServer:
    """Answer at `url` while the `with` block lasts, and keep each request.

    Args:
        replies: What to answer, in this order; when they are used up, the answer says
            what was sent. A request that the provider would refuse uses up none.

    Raises:
        TypeError: `replies` is one text, where a list of them belongs.

    >>> with FakeServer(["Hello!", Fault(status=429, retry_after=2)]) as server:
    ...     len(server.requests)
    0
    """

    def __init__(self, replies: Iterable[str | Fault] = ()) -> None:
        if isinstance(replies, str):
            raise TypeError("replies is a list of replies, so put the text in [ ]")
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._replies = iter(replies)
        self._lock = threading.Lock()
        self._http = _Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        # It asks this often, in seconds, whether it is to stop.
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, cut every connection, and wait until all threads have ended."""
        self._http.shutdown()
        self._thread.join()
        self.closing.set()
        self._http.cut_connections()
        self._http.server_close()

    def next_reply(self, request: Request) -> str | Fault:
        """Take the next reply, or make one that says what was sent."""
        with self._lock:
            reply = next(self._replies, None)
        return _echo(request.body["messages"]) if reply is None else reply

    def keep(self, request: Request) -> None:
        """Add a request to those that can be looked at."""
        self.requests.append(request)


class _Http(ThreadingHTTPServer):
    """Serve in threads that can all be ended: it knows its open connections."""

    daemon_threads = False
    request_queue_size = 128  # more clients at once than 5 would have to try again

    def __init__(self, fake: FakeServer) -> None:
        self.fake = fake
        self._open: set[socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then answer in a thread."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection, and close it."""
        self._open.discard(request)
        super().shutdown_request(request)

    def cut_connections(self) -> None:
        """End each connection that is still open: its thread reads no further."""
        for connection in list(self._open):
            with suppress(OSError):  # the client may have been faster
                connection.shutdown(SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that did not wait for its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answer one request, and close the connection."""

    server: _Http

    def do_POST(self) -> None:
        """Answer with the next reply, or with what is wrong with the request."""
        body, fault = self._body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body)
        self.server.fake.keep(request)
        fault = fault or _refusal(request)
        if fault is not None:
            self._send(fault[0], _error(self.path, *fault))
            return
        reply = self.server.fake.next_reply(request)
        if isinstance(reply, Fault):
            self._send_fault(reply)
        else:
            answer = _ANSWERS[self.path]
            number = len(self.server.fake.requests)
            self._send(200, json.dumps(answer(request.body, reply, number)))

    def do_GET(self) -> None:
        """Refuse: nothing is to be had but answers."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.fake.keep(Request(self.path, headers, None))
        status, text = _wrong_path(self.path) or (405, "Only POST is allowed here.")
        self._send(status, _error(self.path, status, text))

    do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the standard library's names

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def _body(self) -> tuple[Any, tuple[int, str] | None]:
        """Read and parse what was sent; or say what is wrong with it."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return None, (400, "The Content-Length header is missing or no number.")
        if int(length) > MAX_REQUEST:
            return None, (413, f"A request may have {MAX_REQUEST} bytes at most.")
        try:
            return json.loads(self.rfile.read(int(length))), None
        except (ValueError, RecursionError):
            return None, (400, "The body of the request is not valid JSON.")

    def _send_fault(self, fault: Fault) -> None:
        """Do what a planted fault says."""
        if fault.hang:
            self.server.fake.closing.wait()
            return
        headers = dict(fault.headers)
        if fault.retry_after is not None:
            headers["Retry-After"] = str(fault.retry_after)
        text = f"This is a planted fault with status {fault.status}."
        body = _error(self.path, fault.status, text)
        self._send(fault.status, body if fault.body is None else fault.body, headers)

    def _send(
        self, status: int, body: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send an answer; given headers stand in place of those sent by default."""
        data = body.encode()
        default = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self.send_response(status)
        for name, value in (default | dict(headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


# What the providers refuse.


def _refusal(request: Request) -> tuple[int, str] | None:
    """Say why the provider would refuse a request: a status and a text."""
    return (
        _wrong_path(request.path)
        or _wrong_key(request)
        or _wrong_body(request.body)
        or _wrong_for_anthropic(request)
    )


def _wrong_path(path: str) -> tuple[int, str] | None:
    """Refuse what is at no address of the two."""
    if path in (CHAT_COMPLETIONS, MESSAGES):
        return None
    return 404, f"There is nothing at {path}, only {CHAT_COMPLETIONS} and {MESSAGES}."


def _wrong_key(request: Request) -> tuple[int, str] | None:
    """Refuse a request without a key; any key will do.

    Anthropic takes it in `x-api-key` too, where its older clients put it.
    """
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme == "Bearer" and key.strip():
        return None
    if request.path == MESSAGES and request.headers.get("x-api-key"):
        return None
    return 401, "An Authorization header with 'Bearer' and your key is required."


def _wrong_body(body: Any) -> tuple[int, str] | None:
    """Refuse a body that lacks what both providers want."""
    if not isinstance(body, dict):
        return 400, "The body has to be a JSON object."
    if not isinstance(body.get("model"), str) or not body["model"]:
        return 400, "model: the name of a model is required."
    if body.get("stream"):
        return 400, "stream: this server does not stream."
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return 400, "messages: a list with at least one message is required."
    for place, message in enumerate(messages):
        if not _is_message(message):
            return 400, f"messages.{place}: a message has a role and a content."
    return None


def _is_message(message: Any) -> bool:
    """Tell whether this is a message with text, or with parts that may be text."""
    return (
        isinstance(message, dict)
        and isinstance(message.get("role"), str)
        and isinstance(message.get("content"), str | list)
    )


def _wrong_for_anthropic(request: Request) -> tuple[int, str] | None:
    """Refuse what only Anthropic messages do not allow."""
    if request.path != MESSAGES:
        return None
    version = request.headers.get("anthropic-version")
    if not version:
        return 400, "The anthropic-version header is required."
    for name in ("temperature", "top_p", "top_k"):
        if name in request.body and version >= NO_SAMPLING:
            return 400, f"{name}: not allowed since API version {NO_SAMPLING}."
    limit = request.body.get("max_tokens")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        return 400, "max_tokens: a whole number of 1 or more is required."
    for place, message in enumerate(request.body["messages"]):
        if message["role"] not in ("user", "assistant"):
            return 400, (
                f"messages.{place}: the role is 'user' or 'assistant', not "
                f"{message['role']!r}; the system prompt is the parameter 'system'."
            )
    return None


# What the providers answer.


def _error(path: str, status: int, text: str) -> str:
    """Write an error in the shape of the provider that was asked."""
    kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else ERROR_TYPES[400])
    if path.startswith(MESSAGES):
        inner = {"type": kind, "message": text}
        return json.dumps({"type": "error", "error": inner, "request_id": "req_fake"})
    error = {"message": text, "type": kind, "param": None, "code": None}
    return json.dumps({"error": error})


def _chat_completion(body: Any, text: str, number: int) -> dict[str, Any]:
    """Answer as chat completions do."""
    read, written = _tokens_read(body), _tokens(text)
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "stop",
    }
    return {
        "id": f"chatcmpl-fake-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _message(body: Any, text: str, number: int) -> dict[str, Any]:
    """Answer as Anthropic messages do."""
    return {
        "id": f"msg_fake_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _tokens_read(body), "output_tokens": _tokens(text)},
    }


_ANSWERS = {CHAT_COMPLETIONS: _chat_completion, MESSAGES: _message}


def _echo(messages: list[dict[str, Any]]) -> str:
    """Say what was sent: how many messages, and the last one."""
    sent = [m for m in messages if m["role"] not in ("system", "developer")]
    last = _text(sent[-1]["content"]) if sent else ""
    return f"(fake) I was sent {len(sent)} message(s); the last was: '{last}'"


def _tokens_read(body: Any) -> int:
    """Count a whole request: the system prompt and each message."""
    texts = [body.get("system") or "", *(m["content"] for m in body["messages"])]
    return sum(_tokens(_text(text)) for text in texts)


def _tokens(text: str) -> int:
    """Count tokens as bytes / 4, rounded up: a stand-in, not a tokenizer."""
    return -(-len(text.encode(errors="replace")) // 4)


def _text(content: Any) -> str:
    """Return the text of a content: as it is, or from its parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)]
    return "".join(str(part.get("text", "")) for part in parts)


def main() -> None:
    """Serve until Ctrl-C."""
    with FakeServer() as server, suppress(KeyboardInterrupt):
        print(f"{server.url} answers until Ctrl-C; any key will do.", flush=True)
        server.closing.wait()


if __name__ == "__main__":
    main()
