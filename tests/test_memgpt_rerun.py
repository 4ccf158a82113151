"""The honest re-run and recall storage: every figure, against a replay message by message."""

import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code.memgpt import (
    CONTENDERS,
    MEMGPT,
    RECALL,
    RERUN_CONVERSATIONS,
    RERUN_SESSIONS,
    SUMMARY,
    TRUNCATION,
    UNWARNED,
    Contender,
    Conversation,
    Memory,
    Settings,
    ask,
    beginning,
    converse,
    difference,
    difference_interval,
    lives,
    memgpt,
    paired_difference,
    paired_interval,
    pick,
    ratio_interval,
    recalling,
    recursive_summary,
    rerun,
    rerun_accuracy,
    rerun_asked,
    rerun_count,
    rerun_interval,
    truncation,
    versions_of,
)

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=200)


# The slow and obvious reference: every message of every conversation, one after the other, with the public
# methods of `random`. A message is None if it is small talk, otherwise what it is about and its value.


def slow_conversation(rng, sessions):
    """All messages of a conversation."""
    messages, known = [], []
    for _ in range(sessions):
        places = rng.sample(range(12), 2)
        for place in range(12):
            message = None
            if place in places:
                if known and rng.random() < 0.25:
                    attribute = rng.choice(known)
                else:
                    attribute = rng.choice([each for each in range(30) if each not in known] or known)
                message = (attribute, rng.randint(100, 999))
                known = sorted({*known, attribute})
            messages.append(message)
    return messages


def slow_truncation(messages, asked, rng, chances):
    """Answers from the last 40 messages; none is "gone"."""
    window = dict(message for message in messages[-40:] if message)
    return [window.get(attribute, "gone") for attribute in asked]


def slow_summary(messages, asked, rng, chances):
    """Answers of a window of 40, of which the oldest 20 are squeezed into a summary when it overflows."""
    window, summary = [], {}
    for message in messages:
        window.append(message)
        if len(window) > 40:
            for squeezed in window[:20]:
                if squeezed:
                    summary[squeezed[0]] = squeezed[1]
            summary = {attribute: summary[attribute] for attribute in summary if rng.random() < 0.85}
            window = window[20:]
    known = {**summary, **dict(message for message in window if message)}
    return [known.get(attribute, "lost") for attribute in asked]


def slow_memgpt(messages, asked, rng, chances):
    """Answers of MemGPT, where chances are: of a write when warned, of recall."""
    warned, recall = chances
    count, core, archive = 0, {}, []
    for message in messages:
        count += 1
        if count > 40:
            count = 20
        if message:
            if rng.random() < (warned if count >= 28 else 0.6):
                archive.append(message)
            core = {attribute: core[attribute] for attribute in core if attribute != message[0]}
            core[message[0]] = message[1]
            if len(core) > 8:
                core = {attribute: core[attribute] for attribute in list(core)[1:]}
    window = {**core, **dict(message for message in messages[-count:] if message)}
    answers = []
    for attribute in asked:
        answer = window.get(attribute)
        if answer is None:
            missing = "not found"
            if rng.random() < 0.9:
                missing = "never saved"
                answer = slow_pick(archive, attribute, rng)
            if answer is None and recall > 0 and rng.random() < recall:
                answer = slow_pick(messages[:-count], attribute, rng)
            if answer is None:
                answer = missing
        answers.append(answer)
    return answers


def slow_pick(messages, attribute, rng):
    """The newest value in these messages, or with a chance of 0.1 an older one; None if there is none."""
    values = [message[1] for message in messages if message and message[0] == attribute]
    if len(values) > 1 and rng.random() >= 0.9:
        return values[rng.randrange(len(values) - 1)]
    return values[-1] if values else None


def slow_rerun(memories, lengths, conversations):
    """How each question ends, for each memory and length a list with an entry for each conversation."""
    talk = random.Random("conversations")
    choose = {length: random.Random(f"questions {length}") for length in lengths}
    pairs = [(memory, length) for length in lengths for memory in memories]
    luck = {(memory, length): random.Random(f"{memory[0]} {length}") for memory, length in pairs}
    results = {pair: [] for pair in pairs}
    for _ in range(conversations):
        whole = slow_conversation(talk, 40)
        for length in lengths:
            messages = whole[: 12 * length]
            newest = dict(message for message in messages if message)
            asked = choose[length].sample(sorted(newest), min(6, len(newest)))
            for memory in memories:
                _, live, chances = memory
                answers = live(messages, asked, luck[memory, length], chances)
                ends = [slow_kind(answer, newest[each]) for each, answer in zip(asked, answers, strict=True)]
                results[memory, length].append(ends)
    return results


