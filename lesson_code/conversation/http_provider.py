"""A real provider, over HTTP: OpenAI-compatible chat completions, Anthropic messages.

Nothing but the standard library, so that all that goes over the wire can be seen. A
provider's own client does more, such as streaming, tools and proxies.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
)
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from lesson_code.context_window import Message
from lesson_code.conversation.providers import ProviderError, Reply
from lesson_code.conversation.window import estimate_tokens, one_line, total_cost

# The newest version of Anthropic's API. It refuses temperature, top_p and top_k:
# https://platform.claude.com/docs/en/api/migration-2026-10-21
# Anthropic's own client sends the key as a bearer, as others do:
# https://github.com/anthropics/anthropic-sdk-python/blob/main/src/anthropic/_client.py
ANTHROPIC_VERSION = "2026-10-21"

LARGEST_ANSWER = 8 * 2**20  # bytes
LONGEST_TIMEOUT = 86_400.0  # seconds; a socket cannot count much further
LONGEST_WAIT = 60.0  # seconds
TRIES = 3

# The server has too much to do, and may say when to come back; 529 is Anthropic's.
BUSY = (429, 503, 529)

# Why an answer ended, if not because it was whole.
CUT_OFF = ("length", "max_tokens", "model_context_window_exceeded")
STOPPED = ("content_filter", "refusal")

ADVICE = {
    400: "look at what it says of the request",
    401: "check the API key, and that it is the key of this provider",
    403: "the key may not be used for this; check its permissions",
    404: "check the base URL and the name of the model",
    413: "the request is too large; send less",
    429: "there were too many requests, or your credit is used up; try again later",
}


class _Answer(NamedTuple):
    """What came back: the status, when to come back if it says so, and the body."""

    status: int
    retry_after: str | None
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the body should be an answer of the model."""
        return 200 <= self.status < 300


