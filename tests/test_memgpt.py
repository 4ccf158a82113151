"""Lesson 4: the published table digit for digit, a plain replay draw for draw, the intervals, every error."""

import doctest
import math
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code import memgpt
from lesson_code.memgpt import (
    ATTRIBUTES,
    CONVERSATIONS,
    CORE_SLOTS,
    FACTS_PER_SESSION,
    MESSAGES_PER_SESSION,
    METHODS,
    QUESTIONS,
    RESAMPLES,
    SESSIONS,
    TAIL,
    WINDOW,
    Conversation,
    Memory,
    Settings,
    accuracy,
    ask,
    below,
    compared,
    converse,
    difference,
    difference_interval,
    fill,
    interval,
    kind_of,
    questions,
    questions_asked,
    summary_fill,
    verdicts,
    verdicts_of,
    warned,
    wrong_answers,
)

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=200)
CELLS = [(method, sessions) for method in METHODS for sessions in SESSIONS]


# The plain replay, from the text of the specification: message by message, question by question.
# A message is None for small talk, and (attribute, value) for a fact.


def plain_messages(rng: random.Random, sessions: int, update: float = 0.25) -> list[tuple[int, int] | None]:
    """Draw a conversation."""
    messages: list[tuple[int, int] | None] = []
    known: dict[int, int] = {}
    for _ in range(sessions):
        places = rng.sample(range(12), 2)
        for place in range(12):
            if place not in places:
                messages.append(None)
                continue
            if known and rng.random() < update:
                attribute = rng.choice(sorted(known))
            else:
                unused = [each for each in range(30) if each not in known]
                attribute = rng.choice(unused or list(range(30)))
            value = rng.randint(100, 999)
            known[attribute] = value
            messages.append((attribute, value))
    return messages


def plain_newest(messages: list[tuple[int, int] | None], attribute: int) -> int | None:
    """Find the newest value of an attribute, if there is one."""
    for message in reversed(messages):
        if message and message[0] == attribute:
            return message[1]
    return None