def slow_table(memory, length):
    """The same for a cell of the published table: a stream for all, and each question on its own replays the whole."""
    _, live, chances = memory
    rng = random.Random(240 + length)
    results = []
    for _ in range(100):
        messages = slow_conversation(rng, length)
        newest = dict(message for message in messages if message)
        asked = rng.sample(sorted(newest), min(6, len(newest)))
        results.append([slow_kind(live(messages, [each], rng, chances)[0], newest[each]) for each in asked])
    return results


def slow_kind(answer, newest):
    """Whether an answer is right, an older value, or none for the reason it states."""
    if answer == newest:
        return "right"
    return answer if isinstance(answer, str) else "stale"


def slow_recalling(chance):
    """MemGPT that can search its flushed messages and finds with a chance."""
    return ("MemGPT with recall", slow_memgpt, (0.95, chance))


CUT = ("truncation", slow_truncation, ())
SUMMED = ("recursive summary", slow_summary, ())
SILENT = ("MemGPT, no warning", slow_memgpt, (0.6, 0))
WARNED = ("MemGPT", slow_memgpt, (0.95, 0))
RECALLED = ("MemGPT with recall", slow_memgpt, (0.95, 0.9))
PUBLISHED = {(memory, n): slow_table(memory, n) for memory in (SUMMED, SILENT, WARNED) for n in (10, 20, 40)}
SLOW = slow_rerun([CUT, SUMMED, SILENT, WARNED, RECALLED], [5, 10, 20, 40], 4_000)
SLOW_RECALLS = slow_rerun([slow_recalling(chance) for chance in (0, 0.25, 0.5, 0.75, 1)], [20], 1_000)


def slow_count(kind, memory, length):
    """How many answers are of a kind."""
    return sum([kinds.count(kind) for kinds in SLOW[memory, length]])


def slow_rights(memory, length):
    """How many right answers, for each conversation."""
    return [kinds.count("right") for kinds in SLOW[memory, length]]


def slow_questions(length):
    """How many questions, for each conversation."""
    return [len(kinds) for kinds in SLOW[WARNED, length]]


def slow_accuracy(memory, length):
    """Right answers / questions."""
    return sum(slow_rights(memory, length)) / sum(slow_questions(length))


def slow_gains(memory, other, length):
    """How many more right answers than another, for each conversation."""
    pairs = zip(slow_rights(memory, length), slow_rights(other, length), strict=True)
    return [mine - theirs for mine, theirs in pairs]


def slow_difference(memory, other, length):
    """The difference of the two accuracies."""
    return sum(slow_gains(memory, other, length)) / sum(slow_questions(length))


def slow_ends(gains, asked):
    """The ends of a 95 % interval: the ratio, less and plus 1.96 standard errors, in exact fractions."""
    ratio = Fraction(sum(gains), sum(asked))
    off = [gain - ratio * number for gain, number in zip(gains, asked, strict=True)]
    error = statistics.stdev(off) * len(asked) ** 0.5 / sum(asked)
    return [float(ratio) - 1.96 * error, float(ratio) + 1.96 * error]


def slow_interval(memory, length):
    """The interval of an accuracy."""
    return slow_ends(slow_rights(memory, length), slow_questions(length))


def slow_paired(memory, other, length):
    """The interval of a difference."""
    return slow_ends(slow_gains(memory, other, length), slow_questions(length))


def slow_published(memory, length):
    """Right answers / questions of a cell of the published table."""
    rights = [kinds.count("right") for kinds in PUBLISHED[memory, length]]
    return sum(rights) / sum([len(kinds) for kinds in PUBLISHED[memory, length]])


def slow_resampled(rights, asked, rng):
    """A thousand accuracies of conversations drawn again from themselves."""
    draws = [rng.choices(range(len(rights)), k=len(rights)) for _ in range(1_000)]
    return [sum([rights[n] for n in drawn]) / sum([asked[n] for n in drawn]) for drawn in draws]


def slow_published_interval(memory, other, length):
    """The interval of a difference of two cells, each resampled on its own."""
    rng = random.Random(95)
    one, two = [
        slow_resampled(
            [kinds.count("right") for kinds in PUBLISHED[each, length]],
            [len(kinds) for kinds in PUBLISHED[each, length]],
            rng,
        )
        for each in (memory, other)
    ]
    between = sorted([mine - theirs for mine, theirs in zip(one, two, strict=True)])
    return [between[25], between[974]]


