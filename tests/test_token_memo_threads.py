"""Lesson 5, threads: the forced race with a lock and without, a crowd, and code that runs in the middle."""

import collections
import contextlib
import random
import sys
import threading

import pytest

from lesson_code import token_memo
from lesson_code.token_memo import (
    Counted,
    ManualClock,
    TokenMemo,
    entry_bytes,
    estimate_message_tokens,
    race,
    read_message,
)

MODULE = token_memo.__file__
PATIENCE = 20  # seconds: nobody waits for ever, should something be broken


class NoEntryTwice:
    """A lock that never waits: it is an error if somebody is inside."""

    def __init__(self):
        """Nobody is inside."""
        self.lock = threading.Lock()

    def __enter__(self):
        assert self.lock.acquire(blocking=False), "somebody is inside"

    def __exit__(self, *_):
        self.lock.release()


def long(name):
    """Make a text of its own that is long enough to be forgotten."""
    return "".join([name, "." * 70])


def test_a_look_up_between_check_and_pop() -> None:
    """Without the lock a live entry would not be evicted, or with it one would be."""
    # The look-up finds the entry and stamps it; then the evictor goes on and drops it.
    assert (True, False) == race(locked=False)
    # The look-up waits until the evictor is done; then there is nothing to find.
    assert (False, False) == race(locked=True)


def test_the_lock_is_entered_for_every_step() -> None:
    """A step of the memo would run beside another."""
    entered = []

    class Door:
        def __enter__(self):
            entered.append("in")

        def __exit__(self, *_):
            entered.append("out")

    memo = TokenMemo()
    memo._lock = Door()
    steps = [
        lambda: memo.lookup("a"),
        lambda: memo.remember("a", Counted(1, 0)),
        lambda: memo.forget(["a"]),
        memo.stats,
    ]
    for step in steps:
        step()
        assert ["in", "out"] == entered
        entered.clear()
    memo.estimate("b")
    assert ["in", "out"] * 2 == entered


def test_nobody_waits_while_a_counter_runs() -> None:
    """One long text would hold up all other threads."""
    inside, go_on = threading.Event(), threading.Event()

    def counter(text):
        if text == "slow":
            inside.set()
            assert go_on.wait(PATIENCE)
        return 1

    memo = TokenMemo(counter=counter)
    slow = threading.Thread(target=memo.estimate, args=("slow",))
    slow.start()
    assert inside.wait(PATIENCE)
    # This thread would now wait for the other one, which waits for this.
    assert 1 == memo.estimate("quick") == memo.estimate("quick")
    assert 1 == len(memo)
    go_on.set()
    slow.join()
    assert 2 == len(memo)


