"""Four memories for a chat that outgrows its window, and how often each still answers.

A simulation after Packer et al. 2023 (arXiv 2310.08560). The user drops a few facts
among small talk, session after session; some facts are later updated, and the right
answer is the newest. At the end come a few questions. Every probability is a setting:
this shows the mechanism, not the figures of a real system.

- *Truncation* keeps the newest messages and nothing else.
- *Recursive summary* squeezes what leaves the window into a summary of the summary.
- *MemGPT* writes facts to an archive by calling a function, and keeps a few in a core
  memory that is always in the prompt. A warning says when the window is nearly full.
- *MemGPT without the warning* shows what that warning is worth.
"""

from __future__ import annotations

import random
from bisect import bisect, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import compress, product
from math import sqrt
from typing import Literal, NamedTuple, get_args

from lesson_code.context_window import check_whole

WINDOW = 40  # messages
CORE_SLOTS = 8
MESSAGES_PER_SESSION = 12
FACTS_PER_SESSION = 2
ATTRIBUTES = 30
QUESTIONS = 6
CONVERSATIONS = 100
SESSIONS = (2, 5, 10, 20, 40)
RESAMPLES = 1_000
TAIL = 25  # resamples beyond either end of a 95 % interval

Kind = Literal["right", "gone", "lost", "never saved", "not found", "stale"]


