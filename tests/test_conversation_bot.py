"""Lesson 3, the bot: what each call is sent, what is stored, and who waits for whom."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code.conversation.bot import HELP, SUMMARISE, Bot, BudgetError, one_shot, summary_request
from lesson_code.conversation.providers import Call, FakeProvider, ProviderError
from lesson_code.conversation.store import Store
from lesson_code.conversation.window import one_line

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=100)


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with Store() as made:
        yield made


def told(bot: Bot, *texts: str, session: str = "a", user: str | None = None) -> list[str]:
    """What the bot answers to texts, one after the other."""

    async def tell() -> list[str]:
        return [await bot.handle(session, text, user) for text in texts]

    return asyncio.run(tell())


def sent(call: Call) -> list[str]:
    """The messages of a call."""
    return [message["content"] for message in call.messages]


def kept(store: Store, session: str = "a") -> list[str]:
    """The messages that are stored."""
    return [message["content"] for message in store.messages(session)]


# Who answers.


def test_the_fake_tells_what_it_was_sent() -> None:
    """The runs of the page would not show what was sent."""
    fake = FakeProvider()
    assert "(fake) I was sent 1 message(s); the last was: 'It's me.'" == asyncio.run(one_shot(fake, "It's me."))
    assert [Call(None, [{"role": "user", "content": "It's me."}], 1024)] == fake.calls


def test_the_fake_counts_usage() -> None:
    """The usage would leave out the system prompt, or the framing of messages."""
    messages = [{"role": "user", "content": "x" * 40}]
    reply = asyncio.run(FakeProvider(["y" * 20]).reply(messages, system="z" * 8, max_tokens=9))  # type: ignore[arg-type]
    assert ("y" * 20, (10 + 4) + 2, 5) == reply
    reply = asyncio.run(FakeProvider(["y"]).reply(messages, system=None, max_tokens=9))  # type: ignore[arg-type]
    assert ("y", 10 + 4, 1) == reply


def test_a_script_is_followed_to_its_end(store: Store) -> None:
    """A script would be told in another order, or its end would look like a failing provider."""
    fake = FakeProvider(["One.", ProviderError("down"), "Two."])
    bot = Bot(fake, store=store)
    assert ["One."] == told(bot, "1?")
    with pytest.raises(ProviderError, match=r"^down$"):
        told(bot, "2?")
    assert ["Two."] == told(bot, "3?")
    said = r"^the script has no reply for call 4, which was sent '4\?': the code makes a call that you did not expect$"
    with pytest.raises(RuntimeError, match=said):
        told(bot, "4?")
    with pytest.raises(RuntimeError, match=r"no reply for call 1, which was sent 'x{40}…': the"):
        asyncio.run(one_shot(FakeProvider([]), "x" * 41))
    with pytest.raises(RuntimeError, match=r"no reply for call 1, which was sent 'x{40}': the"):
        asyncio.run(one_shot(FakeProvider([]), "x" * 40))


def test_without_a_memory(store: Store) -> None:
    """The contrast on the page would have a memory."""
    fake = FakeProvider()
    asyncio.run(one_shot(fake, "My name is Asha."))
    asyncio.run(one_shot(fake, "Half a smile: \ud83d", max_tokens=7))
    assert [["My name is Asha."], ["Half a smile: �"]] == [sent(call) for call in fake.calls]
    assert [1024, 7] == [call.max_tokens for call in fake.calls]


# A conversation.


def test_a_conversation_is_sent_again(store: Store) -> None:
    """The model would not be told what was said before, or be sent numbers it does not know."""
    fake = FakeProvider()
    first, second = told(Bot(fake, "Be kind.", store=store, max_tokens=7), "My name is Asha.", "Who am I?")
    assert "(fake) I was sent 3 message(s); the last was: 'Who am I?'" == second
    assert [
        Call("Be kind.", [{"role": "user", "content": "My name is Asha."}], 7),
        Call(
            "Be kind.",
            [
                {"role": "user", "content": "My name is Asha."},
                {"role": "assistant", "content": first},
                {"role": "user", "content": "Who am I?"},
            ],
            7,
        ),
    ] == fake.calls
    assert ["My name is Asha.", first, "Who am I?", second] == kept(store)


def test_a_bot_without_a_store_remembers_while_it_lives() -> None:
    """A bot would need a file, or two of them would share a memory."""
    bot, other = Bot(FakeProvider()), Bot(FakeProvider())
    assert [1, 3] == [int(answer.split()[4]) for answer in told(bot, "Hi?", "Hi again?")]
    assert "(fake) I was sent 1 message(s); the last was: 'Hi?'" == told(other, "Hi?")[0]
    bot.store.close()
    other.store.close()


def test_sessions_are_apart(store: Store) -> None:
    """One conversation would be sent in another."""
    bot = Bot(FakeProvider(), store=store)
    told(bot, "A?", session="a")
    assert "I was sent 1 message(s)" in told(bot, "B?", session="b")[0]
    assert "I was sent 3 message(s)" in told(bot, "A again?", session="a")[0]


def test_a_second_bot_goes_on_where_the_first_stopped(store: Store) -> None:
    """A restart would lose the conversation or the facts."""
    told(Bot(FakeProvider(["Hello, Asha."]), store=store), "I am Asha.", "/remember I like tea")
    fake = FakeProvider()
    told(Bot(fake, store=store), "Who am I?")
    assert ["I am Asha.", "Hello, Asha.", "Who am I?"] == sent(fake.calls[0])
    assert "\n- I like tea\n" in str(fake.calls[0].system)


def test_blank_messages_are_not_sent(store: Store) -> None:
    """A message without a word would be sent, which providers refuse, and then be in the way for ever."""
    fake = FakeProvider([" \n"])
    bot = Bot(fake, store=store)
    assert ["That message is empty."] * 2 == told(bot, "", " \n\u2028")
    assert [] == fake.calls
    with pytest.raises(ProviderError, match=r"^the provider sent an empty reply$"):
        told(bot, "Hi?")
    assert [] == kept(store)


def test_halves_of_characters_are_sent_as_they_are_stored(store: Store) -> None:
    """A text that no provider can be sent would be sent, or another than is stored."""
    fake = FakeProvider(["Half \udc00"])
    assert ["Half �"] == told(Bot(fake, store=store), "Half \ud83d\0")
    assert ["Half �\0"] == sent(fake.calls[0])
    assert ["Half �\0", "Half �"] == kept(store)


# Budgets.


def test_the_budget_is_for_the_whole_prompt(store: Store) -> None:
    """The system prompt, the facts or the framing would not be charged, so that the prompt is over the budget."""
    for n in range(4):
        store.add_exchange("a", f"{n}" * 16, "y" * 24)  # 4 + 4 and 6 + 4
    new = "z" * 20  # 5 + 4
    system = "s" * 40  # 10 + 4

    def at(budget: int, system: str | None = None) -> int:
        fake = FakeProvider()
        before = store.messages("a")
        told(Bot(fake, system, store=store, history_budget=budget), new)
        store.clear_session("a")
        for question, answer in zip(before[::2], before[1::2], strict=True):
            store.add_exchange("a", question["content"], answer["content"])
        return len(fake.calls[0].messages)

    assert 1 + 2 == at(9 + 18)
    assert 1 == at(9 + 18 - 1)
    assert 1 + 4 == at(9 + 18 + 18)
    assert 1 + 2 == at(9 + 18 + 18 - 1)
    assert 1 + 2 == at(14 + 9 + 18, system)
    assert 1 == at(14 + 9 + 18 - 1, system)
    # Always the new message, even if it does not fit.
    assert 1 == at(1)
    assert 1 == at(14 + 1, system)

    # Facts: 38 + 1 + 7 + 1 + 24 + 1 + 8 + 1 + 60 = 141 characters, 36 + 4 tokens.
    told(Bot(FakeProvider(), store=store), "/remember " + "f" * 22)
    assert 1 + 2 == at(40 + 9 + 18)
    assert 1 == at(40 + 9 + 18 - 1)


def test_nothing_left_is_said(store: Store) -> None:
    """A prompt that has no room for a message would be sent all the same, or cut without a word."""
    fake = FakeProvider()
    bot = Bot(fake, "s" * 40, store=store, history_budget=14)
    said = (
        r"^nothing is left for the conversation: system prompt and facts take 14 tokens, the new message 5, "
        r"the reply 1024; the budget is 14, the window not known\. /forget facts, write less, or "
    )
    for summarise in (False, True):
        bot.summarise = summarise
        with pytest.raises(BudgetError, match=said):
            told(bot, "Hi?")
    assert ([], []) == (fake.calls, kept(store))
    bot.history_budget = 15
    assert ["(fake) I was sent 1 message(s); the last was: 'Hi?'"] == told(bot, "Hi?")


def test_the_reply_is_charged_where_the_window_is_known(store: Store) -> None:
    """Prompt and reply together would be more than the model can handle."""
    store.add_exchange("a", "x" * 16, "y" * 24)  # 4 + 4 and 6 + 4
    new = "z" * 20  # 5 + 4

    def at(window: int) -> int:
        fake = FakeProvider(context_window=window)
        with Store() as own:
            own.add_exchange("a", "x" * 16, "y" * 24)
            told(Bot(fake, "s" * 40, store=own, max_tokens=50), new)
        return len(fake.calls[0].messages)

    assert 3 == at(50 + 14 + 9 + 18)
    assert 1 == at(50 + 14 + 9 + 18 - 1)
    assert 1 == at(50 + 14 + 9)
    with pytest.raises(
        BudgetError, match=r"take 14 tokens, the new message 9, the reply 50; the budget is 2000, the wi"
    ):
        at(50 + 14 + 9 - 1)
    # A smaller budget holds in a larger window.
    fake = FakeProvider(context_window=100_000)
    told(Bot(fake, store=store, history_budget=9 + 18 - 1), new)
    assert 1 == len(fake.calls[0].messages)


@same_every_run
@given(
    st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=8),
    st.integers(1, 200),
    st.text(st.characters(categories=["L"]), max_size=50),
)
def test_the_prompt_is_the_longest_that_fits(pairs: list[tuple[str, str]], budget: int, system: str) -> None:
    """What is sent would not be what trying all ends of the conversation gives."""
    fake = FakeProvider(["Yes."])
    taken = (len(system) + 3) // 4 + 4 if system else 0
    with Store() as store:
        for question, answer in pairs:
            store.add_exchange("a", question, answer)
        bot = Bot(fake, system, store=store, history_budget=budget)
        everything = [*kept(store), "New?"]
        if taken >= budget:
            with pytest.raises(BudgetError):
                told(bot, "New?")
            return
        told(bot, "New?")
    costs = [max(1, -(-len(text) // 4)) + 4 for text in everything]
    fits = [start for start in range(len(everything)) if taken + sum(costs[start:]) <= budget]
    start = min([*fits, len(everything) - 1])
    assert everything[start + start % 2 :] == sent(fake.calls[0])


# Failures.


def test_a_failed_call_stores_nothing(store: Store) -> None:
    """A question without an answer would be stored, and two questions would be sent in a row."""
    fake = FakeProvider(["Hello.", ProviderError("the network is down"), "Better."])
    bot = Bot(fake, store=store)
    told(bot, "Hi?")
    with pytest.raises(ProviderError, match="the network is down"):
        told(bot, "Lost?")
    assert ["Hi?", "Hello."] == kept(store)
    told(bot, "Again?")
    assert ["Hi?", "Hello.", "Again?"] == sent(fake.calls[-1])
    assert [0, 0] == [len(bot._locks), len(bot._users_of_lock)]


def test_a_cancelled_call_stores_nothing(store: Store) -> None:
    """A user who gives up would find half an exchange, or a session that is locked for ever."""
    asked, never = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await never.wait()

    bot = Bot(FakeProvider(pause=wait), store=store)

    async def give_up() -> None:
        answering = asyncio.create_task(bot.handle("a", "Hi?"))
        await asked.wait()
        waiting = asyncio.create_task(bot.handle("a", "And?"))
        resetting = asyncio.create_task(bot.handle("a", "/reset"))
        await asyncio.sleep(0)
        assert 3 == bot._users_of_lock["a"]
        for task in (waiting, resetting, answering):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert ({}, {}) == (bot._locks, dict(bot._users_of_lock))

    asyncio.run(give_up())
    assert [] == kept(store)
    bot.provider = FakeProvider()
    assert ["(fake) I was sent 1 message(s); the last was: 'Still there?'"] == told(bot, "Still there?")


# One message at a time.


def test_the_second_message_waits_for_the_first(store: Store) -> None:
    """The second answer would not know what the first message said."""
    signal = asyncio.Event()
    fake = FakeProvider(pause=signal.wait)
    bot = Bot(fake, store=store)

    async def both() -> None:
        tasks = [asyncio.create_task(bot.handle("a", text)) for text in ("1?", "2?", "3?")]
        await asyncio.sleep(0)
        assert 1 == len(fake.calls)
        signal.set()
        await asyncio.gather(*tasks)

    asyncio.run(both())
    assert [1, 3, 5] == [len(call.messages) for call in fake.calls]
    assert ["1?", "2?", "3?"] == kept(store)[::2]


def test_sessions_do_not_wait_for_each_other(store: Store) -> None:
    """A slow answer in one conversation would hold up all others, or their commands."""
    signal = asyncio.Event()
    fake = FakeProvider(pause=signal.wait)
    bot = Bot(fake, store=store)

    async def three() -> None:
        tasks = [asyncio.create_task(bot.handle(session, "Hi?")) for session in "abc"]
        await asyncio.sleep(0)
        assert 3 == len(fake.calls)
        # Nor do commands that change nothing wait, in the same session.
        assert HELP == await bot.handle("a", "/help")
        assert "Remembered as #1." == await bot.handle("a", "/remember tea")
        assert "Conversation cleared (0 messages)." == await bot.handle("d", "/reset")
        signal.set()
        await asyncio.gather(*tasks)

    asyncio.run(three())
    assert [1, 1, 1] == [len(call.messages) for call in fake.calls]


def test_a_reset_waits_for_the_answer_under_way(store: Store) -> None:
    """What was cleared would come back with the answer that was still being written."""
    signal = asyncio.Event()
    bot = Bot(FakeProvider(pause=signal.wait), store=store)
    store.add_exchange("a", "Old?", "Old.")

    async def reset_meanwhile() -> list[str]:
        answering = asyncio.create_task(bot.handle("a", "Hi?"))
        resetting = asyncio.create_task(bot.handle("a", "/reset"))
        await asyncio.sleep(0)
        assert ["Old?", "Old."] == kept(store)
        signal.set()
        return await asyncio.gather(answering, resetting)

    assert "Conversation cleared (4 messages)." == asyncio.run(reset_meanwhile())[1]
    assert [] == kept(store)


def test_no_lock_is_left_behind(store: Store) -> None:
    """A bot that has seen many sessions would hold on to a lock for each."""
    bot = Bot(FakeProvider(), store=store)

    async def many() -> int:
        most = 0
        for number in range(100_000):
            async with bot._turn(f"session {number}"):
                most = max(most, len(bot._locks))
        await asyncio.gather(*(bot.handle(f"{number % 50}", "Hi?") for number in range(200)))
        return most

    assert 1 == asyncio.run(many())
    assert ({}, {}) == (bot._locks, dict(bot._users_of_lock))
    assert 200 * 2 == sum(len(store.messages(f"{number}")) for number in range(50))


# Summaries.


def exchanges(store: Store, count: int) -> None:
    """Store exchanges of 20 tokens: 6 + 4 each way."""
    for number in range(count):
        store.add_exchange("a", f"{number}?".ljust(24, "q"), f"{number}.".ljust(24, "a"))


def test_what_fits_is_not_summarised(store: Store) -> None:
    """A summary would be made, and paid for, although everything fits."""
    exchanges(store, 3)
    fake = FakeProvider()
    told(Bot(fake, store=store, history_budget=3 * 20 + 10, summarise=True), "n" * 24)
    assert [7] == [len(call.messages) for call in fake.calls]
    assert store.get_summary("a") is None


def test_the_oldest_exchanges_are_folded(store: Store) -> None:
    """Too little would be folded, so that it happens on every turn, or half an exchange, or too much."""
    exchanges(store, 9)
    fake = FakeProvider(["Short.", "Answer."])
    assert ["Answer."] == told(Bot(fake, store=store, history_budget=9 * 20 + 10 - 1, summarise=True), "n" * 24)
    # 189 tokens: half is 94. Of 9 * 20 + 10 = 190, five exchanges go, and 4 * 20 + 10 = 90 stay.
    lines = [line for n in range(5) for line in (f"user: {n}?".ljust(30, "q"), f"assistant: {n}.".ljust(35, "a"))]
    request = "\n".join(["Conversation:", *lines])
    assert Call(SUMMARISE, [{"role": "user", "content": request}], 1024) == fake.calls[0]
    assert {"text": "Short.", "up_to": 10} == store.get_summary("a")
    said = "Summary of the earlier part of this conversation:\n<summary>\nShort.\n</summary>\n"
    assert str(fake.calls[1].system).startswith(said)
    assert [*kept(store)[10:18], "n" * 24] == sent(fake.calls[1])
    assert 9 * 2 + 2 == len(kept(store))  # nothing is deleted


def test_exactly_half_may_stay(store: Store) -> None:
    """An exchange more would be folded than is needed."""
    exchanges(store, 9)
    fake = FakeProvider()
    told(Bot(fake, store=store, history_budget=180, summarise=True), "n" * 24)
    assert 5 * 2 == store.get_summary("a")["up_to"]  # type: ignore[index] - 4 * 20 + 10 = 180 / 2 stay
    store.clear_session("a")
    exchanges(store, 9)
    told(Bot(FakeProvider(), store=store, history_budget=179, summarise=True), "n" * 24)
    first = 9 * 2 + 2
    assert first + 6 * 2 == store.get_summary("a")["up_to"]  # type: ignore[index] - 90 is over 179 // 2


def test_the_earlier_summary_is_handed_on(store: Store) -> None:
    """Each summary would forget what the last one knew, or be given again what it covers."""
    exchanges(store, 4)
    store.set_summary("a", "Her name is Ada.", 4)
    fake = FakeProvider(["Ada again.", "Answer."])
    told(Bot(fake, store=store, history_budget=80, summarise=True), "n" * 240)
    request = sent(fake.calls[0])[0]
    assert request.startswith("Summary so far:\nHer name is Ada.\n\nConversation:\nuser: 2?")
    assert ["user: 2?", "assistant: 2.", "user: 3?", "assistant: 3."] == [
        line.rstrip("qa") for line in request.splitlines()[4:]
    ]
    assert {"text": "Ada again.", "up_to": 8} == store.get_summary("a")


def test_a_summary_is_used_even_if_none_is_made(store: Store) -> None:
    """Turning summaries off would forget what they hold, or send what they cover a second time."""
    exchanges(store, 3)
    store.set_summary("a", "Her name is Ada.", 4)
    fake = FakeProvider()
    told(Bot(fake, store=store), "New?")
    assert "Her name is Ada." in str(fake.calls[0].system)
    assert [*kept(store)[4:6], "New?"] == sent(fake.calls[0])


def test_a_failed_summary_does_not_fail_the_message(store: Store) -> None:
    """A user would get no answer because of a summary they did not ask for."""
    for failure in (ProviderError("down"), " "):
        store.clear_session("a")
        exchanges(store, 4)
        fake = FakeProvider([failure, "Answer."])
        assert ["Answer."] == told(Bot(fake, store=store, history_budget=50, summarise=True), "n" * 24)
        assert store.get_summary("a") is None
        assert [*kept(store)[4:8], "n" * 24] == sent(fake.calls[1])  # 10 + 20 + 20 fit: plain truncation


def test_a_mistake_in_a_summary_shows(store: Store) -> None:
    """A bug would look like a provider that fails, and never be found."""
    exchanges(store, 4)
    bot = Bot(FakeProvider([ZeroDivisionError("a bug")]), store=store, history_budget=50, summarise=True)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        told(bot, "n" * 24)
    assert 8 == len(kept(store))


def test_a_summary_that_is_too_long_is_left_out(store: Store) -> None:
    """A summariser that does not keep it short would leave no room for the user's message."""
    exchanges(store, 4)
    fake = FakeProvider(["S" * 400, "Answer."])
    assert ["Answer."] == told(Bot(fake, "Hi.", store=store, history_budget=55, summarise=True), "n" * 24)
    assert "Hi." == fake.calls[1].system
    assert [*kept(store)[4:8], "n" * 24] == sent(fake.calls[1])


