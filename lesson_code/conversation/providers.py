"""Who answers: the form of a provider, and a fake one for tests and for this lesson.

A provider keeps nothing. It is given a system prompt and messages, and gives a reply.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from lesson_code.context_window import Message
from lesson_code.conversation.window import estimate_tokens, total_cost

LONGEST_SHOWN = 40  # characters of a message in an error


class ProviderError(Exception):
    """The provider failed: there is no answer, or none that can be used."""


class Reply(NamedTuple):
    """An answer, and the usage that the provider reports with it, in tokens."""

    text: str
    input_tokens: int
    output_tokens: int
    is_whole: bool = True  # False: it was cut off, as at `max_tokens`


class Call(NamedTuple):
    """What a provider was sent in one call."""

    system: str | None
    messages: list[Message]
    max_tokens: int


class Provider(Protocol):
    """A chat model behind an interface: all that it knows is what it is sent."""

    @property
    def context_window(self) -> int | None:
        """Tokens that prompt and reply may have together; None if that is not known."""

    async def reply(
        self, messages: Sequence[Message], *, system: str | None, max_tokens: int
    ) -> Reply:
        """Answer the last message.

        Args:
            messages: What is sent, oldest first; user and assistant take turns.
            system: The system prompt, if there is one.
            max_tokens: The most tokens that the reply may have.

        Raises:
            ProviderError: There is no answer.
        """


class FakeProvider:
    """A provider that needs no network: it echoes, or follows a script.

    It remembers what it was sent, for tests to look at; its answers do not use that.

    Attributes:
        calls: What it was sent, call by call.
        context_window: See `Provider`.
    """

    def __init__(
        self,
        script: Iterable[str | Exception] | None = None,
        *,
        pause: Callable[[], Awaitable[object]] | None = None,
        context_window: int | None = None,
    ) -> None:
        """Make a fake.

        Args:
            script: The replies, in order; an exception among them is raised in its
                turn. Without a script, each reply tells what was sent.
            pause: Waited for before each reply, as in `pause=event.wait`.
            context_window: See `Provider`.
        """
        self.calls: list[Call] = []
        self.context_window = context_window
        self._script = None if script is None else iter(script)
        self._pause = pause

    async def reply(
        self, messages: Sequence[Message], *, system: str | None, max_tokens: int
    ) -> Reply:
        """Answer as the script says, or tell what was sent.

        Raises:
            ProviderError: If the script says so.
            RuntimeError: The script has run out. That is no ProviderError, because it
                is not the provider that is wrong.
        """
        self.calls.append(Call(system, [*messages], max_tokens))
        text = self._next(messages)
        if self._pause is not None:
            await self._pause()
        if isinstance(text, Exception):
            raise text
        read = total_cost(messages) + (estimate_tokens(system) if system else 0)
        return Reply(text, read, estimate_tokens(text))

    def _next(self, messages: Sequence[Message]) -> str | Exception:
        """Take the next reply of the script, or make one up."""
        last = messages[-1]["content"]
        if self._script is None:
            sent = f"I was sent {len(messages)} message(s)"
            return f"(fake) {sent}; the last was: '{last}'"
        for text in self._script:
            return text
        begins = last if len(last) <= LONGEST_SHOWN else last[:LONGEST_SHOWN] + "…"
        raise RuntimeError(
            f"the script has no reply for call {len(self.calls)}, which was sent "
            f"{begins!r}: the code makes a call that you did not expect"
        )