@dataclass(frozen=True)
class Settings:
    """What the simulation assumes; every probability and share is from 0 to 1.

    Attributes:
        window: how many messages the window holds.
        core_slots: how many facts core memory holds.
        keep: how likely a fact survives each compression of the summary.
        warn_at: how full the window is when the warning appears, as a share.
        write: how likely a new fact is written to the archive.
        write_warned: the same, while the warning stands.
        find: how likely a search of the archive finds what is there.
        latest: how likely the newest of several versions is picked.
        update: how likely a new fact replaces one that is known.
        recall: how likely a search of the flushed messages finds what is there;
            at zero there is no such search.

    Raises:
        TypeError: `window` or `core_slots` is no whole number.
        ValueError: A value is outside of its range.
    """

    window: int = WINDOW
    core_slots: int = CORE_SLOTS
    keep: float = 0.85
    warn_at: float = 0.7
    write: float = 0.6
    write_warned: float = 0.95
    find: float = 0.9
    latest: float = 0.9
    update: float = 0.25
    recall: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing."""
        check_whole("window", self.window)
        if self.window < 2:
            raise ValueError(
                f"window must be 2 messages or more, not {self.window}: "
                "half of it is flushed"
            )
        check_whole("core_slots", self.core_slots)
        for name, share in vars(self).items():
            whole = name in ("window", "core_slots")
            number = isinstance(share, float | int) and not isinstance(share, bool)
            if not whole and not (number and 0 <= share <= 1):
                raise ValueError(f"{name} must be a number from 0 to 1, not {share!r}")


# ---------------------------------------------------------------- the conversation


Fact = tuple[int, int, int]
"""What the user said: in which message (from 1), about which attribute, which value."""


class Conversation(NamedTuple):
    """How many messages there were, and the facts among them. The rest is small talk.

    Attributes:
        messages: how many messages.
        facts: the facts, oldest first.
    """

    messages: int
    facts: Sequence[Fact]

    def between(self, first: int, last: int) -> Sequence[Fact]:
        """The facts from one message to another, both included."""
        return self.facts[
            bisect(self.facts, (first,)) : bisect(self.facts, (last + 1,))
        ]

    def last(self, messages: int) -> Sequence[Fact]:
        """The facts among the last messages."""
        return self.facts[bisect(self.facts, (self.messages - messages + 1,)) :]


def newest(facts: Sequence[Fact]) -> dict[int, int]:
    """The last value of each attribute, in the order in which they first came up.

    >>> newest([(3, 7, 100), (5, 2, 200), (9, 7, 300)])
    {7: 300, 2: 200}
    """
    return {attribute: value for _, attribute, value in facts}


def below(getrandbits: Callable[[int], int], limit: int) -> int:
    """Draw a whole number from 0 up to the limit, as `rng.randrange(limit)` does.

    It is faster, since it does not check what it is given.

    Args:
        getrandbits: that of the generator.
        limit: at least 1, and never drawn itself.
    """
    bits = limit.bit_length()
    number = getrandbits(bits)
    while number >= limit:
        number = getrandbits(bits)
    return number


def converse(rng: random.Random, sessions: int, settings: Settings) -> Conversation:
    """Draw a conversation: which messages hold facts, and which facts.

    Drawn as by `sample(range(12), 2)` for the places of a session, `random()` for
    whether a fact is an update (unless nothing is known yet), `choice` among the known
    attributes or the unused ones, in order, and `randint(100, 999)` for the value. When
    none is unused, all are known, and so every fact is an update.

    Args:
        rng: where chance comes from.
        sessions: how many sessions.
        settings: how likely an update is.
    """
    draw, bits, update = rng.random, rng.getrandbits, settings.update
    known: list[int] = []
    unused = list(range(ATTRIBUTES))
    facts = []
    for start in range(1, sessions * MESSAGES_PER_SESSION, MESSAGES_PER_SESSION):
        for place in two_places(bits):
            if known and (draw() < update or not unused):
                attribute = known[below(bits, len(known))]
            else:
                attribute = unused.pop(below(bits, len(unused)))
                insort(known, attribute)
            facts.append((start + place, attribute, 100 + below(bits, 900)))
    return Conversation(sessions * MESSAGES_PER_SESSION, facts)


def two_places(getrandbits: Callable[[int], int]) -> tuple[int, int]:
    """Draw two messages of a session, as `rng.sample(range(12), 2)` does, in order."""
    first = below(getrandbits, MESSAGES_PER_SESSION)
    second = below(getrandbits, MESSAGES_PER_SESSION - 1)
    if second == first:
        return first, MESSAGES_PER_SESSION - 1
    return (first, second) if first < second else (second, first)


def questions(rng: random.Random, known: Iterable[int]) -> list[int]:
    """Draw some of the known attributes, to be asked for at the end."""
    ordered = sorted(known)
    return rng.sample(ordered, min(QUESTIONS, len(ordered)))


# ------------------------------------------------------------------- the memories


class Memory(NamedTuple):
    """What a conversation leaves behind.

    Attributes:
        prompt: the values that the model sees without a search, by attribute: the
            window, and behind it a summary or core memory.
        missing: why a value is missing that is neither seen nor found.
        archive: the facts that were written down, oldest first.
        flushed: the facts in messages that have left the window, oldest first.
    """

    prompt: dict[int, int]
    missing: Kind
    archive: Sequence[Fact] = ()
    flushed: Sequence[Fact] = ()


Life = Callable[[random.Random], Memory]
"""A life of a memory through one conversation, with its own luck."""


def truncation(conversation: Conversation, settings: Settings) -> Life:
    """Keep the newest messages, as many as the window holds. Chance plays no part."""
    memory = Memory(newest(conversation.last(settings.window)), "gone")
    return lambda rng: memory


def summary_fill(message: int, window: int) -> int:
    """How many messages the window holds after one more came, if a summary is kept.

    When the window would overflow, the oldest half of its room is squeezed.

    >>> [summary_fill(message, 40) for message in (40, 41, 60, 61)]
    [40, 21, 40, 21]
    """
    half = window // 2
    if message <= window:
        return message
    return window + 1 - half + (message - window - 1) % half


def recursive_summary(conversation: Conversation, settings: Settings) -> Life:
    """Squeeze the oldest half of a full window into the summary, time and again.

    A newer value overwrites an older one. Then each fact of the summary survives the
    compression, or does not: one draw for each, in the order they came in.
    """
    messages, half = conversation.messages, settings.window // 2
    gone = messages - summary_fill(messages, settings.window)
    flushes = [
        newest(conversation.between(last + 1, last + half))
        for last in range(0, gone, half)
    ]
    window = newest(conversation.last(messages - gone))

    def live(rng: random.Random) -> Memory:
        draw, keep = rng.random, settings.keep
        summary: dict[int, int] = {}
        for flushed in flushes:
            summary |= flushed
            for lost in [attribute for attribute in summary if draw() >= keep]:
                del summary[lost]
        return Memory(summary | window, "lost")

    return live


def fill(message: int, window: int) -> int:
    """How many messages MemGPT's window holds after one more came.

    When the window would overflow, all but half its room is flushed.

    >>> [fill(message, 40) for message in (40, 41, 61, 62)]
    [40, 20, 40, 20]
    """
    half = window // 2
    if message <= window:
        return message
    return half + (message - window - 1) % (window + 1 - half)


def warned(message: int, settings: Settings) -> bool:
    """Whether the window is so full, after this message, that the warning stands."""
    return fill(message, settings.window) / settings.window >= settings.warn_at


@cache
def write_chances(messages: int, settings: Settings, warning: bool) -> Sequence[float]:
    """How likely a fact is written to the archive, for each message from 0 on."""
    return [
        settings.write_warned
        if warning and warned(message, settings)
        else settings.write
        for message in range(messages + 1)
    ]


def memgpt(
    conversation: Conversation, settings: Settings, warning: bool = True
) -> Life:
    """Write facts to an archive, and keep the latest in core memory.

    Every fact enters core memory, and beyond its slots the one updated longest ago
    leaves. Whether a fact is written to the archive is one draw for each.

    Args:
        conversation: what is said.
        settings: how large the memories are, and how likely a fact is written.
        warning: whether the model is told that the window is nearly full.
    """
    messages, facts = conversation
    chance = write_chances(messages, settings, warning)
    chances = [chance[message] for message, _, _ in facts]
    core: dict[int, int] = {}
    for _, attribute, value in reversed(facts):
        if len(core) == settings.core_slots:
            break
        core.setdefault(attribute, value)
    visible = conversation.last(fill(messages, settings.window))
    prompt = core | newest(visible)
    flushed = facts[: len(facts) - len(visible)]

    def live(rng: random.Random) -> Memory:
        draw = rng.random
        written = [draw() < chance for chance in chances]
        return Memory(prompt, "never saved", list(compress(facts, written)), flushed)

    return live


def unwarned_memgpt(conversation: Conversation, settings: Settings) -> Life:
    """MemGPT without the warning that the window is nearly full."""
    return memgpt(conversation, settings, warning=False)


# ------------------------------------------------------------------ the questions


def ask(
    memory: Memory, attribute: int, rng: random.Random, settings: Settings
) -> int | Kind:
    """The value that the model answers with, or why it has none."""
    if attribute in memory.prompt:
        return memory.prompt[attribute]
    if memory.missing != "never saved":
        return memory.missing
    missing: Kind = "never saved"
    if rng.random() >= settings.find:
        missing = "not found"
    elif versions := versions_of(attribute, memory.archive):
        return pick(versions, rng, settings)
    # recall storage: the messages themselves, if there is a search for them
    said = versions_of(attribute, memory.flushed) if settings.recall else []
    if said and rng.random() < settings.recall:
        return pick(said, rng, settings)
    return missing


def versions_of(attribute: int, facts: Sequence[Fact]) -> list[int]:
    """What a search brings up: every value of an attribute, oldest first."""
    return [value for _, about, value in facts if about == attribute]


def pick(versions: Sequence[int], rng: random.Random, settings: Settings) -> int:
    """The version that the model answers with: mostly, not always, the newest."""
    if len(versions) > 1 and rng.random() >= settings.latest:
        return versions[rng.randrange(len(versions) - 1)]
    return versions[-1]


def kind_of(answer: int | Kind, newest_value: int) -> Kind:
    """Whether an answer is right, or in what way it is wrong."""
    if answer == newest_value:
        return "right"
    return "stale" if isinstance(answer, int) else answer


METHODS: dict[str, Callable[[Conversation, Settings], Life]] = {
    "truncation": truncation,
    "summary": recursive_summary,
    "unwarned": unwarned_memgpt,
    "memgpt": memgpt,
}


def verdicts_of(
    rng: random.Random, method: str, sessions: int, settings: Settings
) -> Iterator[tuple[Kind, ...]]:
    """Draw conversations and their questions, and have each question answered.

    Each question on its own lives through the whole conversation again, with fresh
    luck.

    Yields:
        For each conversation, how its questions were answered.
    """
    for _ in range(CONVERSATIONS):
        conversation = converse(rng, sessions, settings)
        right = newest(conversation.facts)
        asked = questions(rng, right)
        live = METHODS[method](conversation, settings)
        yield tuple(
            kind_of(ask(live(rng), attribute, rng, settings), right[attribute])
            for attribute in asked
        )


@lru_cache(maxsize=None, typed=True)
def verdicts(
    method: str, sessions: int, settings: Settings = Settings()
) -> tuple[tuple[Kind, ...], ...]:
    """How each question of each conversation was answered, as in the published table.

    One generator, `random.Random(240 + sessions)`, for each cell of the table. So the
    methods see the same first conversation, and different ones after it.

    Args:
        method: "truncation", "summary", "unwarned" or "memgpt".
        sessions: how many sessions the conversations have.
        settings: what the simulation assumes.

    Raises:
        TypeError: `sessions` is no whole number.
        ValueError: There is no such method, or there are no sessions.
    """
    if method not in METHODS:
        raise ValueError(f"no method is called {method!r}; there are: {names(METHODS)}")
    check_whole("sessions", sessions)
    if not sessions:
        raise ValueError("sessions must be 1 or more: there is nothing to ask about")
    rng = random.Random(240 + sessions)
    return tuple(verdicts_of(rng, method, sessions, settings))


def names(known: Iterable[str]) -> str:
    """A list of names for an error."""
    return ", ".join(known)


def accuracy(method: str, sessions: int, settings: Settings = Settings()) -> float:
    """Right answers / all questions, pooled over the conversations of a cell.

    See `verdicts` for the arguments, and for what is refused.
    """
    answers = [kind for kinds in verdicts(method, sessions, settings) for kind in kinds]
    return answers.count("right") / len(answers)


def questions_asked(method: str, sessions: int, settings: Settings = Settings()) -> int:
    """Count the questions of a cell; see `verdicts` for the arguments."""
    return sum(map(len, verdicts(method, sessions, settings)))


def wrong_answers(
    method: str, sessions: int, kind: str, settings: Settings = Settings()
) -> int:
    """Count the answers of a cell that are of a kind.

    Args:
        method: as in `verdicts`.
        sessions: as in `verdicts`.
        kind: "gone" (left the window), "lost" (from the summary), "never saved", "not
            found" (by the search) or "stale" (an older value was answered).
        settings: what the simulation assumes.

    Raises:
        ValueError: There is no such kind, or `verdicts` refuses.
    """
    kinds = get_args(Kind)
    if kind not in kinds[1:]:
        raise ValueError(f"no wrong answer is {kind!r}; there are: {names(kinds[1:])}")
    return sum(each.count(kind) for each in verdicts(method, sessions, settings))


# ------------------------------------------------------------------ how sure is that?

Cell = tuple[str, int] | tuple[str, int, Settings]
"""A method, a number of sessions and, if others than usual, the settings."""


def resampled(
    rng: random.Random, method: str, sessions: int, settings: Settings = Settings()
) -> Iterator[float]:
    """The accuracy of a cell, had its conversations been drawn again from themselves.

    The answers of one conversation share its luck, so conversations are drawn whole:
    `rng.choices(range(count), k=count)`, once for each of the resamples.
    """
    results = verdicts(method, sessions, settings)
    right = [kinds.count("right") for kinds in results]
    asked = [len(kinds) for kinds in results]
    places = range(len(results))
    for _ in range(RESAMPLES):
        drawn = rng.choices(places, k=len(places))
        yield sum([right[i] for i in drawn]) / sum([asked[i] for i in drawn])


def middle(values: Iterable[float]) -> tuple[float, float]:
    """The ends of what is left without the tails, the lowest and the highest values."""
    ordered = sorted(values)
    return ordered[TAIL], ordered[-1 - TAIL]


@lru_cache(maxsize=None, typed=True)
def interval(
    method: str, sessions: int, settings: Settings = Settings()
) -> tuple[float, float]:
    """The 95 % interval of an accuracy: between what values chance might move it.

    A percentile interval by resampling conversations, with `random.Random(95)` for
    each cell. See `verdicts` for the arguments, and for what is refused.
    """
    return middle(resampled(random.Random(95), method, sessions, settings))


def difference(first: Cell, second: Cell) -> float:
    """How much more accurate the first cell is than the second."""
    return accuracy(*first) - accuracy(*second)


@cache
def difference_interval(first: Cell, second: Cell) -> tuple[float, float]:
    """The 95 % interval of `difference`, which is real if 0 lies outside.

    The cells saw different conversations, so each is resampled on its own: all
    resamples of the first, then all of the second, from one `random.Random(95)`.

    Args:
        first: the cell that may be more accurate.
        second: the one that it is compared with.
    """
    rng = random.Random(95)
    firsts, seconds = list(resampled(rng, *first)), list(resampled(rng, *second))
    return middle(a - b for a, b in zip(firsts, seconds, strict=True))


def compared(first: Cell, second: Cell) -> Literal["higher", "lower", "cannot tell"]:
    """What the interval bears of the first cell's accuracy, beside the second's."""
    low, high = difference_interval(first, second)
    if low > 0:
        return "higher"
    return "lower" if high < 0 else "cannot tell"


# ---------------------------------------------------------------- the honest re-run

RERUN_CONVERSATIONS = 4_000
RERUN_SESSIONS = (5, 10, 20, 40)
LONGEST = 40  # sessions

Verdicts = tuple[tuple[Kind, ...], ...]


class Contender(NamedTuple):
    """A memory that takes part in the re-run.

    Attributes:
        name: what it is called; its luck comes from a stream of that name.
        method: how it lives through a conversation.
        settings: its own. All meet the same conversations, so `update` has no effect.
    """

    name: str
    method: Callable[[Conversation, Settings], Life]
    settings: Settings = Settings()


TRUNCATION = Contender("truncation", truncation)
SUMMARY = Contender("recursive summary", recursive_summary)
UNWARNED = Contender("MemGPT, no warning", unwarned_memgpt)
MEMGPT = Contender("MemGPT", memgpt)


def recalling(chance: float) -> Contender:
    """MemGPT that can search its flushed messages too, and finds with this chance."""
    return Contender("MemGPT with recall", memgpt, Settings(recall=chance))


RECALL = recalling(0.9)
CONTENDERS = (TRUNCATION, SUMMARY, UNWARNED, MEMGPT, RECALL)


def trying(window: int, core_slots: int, warning: bool, recall: float) -> Contender:
    """MemGPT with other settings. All of them have the luck of MemGPT."""
    settings = Settings(window=window, core_slots=core_slots, recall=recall)
    return Contender("MemGPT", memgpt if warning else unwarned_memgpt, settings)


# What a reader of the page can try, in fewer conversations.
TRIED = tuple(
    trying(*settings)
    for settings in product((20, 40, 80), (0, 4, 8, 16), (False, True), (0.0, 0.9))
)
TRIED_CONVERSATIONS = 200


def rerun(
    contender: Contender, sessions: int, conversations: int = RERUN_CONVERSATIONS
) -> Verdicts:
    """How each question of each conversation was answered, all after a single life.

    Those of the page run together: drawing a conversation costs more than a life.

    Args:
        contender: the memory.
        sessions: how long the conversations are, from 1 to 40 sessions.
        conversations: how many.

    Raises:
        TypeError: A number is not whole.
        ValueError: There are no conversations, or not 1 to 40 sessions.
    """
    check_whole("sessions", sessions)
    check_whole("conversations", conversations)
    if not 1 <= sessions <= LONGEST:
        raise ValueError(f"sessions must be 1 to {LONGEST}, not {sessions}")
    if not conversations:
        raise ValueError("conversations must be 1 or more: there is nothing to count")
    together: tuple[Contender, ...] = (contender,)
    lengths: tuple[int, ...] = (sessions,)
    if sessions in RERUN_SESSIONS:
        if conversations == TRIED_CONVERSATIONS and contender in TRIED:
            together, lengths = TRIED, RERUN_SESSIONS
        elif contender in CONTENDERS:
            together, lengths = CONTENDERS, RERUN_SESSIONS
    return lives(together, lengths, conversations)[contender, sessions]


@cache
def lives(
    contenders: tuple[Contender, ...], lengths: tuple[int, ...], conversations: int
) -> Mapping[tuple[Contender, int], Verdicts]:
    """Let the contenders live through the same conversations, and ask them.

    Every conversation is drawn 40 sessions long; its beginnings are the shorter ones.
    Each purpose has a generator of its own: `Random("conversations")`, for each length
    one such as `Random("questions 10")`, and for each contender at each length one such
    as `Random("MemGPT 10")`. So a result depends neither on who else takes part nor on
    the other lengths.

    Returns:
        For each contender and each length, how each question was answered.
    """
    talk = random.Random("conversations")
    choose = {length: random.Random(f"questions {length}") for length in lengths}
    results: dict[tuple[Contender, int], list[tuple[Kind, ...]]]
    results = {(one, length): [] for length in lengths for one in contenders}
    luck = {key: random.Random(f"{key[0].name} {key[1]}") for key in results}
    seats = {
        length: [(one, luck[one, length], results[one, length]) for one in contenders]
        for length in lengths
    }
    for _ in range(conversations):
        whole = converse(talk, LONGEST, Settings())
        for length, rng in choose.items():
            conversation = beginning(whole, length)
            right = newest(conversation.facts)
            asked = [(a, right[a]) for a in questions(rng, right)]
            for one, own, result in seats[length]:
                result.append(live_once(one, conversation, asked, own))
    return {key: tuple(result) for key, result in results.items()}


def beginning(conversation: Conversation, sessions: int) -> Conversation:
    """The first sessions of a conversation."""
    facts = conversation.facts[: sessions * FACTS_PER_SESSION]
    return Conversation(sessions * MESSAGES_PER_SESSION, facts)


def live_once(
    contender: Contender,
    conversation: Conversation,
    asked: Sequence[tuple[int, int]],
    rng: random.Random,
) -> tuple[Kind, ...]:
    """One life through a conversation, and how it answers each question at the end.

    Args:
        contender: the memory.
        conversation: what it lives through.
        asked: the attributes that are asked for, each with its newest value.
        rng: where its luck comes from.
    """
    _, method, settings = contender
    memory = method(conversation, settings)(rng)
    return tuple(
        [
            kind_of(ask(memory, attribute, rng, settings), right)
            for attribute, right in asked
        ]
    )


def rerun_count(
    kind: Kind,
    contender: Contender,
    sessions: int,
    conversations: int = RERUN_CONVERSATIONS,
) -> int:
    """Count the answers that are of a kind, "right" or one of `wrong_answers`.

    Raises:
        ValueError: There is no such kind.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"no answer is {kind!r}; there are: {names(get_args(Kind))}")
    return sum(kinds.count(kind) for kinds in rerun(contender, sessions, conversations))