def test_a_summary_that_just_fits_is_used(store: Store) -> None:
    """A summary would be left out although there is room for it and for the new message."""
    exchanges(store, 2)
    store.set_summary("a", "Ada.", 2)
    # 49 + 1 + 9 + 1 + 4 + 1 + 10 + 1 + 60 = 136 characters are 34 + 4 tokens, and the new message takes 6 + 4.
    for budget, is_used in ((38 + 10, True), (38 + 10 - 1, False)):
        fake = FakeProvider([ProviderError("down")])
        with pytest.raises(ProviderError):
            told(Bot(fake, store=store, history_budget=budget), "n" * 24)
        assert is_used == ("Ada." in str(fake.calls[0].system))


def test_a_message_that_is_too_long_by_itself_is_not_summarised(store: Store) -> None:
    """A summary of nothing would be asked for."""
    fake = FakeProvider(["Answer."])
    told(Bot(fake, store=store, history_budget=50, summarise=True), "n" * 400)
    assert ["n" * 400] == sent(fake.calls[0])


@pytest.mark.parametrize(("window", "first"), [(None, 8_000 // 20), (1_024 + 2_000, 2_000 // 20)])
def test_a_long_backlog_is_folded_bit_by_bit(store: Store, window: int | None, first: int) -> None:
    """Turning summaries on late would send the summariser more than it can read."""
    exchanges(store, 1_000)
    fake = FakeProvider(["Short.", "Answer.", "Short again.", "Answer."], context_window=window)
    bot = Bot(fake, store=store, history_budget=100, summarise=True)
    told(bot, "n" * 24)
    assert {"text": "Short.", "up_to": first * 2} == store.get_summary("a")
    told(bot, "n" * 24)
    assert {"text": "Short again.", "up_to": first * 4} == store.get_summary("a")
    assert sent(fake.calls[2])[0].startswith(f"Summary so far:\nShort.\n\nConversation:\nuser: {first}?")


def test_an_exchange_is_folded_however_long_it_is(store: Store) -> None:
    """An exchange that is too long for the summariser would be in the way for ever."""
    store.add_exchange("a", "q" * 40_000, "a")
    exchanges(store, 1)
    fake = FakeProvider(["Short.", "Answer."])
    told(Bot(fake, store=store, history_budget=100, summarise=True), "n" * 24)
    assert {"text": "Short.", "up_to": 2} == store.get_summary("a")


def test_what_the_summariser_is_asked() -> None:
    """Names, decisions and open questions would not be asked for, or the conversation not be told apart."""
    assert "Keep names, decisions and open questions, and nothing else." in SUMMARISE
    messages = [{"role": "user", "content": "Hi?"}, {"role": "assistant", "content": "Hi."}]
    assert "Conversation:\nuser: Hi?\nassistant: Hi." == summary_request(None, messages)  # type: ignore[arg-type]


# Commands.


def test_facts_are_kept_on_request(store: Store) -> None:
    """A fact would be lost, shown to another, or kept although nobody asked."""
    fake = FakeProvider()
    bot = Bot(fake, store=store)
    assert ["There are no facts."] == told(bot, "/facts")
    assert ["Remembered as #1.", "Remembered as #2."] == told(bot, "/remember I like \u200b tea ", "/remember\tI\nsail")
    assert ["#1 I like tea\n#2 I sail"] == told(bot, "/facts")
    assert ["There are no facts."] == told(bot, "/facts", user="bob")
    told(bot, "I like tuna.")
    assert ["#1 I like tea\n#2 I sail"] == told(bot, "/facts")
    assert 1 == len(fake.calls)
    assert ["- I like tea", "- I sail"] == str(fake.calls[0].system).split("\n")[2:4]


def test_facts_belong_to_a_user_in_all_sessions(store: Store) -> None:
    """Facts would be bound to a conversation although there is a user, or be shared by the users of one."""
    fake = FakeProvider()
    bot = Bot(fake, store=store)
    told(bot, "/remember I like tea", session="phone", user="ada")
    told(bot, "Hi?", session="desk", user="ada")
    told(bot, "Hi?", session="phone", user="bob")
    told(bot, "Hi?", session="phone")
    assert [True, False, False] == ["I like tea" in str(call.system) for call in fake.calls]


def test_a_long_fact_is_cut_and_that_is_said(store: Store) -> None:
    """The end of a fact would be lost without a word."""
    bot = Bot(FakeProvider(), store=store)
    assert ["Remembered as #1."] == told(bot, "/remember " + "f" * 200)
    assert ["Remembered as #2. Only its first 200 characters are kept."] == told(bot, "/remember " + "f" * 201)
    assert ["f" * 200, "f" * 200] == [fact["text"] for fact in store.facts("a")]


def test_forgetting(store: Store) -> None:
    """A fact would stay, another would go, or a wrong number would not be explained."""
    bot = Bot(FakeProvider(), store=store)
    usage = "Usage: /forget NUMBER or /forget all"
    told(bot, "/remember one", "/remember two", "/remember three", "/remember four")
    assert ["Forgotten.", "I have no fact #2.", "Forgotten."] == told(bot, "/forget 2", "/forget 2", "/forget #3")
    assert [usage] * 7 == told(
        bot, "/forget", "/forget ", "/forget two", "/forget -1", "/forget 1 4", "/forget ²", "/forget #"
    )
    assert [usage, "I have no fact #0."] == told(bot, "/forget " + "9" * 5_000, "/forget 0")
    assert [f"I have no fact #{10**99}.", usage] == told(bot, f"/forget {10**99}", f"/forget {10**100}")
    assert ["I have no fact #1."] == told(bot, "/forget 1", user="bob")
    assert ["Forgot 0 thing(s)."] == told(bot, "/forget all", user="bob")
    assert ["Forgot 2 thing(s).", "There are no facts."] == told(bot, "/Forget ALL", "/facts")


def test_clearing_and_exporting(store: Store) -> None:
    """A conversation would stay after it was cleared, or an export would be of something else."""
    bot = Bot(FakeProvider(["Hi."]), store=store)
    told(bot, "Hi?", "/remember tea")
    assert ["Hi?", "Hi."] == [m["content"] for m in json.loads(told(bot, "/export")[0])["messages"]]
    assert [store.export("a", "bob")] == told(bot, "/export", user="bob")
    assert ["Conversation cleared (2 messages)."] == told(bot, "/reset")
    assert ["Conversation cleared (0 messages).", "#1 tea"] == told(bot, "/reset", "/facts")
    assert [] == kept(store)


def test_help_names_every_command(store: Store) -> None:
    """A command would be a secret."""
    assert [HELP] == told(Bot(FakeProvider(), store=store), "/help")
    assert ["/remember", "/facts", "/forget", "/reset", "/export", "/help"] == [
        line.split()[0] for line in HELP.splitlines()
    ]


def test_commands_are_trimmed_and_in_any_case(store: Store) -> None:
    """A space or a capital letter would send a command to the model."""
    fake = FakeProvider()
    bot = Bot(fake, store=store)
    assert [HELP, HELP, HELP] == told(bot, "  /help ", "/HELP\n", "\t/Help")
    assert ["Remembered as #1.", "Remembered as #2."] == told(bot, " /REMEMBER Tea ", "\u2003/Remember\u00a0Tea")
    assert ["Conversation cleared (0 messages)."] == told(bot, "/reSET  ")
    assert [] == fake.calls


def test_commands_without_what_they_need(store: Store) -> None:
    """A wrong command would reach the model, or do something that nobody asked for."""
    fake = FakeProvider()
    bot = Bot(fake, store=store)
    store.add_exchange("a", "Hi?", "Hi.")
    assert ["Usage: /remember TEXT"] * 3 == told(bot, "/remember", "/remember  ", "/remember \u200b")
    assert ["Usage: /reset", "Usage: /facts"] == told(bot, "/reset my password, please", "/Facts about tea")
    assert ["Usage: /help", "Usage: /export"] == told(bot, "/help me", "/export all")
    assert ([], 2) == (fake.calls, len(kept(store)))


def test_other_slash_words_are_text(store: Store) -> None:
    """A path or a joke would be taken for a command."""
    bot = Bot(FakeProvider(), store=store)
    for text in ("/shrug", "/etc/hosts is a file", "/", "//help", "help", "/remembering is hard", "I typed /reset"):
        assert told(bot, text)[0].endswith(f"the last was: '{text}'")
    assert 14 == len(kept(store))


@same_every_run
@given(st.text(st.characters(exclude_categories=["Cs"])).filter(one_line))
def test_any_fact_can_be_remembered_and_forgotten(text: str) -> None:
    """Some text would be no fact, or would come back as another than the model is told."""
    fake = FakeProvider()
    with Store() as store:
        bot = Bot(fake, store=store, history_budget=10_000)
        assert told(bot, f"/remember {text}")[0].startswith("Remembered as #1.")
        assert [f"#1 {one_line(text)}"] == told(bot, "/facts")
        told(bot, "Hi?")
        assert f"\n- {one_line(text)}\n" in str(fake.calls[0].system)
        assert ["Forgotten."] == told(bot, "/forget 1")
        told(bot, "Hi?")
        assert fake.calls[1].system is None