class HttpProvider:
    """A chat model that is reached over HTTP, see `Provider`.

    A server that is busy and says in `Retry-After` when to come back is asked again
    then, three times in all. A wait of more than a minute is not waited for. Anything
    else that goes wrong is a `ProviderError` at once.

    A call that is cancelled cuts its connection; if there is none yet, nothing is sent
    any more. Each call takes a thread while it lasts.
    """

    def __init__(
        self,
        protocol: str,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout: float = 120.0,
        context_window: int | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Say whom to ask; nothing is sent yet.

        Args:
            protocol: "chat completions" or "anthropic".
            base_url: As the provider's own client takes it, such as
                "https://api.openai.com/v1" or "https://api.anthropic.com".
            api_key: The secret. It is sent to that address alone, and is in no error.
                Where the address begins with http, everybody on the way can read it.
            model: Its name, as the provider writes it.
            timeout: Seconds that one answer may take, at most a day.
            context_window: See `Provider`.
            sleep: Waits for so many seconds.
            now: Tells the time in seconds, for a `Retry-After` that is a date.

        Raises:
            ValueError: One of them cannot be right. The key is not repeated.
        """
        if protocol not in _PROTOCOLS:
            known = " or ".join(map(repr, _PROTOCOLS))
            raise ValueError(f"the protocol must be {known}, not {protocol!r}")
        if not api_key or not all("!" <= character <= "~" for character in api_key):
            raise ValueError(
                "the API key must be letters, digits and signs, without spaces; "
                "has a line break been copied with it?"
            )
        if not model:
            raise ValueError("the name of the model is missing")
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise ValueError(
                f"the timeout must be more than 0 seconds and at most "
                f"{LONGEST_TIMEOUT:g}, not {timeout}"
            )
        self.context_window = context_window
        self._url = _checked(base_url)
        self._protocol = _PROTOCOLS[protocol]
        self._key = api_key
        self._model = model
        self._timeout = timeout
        self._sleep = sleep
        self._now = now

    def __repr__(self) -> str:
        """Name the address and the model, and not the key."""
        return f"HttpProvider({self._url.geturl()!r}, {self._model!r})"

    async def reply(
        self, messages: Sequence[Message], *, system: str | None, max_tokens: int
    ) -> Reply:
        """Answer the last message.

        The usage is what the provider counted. Some servers count nothing; then it is
        an estimate.

        An answer that was cut off is returned as far as it goes, and says so in
        `is_whole`. One that the provider stopped for what it says is none.

        Raises:
            ProviderError: There is no answer; it says why, and what to do.
        """
        chat = [{"role": m["role"], "content": m["content"]} for m in messages]
        body = {"model": self._model} | self._protocol.body(chat, system, max_tokens)
        # Half a character (a lone surrogate) cannot be sent, and becomes "?".
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        text, reason, read, written = self._read(await self._answer(data))
        if reason in STOPPED:
            raise self._error(
                f"stopped the answer ({reason}); put the question in other words"
            )
        if not text.strip():
            raise self._error(
                "sent an empty answer; try again, or allow the answer more than "
                f"{max_tokens} tokens"
            )
        if read is None:
            read = total_cost(messages) + (estimate_tokens(system) if system else 0)
        if written is None:
            written = estimate_tokens(text)
        return Reply(text, read, written, is_whole=reason not in CUT_OFF)

    async def _answer(self, data: bytes) -> bytes:
        """Ask, and ask again when the server says so; return the body of the answer."""
        tries = 1
        while not (answer := await self._exchange(data)).is_success:
            wait = _wait(answer, self._now)
            if wait is None or tries == TRIES:
                raise self._refused(answer)
            await self._sleep(wait)
            tries += 1
        return answer.body

    async def _exchange(self, data: bytes) -> _Answer:
        """Send a request and read the answer, in a thread: it may take a minute."""
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        host, port = self._url.hostname or "", self._url.port
        connection = kind(host, port, timeout=self._timeout)
        ended = threading.Event()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await _in_thread(self._send, connection, data, ended)
        except TimeoutError:
            raise self._error(
                f"did not answer within {self._timeout:g} seconds; try again, or allow "
                "it more time"
            ) from None
        except (OSError, HTTPException) as error:
            raise self._error(
                f"cannot be reached, or broke off ({self._foreign(error)}); check the "
                "base URL and your connection"
            ) from None
        finally:
            ended.set()
            _cut(connection)
        if len(answer.body) > LARGEST_ANSWER:
            raise self._error(
                f"sent more than {LARGEST_ANSWER} bytes, which is no answer; check "
                "the base URL"
            )
        return answer

    def _send(
        self, connection: HTTPConnection, data: bytes, ended: threading.Event
    ) -> _Answer:
        """Send a request and read the answer, as far as an answer may go.

        A redirect is an answer like others: it is not followed, so that the key goes
        nowhere else.
        """
        headers = self._protocol.headers | {"Authorization": f"Bearer {self._key}"}
        path = self._url.path + self._protocol.path
        with closing(connection):
            connection.connect()
            if ended.is_set():
                raise TimeoutError("nobody waits for the answer any more")
            connection.request("POST", path, data, headers)
            with connection.getresponse() as response:
                try:
                    body = response.read(LARGEST_ANSWER + 1)
                    is_short = bool(response.length)
                except IncompleteRead as error:  # of an answer in chunks
                    body, is_short = error.partial, True
        answer = _Answer(response.status, response.headers.get("Retry-After"), body)
        if answer.is_success and is_short and len(body) <= LARGEST_ANSWER:
            raise IncompleteRead(body)
        return answer

    def _read(self, data: bytes) -> "_Parts":
        """Read what matters out of the body of an answer."""
        try:
            return self._protocol.read(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise self._error(
                f"did not answer in JSON ({error}); check the base URL"
            ) from None
        except (TypeError, LookupError, AttributeError):
            raise self._error(
                "sent an answer without the parts that belong there; check the "
                "protocol and the base URL"
            ) from None

    def _refused(self, answer: _Answer) -> ProviderError:
        """Say that there is no answer, in the provider's words and in ours."""
        status = answer.status
        advice = ADVICE.get(status, "the request was not accepted; check the base URL")
        if 300 <= status < 400:
            advice = "it points elsewhere, where the key is not sent; correct the URL"
        if status >= 500:
            advice = "the fault is at its end; try again later"
        words = _own_words(answer.body)
        if answer.retry_after:
            words += f" Retry-After: {answer.retry_after}"
        said = self._foreign(words)
        return self._error(
            f"answered with status {status}{said and f' ({said})'}; {advice}"
        )

    def _foreign(self, said: object) -> str:
        """Return what the other end said: short, in a line, and without the key."""
        return one_line(str(said).replace(self._key, "[the key]"))

    def _error(self, text: str) -> ProviderError:
        """Make an error that names the host."""
        return ProviderError(f"{self._url.netloc} {text}")


def _checked(base_url: str) -> SplitResult:
    """Return a base URL in its parts, or refuse what cannot be one.

    The URL is not repeated: it may be the key, put in the wrong place.
    """
    possible = all("!" <= character <= "~" for character in base_url)
    try:
        url = urlsplit(base_url.rstrip("/"))
        (url.hostname or "").encode("idna")  # as when the name is looked up
        possible &= url.scheme in ("http", "https") and url.port != 0
    except ValueError:  # of its port, its host or its name, and it repeats them
        possible = False
    if not possible or not url.hostname:
        raise ValueError("the base URL must be like https://api.example.org/v1")
    if "@" in url.netloc or url.query or url.fragment:
        raise ValueError("the base URL must have no password, no ? and no # in it")
    return url


def _in_thread(
    work: Callable[..., _Answer], *arguments: object
) -> asyncio.Future[_Answer]:
    """Do some work in a thread for which the program does not wait when it ends."""
    future: Future[_Answer] = Future()
    future.set_running_or_notify_cancel()  # a thread cannot be cancelled

    def run() -> None:
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(future)


def _wait(answer: _Answer, now: Callable[[], float]) -> float | None:
    """Return the seconds to wait before asking again, or None for not at all."""
    if answer.status not in BUSY or answer.retry_after is None:
        return None
    try:
        wait = float(answer.retry_after)
    except ValueError:
        try:
            moment = parsedate_to_datetime(answer.retry_after)
        except (ValueError, OverflowError):
            return None
        at = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        wait = max(0.0, at - now())
    return wait if 0 <= wait <= LONGEST_WAIT else None


def _cut(connection: HTTPConnection) -> None:
    """End a connection that a thread may still be waiting at."""
    wire: socket.socket | None = connection.sock
    if wire is not None:
        with suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)


