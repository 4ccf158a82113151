"""A chat in the terminal, or over a pipe: one message a line, one answer each.

A fake provider answers, without network and without key. A real one does if the
environment says so:

* `CHAT_MODEL`: the name of the model, as its provider writes it;
* `OPENAI_API_KEY`, perhaps `OPENAI_BASE_URL`: for chat completions, or
* `ANTHROPIC_API_KEY`, perhaps `ANTHROPIC_BASE_URL`: for Anthropic messages;
* `CHAT_CONTEXT_WINDOW`: its window in tokens, if the bot shall keep within that.
"""

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice

from lesson_code.conversation.bot import Bot, BudgetError
from lesson_code.conversation.providers import FakeProvider, Provider, ProviderError
from lesson_code.conversation.store import Store, StoreError, checked_id

PROMPT = "you> "
WELCOME = "/help shows the commands. Ctrl-D leaves, and what was said stays."
SHOWN_AT_START = 10  # messages of the history

SERVICES = (
    ("OPENAI", "chat completions", "https://api.openai.com/v1"),
    ("ANTHROPIC", "anthropic", "https://api.anthropic.com"),
)


class SettingsError(Exception):
    """The environment does not say who shall answer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Chat until the input ends.

    Returns:
        The exit status: 0; 1 if a message from a pipe was not answered, or if the
        answers cannot be written; 2 if the file or the environment is wrong.
    """
    options = _options(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        provider = provider_from(os.environ)
        with Store(options.db) as store:
            return chat(Bot(provider, store=store), options.session, options.user)
    except (SettingsError, StoreError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"error: the answer cannot be written: {error}", file=sys.stderr)
        # What is still to be written goes nowhere, instead of failing once more.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return 1


def provider_from(environment: Mapping[str, str]) -> Provider:
    """Return who answers: a fake, or whom the environment names.

    Raises:
        SettingsError: It names nobody clearly.
    """
    model = environment.get("CHAT_MODEL")
    if not model:
        return FakeProvider()
    named = [each for each in SERVICES if environment.get(f"{each[0]}_API_KEY")]
    if len(named) != 1:
        raise SettingsError(
            "CHAT_MODEL is set, so a real model shall answer: set OPENAI_API_KEY or "
            "ANTHROPIC_API_KEY, and not both"
        )
    [(name, protocol, address)] = named
    # Here, because only a real model needs a network.
    from lesson_code.conversation.http_provider import HttpProvider

    try:
        return HttpProvider(
            protocol,
            environment.get(f"{name}_BASE_URL") or address,
            environment[f"{name}_API_KEY"],
            model,
            context_window=_window(environment.get("CHAT_CONTEXT_WINDOW")),
        )
    except ValueError as error:
        raise SettingsError(str(error)) from error


def chat(bot: Bot, session: str, user: str | None) -> int:
    """Answer each line; return 1 if a message from a pipe was not answered, else 0."""
    interactive = all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))
    if interactive:
        print(WELCOME)
        _show_history(bot.store, session)
    failed = False
    with asyncio.Runner() as runner, suppress(KeyboardInterrupt):
        for line in _lines(interactive):
            if not line.strip():
                continue
            try:
                answer = runner.run(bot.handle(session, line, user))
                print(printable(answer), flush=True)
            except (BudgetError, ProviderError, StoreError) as error:
                failed = True
                print(f"error: {printable(str(error))}", file=sys.stderr)
    return int(failed and not interactive)


def printable(text: str) -> str:
    r"""Replace control characters: in a terminal they could do anything.

    >>> printable("red: \x1b[31m")
    'red: �[31m'
    """
    return "".join(c if c in "\n\t" or _is_harmless(c) else "�" for c in text)


def _is_harmless(character: str) -> bool:
    return character >= " " and not "\x7f" <= character <= "\x9f"


def _lines(interactive: bool) -> Iterator[str]:
    """Yield what is typed until Ctrl-D, or what the pipe holds."""
    if not interactive:
        for line in sys.stdin or ():  # there is none where it was closed at the start
            yield line.rstrip("\n")
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - it lets `input` edit a line, and recall others
    while True:
        try:
            yield input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()
            return


def _show_history(store: Store, session: str) -> None:
    """Print the end of the conversation so far."""
    with closing(store.newest(session)) as newest_first:
        messages = [*islice(newest_first, SHOWN_AT_START)]
    for message in reversed(messages):
        who = PROMPT if message["role"] == "user" else ""
        print(who + printable(message["content"]))


def _window(text: str | None) -> int | None:
    """Read a number of tokens."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"CHAT_CONTEXT_WINDOW must be a whole number, not {text!r}")
    return int(text)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; end the program with status 2 if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_code.conversation",
        description="Chat with a bot whose conversations survive.",
    )
    parser.add_argument(
        "--db", required=True, metavar="FILE", help="where they are kept"
    )
    parser.add_argument(
        "--session", default="terminal", type=_identifier, help="which conversation"
    )
    parser.add_argument(
        "--user", type=_identifier, help="whose facts; without it, the session's"
    )
    return parser.parse_args(arguments)


def _identifier(text: str) -> str:
    """Check an id for argparse, which wants an error of its own."""
    try:
        return checked_id("given", text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