def slow_recall_count(kind, chance):
    """How many answers after 20 sessions are of a kind, with a chance of recall, in 1,000 conversations."""
    return sum([kinds.count(kind) for kinds in SLOW_RECALLS[slow_recalling(chance), 20]])


def slow_recall_accuracy(chance):
    """Right answers / questions, the same way."""
    asked = sum([len(kinds) for kinds in SLOW_RECALLS[slow_recalling(chance), 20]])
    return slow_recall_count("right", chance) / asked


def slow_recall_interval(chance):
    """The interval of that."""
    rights = [kinds.count("right") for kinds in SLOW_RECALLS[slow_recalling(chance), 20]]
    return slow_ends(rights, [len(kinds) for kinds in SLOW_RECALLS[slow_recalling(chance), 20]])


# Recall storage, by hand.


class Luck(random.Random):
    """A generator that draws what it is told, and refuses to draw more."""

    def __init__(self, *draws: float) -> None:
        super().__init__(0)
        self.draws = list(draws)

    def random(self) -> float:
        """The next of the draws."""
        return self.draws.pop(0)

    def randrange(self, *limits: int) -> int:
        """The next of the draws, as a whole number below the limit."""
        (limit,) = limits
        drawn = int(self.draws.pop(0))
        assert drawn < limit
        return drawn


def answer(memory: Memory, chance: float, *draws: float) -> int | str:
    """What is answered about attribute 7, with that chance of recall, if luck draws that and nothing else."""
    luck = Luck(*draws)
    said = ask(memory, 7, luck, Settings(recall=chance))
    assert [] == luck.draws
    return said


OLD, NEW = (3, 7, 300), (9, 7, 900)
UNSAVED = Memory({}, "never saved", ((4, 5, 400),), (OLD, (4, 5, 400)))


def test_recall_is_tried_when_the_archive_gave_nothing() -> None:
    """The messages would not be searched, or their search could not fail."""
    # The archive's search misses (0.95 is not below 0.9), the other finds (0.89), or misses too (0.9).
    assert 300 == answer(UNSAVED, 0.9, 0.95, 0.89)
    assert "not found" == answer(UNSAVED, 0.9, 0.95, 0.9)
    # The archive is searched, but the fact was never written to it.
    assert 300 == answer(UNSAVED, 0.9, 0.5, 0.0)
    assert "never saved" == answer(UNSAVED, 0.9, 0.5, 0.99)
    assert 300 == answer(UNSAVED, 1, 0.5, 0.99)


def test_without_recall_storage_nothing_is_drawn_for_it() -> None:
    """The stream of the published table would move on."""
    assert "not found" == answer(UNSAVED, 0, 0.9)
    assert "never saved" == answer(UNSAVED, 0, 0.89)


def test_recall_is_not_reached_otherwise() -> None:
    """A draw would be made, or an answer thrown away, though there was an answer already."""
    assert 111 == answer(Memory({7: 111}, "never saved", (), (OLD,)), 0.9)
    assert "gone" == answer(Memory({}, "gone"), 0.9)
    assert "lost" == answer(Memory({}, "lost"), 0.9)
    assert 900 == answer(Memory({}, "never saved", (NEW,), (OLD, NEW)), 0.9, 0.5)
    # What was written down is outdated, and nothing tells the model so: it does not search on.
    assert 300 == answer(Memory({}, "never saved", (OLD,), (OLD, NEW)), 0.9, 0.5)
    # Nobody ever said it: there is nothing to find.
    assert "never saved" == answer(Memory({}, "never saved", (), ((4, 5, 400),)), 0.9, 0.5)


def test_recall_can_bring_up_an_older_version() -> None:
    """The search of the messages would know which version is the newest."""
    both = Memory({}, "never saved", (), (OLD, (4, 5, 400), NEW))
    assert 900 == answer(both, 0.9, 0.5, 0.5, 0.89)
    assert 300 == answer(both, 0.9, 0.5, 0.5, 0.9, 0)
    assert 300 == answer(both, 0.9, 0.95, 0.5, 0.9, 0)


def test_versions_of_an_attribute() -> None:
    """A search would bring up other facts, or in another order."""
    assert [300, 900] == versions_of(7, (OLD, (4, 5, 400), NEW))
    assert [] == versions_of(7, ((4, 5, 400),))
    assert 1 == pick([1], Luck(), Settings())
    assert 1 == pick([1, 2, 3], Luck(0.95, 0), Settings())
    assert 2 == pick([1, 2, 3], Luck(0.95, 1), Settings())
    assert 3 == pick([1, 2, 3], Luck(0.85), Settings())