def _own_words(body: bytes) -> str:
    """Return the message in a provider's error, both shapes, or nothing."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, RecursionError, TypeError, LookupError):
        return ""


# The two protocols.

_Chat = list[dict[str, str]]


class _Parts(NamedTuple):
    """What an answer says, why it ends, and the usage as far as it was counted."""

    text: str
    reason: Any
    read: int | None
    written: int | None


class _Protocol(NamedTuple):
    """Where a request goes, what it says, and how the answer is read."""

    path: str
    headers: dict[str, str]
    body: Callable[[_Chat, str | None, int], dict[str, Any]]
    read: Callable[[Any], _Parts]


def _chat_body(chat: _Chat, system: str | None, max_tokens: int) -> dict[str, Any]:
    """Write a request: the system prompt is the first message."""
    first = [{"role": "system", "content": system}] if system else []
    return {"messages": first + chat, "max_completion_tokens": max_tokens}


def _chat_read(answer: Any) -> _Parts:
    """Read an answer; a model that refuses may say so in another place."""
    choice = answer["choices"][0]
    message = choice["message"]
    text = message["content"] or message.get("refusal") or ""
    usage = answer.get("usage") or {}
    counts = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    return _Parts(_text(text), choice.get("finish_reason"), *counts)


def _claude_body(chat: _Chat, system: str | None, max_tokens: int) -> dict[str, Any]:
    """Write a request: the system prompt stands apart, the limit is required."""
    apart = {"system": system} if system else {}
    return {"messages": chat, "max_tokens": max_tokens, **apart}


def _claude_read(answer: Any) -> _Parts:
    """Read an answer: its parts may be other than text, and some input is cached."""
    parts = [part for part in answer["content"] if part["type"] == "text"]
    usage = answer.get("usage") or {}
    cached = [_count(usage, f"cache_{name}_input_tokens") for name in CACHED]
    read = _count(usage, "input_tokens")
    if read is not None:
        read += sum(count or 0 for count in cached)
    text = "".join(_text(part["text"]) for part in parts)
    written = _count(usage, "output_tokens")
    return _Parts(text, answer.get("stop_reason"), read, written)


CACHED = ("creation", "read")


def _text(value: Any) -> str:
    """Return a text, or complain of anything else."""
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {value!r}")
    return value


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    """Return a number of tokens, or None where there is none."""
    value = usage.get(name)
    return value if type(value) is int and value >= 0 else None


_JSON = {"Content-Type": "application/json"}
_PROTOCOLS = {
    "chat completions": _Protocol("/chat/completions", _JSON, _chat_body, _chat_read),
    "anthropic": _Protocol(
        "/v1/messages",
        _JSON | {"anthropic-version": ANTHROPIC_VERSION},
        _claude_body,
        _claude_read,
    ),
}