def plain_summary(
    rng: random.Random, messages: list[tuple[int, int] | None], attribute: int, window: int, keep: float
) -> int | str:
    """Replay a conversation with a recursive summary; answer a question, or say why not."""
    in_window: list[tuple[int, int] | None] = []
    summary: dict[int, int] = {}
    for message in messages:
        in_window.append(message)
        if len(in_window) > window:
            leaving, in_window = in_window[: window // 2], in_window[window // 2 :]
            for fact in leaving:
                if fact:
                    summary[fact[0]] = fact[1]
            survivors = {}
            for known, value in summary.items():
                if rng.random() < keep:
                    survivors[known] = value
            summary = survivors
    seen = plain_newest(in_window, attribute)
    return seen if seen is not None else summary.get(attribute, "lost")


def plain_memgpt(
    rng: random.Random,
    messages: list[tuple[int, int] | None],
    attribute: int,
    window: int,
    core_slots: int,
    warning: int,
    write: float,
    write_warned: float,
    find: float,
    latest: float,
) -> int | str:
    """Replay a conversation with MemGPT; answer a question, or say why not."""
    counter = 0
    core: dict[int, int] = {}
    archive: list[tuple[int, int]] = []
    for message in messages:
        counter += 1
        if counter > window:
            counter = window // 2
        if message:
            if rng.random() < (write_warned if counter >= warning else write):
                archive.append(message)
            core.pop(message[0], None)
            core[message[0]] = message[1]
            if len(core) > core_slots:
                core.pop(next(iter(core)))
    seen = plain_newest(messages[-counter:], attribute)
    if seen is not None:
        return seen
    if attribute in core:
        return core[attribute]
    if rng.random() >= find:
        return "not found"
    records = [value for about, value in archive if about == attribute]
    if not records:
        return "never saved"
    if len(records) > 1 and rng.random() >= latest:
        return records[rng.randrange(len(records) - 1)]
    return records[-1]


def plain_replay(
    rng: random.Random,
    method: str,
    sessions: int,
    window: int = 40,
    core_slots: int = 8,
    keep: float = 0.85,
    warning: int = 28,
    write: float = 0.6,
    write_warned: float = 0.95,
    find: float = 0.9,
    latest: float = 0.9,
    update: float = 0.25,
) -> Iterator[list[str]]:
    """Yield for each of 100 conversations how its questions were answered."""
    for _ in range(100):
        messages = plain_messages(rng, sessions, update)
        right = {message[0]: message[1] for message in messages if message}
        verdicts = []
        for attribute in rng.sample(sorted(right), min(6, len(right))):
            if method == "truncation":
                newest = plain_newest(messages[-window:], attribute)
                answer = newest if newest is not None else "gone"
            elif method == "summary":
                answer = plain_summary(rng, messages, attribute, window, keep)
            else:
                likely = write_warned if method == "memgpt" else write
                answer = plain_memgpt(
                    rng, messages, attribute, window, core_slots, warning, write, likely, find, latest
                )
            if answer == right[attribute]:
                verdicts.append("right")
            else:
                verdicts.append(answer if isinstance(answer, str) else "stale")
        yield verdicts


def plain_cell(method: str, sessions: int, **changed: Any) -> list[list[str]]:
    """Answer the questions of one cell of the table."""
    return list(plain_replay(random.Random(240 + sessions), method, sessions, **changed))


def plain_share(answered: list[list[str]]) -> float:
    """Pool the answers of conversations: the share that is right."""
    return sum(verdicts.count("right") for verdicts in answered) / sum(map(len, answered))


def plain_accuracy(method: str, sessions: int, **changed: Any) -> float:
    """Replay one cell of the table."""
    return plain_share(plain_cell(method, sessions, **changed))


def plain_count(method: str, sessions: int, kind: str, **changed: Any) -> int:
    """Count the answers of one kind in one cell."""
    return [verdict for verdicts in plain_cell(method, sessions, **changed) for verdict in verdicts].count(kind)


class LoggedRandom(random.Random):
    """A generator that writes down all that is drawn from it, at the lowest level."""

    def __init__(self, seed: int) -> None:
        self.log: list[tuple[object, ...]] = []
        super().__init__(seed)

    def random(self) -> float:
        """Draw a float, and write it down."""
        value = super().random()
        self.log.append(("random", value))
        return value

    def getrandbits(self, k: int, /) -> int:
        """Draw bits, and write them down."""
        value = super().getrandbits(k)
        self.log.append(("getrandbits", k, value))
        return value


@pytest.mark.parametrize(("method", "sessions"), CELLS)
def test_the_lesson_draws_what_the_plain_replay_draws(method: str, sessions: int) -> None:
    """The fast way would take another random stream, and so show other digits than the plain one."""
    plain, lesson = LoggedRandom(240 + sessions), LoggedRandom(240 + sessions)
    expected = [tuple(kinds) for kinds in plain_replay(plain, method, sessions)]
    assert expected == list(verdicts_of(lesson, method, sessions, Settings()))
    assert plain.log == lesson.log
    assert plain.getstate() == lesson.getstate()
    assert len(plain.log) > 1_000
    assert tuple(expected) == verdicts(method, sessions)


shares = st.sampled_from([0.0, 0.05, 0.3, 0.55, 0.7, 0.95, 1.0])


@same_every_run
@given(
    method=st.sampled_from(sorted(METHODS)),
    sessions=st.integers(1, 25),
    seed=st.integers(0, 10**6),
    whole=st.fixed_dictionaries({"window": st.integers(2, 60), "core_slots": st.integers(0, 12)}),
    warn_at=shares,
    likely=st.fixed_dictionaries(dict.fromkeys(("keep", "write", "write_warned", "find", "latest", "update"), shares)),
)
def test_other_settings_draw_the_same_too(
    method: str, sessions: int, seed: int, whole: dict[str, int], warn_at: float, likely: dict[str, float]
) -> None:
    """A setting that a reader changes would do something else than the specification says."""
    plain, lesson = LoggedRandom(seed), LoggedRandom(seed)
    changed = Settings(**whole, **likely, warn_at=warn_at)
    warning = math.ceil(Fraction(str(warn_at)) * whole["window"])
    expected = plain_replay(plain, method, sessions, **whole, **likely, warning=warning)
    assert [tuple(kinds) for kinds in islice(expected, 3)] == list(
        islice(verdicts_of(lesson, method, sessions, changed), 3)
    )
    assert plain.log == lesson.log
    assert plain.getstate() == lesson.getstate()


# The published table.


@pytest.mark.published("memgpt-script")
def test_the_published_table() -> None:
    """The simulation would not be the one whose table the page shows."""
    assert [1.000, 0.744, 0.425, 0.207, 0.183] == [round(accuracy("truncation", n), 3) for n in (2, 5, 10, 20, 40)]
    assert [1.000, 0.963, 0.843, 0.615, 0.497] == [round(accuracy("summary", n), 3) for n in (2, 5, 10, 20, 40)]
    assert [1.000, 0.982, 0.758, 0.638, 0.608] == [round(accuracy("unwarned", n), 3) for n in (2, 5, 10, 20, 40)]
    assert [1.000, 0.982, 0.843, 0.800, 0.757] == [round(accuracy("memgpt", n), 3) for n in (2, 5, 10, 20, 40)]


@pytest.mark.published("memgpt-script")
def test_published_cells_that_sentences_quote() -> None:
    """A sentence would quote another figure than the table beside it."""
    assert 0.744 == round(accuracy("truncation", 5), 3)
    assert 0.425 == round(accuracy("truncation", 10), 3)
    assert 0.183 == round(accuracy("truncation", 40), 3)
    assert 0.963 == round(accuracy("summary", 5), 3)
    assert 0.843 == round(accuracy("summary", 10), 3)
    assert 0.615 == round(accuracy("summary", 20), 3)
    assert 0.497 == round(accuracy("summary", 40), 3)
    assert 0.758 == round(accuracy("unwarned", 10), 3)
    assert 0.638 == round(accuracy("unwarned", 20), 3)
    assert 0.608 == round(accuracy("unwarned", 40), 3)
    assert 0.982 == round(accuracy("memgpt", 5), 3)
    assert 0.843 == round(accuracy("memgpt", 10), 3)
    assert 0.800 == round(accuracy("memgpt", 20), 3)
    assert 0.757 == round(accuracy("memgpt", 40), 3)


def test_the_table_exactly() -> None:
    """A cell would be right to three decimals and wrong behind them."""
    assert [plain_accuracy("truncation", n) for n in (2, 5, 10, 20, 40)] == [
        accuracy("truncation", n) for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_accuracy("summary", n) for n in (2, 5, 10, 20, 40)] == [
        accuracy("summary", n) for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_accuracy("unwarned", n) for n in (2, 5, 10, 20, 40)] == [
        accuracy("unwarned", n) for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_accuracy("memgpt", n) for n in (2, 5, 10, 20, 40)] == [
        accuracy("memgpt", n) for n in (2, 5, 10, 20, 40)
    ]


# The settings that the page names.


def test_settings_of_the_table() -> None:
    """The page would describe another experiment than the one whose table it shows."""
    assert 40 == WINDOW
    assert 40 + 1 == WINDOW + 1
    assert 8 == CORE_SLOTS
    assert 12 == MESSAGES_PER_SESSION
    assert 2 * 12 == 2 * MESSAGES_PER_SESSION
    assert 10 * 12 == 10 * MESSAGES_PER_SESSION
    assert 2 == FACTS_PER_SESSION
    assert 30 == ATTRIBUTES
    assert 6 == QUESTIONS
    assert 100 == CONVERSATIONS
    assert (2, 5, 10, 20, 40) == SESSIONS
    assert (40, 8) == (Settings().window, Settings().core_slots)
    assert 0.85 == Settings().keep
    assert 0.85 * 0.85 == Settings().keep ** 2
    assert 0.85**10 == Settings().keep ** 10
    assert 0.7 == Settings().warn_at
    assert 0.6 == Settings().write
    assert 0.95 == Settings().write_warned
    assert 0.9 == Settings().find
    assert 0.9 == Settings().latest
    assert 0.25 == Settings().update
    assert 0 == Settings().recall


# The stream, clause by clause.


class ScriptedRandom(random.Random):
    """A generator that draws what a test wrote down, and nothing else."""

    def __init__(self, *script: float) -> None:
        self.script = list(script)
        super().__init__(0)

    def random(self) -> float:
        """Draw the next float of the script."""
        value = self.script.pop(0)
        assert isinstance(value, float), f"random() was drawn where the script has getrandbits() == {value}"
        return value

    def getrandbits(self, k: int, /) -> int:
        """Draw the next whole number of the script."""
        value = self.script.pop(0)
        assert isinstance(value, int), f"getrandbits({k}) was drawn where the script has random() == {value}"
        assert value < 2**k
        return value


def test_nothing_decides_on_an_update_before_anything_is_known() -> None:
    """The first fact would cost a draw that the published stream does not have."""
    # Places 3 and 5; fact 1: attribute 7 and value 100 + 0, without a float; fact 2: no update, the 8th of
    # the 29 unused attributes, which is 8 since 7 is taken, and value 100 + 899.
    rng = ScriptedRandom(3, 5, 7, 0, 0.25, 7, 899)
    assert Conversation(12, [(4, 7, 100), (6, 8, 999)]) == converse(rng, 1, Settings())
    assert [] == rng.script


def test_an_update_takes_a_known_attribute() -> None:
    """Below the probability, a fact would be new all the same; or a choice of one would cost no draw."""
    # The second draw for the only known attribute is 0 again: of one bit, 1 is too much and is thrown away.
    rng = ScriptedRandom(3, 5, 7, 0, 0.2499, 1, 0, 1)
    assert Conversation(12, [(4, 7, 100), (6, 7, 101)]) == converse(rng, 1, Settings())
    assert [] == rng.script


def test_known_attributes_are_chosen_in_their_own_order() -> None:
    """The attributes would be listed in the order in which they came up."""
    # Session 1: attributes 20 and 5. Session 2: an update of the first of {5, 20}, then of the second.
    rng = ScriptedRandom(0, 1, 20, 0, 0.9, 5, 0, 0, 1, 0.0, 0, 1, 0.0, 1, 2)
    facts = [(1, 20, 100), (2, 5, 100), (13, 5, 101), (14, 20, 102)]
    assert Conversation(24, facts) == converse(rng, 2, Settings())
    assert [] == rng.script


def test_when_nothing_is_unused_every_fact_is_an_update_after_the_same_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw for an update would be left out once all attributes are known, or the choice would fail."""
    monkeypatch.setattr(memgpt, "ATTRIBUTES", 1)
    rng = ScriptedRandom(0, 1, 0, 0, 0.9, 0, 1)
    assert Conversation(12, [(1, 0, 100), (2, 0, 101)]) == converse(rng, 1, Settings())
    assert [] == rng.script


@pytest.mark.parametrize(
    ("drawn", "places"),
    [((3, 5), (3, 5)), ((9, 2), (2, 9)), ((4, 4), (4, 11)), ((11, 0), (0, 11)), ((15, 12, 1, 14, 11, 10), (1, 10))],
)
def test_places_of_facts(drawn: tuple[int, ...], places: tuple[int, int]) -> None:
    """Two facts of a session would stand elsewhere than `sample` puts them, or in the same message."""
    rng, sampled = ScriptedRandom(*drawn), ScriptedRandom(*drawn)
    assert places == memgpt.two_places(rng.getrandbits)
    assert places == tuple(sorted(sampled.sample(range(12), 2)))
    assert [] == rng.script == sampled.script


@same_every_run
@given(seed=st.integers(0, 10**9), limit=st.integers(1, 2_000))
def test_whole_numbers_are_drawn_as_by_randrange(seed: int, limit: int) -> None:
    """The shortcut would draw another number than the standard library, or move the generator on by more."""
    plain, lesson = random.Random(seed), random.Random(seed)
    assert [plain.randrange(limit) for _ in range(5)] == [below(lesson.getrandbits, limit) for _ in range(5)]
    assert plain.getstate() == lesson.getstate()


def test_questions_are_drawn_from_known_attributes_in_order() -> None:
    """Other attributes would be asked for, or more than are known."""
    assert random.Random(5).sample([4, 7, 9], 3) == questions(random.Random(5), [9, 4, 7])
    eight = [28, 27, 26, 25, 24, 23, 22, 21]
    assert random.Random(5).sample([21, 22, 23, 24, 25, 26, 27, 28], 6) == questions(random.Random(5), eight)


# What the memories keep.

FORTY_ONE = Conversation(41, [(1, 1, 111), (2, 2, 222), (20, 3, 333), (21, 4, 444), (41, 5, 555)])


def test_truncation_keeps_the_last_forty() -> None:
    """The window would hold another message more or less."""
    memory = METHODS["truncation"](FORTY_ONE, Settings())(ScriptedRandom())
    assert Memory({2: 222, 3: 333, 4: 444, 5: 555}, "gone") == memory
    assert 222 == ask(memory, 2, ScriptedRandom(), Settings())
    assert "gone" == ask(memory, 1, ScriptedRandom(), Settings())


def test_the_summary_keeps_twenty_one_of_forty_one() -> None:
    """Message 41 would squeeze another half of the window than the oldest twenty."""
    # Messages 1 to 20 hold facts 1, 2, 3: one draw each. The second is lost. Facts 4 and 5 are in the window.
    rng = ScriptedRandom(0.8, 0.85, 0.1)
    memory = METHODS["summary"](FORTY_ONE, Settings())(rng)
    assert Memory({1: 111, 3: 333, 4: 444, 5: 555}, "lost") == memory
    assert [] == rng.script
    assert "lost" == ask(memory, 2, ScriptedRandom(), Settings())
    assert 333 == ask(memory, 3, ScriptedRandom(), Settings())


def test_nothing_is_squeezed_while_all_fits() -> None:
    """A chat that fits its window would lose something."""
    forty = Conversation(40, FORTY_ONE.facts[:4])
    for method in METHODS:
        rng = ScriptedRandom(*[0.99] * 4 if "m" in method[:2] or method == "unwarned" else [])
        memory = METHODS[method](forty, Settings())(rng)
        assert [111, 222, 333, 444] == [ask(memory, n, ScriptedRandom(), Settings()) for n in (1, 2, 3, 4)]
        assert [] == rng.script


def test_a_fact_that_is_lost_and_learned_again_goes_to_the_end() -> None:
    """The draws for the facts of the summary would go to the wrong facts."""
    # Flush 1 (messages 1-20): facts 1 and 2; 1 is lost. Flush 2 (21-40): 1 again, behind 2. So the draws
    # of flush 2 are for 2, then 1: fact 2 is lost by 0.9, and 1 stays by 0.1.
    facts = [(1, 1, 111), (2, 2, 222), (21, 1, 999)]
    rng = ScriptedRandom(0.9, 0.1, 0.9, 0.1)
    assert {1: 999} == METHODS["summary"](Conversation(61, facts), Settings())(rng).prompt
    assert [] == rng.script


def test_a_fact_that_is_known_keeps_its_place_when_it_is_updated() -> None:
    """An update would move its fact to the end of the summary."""
    # Flush 2 brings a new value of 1, which the summary still has in front of 2: draws for 1, then 2.
    facts = [(1, 1, 111), (2, 2, 222), (21, 1, 999)]
    rng = ScriptedRandom(0.1, 0.1, 0.9, 0.1)
    assert {2: 222} == METHODS["summary"](Conversation(61, facts), Settings())(rng).prompt
    assert [] == rng.script


def test_memgpt_sees_the_last_twenty_behind_message_forty_one() -> None:
    """The flush would leave another number of messages in the window."""
    # Without core memory, only facts 4 and 5 could be seen; 4 is in message 21, and 22 to 41 are left.
    settings = Settings(core_slots=0)
    memory = METHODS["memgpt"](FORTY_ONE, settings)(ScriptedRandom(*[0.99] * 5))
    assert {5: 555} == memory.prompt
    assert "never saved" == ask(memory, 4, ScriptedRandom(0.0), settings)
    assert "not found" == ask(memory, 4, ScriptedRandom(0.9), settings)


def test_core_memory_drops_what_was_updated_longest_ago() -> None:
    """Core memory would drop what came in first, though it was updated since."""
    # 1, 2, 1 again, 3: with two slots, 2 has waited longest. All are out of the window at message 41.
    facts = [(1, 1, 111), (2, 2, 222), (3, 1, 999), (4, 3, 333)]
    memory = METHODS["memgpt"](Conversation(41, facts), Settings(core_slots=2))(ScriptedRandom(*[0.99] * 4))
    assert {1: 999, 3: 333} == memory.prompt


def test_the_window_is_read_before_core_memory() -> None:
    """An older value in core memory would hide the newer one in the window."""
    facts = [(1, 1, 111), (41, 1, 999)]
    memory = METHODS["memgpt"](Conversation(41, facts), Settings())(ScriptedRandom(0.99, 0.99))
    assert {1: 999} == memory.prompt


def test_the_warning_makes_writing_likelier_from_message_28_on() -> None:
    """A fact would be written with the probability of a neighbouring message."""
    # 0.7 is too much for 0.6 and little enough for 0.95: only warned facts are written.
    facts = [(n, n % 30, 100 + n) for n in (27, 28, 40, 41, 48, 49, 61, 62)]
    conversation = Conversation(72, facts)
    written = METHODS["memgpt"](conversation, Settings())(ScriptedRandom(*[0.7] * 8)).archive
    assert [28, 40, 49, 61] == [message for message, _, _ in written]
    assert [] == METHODS["unwarned"](conversation, Settings())(ScriptedRandom(*[0.7] * 8)).archive
    written = METHODS["memgpt"](conversation, Settings())(ScriptedRandom(*[0.599] * 8)).archive
    assert facts == written
    assert [] == METHODS["memgpt"](conversation, Settings())(ScriptedRandom(*[0.95] * 8)).archive


def test_one_version_needs_no_second_draw() -> None:
    """A single record would cost the draw that picks among several."""
    memory = Memory({}, "never saved", [(1, 1, 111), (2, 2, 222)])
    rng = ScriptedRandom(0.8999)
    assert 111 == ask(memory, 1, rng, Settings())
    assert [] == rng.script


def test_several_versions() -> None:
    """The newest would not be picked nine times out of ten, or it would be among the older ones."""
    memory = Memory({}, "never saved", [(1, 1, 111), (2, 2, 222), (3, 1, 333), (4, 1, 555)])
    rng = ScriptedRandom(0.0, 0.8999)
    assert 555 == ask(memory, 1, rng, Settings())
    assert [] == rng.script
    for older, value in ((0, 111), (1, 333)):
        rng = ScriptedRandom(0.0, 0.9, older)  # of two older ones, by a bit or two: 2 and 3 are thrown away
        assert value == ask(memory, 1, rng, Settings())
        assert [] == rng.script


def test_kinds_of_answers() -> None:
    """An older value would pass for right, or a missing one for stale."""
    assert ["right", "stale", "gone", "lost", "never saved", "not found"] == [
        kind_of(answer, 555) for answer in (555, 111, "gone", "lost", "never saved", "not found")
    ]


# How full the window is.


def test_fill_of_the_windows() -> None:
    """The window would swing between other ends than half and full."""
    assert 20 == fill(41, 40)
    assert 41 - 20 == summary_fill(41, 40)
    assert 40 == fill(40, 40) == summary_fill(40, 40)
    assert [39, 40, 20, 21, 40, 20, 40, 20] == [fill(n, 40) for n in (39, 40, 41, 42, 61, 62, 82, 83)]
    assert [39, 40, 21, 22, 40, 21, 40, 21] == [summary_fill(n, 40) for n in (39, 40, 41, 42, 60, 61, 80, 81)]
    assert [1, 2, 1, 2, 1] == [fill(n, 2) for n in range(1, 6)]
    assert [1, 2, 2, 2, 2] == [summary_fill(n, 2) for n in range(1, 6)]
    # Seven: half is three, so the counter falls from seven to three, and a summary leaves eight minus three.
    assert [6, 7, 3, 4, 5, 6, 7, 3] == [fill(n, 7) for n in range(6, 14)]
    assert [6, 7, 5, 6, 7, 5] == [summary_fill(n, 7) for n in range(6, 12)]


def test_the_warning_stands_from_seventy_percent_on() -> None:
    """The warning would come a message too early or too late, or be lost to rounding."""
    assert [28, 29] == [n for n in range(1, 30) if warned(n, Settings())]
    assert 11 == next(n for n in range(1, 21) if warned(n, Settings(window=20, warn_at=0.55)))
    assert [] == [n for n in range(1, 200) if fill(n, 40) < 40 and warned(n, Settings(warn_at=1.0))]
    assert all(warned(n, Settings(warn_at=0.0)) for n in range(1, 200))


def test_the_table_of_the_windows() -> None:
    """The table would show another fill than the one worked out by hand."""
    assert [28, 40, 40, 40, 40, 40] == [min(n, WINDOW) for n in (28, 40, 41, 60, 61, 62)]
    assert [28, 40, 21, 40, 21, 22] == [summary_fill(n, 40) for n in (28, 40, 41, 60, 61, 62)]
    assert [28, 40, 20, 39, 40, 20] == [fill(n, 40) for n in (28, 40, 41, 60, 61, 62)]
    assert 20 == 41 - summary_fill(41, 40)
    assert 20 + 1 == 41 - summary_fill(41, 40) + 1
    assert 41 - 20 == summary_fill(41, 40)
    assert 0.7 * 40 == min(n for n in range(1, 41) if warned(n, Settings()))


def test_the_picture_of_one_conversation() -> None:
    """The picture of the window would fill, warn or flush elsewhere."""
    # 1 to 40, then from 20 to 40 again and again: 40 + 3 * 21 + 17 messages are 120.
    assert [*range(1, 41), *range(20, 41), *range(20, 41), *range(20, 41), *range(20, 37)] == [
        fill(n, 40) for n in range(1, 121)
    ]
    assert [*range(28, 41), *range(49, 62), *range(70, 83), *range(91, 104), *range(112, 121)] == [
        n for n in range(1, 121) if warned(n, Settings())
    ]
    assert [41, 41 + 21, 41 + 2 * 21, 41 + 3 * 21] == [n for n in range(2, 121) if fill(n, 40) < fill(n - 1, 40)]


# The kinds of wrong answers.


def test_the_summary_loses_and_is_never_stale() -> None:
    """The page would say so of a memory that answers with outdated values."""
    assert [plain_count("summary", n, "lost") for n in (2, 5, 10, 20, 40)] == [
        wrong_answers("summary", n, "lost") for n in (2, 5, 10, 20, 40)
    ]
    assert [0, 0, 0, 0, 0] == [wrong_answers("summary", n, "stale") for n in (2, 5, 10, 20, 40)]
    assert [plain_count("summary", n, "stale") for n in (2, 5, 10, 20, 40)] == [
        wrong_answers("summary", n, "stale") for n in (2, 5, 10, 20, 40)
    ]


def test_kinds_of_wrong_answers_of_memgpt() -> None:
    """The table of MemGPT's errors would count others."""
    assert [plain_count("memgpt", n, "never saved") for n in (2, 5, 10, 20, 40)] == [
        wrong_answers("memgpt", n, "never saved") for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_count("memgpt", n, "not found") for n in (2, 5, 10, 20, 40)] == [
        wrong_answers("memgpt", n, "not found") for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_count("memgpt", n, "stale") for n in (2, 5, 10, 20, 40)] == [
        wrong_answers("memgpt", n, "stale") for n in (2, 5, 10, 20, 40)
    ]


def test_wrong_answers_of_the_whole_table() -> None:
    """The sentence on outdated summaries would count something else."""
    assert sum(plain_count("summary", n, "lost") for n in (2, 5, 10, 20, 40)) == sum(
        wrong_answers("summary", n, "lost") for n in (2, 5, 10, 20, 40)
    )
    assert 0 == sum(wrong_answers("summary", n, "stale") for n in (2, 5, 10, 20, 40))
    assert sum(plain_count("memgpt", n, "stale") for n in (2, 5, 10, 20, 40)) == sum(
        wrong_answers("memgpt", n, "stale") for n in (2, 5, 10, 20, 40)
    )


def test_a_perfect_search() -> None:
    """The table of what is made perfect would show another simulation."""
    assert plain_accuracy("memgpt", 40, find=1.0) == accuracy("memgpt", 40, Settings(find=1.0))
    assert plain_count("memgpt", 40, "never saved", find=1.0) == wrong_answers(
        "memgpt", 40, "never saved", Settings(find=1.0)
    )
    assert 0 == wrong_answers("memgpt", 40, "not found", Settings(find=1.0))
    assert plain_count("memgpt", 40, "stale", find=1.0) == wrong_answers("memgpt", 40, "stale", Settings(find=1.0))
    assert plain_word(plain_gap("memgpt", 40, "memgpt", 40, find=1.0)) == compared(
        ("memgpt", 40, Settings(find=1.0)), ("memgpt", 40)
    )


def test_a_perfect_choice_of_the_version() -> None:
    """The table of what is made perfect would show another simulation."""
    assert plain_accuracy("memgpt", 40, latest=1.0) == accuracy("memgpt", 40, Settings(latest=1.0))
    assert plain_count("memgpt", 40, "never saved", latest=1.0) == wrong_answers(
        "memgpt", 40, "never saved", Settings(latest=1.0)
    )
    assert plain_count("memgpt", 40, "not found", latest=1.0) == wrong_answers(
        "memgpt", 40, "not found", Settings(latest=1.0)
    )
    assert plain_count("memgpt", 40, "stale", latest=1.0) == wrong_answers("memgpt", 40, "stale", Settings(latest=1.0))
    assert plain_word(plain_gap("memgpt", 40, "memgpt", 40, latest=1.0)) == compared(
        ("memgpt", 40, Settings(latest=1.0)), ("memgpt", 40)
    )


def test_perfect_writing() -> None:
    """The table of what is made perfect would show another simulation."""
    assert plain_accuracy("memgpt", 40, write=1.0, write_warned=1.0) == accuracy(
        "memgpt", 40, Settings(write=1.0, write_warned=1.0)
    )
    assert 0 == wrong_answers("memgpt", 40, "never saved", Settings(write=1.0, write_warned=1.0))
    assert plain_count("memgpt", 40, "not found", write=1.0, write_warned=1.0) == wrong_answers(
        "memgpt", 40, "not found", Settings(write=1.0, write_warned=1.0)
    )
    assert plain_count("memgpt", 40, "stale", write=1.0, write_warned=1.0) == wrong_answers(
        "memgpt", 40, "stale", Settings(write=1.0, write_warned=1.0)
    )
    assert plain_word(plain_gap("memgpt", 40, "memgpt", 40, write=1.0, write_warned=1.0)) == compared(
        ("memgpt", 40, Settings(write=1.0, write_warned=1.0)), ("memgpt", 40)
    )


def test_when_all_is_perfect_all_is_right() -> None:
    """Something would be lost that no setting speaks of."""
    perfect = {"find": 1.0, "latest": 1.0, "write": 1.0, "write_warned": 1.0}
    assert 1.0 == plain_accuracy("memgpt", 40, **perfect)
    assert 1.0 == accuracy("memgpt", 40, Settings(find=1.0, latest=1.0, write=1.0, write_warned=1.0))
    assert 0 == wrong_answers("memgpt", 40, "never saved", Settings(find=1.0, latest=1.0, write=1.0, write_warned=1.0))
    assert 0 == wrong_answers("memgpt", 40, "not found", Settings(find=1.0, latest=1.0, write=1.0, write_warned=1.0))
    assert 0 == wrong_answers("memgpt", 40, "stale", Settings(find=1.0, latest=1.0, write=1.0, write_warned=1.0))
    assert "higher" == compared(
        ("memgpt", 40, Settings(find=1.0, latest=1.0, write=1.0, write_warned=1.0)), ("memgpt", 40)
    )


def test_other_windows_and_an_earlier_warning() -> None:
    """The curves of the second picture would be drawn elsewhere."""
    assert [plain_accuracy("memgpt", n, window=20, warning=14) for n in (2, 5, 10, 20, 40)] == [
        accuracy("memgpt", n, Settings(window=20)) for n in (2, 5, 10, 20, 40)
    ]
    assert [plain_accuracy("memgpt", n, window=80, warning=56) for n in (2, 5, 10, 20, 40)] == [
        accuracy("memgpt", n, Settings(window=80)) for n in (2, 5, 10, 20, 40)
    ]
    # 0.4 of 40 messages are 16: between there and the flush is twice the room that 28 leaves, 24 messages for 12.
    assert [plain_accuracy("memgpt", n, warning=16) for n in (2, 5, 10, 20, 40)] == [
        accuracy("memgpt", n, Settings(warn_at=0.4)) for n in (2, 5, 10, 20, 40)
    ]
    assert plain_accuracy("memgpt", 40, core_slots=30) == accuracy("memgpt", 40, Settings(core_slots=30))
    assert 1.0 == accuracy("memgpt", 40, Settings(core_slots=30))


def test_every_answer_is_of_one_kind() -> None:
    """Wrong answers would be counted twice, or not at all."""
    for method, sessions in CELLS:
        asked = sum(map(len, verdicts(method, sessions)))
        wrong = sum(wrong_answers(method, sessions, kind) for kind in ("gone", "lost", "never saved", "not found"))
        wrong += wrong_answers(method, sessions, "stale")
        assert asked - wrong == round(accuracy(method, sessions) * asked)


# How sure that is.


def plain_resamples(rng: random.Random, answered: list[list[str]]) -> list[float]:
    """Draw the conversations of a cell again from themselves, a thousand times."""
    return [plain_share(rng.choices(answered, k=len(answered))) for _ in range(1_000)]


def plain_ends(values: list[float]) -> tuple[float, float]:
    """Leave out the lowest and the highest twenty-five of a thousand."""
    kept = sorted(values)[25:975]
    return kept[0], kept[-1]


def plain_interval(method: str, sessions: int) -> tuple[float, float]:
    """Find the interval of one cell."""
    return plain_ends(plain_resamples(random.Random(95), plain_cell(method, sessions)))


def plain_gap(first: str, sessions: int, second: str, others: int, **changed: Any) -> tuple[float, float]:
    """Find the interval of the difference of two cells: all resamples of the first, then all of the second.

    What is changed is changed for the first.
    """
    rng = random.Random(95)
    high = plain_resamples(rng, plain_cell(first, sessions, **changed))
    low = plain_resamples(rng, plain_cell(second, others))
    return plain_ends([a - b for a, b in zip(high, low, strict=True)])


def plain_word(gap: tuple[float, float]) -> str:
    """Say what an interval of a difference bears."""
    if gap[0] > 0:
        return "higher"
    return "lower" if gap[1] < 0 else "cannot tell"


def test_intervals_of_truncation_and_summary() -> None:
    """The bands of the picture would be drawn elsewhere."""
    truncation = [plain_interval("truncation", n) for n in (2, 5, 10, 20, 40)]
    summary = [plain_interval("summary", n) for n in (2, 5, 10, 20, 40)]
    assert [low for low, _ in truncation] == [interval("truncation", n)[0] for n in (2, 5, 10, 20, 40)]
    assert [high for _, high in truncation] == [interval("truncation", n)[1] for n in (2, 5, 10, 20, 40)]
    assert [low for low, _ in summary] == [interval("summary", n)[0] for n in (2, 5, 10, 20, 40)]
    assert [high for _, high in summary] == [interval("summary", n)[1] for n in (2, 5, 10, 20, 40)]


def test_intervals_of_memgpt() -> None:
    """The bands of the picture would be drawn elsewhere."""
    unwarned = [plain_interval("unwarned", n) for n in (2, 5, 10, 20, 40)]
    with_warning = [plain_interval("memgpt", n) for n in (2, 5, 10, 20, 40)]
    assert [low for low, _ in unwarned] == [interval("unwarned", n)[0] for n in (2, 5, 10, 20, 40)]
    assert [high for _, high in unwarned] == [interval("unwarned", n)[1] for n in (2, 5, 10, 20, 40)]
    assert [low for low, _ in with_warning] == [interval("memgpt", n)[0] for n in (2, 5, 10, 20, 40)]
    assert [high for _, high in with_warning] == [interval("memgpt", n)[1] for n in (2, 5, 10, 20, 40)]


def test_what_the_warning_is_worth() -> None:
    """A difference would be called real that chance may have made, or the other way round."""
    gaps = [plain_gap("memgpt", n, "unwarned", n) for n in (5, 10, 20, 40)]
    assert [plain_accuracy("memgpt", n) - plain_accuracy("unwarned", n) for n in (5, 10, 20, 40)] == [
        difference(("memgpt", n), ("unwarned", n)) for n in (5, 10, 20, 40)
    ]
    assert [low for low, _ in gaps] == [difference_interval(("memgpt", n), ("unwarned", n))[0] for n in (5, 10, 20, 40)]
    assert [high for _, high in gaps] == [
        difference_interval(("memgpt", n), ("unwarned", n))[1] for n in (5, 10, 20, 40)
    ]
    assert [plain_word(gap) for gap in gaps] == [compared(("memgpt", n), ("unwarned", n)) for n in (5, 10, 20, 40)]
    assert ["cannot tell", "higher", "higher", "higher"] == [
        compared(("memgpt", n), ("unwarned", n)) for n in (5, 10, 20, 40)
    ]


def test_memgpt_beside_the_summary() -> None:
    """A difference would be called real that chance may have made, or the other way round."""
    gaps = [plain_gap("memgpt", n, "summary", n) for n in (5, 10, 20, 40)]
    assert [plain_accuracy("memgpt", n) - plain_accuracy("summary", n) for n in (5, 10, 20, 40)] == [
        difference(("memgpt", n), ("summary", n)) for n in (5, 10, 20, 40)
    ]
    assert [low for low, _ in gaps] == [difference_interval(("memgpt", n), ("summary", n))[0] for n in (5, 10, 20, 40)]
    assert [high for _, high in gaps] == [
        difference_interval(("memgpt", n), ("summary", n))[1] for n in (5, 10, 20, 40)
    ]
    assert [plain_word(gap) for gap in gaps] == [compared(("memgpt", n), ("summary", n)) for n in (5, 10, 20, 40)]


def test_memgpt_without_the_warning_beside_the_summary() -> None:
    """A difference would be called real that chance may have made, or the other way round."""
    gaps = [plain_gap("unwarned", n, "summary", n) for n in (5, 10, 20, 40)]
    assert [plain_accuracy("unwarned", n) - plain_accuracy("summary", n) for n in (5, 10, 20, 40)] == [
        difference(("unwarned", n), ("summary", n)) for n in (5, 10, 20, 40)
    ]
    assert [low for low, _ in gaps] == [
        difference_interval(("unwarned", n), ("summary", n))[0] for n in (5, 10, 20, 40)
    ]
    assert [high for _, high in gaps] == [
        difference_interval(("unwarned", n), ("summary", n))[1] for n in (5, 10, 20, 40)
    ]
    assert [plain_word(gap) for gap in gaps] == [compared(("unwarned", n), ("summary", n)) for n in (5, 10, 20, 40)]
    assert "lower" == compared(("unwarned", 10), ("summary", 10))


def test_differences_that_sentences_quote() -> None:
    """A sentence would quote another difference than the table beside it."""
    assert 506 / 600 - 455 / 600 == difference(("memgpt", 10), ("unwarned", 10))
    assert 480 / 600 - 383 / 600 == difference(("memgpt", 20), ("unwarned", 20))
    assert 506 / 600 - 506 / 600 == difference(("memgpt", 10), ("summary", 10))
    gap = plain_gap("memgpt", 10, "summary", 10)
    assert gap[0] == difference_interval(("memgpt", 10), ("summary", 10))[0]
    assert gap[1] == difference_interval(("memgpt", 10), ("summary", 10))[1]
    assert 1_000 == RESAMPLES
    assert 1_000 * (1 - 0.95) / 2 == pytest.approx(TAIL)
    assert 25 == TAIL
    assert 0.95 == 1 - 2 * TAIL / RESAMPLES


def test_what_is_lost_between_ten_and_forty_sessions() -> None:
    """A fall would be called real that chance may have made, or the other way round."""
    memgpt_falls = plain_gap("memgpt", 10, "memgpt", 40)
    summary_falls = plain_gap("summary", 10, "summary", 40)
    assert memgpt_falls[0] == difference_interval(("memgpt", 10), ("memgpt", 40))[0]
    assert memgpt_falls[1] == difference_interval(("memgpt", 10), ("memgpt", 40))[1]
    assert summary_falls[0] == difference_interval(("summary", 10), ("summary", 40))[0]
    assert summary_falls[1] == difference_interval(("summary", 10), ("summary", 40))[1]
    assert plain_accuracy("memgpt", 10) - plain_accuracy("memgpt", 40) == difference(("memgpt", 10), ("memgpt", 40))
    assert plain_accuracy("summary", 10) - plain_accuracy("summary", 40) == difference(("summary", 10), ("summary", 40))
    assert "higher" == compared(("memgpt", 10), ("memgpt", 40))
    later = plain_gap("memgpt", 20, "memgpt", 40)
    assert later[0] == difference_interval(("memgpt", 20), ("memgpt", 40))[0]
    assert later[1] == difference_interval(("memgpt", 20), ("memgpt", 40))[1]
    assert "cannot tell" == compared(("memgpt", 20), ("memgpt", 40))


def test_how_many_questions_were_asked() -> None:
    """The share of right answers would be one of another number of questions."""
    assert 100 * 6 == questions_asked("memgpt", 10)
    # 506 answers are right with the warning, and 455 without it.
    assert 506 - 455 == round(difference(("memgpt", 10), ("unwarned", 10)) * questions_asked("memgpt", 10))


def test_intervals_hold_their_figure() -> None:
    """An interval would be of another cell."""
    for method, sessions in CELLS:
        low, high = interval(method, sessions)
        assert low <= accuracy(method, sessions) <= high
        assert (low == high) == (sessions == 2)  # all right, however they are drawn


# Bad input.


@pytest.mark.parametrize("name", ["keep", "warn_at", "write", "write_warned", "find", "latest", "update", "recall"])
@pytest.mark.parametrize("share", [-0.01, 1.01, 60, math.nan, math.inf, "0.6", None])
def test_probabilities_outside_of_their_range(name: str, share: Any) -> None:
    """A probability of 60 would be taken for one of 1, and a word would fail somewhere else."""
    with pytest.raises(ValueError, match=f"^{name} must be a number from 0 to 1, not {re.escape(repr(share))}$"):
        Settings(**{name: share})


def test_windows_and_core_memories_that_cannot_be() -> None:
    """A window that cannot be halved would run for ever, and a negative core memory would hold everything."""
    with pytest.raises(ValueError, match=r"^window must be 2 messages or more, not 1: half of it is flushed$"):
        Settings(window=1)
    with pytest.raises(ValueError, match=r"^window must be 0 or more, not -40$"):
        Settings(window=-40)
    with pytest.raises(TypeError, match=r"^window must be a whole number, not 40\.0$"):
        Settings(window=40.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^core_slots must be 0 or more, not -1$"):
        Settings(core_slots=-1)
    with pytest.raises(TypeError, match=r"^core_slots must be a whole number, not True$"):
        Settings(core_slots=True)


def test_the_ends_of_the_ranges_are_allowed() -> None:
    """A reader could not switch something off, or make it certain."""
    assert 0 == Settings(core_slots=0, write=0, find=1).core_slots
    assert 1.0 == accuracy("memgpt", 10, Settings(write=1, write_warned=1, find=1, latest=1))


def test_unknown_methods() -> None:
    """A mistyped method would be a bare KeyError."""
    expected = "no method is called 'MemGPT'; there are: truncation, summary, unwarned, memgpt"
    for function in (verdicts, accuracy, interval):
        with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
            function("MemGPT", 10)
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        difference_interval(("memgpt", 10), ("MemGPT", 10))


def test_unknown_kinds() -> None:
    """A mistyped kind would be counted as never seen."""
    expected = "no wrong answer is 'forgotten'; there are: gone, lost, never saved, not found, stale"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        wrong_answers("memgpt", 10, "forgotten")
    with pytest.raises(ValueError, match=r"^no wrong answer is 'right'; there are: gone"):
        wrong_answers("memgpt", 10, "right")


def test_sessions_that_cannot_be() -> None:
    """No session would end in a division by zero."""
    with pytest.raises(ValueError, match=r"^sessions must be 1 or more: there is nothing to ask about$"):
        accuracy("memgpt", 0)
    with pytest.raises(ValueError, match=r"^sessions must be 0 or more, not -1$"):
        accuracy("memgpt", -1)
    with pytest.raises(TypeError, match=r"^sessions must be a whole number, not 2\.5$"):
        accuracy("memgpt", 2.5)  # type: ignore[arg-type]


def test_one_session_is_enough() -> None:
    """The shortest conversation would not be answered in full."""
    assert [1.0, 1.0, 1.0, 1.0] == [accuracy(method, 1) for method in METHODS]


def test_examples_in_docstrings() -> None:
    """An example that a reader sees in the code would show another result."""
    result = doctest.testmod(memgpt)
    assert (0, 5) == (result.failed, result.attempted)
