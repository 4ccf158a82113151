"""Count each message once: a memo of token counts that is neither wrong nor a leak.

An agent estimates the tokens of its whole history before each step. A memo keeps the
count of each message. Its key names the strings of the message by their `id`, so it
has to keep those strings alive; and because it keeps them alive, it has to be bounded.
"""

import json
import math
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple, NoReturn

from lesson_code.context_window import Message, check_whole, count_tokens, filler

Key = tuple[int | str | None, ...]

IMAGE_TYPES = ("image", "image_url", "input_image")
IMAGE_TOKENS = 258
LEAF_BYTES = 120
FEWEST_LEAVES = 4
PART_BYTES = 8
LONG_STRING = 64


# What a message holds.


class Reading(NamedTuple):
    """A message, walked once.

    Attributes:
        key: Its fingerprint: the structure, in which each string stands as its `id`.
        texts: Its leaves: the strings, and the numbers as JSON writes them.
        images: How many images it holds. Their data is in neither of the two.
    """

    key: Key
    texts: tuple[str, ...]
    images: int


class Counted(NamedTuple):
    """What the memo stores: everything but the price of an image."""

    text_tokens: int
    images: int

    def tokens(self, image_tokens: int) -> int:
        """Return the estimate at that price."""
        return self.text_tokens + self.images * image_tokens


def read_message(message: object) -> Reading:
    """Walk a message down to its leaves: dicts, lists, tuples, strings and numbers.

    The names of fields are leaves too. A number, true or false stands in the key as
    JSON writes it, None as itself. A dict whose type is one of `IMAGE_TYPES` is an
    image as a whole. Tuples are lists.

    Raises:
        TypeError: Something in it is of another type; the error says where.
        ValueError: Something in it contains itself, or a number is too long to write.

    >>> read_message({"role": "user", "content": ["Hi.", 3, None]}).texts
    ('role', 'user', 'content', 'Hi.', '3')
    """
    key: list[int | str | None] = []
    texts: list[str] = []
    images = 0
    around: dict[int, object] = {}  # the containers that the walk is in, by their ids
    pending: list[object] = [message]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            key.append(id(value))
            texts.append(value)
        elif value is _END:
            key.append("end")
            around.popitem()
        elif isinstance(value, dict) and value.get("type") in IMAGE_TYPES:
            key.append("image")
            images += 1
        elif isinstance(value, dict | list | tuple):
            if id(value) in around:
                _refuse(ValueError, around, value, "contains itself")
            key.append("dict" if isinstance(value, dict) else "list")
            around[id(value)] = value
            pending.append(_END)
            pending += reversed(_inside(around, value))
        elif value is None:
            key.append(None)
        else:
            text = _written(around, value)
            key.append(text)
            texts.append(text)
    return Reading(tuple(key), tuple(texts), images)


_END = object()


def _inside(around: dict[int, object], value: Any) -> Sequence[object]:
    """Return what a container holds, in order; of a dict, names and values in turn."""
    if not isinstance(value, dict):
        return list(value)
    for name in value:
        if not isinstance(name, str):
            why = f"has the name {name!r}, a {type(name).__name__}; names are text"
            _refuse(TypeError, around, value, why)
    return [*chain.from_iterable(value.items())]


def _written(around: dict[int, object], value: object) -> str:
    """Write a number, true or false as JSON does."""
    if not isinstance(value, int | float):
        why = f"is a {type(value).__name__}; a message is made of dicts, lists, "
        _refuse(TypeError, around, value, why + "tuples, texts, numbers and None")
    try:
        return json.dumps(value)
    except ValueError:
        _refuse(ValueError, around, value, "is a number too long to write down")


def _refuse(
    kind: type[Exception], around: dict[int, Any], bad: object, why: str
) -> NoReturn:
    """Raise an error that says where in a message something is wrong.

    The containers that the walk is in lead there: each holds the next. What contains
    itself is one of them, and named by its first place.
    """
    path = "message"
    for outer, inner in pairwise([*around.values(), bad]):
        if outer is bad:
            break
        held = outer.items() if isinstance(outer, dict) else enumerate(outer)
        path += next((f"[{name!r}]" for name, value in held if value is inner), "[?]")
    raise kind(f"{path} {why}")