def test_two_threads_that_miss_the_same_message() -> None:
    """The second insertion would count its bytes again."""
    both = threading.Barrier(2, timeout=PATIENCE)
    text, found = long("a"), []

    def counter(text):
        both.wait()  # nobody gets on before both have missed
        return 5

    memo = TokenMemo(counter=counter, size=lambda text: 10)
    threads = [threading.Thread(target=lambda: found.append(memo.estimate(text))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [5, 5] == found
    assert 1 == len(memo)
    assert 8 + 4 * 120 + 10 == memo.retained_bytes
    assert (0, 2) == memo.stats()[:2]


def test_no_foreign_code_runs_under_the_lock() -> None:
    """A counter, a size, a clock or the end of a string that calls the memo would wait for itself."""
    calls = []

    def ask(who):
        calls.append(who)
        if len(calls) < 50:
            memo.lookup("another")

    class Last(str):
        """A string that asks the memo when it goes."""

        __slots__ = ()

        def __del__(self):
            ask("end")

    def counter(text):
        ask("counter")
        return 1

    def size(text):
        ask("size")
        return 10

    def clock():
        calls.append("clock")
        assert memo._lock.lock.acquire(blocking=False)
        memo._lock.lock.release()
        return 0.0

    memo = TokenMemo(max_entries=1, active_window_s=0, counter=counter, size=size, clock=clock)
    memo._lock = NoEntryTwice()
    memo.estimate(Last("a"))
    memo.estimate(Last("b"))  # evicts the first
    assert 1 == calls.count("end")
    memo.estimate(Last("c" * 70))
    memo.forget(next(iter(memo._entries.values())).texts)  # forgets the third
    assert 3 == calls.count("end")
    assert {"counter", "size", "clock", "end"} == set(calls)
    assert 0 == len(memo) == memo.retained_bytes


class Counting(TokenMemo):
    """A memo by ten bytes a string that counts what goes in, and what goes out from which step."""

    def __init__(self, max_entries, clock, **options):
        """Nothing has gone in or out."""
        super().__init__(max_entries, 6_000, clock=clock, size=lambda text: 10, **options)
        self.inserted, self.dropped = 0, collections.Counter()

    def _evict(self):
        self.inserted += 1
        return super()._evict()

    def _drop(self, key):
        self.dropped[sys._getframe(1).f_code.co_name.replace("<listcomp>", "forget")] += 1
        return super()._drop(key)


def balance(memo):
    """Assert that entries, bytes, stamps and statistics of a `Counting` fit each other."""
    entries, done = [*memo._entries.values()], memo.stats()
    assert memo.inserted - memo.dropped.total() == len(memo) == len(entries)
    assert memo.dropped["_evict"] == done.evicted_by_count + done.evicted_by_bytes
    assert memo.dropped["forget"] == done.forgotten
    assert {"_evict", "forget", "_keep"} >= set(memo.dropped)
    assert sum(entry.size for entry in entries) == memo.retained_bytes
    assert all(entry.size == entry_bytes(read_message(each), lambda text: 10) for each, entry in held(memo))
    assert sorted(entry.stamp for entry in entries) == [entry.stamp for entry in entries]
    assert all(id(text) in key for key, entry in memo._entries.items() for text in entry.texts)
    if memo.active_window_s == 0:
        assert len(memo) <= memo.max_entries
        assert memo.retained_bytes <= memo.max_bytes


def held(memo):
    """The entries, each with a message of the same leaves and structure: here a text, or a dict of two names."""
    for entry in memo._entries.values():
        role, *rest = entry.texts
        yield ({role: rest[0], rest[1]: rest[2]} if rest else role), entry


@pytest.mark.parametrize("name", ["_evict", "_cause", "_drop", "_time"])
def test_a_call_within_a_step(name) -> None:
    """A finaliser or a signal in the middle of a step would be let in, and break the bytes or the order for ever."""
    answers = []

    def within(self, *given):
        interrupt()
        answer = getattr(TokenMemo, name)(self, *given)
        interrupt()
        return answer

    def interrupt():
        for text in (a, b, c):
            answers.append(memo.estimate(text))
            answers.append(memo.lookup(text))
            answers.append(memo.remember(text, Counted(1, 0)))
            answers.append(memo.forget([text]))

    inner = type("Within", (TokenMemo,), {name: within})
    memo = type("CountingWithin", (Counting, inner), {})(1, ManualClock(), active_window_s=0)
    a, b, c = long("a"), long("b"), long("c")
    assert 1 == memo.estimate(a) == memo.estimate(a) == memo.estimate(b)
    assert [1, None, False, 0] * (len(answers) // 4) == answers
    assert len(answers) >= 24
    assert (1, 2, 1, 0, 0, 0) == memo.stats()
    assert 8 + 4 * 120 + 10 == memo.retained_bytes
    # Replacing and forgetting drop, too.
    assert memo.remember(b, Counted(1, 0)) is True
    assert 1 == memo.forget([b])
    assert 0 == len(memo) == memo.retained_bytes
    balance(memo)


STEPS = ("_step", "_find", "_keep", "_evict", "_cause", "_drop", "_time", "forget", "<listcomp>", "stats")


def interrupted(run, at, call):
    """Run, and call something else before the bytecode of that number, as a signal handler may; return how many."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        code = frame.f_code
        if code.co_filename != contextlib.__file__ and (code.co_filename != MODULE or code.co_name not in STEPS):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == at:
                call()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return seen


CALLS = {
    "the same": lambda memo, texts: memo.estimate(texts[0]),
    "another": lambda memo, texts: memo.estimate(texts[3]),
    "replace": lambda memo, texts: memo.remember(texts[1], Counted(1, 0)),
    "forget": lambda memo, texts: memo.forget(texts),
    "stats": lambda memo, texts: memo.stats(),
}


@pytest.mark.parametrize("step", ["the same", "another", "replace", "forget", "stats"])
def test_a_call_at_every_point_of_a_step(step) -> None:
    """Somewhere in a step a call of the same thread would do harm: each point is tried, and each kind of call."""
    for call in CALLS.values():
        at, seen = 0, 0
        while at <= seen:
            at += 1
            texts = [long(name) for name in "abcd"]
            memo = Counting(2, iter(range(100)).__next__, active_window_s=0)
            memo.estimate(texts[0])
            memo.estimate(texts[1])
            seen = interrupted(
                lambda memo=memo, texts=texts: CALLS[step](memo, texts),
                at,
                lambda memo=memo, texts=texts, call=call: call(memo, texts),
            )
            balance(memo)
            # The memo goes on as ever.
            assert 1 == memo.estimate(texts[2]) == memo.estimate(texts[2])
            assert memo.lookup(texts[2]) is not None
            balance(memo)
        assert seen > 10


def crowd(memo, clock, threads=8, steps=400):
    """Let threads do all kinds of things with one memo at once; return the faults, and how often one remembered."""
    start, faults, remembered = threading.Barrier(threads, timeout=PATIENCE), [], []
    chats = [[{"role": "user", "content": long(f"word {n}")} for n in range(12)] for _ in range(threads)]
    shared = chats[0]

    def one(number):
        rng, own = random.Random(number), chats[number]
        start.wait()
        try:
            for step in range(steps):
                each = rng.choice(own if step % 2 else shared)
                kind = rng.randrange(10)
                if kind < 7:
                    if memo.estimate(each) != estimate_message_tokens(each):
                        faults.append("a wrong estimate")
                elif kind == 7:
                    memo.remember(each, Counted(estimate_message_tokens(each), 0))
                    remembered.append(step)
                elif kind == 8:
                    memo.forget([each], keep=own[:3])
                else:
                    clock.wait(1)
        except BaseException as error:
            faults.append(repr(error))

    running = [threading.Thread(target=one, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return faults, len(remembered)


@pytest.mark.parametrize(("window", "max_entries"), [(0, 4), (0, 30), (3, 10), (float("inf"), 5)])
def test_a_crowd(window, max_entries) -> None:
    """Threads that share a memo would break its sums, its order, its bounds or an estimate."""
    clock = ManualClock()
    memo = Counting(max_entries, clock, active_window_s=window)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        faults, remembered = crowd(memo, clock)
    finally:
        sys.setswitchinterval(interval)
    assert [] == faults
    balance(memo)
    # What was missed was put in, and so was what was remembered; nothing was too large.
    done = memo.stats()
    assert done.misses + remembered == memo.inserted
    assert (0, 0) == (done.refused, memo.retained_bytes % 568)
    assert memo.dropped["_keep"] > 0 < memo.dropped["_evict"] + memo.dropped["forget"]


def test_stamps_keep_their_order_when_threads_read_the_clock_in_another() -> None:
    """A thread that read the clock first, and comes second, would put an old stamp behind a new one."""
    times = iter([0.0, 0.0, 5.0, 1.0])
    memo = TokenMemo(clock=lambda: next(times), size=lambda text: 10)
    a, b = long("a"), long("b")
    memo.remember(a, Counted(1, 0))
    memo.remember(b, Counted(1, 0))
    memo.lookup(a)
    memo.lookup(b)
    assert [read_message(a).key, read_message(b).key] == [*memo._entries]
    assert [5.0, 5.0] == [entry.stamp for entry in memo._entries.values()]
