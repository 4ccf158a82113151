"""Lesson 5, any order of anything: the memo against a list that does the same in the obvious way."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lesson_code.token_memo import Counted, ManualClock, TokenMemo, estimate_message_tokens, read_message

OVERHEAD, LONG = 120, 64


def size(text):
    """Bytes of a string, as simple as can be."""
    return 3 + len(text)


class Reference:
    """The entries in a list, the one used longest ago first. Everything is worked out anew each time."""

    def __init__(self, max_entries, max_bytes, window):
        """Hold nothing."""
        self.max_entries, self.max_bytes, self.window = max_entries, max_bytes, window
        self.entries = []  # (number of the message, its texts, its count, when it was used)
        self.latest = float("-inf")
        self.hits = self.misses = self.by_count = self.by_bytes = self.refused = self.forgotten = 0

    @staticmethod
    def bytes_of(texts):
        """What an entry takes."""
        return sum(OVERHEAD + size(text) for text in texts)

    def retained(self):
        """What all entries take."""
        return sum(self.bytes_of(texts) for _, texts, _, _ in self.entries)

    def find(self, number, now):
        """Look up: the entry goes to the end, with a new stamp."""
        for entry in self.entries:
            if entry[0] == number:
                self.hits += 1
                self.latest = max(self.latest, now)
                self.entries.remove(entry)
                self.entries.append((*entry[:3], self.latest))
                return entry[2]
        self.misses += 1
        return None

    def put(self, number, texts, count, now):
        """Insert at the end, then drop from the front what is too much and idle."""
        self.entries = [entry for entry in self.entries if entry[0] != number]
        if self.bytes_of(texts) > self.max_bytes or self.max_entries == 0:
            self.refused += 1
            return False
        self.latest = max(self.latest, now)
        self.entries.append((number, texts, count, self.latest))
        while len(self.entries) > self.max_entries or self.retained() > self.max_bytes:
            if self.latest - self.entries[0][3] < self.window:
                break
            if len(self.entries) > self.max_entries:
                self.by_count += 1
            else:
                self.by_bytes += 1
            del self.entries[0]
        return True

    def forget(self, gone, kept):
        """Drop what holds one of these very strings, if it is long and not kept."""
        long = [text for text in gone if len(text) > LONG and not any(text is other for other in kept)]
        stay = [e for e in self.entries if not any(text is other for text in e[1] for other in long)]
        dropped = len(self.entries) - len(stay)
        self.entries = stay
        self.forgotten += dropped
        return dropped


class Machine(RuleBasedStateMachine):
    """Random operations on a memo and on the reference."""

    @initialize(
        max_entries=st.integers(0, 6),
        max_bytes=st.integers(0, 4_000),
        window=st.sampled_from([0, 0, 5, 60, float("inf")]),
    )
    def start(self, max_entries, max_bytes, window):
        """Make both."""
        self.clock = ManualClock()
        self.memo = TokenMemo(max_entries, max_bytes, window, self.clock, size, image_tokens=100)
        self.reference = Reference(max_entries, max_bytes, window)
        self.price = 100
        self.messages, self.texts, self.first = [], [], []

    @rule(lengths=st.lists(st.sampled_from([1, 5, 64, 65, 300]), max_size=3), image=st.booleans(), share=st.booleans())
    def write(self, lengths, image, share):
        """Write another message: texts of its own, perhaps one of an older message, perhaps an image."""
        own = ["".join([f"{len(self.messages):04} ", "x " * length])[:length] for length in lengths]
        if share and self.texts and self.texts[-1]:
            own.append(self.texts[-1][0])
        if not image and not own:
            own = ["".join(["e", f"{len(self.messages):04}"])]
        # Messages of images alone have the same key, and are the same to the memo.
        image = image and bool(own)
        self.messages.append([*own, {"type": "image", "source": "data"}] if image else [*own, {}])
        self.texts.append(own)
        words = sum(len(text.split()) for text in own)
        self.first.append((words, int(image)))

    def number(self, data):
        """Choose one of the messages, or another with the very same leaves."""
        number = data.draw(st.integers(0, len(self.messages) - 1))
        key = read_message(self.messages[number]).key
        return next(n for n, each in enumerate(self.messages) if read_message(each).key == key)

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def estimate(self, data):
        """An estimate is what it was at first, whatever has been evicted since."""
        number = self.number(data)
        words, images = self.first[number]
        assert words + images * self.price == self.memo.estimate(self.messages[number])
        assert words + images * self.price == estimate_message_tokens(self.messages[number], image_tokens=self.price)
        if self.reference.find(number, self.clock.now) is None:
            self.reference.put(number, self.texts[number], self.first[number], self.clock.now)

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def lookup(self, data):
        """A look-up finds what the reference finds."""
        number = self.number(data)
        assert self.reference.find(number, self.clock.now) == self.memo.lookup(self.messages[number])

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def remember(self, data):
        """Inserting replaces, and is admitted or refused alike."""
        number = self.number(data)
        expected = self.reference.put(number, self.texts[number], self.first[number], self.clock.now)
        assert expected == self.memo.remember(self.messages[number], Counted(*self.first[number]))

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), keep=st.booleans())
    def forget(self, data, keep):
        """As many are forgotten, and the same ones."""
        gone, kept = self.number(data), self.number(data)
        expected = self.reference.forget(self.texts[gone], self.texts[kept] if keep else [])
        assert expected == self.memo.forget(self.messages[gone], self.messages[kept] if keep else None)

    @rule(seconds=st.sampled_from([-30, 0, 1, 4.5, 5, 59, 60]))
    def wait(self, seconds):
        """Time passes; sometimes it goes back."""
        self.clock.wait(seconds)

    @rule(price=st.integers(0, 300))
    def reprice(self, price):
        """Images cost something else from now on."""
        self.memo.image_tokens = self.price = price

    @invariant()
    def agree(self):
        """Order, sums, stamps and statistics are those of the reference, and the bounds hold but for what is in use."""
        expected = [read_message(self.messages[number]).key for number, _, _, _ in self.reference.entries]
        assert expected == [*self.memo._entries]
        assert [entry[3] for entry in self.reference.entries] == [e.stamp for e in self.memo._entries.values()]
        assert self.reference.retained() == self.memo.retained_bytes
        assert len(self.reference.entries) == len(self.memo)
        r = self.reference
        assert (r.hits, r.misses, r.by_count, r.by_bytes, r.refused, r.forgotten) == self.memo.stats()
        if r.window == 0:
            assert len(self.memo) <= r.max_entries
            assert self.memo.retained_bytes <= r.max_bytes


def test_any_order_of_anything() -> None:
    """Some order of operations would break a bound, the sum of bytes, the order of use, or change an estimate."""
    run_state_machine_as_test(
        Machine,
        settings=settings(derandomize=True, deadline=None, database=None, max_examples=150, stateful_step_count=40),
    )