def test_what_left_the_window_is_what_recall_searches() -> None:
    """A flushed message could not be found, or one that is in the window could."""
    facts = ((1, 1, 100), (21, 2, 200), (22, 3, 300), (41, 4, 400))
    # On message 41 the window keeps the newest 20: messages 22 to 41.
    after = memgpt(Conversation(41, facts), Settings())(random.Random(0))
    assert facts[:2] == after.flushed
    before = memgpt(Conversation(40, facts[:3]), Settings())(random.Random(0))
    assert () == before.flushed


# The run.


def test_every_answer_is_that_of_a_plain_replay() -> None:
    """The re-run would not be what it says: the same conversations, one life each, the streams as documented."""
    for contender, memory in zip(CONTENDERS, (CUT, SUMMED, SILENT, WARNED, RECALLED), strict=True):
        for sessions in RERUN_SESSIONS:
            assert SLOW[memory, sessions] == [list(kinds) for kinds in rerun(contender, sessions)]


def test_a_result_depends_on_nobody_else() -> None:
    """What a contender answers would depend on who else takes part, on other lengths, or on how many follow."""
    alone = lives((MEMGPT,), (10,), 20)[MEMGPT, 10]
    assert lives(CONTENDERS, RERUN_SESSIONS, 30)[MEMGPT, 10][:20] == alone
    assert rerun(MEMGPT, 10)[:20] == alone
    assert rerun(Contender("MemGPT", memgpt), 10, 20) == alone
    assert rerun(Contender("another name", memgpt), 10, 20) != alone


def test_other_lengths_and_memories() -> None:
    """Only the page's own lengths and contenders could be run."""
    assert 6 * 50 > rerun_asked(3, 50)  # six facts, some of which are updates
    assert 1 == rerun_accuracy(MEMGPT, 3, 50)  # 36 messages fit the window
    never = Contender("writes nothing", memgpt, Settings(write=0, write_warned=0))
    assert 0 == rerun_count("stale", never, 12, 50) + rerun_count("lost", never, 12, 50)
    assert 0 < rerun_count("never saved", never, 12, 50)
    whole = Contender("loses nothing", recursive_summary, Settings(keep=1))
    assert 1 == rerun_accuracy(whole, 20, 50)
    wide = Contender("sees all", truncation, Settings(window=480))
    assert 1 == rerun_accuracy(wide, 40, 50)


def test_the_beginning_of_a_conversation() -> None:
    """A shorter conversation would not be what a longer one began with."""
    whole = converse(random.Random(1), 40, Settings())
    assert Conversation(10 * 12, whole.facts[: 10 * 2]) == beginning(whole, 10)
    assert converse(random.Random(1), 10, Settings()) == beginning(whole, 10)
    assert whole == beginning(whole, 40)


@pytest.mark.parametrize(
    ("sessions", "conversations", "error", "says"),
    [
        (0, 10, ValueError, "sessions must be 1 to 40, not 0"),
        (41, 10, ValueError, "sessions must be 1 to 40, not 41"),
        (2.5, 10, TypeError, "sessions"),
        (10, 0, ValueError, "conversations must be 1 or more"),
        (10, "ten", TypeError, "conversations"),
    ],
)
def test_runs_that_mean_nothing_are_refused(sessions, conversations, error, says) -> None:
    """A run of nothing would end in a division by zero, or a longer one would be cut short without a word."""
    with pytest.raises(error, match=says):
        rerun(MEMGPT, sessions, conversations)


def test_one_session_is_the_least() -> None:
    """The shortest conversation would be refused."""
    assert 1 == len(rerun(MEMGPT, 1, 1))


# The interval.


def test_intervals_by_hand() -> None:
    """The standard error would not be that of a ratio."""
    # Half of the questions; the conversations are off by 1, -1, 0 and 0, whose squares add up to 2.
    half = 1.96 * (2 * 4 / 3) ** 0.5 / 16
    assert (0.5 - half, 0.5 + half) == pytest.approx(ratio_interval([3, 1, 2, 2], [4, 4, 4, 4]))
    # A quarter; 1 of 1 is off by 0.75, and 0 of 3 by -0.75: (2 * 0.5625 * 2 / 1) ** 0.5 / 4 = 0.375.
    assert (0.25 - 1.96 * 0.375, 0.25 + 1.96 * 0.375) == pytest.approx(ratio_interval([1, 0], [1, 3]))
    # If all gain the same share of their questions, there is no doubt.
    assert (0.5, 0.5) == ratio_interval([2, 1, 3], [4, 2, 6])
    assert (-0.5, -0.5) == ratio_interval([-2, -1], [4, 2])


