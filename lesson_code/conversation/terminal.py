"""A chat in the terminal, or over a pipe: one message a line, one answer each."""

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice

from lesson_code.conversation.bot import Bot, BudgetError
from lesson_code.conversation.providers import FakeProvider, Provider, ProviderError
from lesson_code.conversation.store import Store, StoreError

PROMPT = "you> "
SHOWN_AT_START = 10  # messages of the history


def main(arguments: Sequence[str] | None = None) -> int:
    """Chat until the input ends; return the exit status.

    Returns:
        0; 1 if a message that came over a pipe was not answered; 2 if there is no
        chat, because an argument is wrong or the file cannot be used.
    """
    options = _parse(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not under a test's own streams
            stream.reconfigure(errors="replace")
    try:
        with Store(options.db) as store:
            bot = Bot(provider_from(os.environ), store=store)
            return chat(bot, options.session, options.user)
    except (StoreError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