def count_reading(reading: Reading, counter: Callable[[str], int]) -> Counted:
    """Count the tokens of all leaves; this is what the memo saves.

    Raises:
        TypeError: A count is no whole number.
        ValueError: A count is negative.
    """
    tokens = 0
    for text in reading.texts:
        count = counter(text)
        check_whole("a count", count)
        tokens += count
    return Counted(tokens, reading.images)


def estimate_message_tokens(
    message: object,
    counter: Callable[[str], int] = count_tokens,
    image_tokens: int = IMAGE_TOKENS,
) -> int:
    """Estimate the tokens of a message, without any memo.

    Args:
        message: Dicts, lists and tuples of strings, numbers and None.
        counter: Tokens of a text.
        image_tokens: Tokens of an image, however long its data is.

    Raises:
        TypeError: The message holds something else, or a count is no whole number.
        ValueError: The message contains itself, or a count is negative.

    >>> estimate_message_tokens({"role": "user", "content": "My cat is Biscuit."})
    7
    """
    check_whole("image_tokens", image_tokens)
    return count_reading(read_message(message), counter).tokens(image_tokens)


# The memo.


def entry_bytes(reading: Reading, size: Callable[[str], int] = sys.getsizeof) -> int:
    """Return what an entry keeps in memory: its strings, and what the table needs.

    The table needs an overhead for each leaf, and a place for each part of the key:
    an empty list, None or an image is no leaf, but it is in the key. Part of the
    overhead is the same for every entry, so one of few leaves counts as if it had
    `FEWEST_LEAVES`.

    Raises:
        TypeError: A size is no whole number.
        ValueError: A size is negative.
    """
    total = PART_BYTES * len(reading.key)
    total += LEAF_BYTES * max(FEWEST_LEAVES, len(reading.texts))
    for text in reading.texts:
        count = size(text)
        check_whole("a size", count)
        total += count
    return total


@dataclass(slots=True)
class Entry:
    """A count, with what keeps its key true: the strings that the ids belong to."""

    counted: Counted
    texts: tuple[str, ...]
    size: int
    stamp: float


class Stats(NamedTuple):
    """What a memo has done so far."""

    hits: int = 0
    misses: int = 0
    evicted_by_count: int = 0
    evicted_by_bytes: int = 0
    refused: int = 0
    forgotten: int = 0


