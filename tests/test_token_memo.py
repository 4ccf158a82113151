"""Lesson 5, the memo: what is counted, what the key sees, both bounds, pins, forgetting, and every refusal."""

import copy
import doctest
import gc
import json
import re
import sys
import weakref

import pytest

from lesson_code import token_memo
from lesson_code.token_memo import (
    Counted,
    ManualClock,
    Stats,
    TokenMemo,
    UnpinnedMemo,
    entry_bytes,
    estimate_message_tokens,
    model_size,
    read_message,
    wrong_answer,
)


def ten(text):
    """Size every string alike, so that sums can be done in the head: with the overhead, 130 bytes for a leaf."""
    return 10


def fresh(text, *, of="w"):
    """Make a string that is no other object: longer than a character, and joined from parts."""
    return "".join([of, text])


def message(text):
    """Make a message of four leaves, 520 bytes by `ten`, with a text of its own."""
    return {"role": "user", "content": fresh(text)}


def filled(*names, **options):
    """A memo by `ten` with a clock, and the messages it was asked for, in turn."""
    clock = ManualClock()
    memo = TokenMemo(**{"size": ten, "clock": clock, "active_window_s": 0} | options)
    messages = [message(name) for name in names]
    for each in messages:
        memo.estimate(each)
    return memo, messages, clock


def has(memo, messages):
    """Which of the messages the memo holds, without looking them up: that would change the order."""
    return [read_message(each).key in memo._entries for each in messages]


# The estimate.


def test_every_text_counts() -> None:
    """Texts in nested parts, names of fields, numbers or true and false would not be counted."""
    assert 4 == estimate_message_tokens("My cat is Biscuit.")
    assert 1 + 1 + 1 + 4 == estimate_message_tokens({"role": "user", "content": "My cat is Biscuit."})
    parts = [{"type": "text", "text": "one two"}, {"type": "text", "text": "three"}]
    # role, user, content, and for each part its two names, "text" and the words.
    assert 1 + 1 + 1 + (1 + 1 + 1 + 2) + (1 + 1 + 1 + 1) == estimate_message_tokens({"role": "user", "content": parts})
    assert 5 == estimate_message_tokens([1, 2.5, True, False, -0.0])
    assert len("1") + len("2.5") + len("true") + len("false") == estimate_message_tokens([1, 2.5, True, False], len)
    assert 1 + 1 + 1 == estimate_message_tokens({"role": "assistant", "content": None})
    assert 0 == estimate_message_tokens({}) == estimate_message_tokens([]) == estimate_message_tokens("")


def test_images_have_a_price_and_no_text() -> None:
    """The data or the address of a picture would be counted as text."""
    data = "A" * 5_000
    chat = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", "detail": "high"}}
    anthropic = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    responses = {"type": "input_image", "image_url": "https://example.org/cat.png"}
    for part in (chat, anthropic, responses):
        assert 258 == estimate_message_tokens(part)
        assert 0 == estimate_message_tokens(part, len, image_tokens=0)
        assert 3 + 85 == estimate_message_tokens({"role": "user", "content": [part]}, image_tokens=85)
        assert () == read_message(part).texts
    both = {"role": "user", "content": [chat, {"type": "text", "text": "What is this?"}, anthropic]}
    assert 3 + (1 + 1 + 1 + 3) + 2 * 100 == estimate_message_tokens(both, image_tokens=100)
    nested = {"type": "tool_result", "content": [anthropic]}
    assert (1 + 1 + 1) + 7 == estimate_message_tokens(nested, image_tokens=7)
    # A type that is no text, and another type, are no image.
    assert 1 + 1 + 1 == estimate_message_tokens({"type": ["image"], "x": None})
    assert 1 + 1 == estimate_message_tokens({"type": "imagery"})


