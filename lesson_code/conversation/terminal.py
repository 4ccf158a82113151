"""A chat in the terminal, or over a pipe: one message a line, one answer each.

Who answers, the environment says: see `SETTINGS`.
"""

import argparse
import asyncio
import io
import os
import signal
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice

from lesson_code.conversation.bot import Bot, BudgetError
from lesson_code.conversation.providers import FakeProvider, Provider, ProviderError
from lesson_code.conversation.store import Store, StoreError, checked_id

PROMPT = "you> "
WELCOME = (
    "/help shows the commands. Ctrl-C stops an answer, Ctrl-D leaves; what was said "
    "stays."
)
STOPPED = "\nStopped. Neither the message nor an answer is stored."
SHOWN_AT_START = 10  # messages of the history
MAX_TOKENS = 1024  # of a reply
LONGEST_NUMBER = 20  # digits

SERVICES = (
    ("OPENAI", "chat completions", "https://api.openai.com/v1"),
    ("ANTHROPIC", "anthropic", "https://api.anthropic.com"),
)

SETTINGS = """\
A fake provider answers, without network and without key. A real one does if these
variables of the environment name it:
  CHAT_MODEL           the name of the model, as its provider writes it
  OPENAI_API_KEY       the key, for chat completions; or
  ANTHROPIC_API_KEY    the key, for Anthropic messages
  OPENAI_BASE_URL, ANTHROPIC_BASE_URL
                       another address; that of chat completions ends in /v1
  CHAT_CONTEXT_WINDOW  its window in tokens, if the bot shall keep within that
"""


class SettingsError(Exception):
    """The environment does not say who shall answer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Chat until the input ends.

    Returns:
        The exit status: 0; 1 if a message from a pipe was not answered, or if the
        answers cannot be written; 2 if the file or the environment is wrong; 130 if
        Ctrl-C ended it.
    """
    options = _options(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        provider = provider_from(os.environ)
        with Store(options.db) as store:
            bot = Bot(
                provider,
                options.system,
                store=store,
                history_budget=options.budget,
                summarise=options.summarise,
                max_tokens=MAX_TOKENS,
            )
            return chat(bot, options.session, options.user)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
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
    answer_to = partial(_stoppable, bot) if interactive else bot.handle
    failed = False
    with asyncio.Runner() as runner:
        for line in _lines(interactive):
            if not line.strip():
                continue
            try:
                answer = runner.run(answer_to(session, line, user))
                print(printable(answer), flush=True)
            except (BudgetError, ProviderError, StoreError) as error:
                failed = True
                print(f"error: {printable(str(error))}", file=sys.stderr)
    return int(failed and not interactive)


async def _stoppable(bot: Bot, session: str, line: str, user: str | None) -> str:
    """Answer a line, until Ctrl-C cancels that; then nothing has been stored."""
    try:
        return await bot.handle(session, line, user)
    except asyncio.CancelledError:
        return STOPPED


def printable(text: str) -> str:
    r"""Replace characters that control a terminal, or the order in which it writes.

    >>> printable("red: \x1b[31m")
    'red: �[31m'
    """
    return "".join(c if c in HARMLESS or not _controls(c) else "�" for c in text)


# Line and tab; and what joins or parts letters in some scripts, and joins emoji.
HARMLESS = "\n\t\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def _controls(character: str) -> bool:
    """Tell whether a character is a control (Cc) or an invisible format (Cf)."""
    return unicodedata.category(character) in ("Cc", "Cf")


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
    """Read the size of a window; it must hold a reply, and something to reply to."""
    if not text:
        return None
    window = _tokens("CHAT_CONTEXT_WINDOW", text)
    if window <= MAX_TOKENS:
        raise ValueError(
            f"CHAT_CONTEXT_WINDOW must be more than the {MAX_TOKENS} tokens that a "
            f"reply may have, not {window}"
        )
    return window


def _tokens(name: str, text: str) -> int:
    """Read a number of tokens."""
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    if not is_number or int(text) == 0:
        raise ValueError(
            f"{name} must be a whole number of tokens, 1 or more, not "
            f"{text[: LONGEST_NUMBER + 1]!r}"
        )
    return int(text)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; end the program with status 2 if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_code.conversation",
        description="Chat with a bot whose conversations survive.",
        epilog=SETTINGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--db",
        required=True,
        metavar="FILE",
        help="where conversations, summaries and facts are kept; made if not there",
    )
    add("--session", default="terminal", type=_identifier, help="which conversation")
    add("--user", type=_identifier, help="whose facts; without it, the session's")
    add("--system", metavar="TEXT", help="what the model is told first")
    add(
        "--budget",
        default=2000,
        type=_budget,
        metavar="TOKENS",
        help="what the prompt may have (%(default)s)",
    )
    add("--summarise", action="store_true", help="summarise what no longer fits")
    return parser.parse_args(arguments)


def _budget(text: str) -> int:
    """Read a budget for argparse, which wants an error of its own."""
    try:
        return _tokens("it", text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _identifier(text: str) -> str:
    """Check an id for argparse, which wants an error of its own."""
    try:
        return checked_id("given", text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