def rerun_asked(sessions: int, conversations: int = RERUN_CONVERSATIONS) -> int:
    """How many questions each contender is asked."""
    return sum(map(len, rerun(MEMGPT, sessions, conversations)))


def rerun_accuracy(
    contender: Contender, sessions: int, conversations: int = RERUN_CONVERSATIONS
) -> float:
    """Right answers / all questions, pooled over the conversations."""
    answers = rerun(contender, sessions, conversations)
    return sum(kinds.count("right") for kinds in answers) / sum(map(len, answers))


def rerun_interval(
    contender: Contender, sessions: int, conversations: int = RERUN_CONVERSATIONS
) -> tuple[float, float]:
    """The 95 % interval of `rerun_accuracy`."""
    answers = rerun(contender, sessions, conversations)
    rights = [kinds.count("right") for kinds in answers]
    return ratio_interval(rights, [*map(len, answers)])


def paired_difference(
    one: Contender,
    other: Contender,
    sessions: int,
    conversations: int = RERUN_CONVERSATIONS,
) -> float:
    """How much more accurate one contender is than the other, on the same questions."""
    more = rerun_count("right", one, sessions, conversations)
    more -= rerun_count("right", other, sessions, conversations)
    return more / sum(map(len, rerun(one, sessions, conversations)))