@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        ({"content": {"a"}}, TypeError, "message['content'] is a set; a message is made of dicts, lists, tuples, "),
        ({"content": [{"text": b"a"}]}, TypeError, "message['content'][0]['text'] is a bytes; a message is made of "),
        (object, TypeError, "message is a type; "),
        ([1, (2, 3j)], TypeError, "message[1][1] is a complex; "),
        ({"a": [{"b": {1: 2}}]}, TypeError, "message['a'][0]['b'] has the name 1, a int; names are text"),
        ([0, 10**5_000], ValueError, "message[1] is a number too long to write down"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(bad, error, text) -> None:
    """An odd value would be counted as something, or the error would not say where it is."""
    for read in (read_message, estimate_message_tokens, TokenMemo().estimate, TokenMemo().lookup):
        with pytest.raises(error, match=re.escape(text)):
            read(bad)
    memo = TokenMemo()
    with pytest.raises(error):
        memo.estimate(bad)
    assert 0 == len(memo) == memo.retained_bytes


def test_a_message_that_contains_itself_is_refused() -> None:
    """The walk would never end."""
    parts = ["x"]
    parts.append({"again": parts})
    with pytest.raises(ValueError, match=re.escape("message['content'] contains itself")):
        read_message({"role": "user", "content": parts})
    loop = {}
    loop["a"] = {"b": [loop]}
    with pytest.raises(ValueError, match=r"^message contains itself$"):
        read_message(loop)
    # The same list twice, side by side, is no circle.
    shared = ["one"]
    assert 2 == estimate_message_tokens([shared, shared])
    assert 3 == estimate_message_tokens([shared, [shared, [shared]]])


def test_deep_messages_are_read() -> None:
    """A deeply nested argument would end the program, as the walk calls itself."""
    deep = "leaf"
    for _ in range(20_000):
        deep = [deep]
    assert 1 == estimate_message_tokens(deep)
    memo = TokenMemo()
    assert 1 == memo.estimate(deep) == memo.estimate(deep)
    assert 1 == memo.stats().hits


def test_counts_and_sizes_are_whole_numbers() -> None:
    """A counter that says something odd would make odd estimates."""
    for wrong, error in ((-1, ValueError), (1.5, TypeError), (None, TypeError), (True, TypeError)):
        with pytest.raises(error, match="a count must be"):
            estimate_message_tokens("a", lambda text, wrong=wrong: wrong)
        memo = TokenMemo(counter=lambda text, wrong=wrong: wrong)
        with pytest.raises(error, match="a count must be"):
            memo.estimate("a")
        assert Stats(misses=1) == memo.stats()
        with pytest.raises(error, match="a size must be"):
            entry_bytes(["a"], lambda text, wrong=wrong: wrong)
        with pytest.raises(error, match="image_tokens must be"):
            estimate_message_tokens("a", image_tokens=wrong)
        with pytest.raises(error, match="text_tokens must be"):
            memo.remember("a", Counted(wrong, 0))
        with pytest.raises(error, match="images must be"):
            memo.remember("a", Counted(0, wrong))
        assert 0 == len(memo)


def test_sizes_of_the_model() -> None:
    """The pages would give other bytes than they say."""
    assert [50, 53, 50 + 1, 50 + 2, 50 + 4] == [model_size(text) for text in ("", "tea", "ÿ", "Ā", "😀")]
    assert 50 + 2 * 4 == model_size("teaж")
    assert 50 + 2 * 1 == model_size("\uffff")
    assert 50 + 4 * 4 == model_size("tea\U00010000")
    assert 3 * 120 + 50 + 51 + 52 == entry_bytes(["", "a", "Ā"], model_size)
    assert 120 + sys.getsizeof("abc") == entry_bytes(["abc"])
    assert 0 == entry_bytes([])


# The key.


def test_the_key_sees_structure_type_and_identity() -> None:
    """Two messages that are not the same would share an entry."""
    a, b = fresh("a"), fresh("b")
    different = [
        [a, b],
        [[a], b],
        [[a, b]],
        [a, [b]],
        [[a], [b]],
        [[], a, b],
        [a, b, []],
        [b, a],
        {a: b},
        [{a: b}],
        {a: b, b: a},
        {b: a, a: b},
        {a: {b: a}},
        {a: [b]},
        [{}],
        [[]],
        {},
        [],
        a,
        b,
        None,
        [None],
        1,
        1.0,
        True,
        0,
        0.0,
        -0.0,
        False,
        "1",
        "true",
        "None",
        "image",
        "list",
        "dict",
        "end",
        {"type": "image"},
        [{"type": "image"}],
        [{"type": "image"}, {"type": "image"}],
    ]
    assert len(different) == len({read_message(each).key for each in different})
    assert read_message([a, b]).key == read_message((a, b)).key == read_message([a, b]).key
    assert read_message(float("nan")).key == read_message(float("nan")).key
    # An image is an image: which one does not matter to the estimate.
    assert read_message({"type": "image"}).key == read_message({"type": "input_image", "image_url": a}).key


def test_equal_texts_are_not_the_same_text() -> None:
    """The key would hold what a string says, and so have to read it."""
    memo, (first,), _ = filled("same")
    other = message("same")
    assert first == other
    assert memo.lookup(first) is not None
    assert memo.lookup(other) is None
    # A copy of the dict holds the same strings; one that went through JSON does not.
    assert memo.lookup(copy.deepcopy(first)) is not None
    assert memo.lookup(json.loads(json.dumps(first))) is None


def test_a_message_changed_in_place_is_another() -> None:
    """An edited message would get the count of the old one."""
    memo = TokenMemo()
    chat = {"role": "user", "content": [fresh("one")]}
    assert 1 + 1 + 1 + 1 == memo.estimate(chat)
    chat["content"].append(fresh("two three"))
    assert 1 + 1 + 1 + 1 + 2 == memo.estimate(chat)
    chat["content"].pop()
    assert 4 == memo.estimate(chat)
    assert (1, 2) == memo.stats()[:2]


# Look-ups and what is stored.


def test_a_message_is_counted_once() -> None:
    """The memo would count again what it knows, or not say what it did."""
    read = []
    memo = TokenMemo(counter=lambda text: read.append(text) or 2)
    each = message("one")
    assert memo.lookup(each) is None
    assert 4 * 2 == memo.estimate(each) == memo.estimate(each)
    assert ["role", "user", "content", "wone"] == read
    assert Counted(8, 0) == memo.lookup(each)
    assert 1 == len(memo)
    assert Stats(hits=2, misses=2) == memo.stats()


def test_a_new_price_of_images_needs_no_new_count() -> None:
    """The stored count would hold the old price, or everything would be counted again."""
    read = []
    memo = TokenMemo(counter=lambda text: read.append(text) or 1, image_tokens=100)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    each = {"role": "user", "content": [picture, picture, "what"]}
    assert 4 + 2 * 100 == memo.estimate(each)
    memo.image_tokens = 1_000
    assert 4 + 2 * 1_000 == memo.estimate(each)
    assert 4 == len(read)
    assert Counted(4, 2) == memo.lookup(each)
    assert 4 + 2 * 7 == Counted(4, 2).tokens(7)


def test_the_data_of_an_image_is_not_kept_alive() -> None:
    """A picture would stay in memory as long as its message is remembered."""

    class Data(str):
        """A string that can be watched."""

        __slots__ = ("__weakref__",)

    data, words = Data("A" * 100), Data("what is this")
    gone, kept = weakref.ref(data), weakref.ref(words)
    memo = TokenMemo(size=ten)
    memo.estimate([{"type": "image", "source": {"data": data}}, words])
    assert 130 == memo.retained_bytes
    del data, words
    gc.collect()
    assert gone() is None
    assert kept() is not None


def test_remembering_again_replaces() -> None:
    """A second insertion would leave the old count, or its bytes would be counted twice."""
    memo, (a, b), _ = filled("a", "b")
    assert 2 * 520 == memo.retained_bytes
    assert memo.remember(a, Counted(77, 1)) is True
    assert 2 * 520 == memo.retained_bytes
    assert 77 + 258 == memo.estimate(a)
    assert 2 == len(memo)
    # It is now the one used last.
    assert [read_message(b).key, read_message(a).key] == [*memo._entries]


def test_a_replacement_that_has_grown_evicts() -> None:
    """The size of a replaced entry would not count against the bound."""
    sizes = {"wb": 10}
    memo, (a, b), _ = filled("a", "b", size=lambda text: sizes.get(text, 10), max_bytes=1_100)
    assert 1_040 == memo.retained_bytes
    sizes["wb"] = 71
    assert memo.remember(b, Counted(1, 0)) is True
    assert [False, True] == has(memo, [a, b])
    assert 520 + 61 == memo.retained_bytes
    # Grown beyond the whole budget, it goes, and is not replaced.
    sizes["wb"] = 10_000
    assert memo.remember(b, Counted(2, 0)) is False
    assert 0 == len(memo) == memo.retained_bytes
    assert (1, 1) == (memo.stats().evicted_by_bytes, memo.stats().refused)


# The bounds.


def test_the_count_bound_evicts_the_least_recently_used() -> None:
    """Another entry than the oldest in use would go, or too many would stay."""
    memo, (a, b, c), _ = filled("a", "b", "c", max_entries=3)
    memo.estimate(a)
    d = message("d")
    memo.estimate(d)
    assert [True, False, True, True] == has(memo, [a, b, c, d])
    assert 3 * 520 == memo.retained_bytes
    assert Stats(hits=1, misses=4, evicted_by_count=1) == memo.stats()


def test_the_bytes_bound_evicts_the_least_recently_used() -> None:
    """A few long messages would keep more alive than the budget."""
    memo, (a, b), _ = filled("a", "b", max_bytes=2 * 520)
    assert [True, True] == has(memo, [a, b])
    memo.lookup(a)
    c = message("c")
    memo.estimate(c)
    assert [True, False, True] == has(memo, [a, b, c])
    assert 2 * 520 == memo.retained_bytes
    assert Stats(hits=1, misses=3, evicted_by_bytes=1) == memo.stats()
    # A larger one makes room for itself: 6 leaves, 780 bytes, more than one other fits beside.
    d = [fresh("d"), *"abcde"]
    memo.estimate(d)
    assert [False, False, False, True] == has(memo, [a, b, c, d])
    assert 780 == memo.retained_bytes
    assert 1 + 2 == memo.stats().evicted_by_bytes


def test_each_eviction_has_the_cause_that_stood_when_it_happened() -> None:
    """An eviction that both bounds ask for would be counted twice, or under the wrong one."""
    memo, _, _ = filled("a", "b", max_entries=2, max_bytes=1_200)
    memo.estimate([fresh("d"), *"abcdef"])  # 910 bytes: both bounds broken, then only the bytes
    assert (1, 1) == (memo.stats().evicted_by_count, memo.stats().evicted_by_bytes)
    assert 1 == len(memo)


def test_a_message_larger_than_the_budget_is_never_admitted() -> None:
    """One giant message would flush all the others, each time it is seen."""
    memo, (a, b), _ = filled("a", "b", max_bytes=1_299)
    giant = [fresh("giant"), *"abcdefghi"]
    assert 10 * 130 == entry_bytes(read_message(giant).texts, ten)
    for times in (1, 2):
        assert 10 == memo.estimate(giant)
        assert times == memo.stats().refused
    assert memo.remember(giant, Counted(10, 0)) is False
    assert [True, True, False] == has(memo, [a, b, giant])
    assert Stats(misses=4, refused=3) == memo.stats()
    # One that fills the budget to the byte is admitted, alone.
    memo, _, _ = filled("a", "b", max_bytes=1_300)
    memo.estimate(giant)
    assert [True] == has(memo, [giant])
    assert 1 == len(memo)
    assert 1_300 == memo.retained_bytes


def test_the_newest_entry_survives_its_own_insertion() -> None:
    """A memo with little room would drop what it has just put in, and never have a hit."""
    memo, _, _ = filled("a", max_entries=1, max_bytes=520)
    for name in "bcd":
        memo.estimate(newest := message(name))
        assert [True] == has(memo, [newest])
        assert 1 == len(memo)
    assert memo.lookup(newest) is not None
    assert 3 == memo.stats().evicted_by_count


def test_zero_is_no_room_at_all() -> None:
    """A bound of nothing would be read as no bound."""
    for options in ({"max_entries": 0}, {"max_bytes": 0}):
        memo, (a, _), _ = filled("a", "b", **options)
        assert 0 == len(memo) == memo.retained_bytes
        assert 4 == memo.estimate(a)
        assert Stats(misses=3, refused=3) == memo.stats()
    memo = TokenMemo(max_bytes=0)
    assert 0 == memo.estimate([]) == memo.estimate([])  # no leaves, no bytes
    assert (1, 1) == (memo.stats().hits, len(memo))


@pytest.mark.parametrize("name", ["max_entries", "max_bytes", "image_tokens"])
def test_bounds_are_whole_numbers(name) -> None:
    """A bound of the wrong kind would hold nothing back, or everything."""
    for wrong, error in ((-1, ValueError), (1.5, TypeError), ("9", TypeError), (True, TypeError)):
        with pytest.raises(error, match=f"^{name} must be"):
            TokenMemo(**{name: wrong})


def test_the_active_window_is_seconds() -> None:
    """A window of the wrong kind would protect nothing, or fail at the first eviction."""
    for wrong, error in ((-1, ValueError), (float("nan"), ValueError), ("60", TypeError), (True, TypeError)):
        with pytest.raises(error, match=r"^active_window_s must be"):
            TokenMemo(active_window_s=wrong)
    with pytest.raises(TypeError, match=r"^active_window_s must be a number of seconds, not None$"):
        TokenMemo(active_window_s=None)
    assert 0 == TokenMemo(active_window_s=0).active_window_s


def test_the_defaults() -> None:
    """A memo would have other bounds than the page says."""
    memo = TokenMemo()
    assert 4_096 == memo.max_entries
    assert 16 * 1_024 * 1_024 == memo.max_bytes
    assert 60.0 == memo.active_window_s
    assert 258 == memo.image_tokens
    memo.estimate("Hello")
    assert 120 + sys.getsizeof("Hello") == memo.retained_bytes


def test_an_emptied_memo_counts_from_zero() -> None:
    """Bytes of entries that are gone would fill the budget for good."""
    memo, (a, b), _ = filled("a" * 70, "b" * 70, max_bytes=2 * 520)
    assert 2 == memo.forget([a, b])
    assert 0 == memo.retained_bytes == len(memo)
    for name in ("c", "d"):
        memo.estimate(message(name))
    assert 2 * 520 == memo.retained_bytes
    assert 0 == memo.stats().evicted_by_bytes


# The active window.


def test_what_is_in_use_is_not_evicted() -> None:
    """A running conversation larger than the budget would lose its own entries."""
    memo, messages, clock = filled("a", "b", "c", max_entries=1, max_bytes=520, active_window_s=60)
    assert [True] * 3 == has(memo, messages)
    assert 3 * 520 == memo.retained_bytes
    clock.wait(59.5)
    memo.estimate(d := message("d"))
    assert [True] * 4 == has(memo, [*messages, d])
    # At 60 seconds the first three are idle, and the first insert sheds them.
    clock.wait(0.5)
    assert 4 == len(memo)
    memo.estimate(e := message("e"))
    assert [False, False, False, True, True] == has(memo, [*messages, d, e])
    assert (3, 0) == (memo.stats().evicted_by_count, memo.stats().evicted_by_bytes)


def test_a_look_up_keeps_an_entry_active() -> None:
    """Only insertions would count as use, or the walk would go on behind an active entry."""
    memo, (a, b, c), clock = filled("a", "b", "c", max_entries=1, active_window_s=60)
    clock.wait(30)
    memo.lookup(b)
    memo.estimate(a)
    clock.wait(30)
    memo.estimate(d := message("d"))
    assert [True, True, False, True] == has(memo, [a, b, c, d])
    clock.wait(30)
    memo.estimate(e := message("e"))
    # d is 30 seconds old, and e is new.
    assert [False, False, False, True, True] == has(memo, [a, b, c, d, e])
    assert [read_message(d).key, read_message(e).key] == [*memo._entries]


def test_shedding_stops_where_the_bounds_hold() -> None:
    """Idle entries that fit would be dropped too."""
    memo, messages, clock = filled(*"abcdef", max_entries=4, active_window_s=10)
    assert 6 == len(memo)
    clock.wait(10)
    memo.estimate(message("g"))
    assert [False, False, False, True, True, True] == has(memo, messages)
    assert 4 == len(memo)


def test_a_clock_that_goes_back_or_stands_still() -> None:
    """The order would no longer be that of the stamps, and an active entry stand behind an idle one."""
    memo, (a,), clock = filled("a", max_entries=1, active_window_s=60)
    clock.wait(-1_000)
    memo.estimate(b := message("b"))
    assert [0.0, 0.0] == [entry.stamp for entry in memo._entries.values()]
    clock.wait(1_000 + 59)
    memo.lookup(a)
    clock.wait(1)
    memo.estimate(c := message("c"))
    assert [True, False, True] == has(memo, [a, b, c])
    # While the clock stands still, everything is in use.
    memo, _, _ = filled(*"abcde", max_entries=1, active_window_s=0.001)
    assert 5 == len(memo)


def test_no_window_and_an_endless_one() -> None:
    """A window of 0 would still protect what was used in the same instant, or an endless one would end."""
    memo, messages, _ = filled("a", "b", max_entries=1, active_window_s=0)
    assert [False, True] == has(memo, messages)
    memo, messages, clock = filled("a", "b", max_entries=1, active_window_s=float("inf"))
    clock.wait(1e9)
    memo.estimate(message("c"))
    assert [True, True] == has(memo, messages)


# Pins.


def test_a_recycled_id_answers_for_another_string() -> None:
    """The page would not show the bug, or the memo would have it."""
    assert (3 + 100, 3 + 1) == wrong_answer(UnpinnedMemo().estimate)
    assert wrong_answer(TokenMemo().estimate) is None
    assert wrong_answer(TokenMemo(active_window_s=0, max_entries=1).estimate) is None
    assert wrong_answer(estimate_message_tokens, 3) is None


def test_strings_live_as_long_as_their_entry() -> None:
    """An id in a key could come to belong to another string."""

    class Watched(str):
        """A string that can be watched."""

        __slots__ = ("__weakref__",)

    name, text = Watched("name of a field"), Watched("a text of its own")
    alive = [weakref.ref(name), weakref.ref(text)]
    memo = TokenMemo(max_entries=1, active_window_s=0)
    memo.estimate({name: text})
    del name, text
    gc.collect()
    assert [True, True] == [watched() is not None for watched in alive]
    memo.estimate("another")
    gc.collect()
    assert [False, False] == [watched() is not None for watched in alive]


# Forgetting on purpose.


def test_forgetting_drops_what_pins_a_long_string() -> None:
    """A closed conversation would stay in memory, or an open one lose its entries."""
    memo, (a, b, short), _ = filled("a" * 64, "b" * 64, "s" * 63)
    assert [65, 65, 64] == [len(each["content"]) for each in (a, b, short)]
    assert 1 == memo.forget([a])
    assert [False, True, True] == has(memo, [a, b, short])
    assert 2 * 520 == memo.retained_bytes
    assert 0 == memo.forget([a, short, message("b" * 64)])
    assert 1 == memo.forget({"any": ("shape", [b["content"]])})
    assert Stats(misses=3, forgotten=2) == memo.stats()
    assert [short] == [each for each in (a, b, short) if memo.lookup(each)]


def test_forgetting_spares_what_is_kept() -> None:
    """Compaction would drop the entries of the messages that it keeps."""
    memo, (a, b, c), _ = filled("a" * 70, "b" * 70, "c" * 70)
    assert 1 == memo.forget([a, b, c], keep=[b, {"deep": (c["content"],)}])
    assert [False, True, True] == has(memo, [a, b, c])
    # An entry that pins a kept string and one that goes is dropped.
    both = [a["content"], b["content"]]
    memo.estimate(both)
    assert 1 == memo.forget([a], keep=[b])
    assert [True, False] == has(memo, [b, both])
    assert 0 == memo.forget([b], keep=b["content"])
    # What is kept but equal only, is another string.
    assert 1 == memo.forget([b], keep=[message("b" * 70)])


def test_forgetting_goes_by_the_names_of_fields_too() -> None:
    """A long name of a field would keep its entry for ever."""
    name = fresh("n" * 70)
    memo = TokenMemo(size=ten)
    memo.estimate({name: "x"})
    assert 1 == memo.forget({name: None})
    assert 0 == len(memo)


def test_forgetting_passes_over_everything_else() -> None:
    """Telemetry copies hold all kinds of things, and circles."""
    memo, (a,), _ = filled("a" * 70)
    circle = [1, None, {3}, b"x" * 100, object(), 2.5]
    circle += [{"again": circle, 5: circle}, (circle,)]
    assert 0 == memo.forget(circle)
    assert 0 == memo.forget(None)
    assert 0 == memo.forget({a["content"]})  # a set is not walked
    assert 1 == memo.forget([circle, {7: a}])


def test_the_doctests_of_the_module() -> None:
    """An example in a docstring would be false."""
    found = doctest.testmod(token_memo)
    assert (0, 3) == (found.failed, found.attempted)