def test_an_interval_needs_two_conversations() -> None:
    """A single conversation would give a division by zero."""
    with pytest.raises(ValueError, match="2 conversations or more"):
        ratio_interval([1], [4])
    with pytest.raises(ValueError, match="2 conversations or more"):
        rerun_interval(MEMGPT, 10, 1)


few = st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 6)), min_size=2, max_size=30)


@same_every_run
@given(few)
def test_intervals_are_those_of_the_plain_formula(pairs) -> None:
    """The interval would be right for the sizes of the page only."""
    gains, asked = zip(*pairs, strict=True)
    assert slow_ends(gains, asked) == pytest.approx(list(ratio_interval(gains, asked)), abs=1e-9)


def sample_of_conversations() -> tuple[list[int], list[int]]:
    """Gains and questions of 200 conversations that differ in both."""
    rng = random.Random(5)
    asked = [rng.randint(3, 6) for _ in range(200)]
    return [rng.randint(-1, number) for number in asked], asked


def test_leaving_one_out_gives_the_same_interval() -> None:
    """The formula would be another than leaving out each conversation in turn gives, by more than 2 %."""
    gains, asked = sample_of_conversations()
    total, questions = sum(gains), sum(asked)
    without = [(total - gain) / (questions - number) for gain, number in zip(gains, asked, strict=True)]
    mean = statistics.fmean(without)
    error = (sum((one - mean) ** 2 for one in without) * (200 - 1) / 200) ** 0.5
    low, high = ratio_interval(gains, asked)
    assert 2 * 1.96 * error == pytest.approx(high - low, rel=0.02)


def test_drawing_conversations_again_gives_the_same_interval() -> None:
    """The formula would be another than drawing conversations with replacement gives, by more than 5 %."""
    gains, asked = sample_of_conversations()
    rng = random.Random(6)
    ratios = []
    for _ in range(4_000):
        drawn = rng.choices(range(200), k=200)
        ratios.append(sum(gains[n] for n in drawn) / sum(asked[n] for n in drawn))
    low, high = ratio_interval(gains, asked)
    assert 2 * 1.96 * statistics.stdev(ratios) == pytest.approx(high - low, rel=0.05)
    ratios.sort()
    assert (ratios[100], ratios[-101]) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_paired_intervals_are_narrow() -> None:
    """There would be too few conversations to tell the memories apart."""
    for one in CONTENDERS:
        for other in CONTENDERS:
            for sessions in RERUN_SESSIONS:
                low, high = paired_interval(one, other, sessions)
                assert low <= paired_difference(one, other, sessions) <= high
                assert high - low < 0.02


def test_another_run_by_others_agrees() -> None:
    """The re-run would contradict an independent one, with 4,000 conversations, by more than its intervals allow."""
    for sessions, worth in ((10, 0.066), (20, 0.123), (40, 0.129)):
        low, high = paired_interval(MEMGPT, UNWARNED, sessions)
        assert low <= worth <= high
    low, high = paired_interval(UNWARNED, SUMMARY, 10)
    assert low <= -0.044 <= high


# The figures of the page.


def test_accuracies_of_the_re_run() -> None:
    """The table and the curves of the re-run would be others."""
    assert 4_000 == RERUN_CONVERSATIONS
    assert (5, 10, 20, 40) == RERUN_SESSIONS
    assert [slow_accuracy(CUT, n) for n in (5, 10, 20, 40)] == [rerun_accuracy(TRUNCATION, n) for n in (5, 10, 20, 40)]
    assert [slow_accuracy(SUMMED, n) for n in (5, 10, 20, 40)] == [rerun_accuracy(SUMMARY, n) for n in (5, 10, 20, 40)]
    assert [slow_accuracy(SILENT, n) for n in (5, 10, 20, 40)] == [rerun_accuracy(UNWARNED, n) for n in (5, 10, 20, 40)]
    assert [slow_accuracy(WARNED, n) for n in (5, 10, 20, 40)] == [rerun_accuracy(MEMGPT, n) for n in (5, 10, 20, 40)]
    assert [slow_accuracy(RECALLED, n) for n in (5, 10, 20, 40)] == [rerun_accuracy(RECALL, n) for n in (5, 10, 20, 40)]


