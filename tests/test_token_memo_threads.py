"""Lesson 5, threads: the forced race with a lock and without, a crowd, and code that runs in the middle."""

import random
import sys
import threading
from contextlib import nullcontext

import pytest

from lesson_code.token_memo import (
    Counted,
    ManualClock,
    TokenMemo,
    entry_bytes,
    estimate_message_tokens,
    race,
    read_message,
)

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
    assert 130 == memo.retained_bytes
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


def test_a_finaliser_in_the_middle_of_a_step_does_not_wait_for_itself() -> None:
    """The collector may run code of the same thread while it holds the lock."""
    memo = TokenMemo()
    with memo._lock:
        assert 3 == memo.estimate("from a finaliser")
    assert 1 == len(memo)


def crowd(memo, clock, threads=8, steps=400):
    """Let threads do all kinds of things with one memo at once; return what went wrong."""
    start, faults = threading.Barrier(threads, timeout=PATIENCE), []
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
    return faults


@pytest.mark.parametrize(("window", "max_entries"), [(0, 4), (0, 30), (3, 10), (float("inf"), 5)])
def test_a_crowd(window, max_entries) -> None:
    """Threads that share a memo would break its sums, its order, its bounds or an estimate."""
    clock = ManualClock()
    memo = TokenMemo(
        max_entries=max_entries, max_bytes=6_000, active_window_s=window, clock=clock, size=lambda text: 10
    )
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert [] == crowd(memo, clock)
    finally:
        sys.setswitchinterval(interval)
    entries = [*memo._entries.values()]
    assert len(entries) * 520 == sum(entry.size for entry in entries) == memo.retained_bytes
    assert all(entry.size == entry_bytes(entry.texts, lambda text: 10) for entry in entries)
    assert sorted(entry.stamp for entry in entries) == [entry.stamp for entry in entries]
    assert all(id(text) in key for key, entry in memo._entries.items() for text in entry.texts)
    if window == 0:
        assert len(memo) <= max_entries
        assert memo.retained_bytes <= 6_000
    done = memo.stats()
    inserted = done.misses  # each miss puts in; `remember` puts in too, or replaces
    gone = done.evicted_by_count + done.evicted_by_bytes + done.forgotten
    assert inserted > 0
    assert gone > 0
    assert done.refused == 0


def test_the_crowd_needs_the_lock() -> None:
    """The crowd would pass without a lock too, and so say nothing: here one step is held up in the middle."""
    clock = ManualClock()
    inside, go_on = threading.Event(), threading.Event()

    class Held(TokenMemo):
        """A memo that is held up once, between the old sum of bytes and the new one."""

        def _evict(self):
            if threading.current_thread().name == "held":
                before = self._retained
                inside.set()
                go_on.wait(PATIENCE)
                self._retained = before
            return super()._evict()

    memo = Held(clock=clock, size=lambda text: 10)
    memo._lock = nullcontext()
    held = threading.Thread(target=memo.estimate, args=(long("a"),), name="held")
    held.start()
    assert inside.wait(PATIENCE)
    memo.estimate(long("b"))
    go_on.set()
    held.join()
    assert 2 == len(memo)
    assert 130 == memo.retained_bytes  # and not 260


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