class TokenMemo:
    """Token counts of messages, least recently used first, within two bounds.

    A bound gives way to entries that are in use: what was looked up or put in during
    the last `active_window_s` seconds stays. Threads may share a memo.

    A finaliser or a signal handler may call it in the middle of another call of the
    same thread. It then finds nothing, keeps nothing and forgets nothing, which is in
    no statistic; its estimates are right.
    """

    def __init__(
        self,
        max_entries: int = 4_096,
        max_bytes: int = 16 * 2**20,
        active_window_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        size: Callable[[str], int] = sys.getsizeof,
        counter: Callable[[str], int] = count_tokens,
        image_tokens: int = IMAGE_TOKENS,
    ) -> None:
        """Make an empty memo.

        Args:
            max_entries: How many entries it keeps; 0 keeps none.
            max_bytes: How many bytes they keep alive, by `entry_bytes`; 0 for none.
            active_window_s: Seconds for which an entry in use is safe; 0 for none.
            clock: Seconds, from any start. If it goes back, time stands still until
                it has caught up.
            size: Bytes of a string.
            counter: Tokens of a text. It must always say the same of the same text.
            image_tokens: Tokens of an image.

        Raises:
            TypeError: A number is of the wrong type.
            ValueError: A number is negative or not a number at all.
        """
        check_whole("max_entries", max_entries)
        check_whole("max_bytes", max_bytes)
        _check_seconds("active_window_s", active_window_s)
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self.active_window_s = active_window_s
        self.image_tokens = image_tokens
        self._clock = clock
        self._size = size
        self._counter = counter
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._retained = 0
        self._now = -math.inf
        self._done: Counter[str] = Counter()
        # A step within a step of the same thread must not wait for itself, as it would
        # at a plain Lock. It gets in, and finds that the thread is busy.
        self._lock: AbstractContextManager[Any] = threading.RLock()
        self._busy = False

    @property
    def image_tokens(self) -> int:
        """The price of an image. A new price needs no new count."""
        return self._image_tokens

    @image_tokens.setter
    def image_tokens(self, tokens: int) -> None:
        check_whole("image_tokens", tokens)
        self._image_tokens = tokens

    def estimate(self, message: object) -> int:
        """Estimate the tokens of a message: look its count up, or count and keep it.

        No other thread waits while the counter runs. Two threads that miss the same
        message both count it.

        Raises:
            TypeError: The message cannot be read, a count is no whole number, or the
                clock gives no number.
            ValueError: The message contains itself, a count is negative, or the clock
                is not finite.
        """
        reading = read_message(message)
        counted = self._find(reading)
        if counted is None:
            counted = count_reading(reading, self._counter)
            self._keep(reading, counted)
        return counted.tokens(self.image_tokens)

    def lookup(self, message: object) -> Counted | None:
        """Return what is stored of a message, and mark it as used; None if nothing is.

        Raises:
            TypeError: The message cannot be read, or the clock gives no number.
            ValueError: The message contains itself, or the clock is not finite.
        """
        return self._find(read_message(message))

    def remember(self, message: object, counted: Counted) -> bool:
        """Store the count of a message, in place of an older one.

        Returns:
            Whether it was admitted: a message larger than the whole budget is not.

        Raises:
            TypeError: The message cannot be read, `counted` is no `Counted`, a number
                in it is not whole, or the clock gives no number.
            ValueError: The message contains itself or another number of images, a
                number is negative, or the clock is not finite.
        """
        if not isinstance(counted, Counted):
            raise TypeError(f"counted must be a Counted, not {counted!r}")
        check_whole("text_tokens", counted.text_tokens)
        check_whole("images", counted.images)
        reading = read_message(message)
        if counted.images != reading.images:
            raise ValueError(
                f"images must be {reading.images}, as in the message, "
                f"not {counted.images}"
            )
        return self._keep(reading, counted)

    def forget(self, messages: object, keep: object = None) -> int:
        """Drop the entries that pin a long string of these messages, and count them.

        Long is over `LONG_STRING` characters; shorter ones are shared by too many.
        What counts is which object a string is, not what it says. All other threads
        wait while all entries are walked.

        Args:
            messages: What is no longer needed: dicts, lists, tuples and strings; names
                of fields are strings too. Anything else is passed over.
            keep: What is still needed; its strings drop nothing.
        """
        gone = _long_strings(messages)
        gone = {each: gone[each] for each in gone.keys() - _long_strings(keep).keys()}
        with self._step() as free:
            entries = list(self._entries.items()) if free else []
            dropped = [
                self._drop(key)
                for key, entry in entries
                if not gone.keys().isdisjoint(map(id, entry.texts))
            ]
            self._done["forgotten"] += len(dropped)
        return len(dropped)

    @property
    def retained_bytes(self) -> int:
        """The bytes that the entries keep alive, by `entry_bytes`."""
        return self._retained

    def stats(self) -> Stats:
        """Return what the memo has done so far."""
        with self._lock:
            return Stats(**self._done)

    def __len__(self) -> int:
        return len(self._entries)

    def __bool__(self) -> bool:
        """Return true: an empty memo is a memo too, in `memo or TokenMemo()`."""
        return True

    @contextmanager
    def _step(self) -> Iterator[bool]:
        """Hold the lock for a step; say false if it is within another of this thread.

        Such a step must leave everything as it is, since the other is half done.
        """
        with self._lock:
            free = not self._busy
            self._busy = True
            try:
                yield free
            finally:
                self._busy = not free

    def _find(self, reading: Reading) -> Counted | None:
        """Look a count up; stamp and order change together, in a step."""
        now = self._seconds()
        with self._step() as free:
            if not free:
                return None
            entry = self._entries.get(reading.key)
            if entry is None:
                self._done["misses"] += 1
                return None
            self._done["hits"] += 1
            entry.stamp = self._time(now)
            self._entries.move_to_end(reading.key)
            return entry.counted

    def _keep(self, reading: Reading, counted: Counted) -> bool:
        """Put an entry in, as the one used last, and evict what is too much."""
        size = entry_bytes(reading, self._size)
        now = self._seconds()
        # Entries that go are let go after the lock: the end of a string may run code.
        leaving = []
        with self._step() as free:
            if not free:
                return False
            if reading.key in self._entries:
                leaving.append(self._drop(reading.key))
            admitted = size <= self.max_bytes and self.max_entries > 0
            if admitted:
                entry = Entry(counted, reading.texts, size, self._time(now))
                self._entries[reading.key] = entry
                self._retained += size
                leaving += self._evict()
            else:
                self._done["refused"] += 1
        return admitted

    def _evict(self) -> list[Entry]:
        """Drop entries from the front until both bounds hold, or one is active.

        The order is by stamp, so all behind an active entry are active too. The entry
        just put in fits both bounds alone, so its own insertion never drops it.
        """
        evicted = []
        while cause := self._cause():
            key, entry = next(iter(self._entries.items()))
            if self._now - entry.stamp < self.active_window_s:
                break
            evicted.append(self._drop(key))
            self._done[cause] += 1
        return evicted

    def _cause(self) -> str | None:
        """Name the bound that does not hold."""
        if len(self._entries) > self.max_entries:
            return "evicted_by_count"
        return "evicted_by_bytes" if self._retained > self.max_bytes else None

    def _drop(self, key: Key) -> Entry:
        """Take an entry out, and its bytes out of the sum."""
        entry = self._entries.pop(key)
        self._retained -= entry.size
        return entry

    def _seconds(self) -> float:
        """Ask the clock, before the lock: it may be slow, or fail."""
        now = self._clock()
        if isinstance(now, bool) or not isinstance(now, int | float):
            raise TypeError(f"the clock must give a number of seconds, not {now!r}")
        if not abs(now) <= sys.float_info.max:
            raise ValueError(f"the clock must give a finite number, not {now}")
        return float(now)

    def _time(self, now: float) -> float:
        """Return the time, which never goes back: the order of the entries is its."""
        self._now = max(self._now, now)
        return self._now