def test_bands_of_the_re_run() -> None:
    """The bands around the curves would be others."""
    assert pytest.approx([slow_interval(CUT, n)[0] for n in (5, 10, 20, 40)]) == [
        rerun_interval(TRUNCATION, n)[0] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(CUT, n)[1] for n in (5, 10, 20, 40)]) == [
        rerun_interval(TRUNCATION, n)[1] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(SUMMED, n)[0] for n in (5, 10, 20, 40)]) == [
        rerun_interval(SUMMARY, n)[0] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(SUMMED, n)[1] for n in (5, 10, 20, 40)]) == [
        rerun_interval(SUMMARY, n)[1] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(SILENT, n)[0] for n in (5, 10, 20, 40)]) == [
        rerun_interval(UNWARNED, n)[0] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(SILENT, n)[1] for n in (5, 10, 20, 40)]) == [
        rerun_interval(UNWARNED, n)[1] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(WARNED, n)[0] for n in (5, 10, 20, 40)]) == [
        rerun_interval(MEMGPT, n)[0] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(WARNED, n)[1] for n in (5, 10, 20, 40)]) == [
        rerun_interval(MEMGPT, n)[1] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(RECALLED, n)[0] for n in (5, 10, 20, 40)]) == [
        rerun_interval(RECALL, n)[0] for n in (5, 10, 20, 40)
    ]
    assert pytest.approx([slow_interval(RECALLED, n)[1] for n in (5, 10, 20, 40)]) == [
        rerun_interval(RECALL, n)[1] for n in (5, 10, 20, 40)
    ]


def test_the_warning() -> None:
    """The table of this pair would be another, published or run again."""
    assert pytest.approx([slow_published(WARNED, n) - slow_published(SILENT, n) for n in (10, 20, 40)]) == [
        difference(("memgpt", n), ("unwarned", n)) for n in (10, 20, 40)
    ]
    assert [slow_difference(WARNED, SILENT, n) for n in (10, 20, 40)] == [
        paired_difference(MEMGPT, UNWARNED, n) for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(WARNED, SILENT, n)[0] for n in (10, 20, 40)]) == [
        paired_interval(MEMGPT, UNWARNED, n)[0] for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(WARNED, SILENT, n)[1] for n in (10, 20, 40)]) == [
        paired_interval(MEMGPT, UNWARNED, n)[1] for n in (10, 20, 40)
    ]


def test_memgpt_without_the_warning_and_the_summary() -> None:
    """The table of this pair would be another, published or run again."""
    assert pytest.approx([slow_published(SILENT, n) - slow_published(SUMMED, n) for n in (10, 20, 40)]) == [
        difference(("unwarned", n), ("summary", n)) for n in (10, 20, 40)
    ]
    assert [slow_difference(SILENT, SUMMED, n) for n in (10, 20, 40)] == [
        paired_difference(UNWARNED, SUMMARY, n) for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(SILENT, SUMMED, n)[0] for n in (10, 20, 40)]) == [
        paired_interval(UNWARNED, SUMMARY, n)[0] for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(SILENT, SUMMED, n)[1] for n in (10, 20, 40)]) == [
        paired_interval(UNWARNED, SUMMARY, n)[1] for n in (10, 20, 40)
    ]


def test_memgpt_and_the_summary() -> None:
    """The table of this pair would be another, published or run again."""
    assert pytest.approx([slow_published(WARNED, n) - slow_published(SUMMED, n) for n in (10, 20, 40)]) == [
        difference(("memgpt", n), ("summary", n)) for n in (10, 20, 40)
    ]
    assert [slow_difference(WARNED, SUMMED, n) for n in (10, 20, 40)] == [
        paired_difference(MEMGPT, SUMMARY, n) for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(WARNED, SUMMED, n)[0] for n in (10, 20, 40)]) == [
        paired_interval(MEMGPT, SUMMARY, n)[0] for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(WARNED, SUMMED, n)[1] for n in (10, 20, 40)]) == [
        paired_interval(MEMGPT, SUMMARY, n)[1] for n in (10, 20, 40)
    ]