def paired_interval(
    one: Contender,
    other: Contender,
    sessions: int,
    conversations: int = RERUN_CONVERSATIONS,
) -> tuple[float, float]:
    """The 95 % interval of `paired_difference`; 0 outside: it is real."""
    pairs = zip(
        rerun(one, sessions, conversations),
        rerun(other, sessions, conversations),
        strict=True,
    )
    gains = [mine.count("right") - theirs.count("right") for mine, theirs in pairs]
    return ratio_interval(gains, [*map(len, rerun(one, sessions, conversations))])


def ratio_interval(gains: Sequence[int], asked: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval of `sum(gains) / sum(asked)`, from how conversations differ.

    If every conversation gained the same share of its questions, there would be no
    doubt. So what counts is how far each is from its share: its gain, less the ratio
    times its questions. The squares of that, added up, give the standard error. (It is
    that of a ratio, linearised: for many conversations the total of the questions may
    be taken as fixed. If all are asked as many, it is that of a plain mean.)

    Args:
        gains: for each conversation, right answers, or how many more than another's.
        asked: for each conversation, its questions.

    Raises:
        ValueError: There are fewer than 2 conversations.

    >>> low, high = ratio_interval([3, 1, 2, 2], [4, 4, 4, 4])
    >>> f"{low:.3f} {high:.3f}"
    '0.300 0.700'
    """
    if len(gains) < 2:
        raise ValueError("an interval needs 2 conversations or more, which differ")
    ratio = sum(gains) / sum(asked)
    squares = sum((gain - ratio * n) ** 2 for gain, n in zip(gains, asked, strict=True))
    error = sqrt(squares * len(gains) / (len(gains) - 1)) / sum(asked)
    return ratio - 1.96 * error, ratio + 1.96 * error