def _long_strings(tree: object) -> dict[int, str]:
    """Return the long strings of a tree by their ids, and keep them alive with that."""
    found: dict[int, str] = {}
    seen: dict[int, object] = {}
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            if len(value) > LONG_STRING:
                found[id(value)] = value
        elif isinstance(value, dict | list | tuple) and id(value) not in seen:
            seen[id(value)] = value
            pending += value
            if isinstance(value, dict):
                pending += value.values()
    return found


def _check_seconds(name: str, value: float) -> None:
    """Accept seconds from 0 on, without end too, and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds, not {value!r}")
    if not value >= 0:
        raise ValueError(f"{name} must be 0 or more, not {value}")


# For pages and tests: a clock that is told the time, and a size that is the same
# everywhere.


class ManualClock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        """Start at 0 seconds."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now

    def wait(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.now += seconds


STRING_BYTES = 50


def model_size(text: str) -> int:
    """Return about what a string takes in CPython, the same on every interpreter.

    A fixed part, and for each character as many bytes as the widest one needs: 1 up
    to U+00FF, 2 up to U+FFFF, 4 beyond (PEP 393).

    >>> model_size("tea"), model_size("\u8336"), model_size("")
    (53, 52, 50)
    """
    widest = max(text, default="")
    width = 1 if widest < "\u0100" else 2 if widest < "\U00010000" else 4
    return STRING_BYTES + width * len(text)


# The bug without pins.


class UnpinnedMemo:
    """A memo that keeps the ids of strings and not the strings. It is wrong."""

    def __init__(self) -> None:
        """Make an empty memo."""
        self.counts: dict[Key, Counted] = {}

    def estimate(self, message: object) -> int:
        """Look a count up by ids that may belong to other strings by now."""
        reading = read_message(message)
        if reading.key not in self.counts:
            self.counts[reading.key] = count_reading(reading, count_tokens)
        return self.counts[reading.key].tokens(IMAGE_TOKENS)


def wrong_answer(
    estimate: Callable[[object], int], tries: int = 1_000
) -> tuple[int, int] | None:
    """Drop a text, make another of its length, and ask: until an answer is wrong.

    The interpreter may give the new text the place of the old one, and so its id.
    CPython does that at once; another interpreter may never do it.

    Args:
        estimate: What is asked.
        tries: How many texts to drop.

    Returns:
        The wrong answer and the right one; None if all answers were right.
    """
    for _ in range(tries):
        estimate({"role": "tool", "content": " ".join(["word"] * 100)})
        message = {"role": "tool", "content": "-".join(["word"] * 100)}
        answer, right = estimate(message), estimate_message_tokens(message)
        if answer != right:
            return answer, right
    return None


# The race without a lock.


PATIENCE_S = 20  # nobody waits for ever, should something be broken


class _Door:
    """A lock that says so when a thread has to wait in front of it."""

    def __init__(self, waiting: threading.Event) -> None:
        self.waiting = waiting
        self.lock = threading.Lock()

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.waiting.set()
            self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class _SlowEvictor(TokenMemo):
    """A memo whose evictor pauses between its check and its drop."""

    def pause_with(
        self, checked: threading.Event, go_on: threading.Event, locked: bool
    ) -> None:
        """Say when the check is done, and wait to go on; with the lock or without."""
        self.checked, self.go_on, self.locked = checked, go_on, locked
        self._lock = _Door(go_on)

    @contextmanager
    def _step(self) -> Iterator[bool]:
        with super()._step() if self.locked else nullcontext(True) as free:
            yield free

    def _drop(self, key: Key) -> Entry:
        self.checked.set()
        assert self.go_on.wait(PATIENCE_S)
        return super()._drop(key)


def race(locked: bool) -> tuple[bool, bool]:
    """Let another thread look up an idle entry while the evictor is about to drop it.

    Returns:
        Whether the look-up found the entry, and whether the memo has it afterwards.
    """
    clock = ManualClock()
    checked, go_on = threading.Event(), threading.Event()
    memo = _SlowEvictor(max_entries=1, clock=clock)
    memo.pause_with(checked, go_on, locked)
    old, new = filler("user", 5), filler("user", 6)
    memo.estimate(old)
    clock.wait(60)

    # One thread puts a new entry in, and finds the old one idle. Before it can drop
    # it, the other looks the old one up; or it waits at the lock.
    evictor = threading.Thread(target=memo.estimate, args=(new,))
    evictor.start()
    assert checked.wait(PATIENCE_S)
    found: list[Counted | None] = []
    other = threading.Thread(target=lambda: found.append(memo.lookup(old)))
    other.start()
    if not locked:
        other.join()
        go_on.set()
    evictor.join()
    other.join()
    return found[0] is not None, memo.lookup(old) is not None


# The runs of the page.


@cache
def growing_chat(replies: int) -> Stats:
    """Estimate all of a chat before each reply, with one memo."""
    memo = TokenMemo(clock=ManualClock(), size=model_size)
    chat: list[Message] = []
    for _ in range(replies):
        chat.append(filler("user", 50))
        for message in chat:
            memo.estimate(message)
        chat.append(filler("assistant", 50))
    return memo.stats()


@cache
def payload_run(max_bytes: int, characters: int) -> tuple[int, int]:
    """Estimate 4,096 tool results of so many characters, each once.

    The payloads are not made. Short texts stand for them, and the size function says
    what they would take.

    Returns:
        How many entries the memo holds in the end, and the bytes they keep alive.
    """
    memo = TokenMemo(
        max_bytes=max_bytes,
        active_window_s=0,
        clock=ManualClock(),
        size=lambda text: (
            STRING_BYTES + characters if text[:7] == "payload" else model_size(text)
        ),
    )
    for number in range(4_096):
        memo.estimate({"role": "tool", "content": f"payload {number}"})
    return len(memo), memo.retained_bytes


@cache
def cyclic_scan(
    messages: int, window: float, seconds_each: float = 0, rounds: int = 3
) -> tuple[int, ...]:
    """Estimate all messages of a chat in turn, round after round, with 4,096 entries.

    Args:
        messages: How many there are.
        window: The active window, in seconds.
        seconds_each: How long an agent takes for each.
        rounds: How often all are estimated.

    Returns:
        The hits of each round.
    """
    clock = ManualClock()
    memo = TokenMemo(active_window_s=window, clock=clock, size=model_size)
    chat = [{"role": "user", "content": f"message {n}"} for n in range(messages)]
    hits = []
    for _ in range(rounds):
        before = memo.stats().hits
        for message in chat:
            memo.estimate(message)
            clock.wait(seconds_each)
        hits.append(memo.stats().hits - before)
    return tuple(hits)


RUN_BYTES = 2**20


@cache
def two_chats(
    window: float,
    max_bytes: int = RUN_BYTES,
    max_entries: int = 4_096,
    characters: int = 200_000,
) -> tuple[tuple[int, Stats], ...]:
    """Run a large chat for 100 seconds, then a small one for 100, with one memo.

    Every 10 seconds the chat gets a message and is estimated as a whole.

    Args:
        window: The active window, in seconds.
        max_bytes: How much the memo may keep alive.
        max_entries: How many entries the memo may have.
        characters: The length of a message of the large chat; those of the small one
            have 20.

    Returns:
        For every 10 seconds the bytes that are kept alive, and the statistics.
    """
    clock = ManualClock()
    memo = TokenMemo(
        max_entries=max_entries,
        max_bytes=max_bytes,
        active_window_s=window,
        clock=clock,
        size=model_size,
    )
    large: list[Message] = []
    small: list[Message] = []
    moments = []
    for moment in range(21):
        chat, size = (large, characters) if moment < 10 else (small, 20)
        chat.append({"role": "tool", "content": f"{moment:0{size}}"})
        for message in chat:
            memo.estimate(message)
        moments.append((memo.retained_bytes, memo.stats()))
        clock.wait(10)
    return tuple(moments)


def retained_at(second: int, window: float) -> int:
    """Return the bytes that the memo of `two_chats` keeps alive at a moment."""
    return two_chats(window)[second // 10][0]


class Work(NamedTuple):
    """Work: characters that the counter reads, and the visits that are charged."""

    characters: int
    leaves: int

    def steps(self, leaf_cost: int) -> int:
        """Add both up; a visit to a leaf costs as much as so many characters."""
        return self.characters + leaf_cost * self.leaves


def counted_work(characters: int, times: int, memo: bool, reads: bool = True) -> Work:
    """Estimate a message so often, with a memo or without, and add up the work.

    The characters are counted, the visits are charged by rule. Counting is charged
    two for each leaf: to find it, and to hand it to the counter. A hit is charged two
    as well: to put it into the key, and to look the key up. A miss is charged four:
    all of that, but finding it only once, and one more to weigh and pin it.

    Args:
        characters: The length of the message's text.
        times: How often it is estimated.
        memo: Whether there is a memo.
        reads: Whether the counter reads the characters, or only asks for the length.
    """
    read = 0

    def counter(text: str) -> int:
        nonlocal read
        read += len(text) if reads else 0
        return len(text) // 4

    message = {"role": "user", "content": "x" * characters}
    leaves = len(read_message(message).texts)
    if not memo:
        for _ in range(times):
            estimate_message_tokens(message, counter)
        return Work(read, 2 * times * leaves)
    remembering = TokenMemo(clock=ManualClock(), size=model_size, counter=counter)
    for _ in range(times):
        remembering.estimate(message)
    stats = remembering.stats()
    return Work(read, (2 * stats.hits + 4 * stats.misses) * leaves)


def crossing(times: int, leaf_cost: int) -> int:
    """Return the shortest text for which the memo costs less than counting anew."""
    characters = 0
    while counted_work(characters, times, True).steps(leaf_cost) >= counted_work(
        characters, times, False
    ).steps(leaf_cost):
        characters += 1
    return characters