def test_figures_in_the_sentences_of_the_re_run() -> None:
    """A sentence that compares the published table with the re-run would state other figures."""
    assert slow_published(WARNED, 10) - slow_published(SILENT, 10) == difference(("memgpt", 10), ("unwarned", 10))
    assert slow_difference(WARNED, SILENT, 10) == paired_difference(MEMGPT, UNWARNED, 10)
    assert pytest.approx(slow_published(SILENT, 10) - slow_published(SUMMED, 10)) == difference(
        ("unwarned", 10), ("summary", 10)
    )
    assert slow_difference(SILENT, SUMMED, 10) == paired_difference(UNWARNED, SUMMARY, 10)
    assert pytest.approx(slow_paired(SILENT, SUMMED, 10)[0]) == paired_interval(UNWARNED, SUMMARY, 10)[0]
    assert pytest.approx(slow_paired(SILENT, SUMMED, 10)[1]) == paired_interval(UNWARNED, SUMMARY, 10)[1]
    assert slow_difference(SILENT, SUMMED, 20) == paired_difference(UNWARNED, SUMMARY, 20)
    assert slow_difference(WARNED, SILENT, 20) == paired_difference(MEMGPT, UNWARNED, 20)
    assert (
        pytest.approx(slow_published_interval(SILENT, SUMMED, 20)[0])
        == difference_interval(("unwarned", 20), ("summary", 20))[0]
    )
    assert (
        pytest.approx(slow_published_interval(SILENT, SUMMED, 20)[1])
        == difference_interval(("unwarned", 20), ("summary", 20))[1]
    )
    assert slow_published(WARNED, 10) - slow_published(SUMMED, 10) == difference(("memgpt", 10), ("summary", 10))
    assert slow_difference(WARNED, SUMMED, 10) == paired_difference(MEMGPT, SUMMARY, 10)
    assert slow_accuracy(WARNED, 10) == rerun_accuracy(MEMGPT, 10)
    assert slow_accuracy(WARNED, 20) == rerun_accuracy(MEMGPT, 20)
    assert slow_accuracy(WARNED, 40) == rerun_accuracy(MEMGPT, 40)
    assert slow_accuracy(SUMMED, 10) == rerun_accuracy(SUMMARY, 10)
    assert slow_accuracy(SUMMED, 40) == rerun_accuracy(SUMMARY, 40)
    assert pytest.approx(slow_interval(WARNED, 20)[0]) == rerun_interval(MEMGPT, 20)[0]
    assert pytest.approx(slow_interval(WARNED, 20)[1]) == rerun_interval(MEMGPT, 20)[1]
    assert pytest.approx(slow_interval(WARNED, 40)[0]) == rerun_interval(MEMGPT, 40)[0]
    assert pytest.approx(slow_interval(WARNED, 40)[1]) == rerun_interval(MEMGPT, 40)[1]


PAIRS = [
    ("memgpt", "unwarned", MEMGPT, UNWARNED),
    ("unwarned", "summary", UNWARNED, SUMMARY),
    ("memgpt", "summary", MEMGPT, SUMMARY),
]


def test_what_the_page_calls_real() -> None:
    """A sentence would claim what no interval bears."""
    for one, other, mine, theirs in PAIRS:
        for n in (10, 20, 40):
            # What the re-run finds lies inside what the published table leaves open.
            low, high = difference_interval((one, n), (other, n))
            assert low < paired_difference(mine, theirs, n) < high
            # And it is never zero.
            low, high = paired_interval(mine, theirs, n)
            assert low > 0 or high < 0
    # MemGPT is above the summary everywhere; without the warning at all lengths but 10.
    for n in RERUN_SESSIONS:
        assert paired_interval(MEMGPT, SUMMARY, n)[0] > 0
        assert (paired_interval(UNWARNED, SUMMARY, n)[0] > 0) == (n != 10)
        assert paired_interval(RECALL, MEMGPT, n)[0] > 0
        assert paired_interval(SUMMARY, TRUNCATION, n)[0] > 0
    # The published table overstates what the warning is worth, and how far MemGPT is below the summary without it.
    for n in (10, 20, 40):
        assert difference(("memgpt", n), ("unwarned", n)) > paired_interval(MEMGPT, UNWARNED, n)[1]
    assert difference(("unwarned", 10), ("summary", 10)) < paired_interval(UNWARNED, SUMMARY, 10)[0]
    # It could not tell these two from nothing.
    assert difference_interval(("unwarned", 20), ("summary", 20))[0] < 0
    assert difference_interval(("memgpt", 10), ("summary", 10))[0] < 0
    # Both fall, the summary more, and MemGPT still does from 20 to 40 sessions.
    assert rerun_interval(MEMGPT, 20)[0] > rerun_interval(MEMGPT, 40)[1]
    assert rerun_interval(MEMGPT, 10)[0] > rerun_interval(MEMGPT, 20)[1]
    assert rerun_interval(SUMMARY, 10)[0] > rerun_interval(SUMMARY, 20)[1] > rerun_interval(SUMMARY, 40)[1]


def test_what_recall_is_worth() -> None:
    """The table of recall storage would be another."""
    assert [slow_accuracy(WARNED, n) for n in (10, 20, 40)] == [rerun_accuracy(MEMGPT, n) for n in (10, 20, 40)]
    assert [slow_accuracy(RECALLED, n) for n in (10, 20, 40)] == [rerun_accuracy(RECALL, n) for n in (10, 20, 40)]
    assert [slow_difference(RECALLED, WARNED, n) for n in (10, 20, 40)] == [
        paired_difference(RECALL, MEMGPT, n) for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(RECALLED, WARNED, n)[0] for n in (10, 20, 40)]) == [
        paired_interval(RECALL, MEMGPT, n)[0] for n in (10, 20, 40)
    ]
    assert pytest.approx([slow_paired(RECALLED, WARNED, n)[1] for n in (10, 20, 40)]) == [
        paired_interval(RECALL, MEMGPT, n)[1] for n in (10, 20, 40)
    ]


def test_kinds_of_wrong_answers_with_and_without_recall() -> None:
    """The table would count other wrong answers, or of other kinds."""
    kinds = ("never saved", "not found", "stale")
    assert [slow_count(kind, WARNED, 20) for kind in kinds] == [
        rerun_count(kind, MEMGPT, 20) for kind in ("never saved", "not found", "stale")
    ]
    assert [slow_count(kind, RECALLED, 20) for kind in kinds] == [
        rerun_count(kind, RECALL, 20) for kind in ("never saved", "not found", "stale")
    ]
    assert [slow_count(kind, WARNED, 40) for kind in kinds] == [
        rerun_count(kind, MEMGPT, 40) for kind in ("never saved", "not found", "stale")
    ]
    assert [slow_count(kind, RECALLED, 40) for kind in kinds] == [
        rerun_count(kind, RECALL, 40) for kind in ("never saved", "not found", "stale")
    ]
    assert slow_count("never saved", WARNED, 20) == rerun_count("never saved", MEMGPT, 20)
    assert slow_count("never saved", RECALLED, 20) == rerun_count("never saved", RECALL, 20)
    assert slow_count("stale", WARNED, 20) == rerun_count("stale", MEMGPT, 20)
    assert slow_count("stale", RECALLED, 20) == rerun_count("stale", RECALL, 20)
    assert 0.9 == RECALL.settings.recall
    assert 4_000 * 6 == rerun_asked(20)
    assert 4_000 * 6 == rerun_asked(40)


def test_how_good_the_search_of_messages_has_to_be() -> None:
    """The curve over the chance of recall would be another."""
    assert [slow_recall_accuracy(chance) for chance in (0, 0.25, 0.5, 0.75, 1)] == [
        rerun_accuracy(recalling(percent / 100), 20, 1_000) for percent in (0, 25, 50, 75, 100)
    ]
    assert pytest.approx([slow_recall_interval(chance)[0] for chance in (0, 0.25, 0.5, 0.75, 1)]) == [
        rerun_interval(recalling(percent / 100), 20, 1_000)[0] for percent in (0, 25, 50, 75, 100)
    ]
    assert pytest.approx([slow_recall_interval(chance)[1] for chance in (0, 0.25, 0.5, 0.75, 1)]) == [
        rerun_interval(recalling(percent / 100), 20, 1_000)[1] for percent in (0, 25, 50, 75, 100)
    ]
    # A search that never fails leaves wrong answers of one kind only.
    assert 1_000 * 6 == rerun_asked(20, 1_000)
    assert slow_recall_count("stale", 1) == rerun_count("stale", recalling(1), 20, 1_000)
    assert rerun_asked(20, 1_000) - rerun_count("right", recalling(1), 20, 1_000) == slow_recall_count("stale", 1)
    # Even the weakest of these searches helps.
    assert rerun_interval(recalling(0.25), 20, 1_000)[0] > rerun_interval(recalling(0), 20, 1_000)[1]


def test_what_the_exercises_conclude() -> None:
    """The words behind a solution would not be what its output shows."""
    # Recall: 90 % after 40 sessions are out of reach of any search of messages, unless the version is picked rightly.
    assert rerun_interval(recalling(1), 40, 1_000)[1] < 0.9
    version = Contender("picks the newest", memgpt, Settings(latest=1))
    assert rerun_interval(version, 40, 1_000)[1] < 0.9
    both = Contender("recall, and picks the newest", memgpt, Settings(recall=0.9, latest=1))
    assert rerun_interval(both, 40, 1_000)[0] > 0.9
    # Window or warning: both help, the warning more.
    window = Contender("twice the window", memgpt, Settings(window=80))
    warning = Contender("twice the warning", memgpt, Settings(warn_at=0.4))
    for n in (10, 20, 40):
        assert paired_interval(window, MEMGPT, n, 1_000)[0] > 0
        assert paired_interval(warning, window, n, 1_000)[0] > 0
