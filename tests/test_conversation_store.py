"""Lesson 3, the store: what is kept, in which order, and every way in which a file can be wrong."""

import doctest
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code.conversation import store as store_module
from lesson_code.conversation.store import SCHEMA_VERSION, Store, StoredMessage, StoreError

ROOT = Path(__file__).parents[1]
same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=200)


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with Store() as made:
        yield made


@contextmanager
def raw(path: Path | str) -> Iterator[sqlite3.Connection]:
    """The file as any other program sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def texts(messages: list[StoredMessage]) -> list[str]:
    """What was said."""
    return [message["content"] for message in messages]


def test_docstrings() -> None:
    """An example in a docstring would print something else."""
    failed, tried = doctest.testmod(store_module)
    assert (0, 1) == (failed, tried)


# Messages.


def test_exchanges_come_back_in_order(store: Store) -> None:
    """A conversation would come back changed, or with another's messages in it."""
    store.add_exchange("a", "One?", "One.")
    store.add_exchange("b", "Other?", "Other.")
    store.add_exchange("a", "Two?", "Two.")
    assert [
        {"id": 1, "role": "user", "content": "One?"},
        {"id": 2, "role": "assistant", "content": "One."},
        {"id": 5, "role": "user", "content": "Two?"},
        {"id": 6, "role": "assistant", "content": "Two."},
    ] == store.messages("a")
    assert ["Other?", "Other."] == texts(store.messages("b"))
    assert [] == store.messages("c")
    assert [] == store.messages("A")


def test_messages_after_a_number(store: Store) -> None:
    """What a summary covers would be read again, or too much would be left out."""
    for n in range(3):
        store.add_exchange("a", f"{n}?", f"{n}.")
    assert ["1.", "2?", "2."] == texts(store.messages("a", after_id=3))
    assert [] == store.messages("a", after_id=6)
    assert ["2.", "2?", "1."] == texts([*store.newest("a", after_id=3)])
    assert ["1.", "2?", "2."] == texts([*store.oldest("a", after_id=3)])


def test_the_order_does_not_depend_on_the_clock() -> None:
    """A clock that is set back would put an answer before its question."""
    with Store(clock=iter([300.0, 200.0, 100.0]).__next__) as store:
        for n in range(3):
            store.add_exchange("a", f"{n}?", f"{n}.")
        assert ["0?", "0.", "1?", "1.", "2?", "2."] == texts(store.messages("a"))
        assert ["2.", "2?", "1.", "1?", "0.", "0?"] == texts([*store.newest("a")])


def test_a_store_survives_being_closed(tmp_path: Path) -> None:
    """What was stored would be gone with the program."""
    path = tmp_path / "chat.db"
    with Store(path) as store:
        store.add_exchange("a", "Hi?", "Hi.")
        store.set_summary("a", "Short.", 2)
        store.add_fact("ada", "I like tea.")
    with Store(path) as store:
        assert ["Hi?", "Hi."] == texts(store.messages("a"))
        assert {"text": "Short.", "up_to": 2} == store.get_summary("a")
        assert [{"id": 1, "text": "I like tea."}] == store.facts("ada")


def test_an_exchange_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    """A question would be stored without its answer."""
    with Store(tmp_path / "chat.db") as store:
        with raw(tmp_path / "chat.db") as other:
            refuse = "WHEN NEW.role = 'assistant' BEGIN SELECT RAISE(ABORT, 'no answers today'); END"
            other.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON messages {refuse}")
        with pytest.raises(StoreError, match=r"chat\.db: no answers today"):
            store.add_exchange("a", "Hi?", "Hi.")
        assert [] == store.messages("a")
        with raw(tmp_path / "chat.db") as other:
            other.execute("DROP TRIGGER refuse")
        store.add_exchange("a", "Still?", "Yes.")
        assert ["Still?", "Yes."] == texts(store.messages("a"))


def test_the_schema_knows_the_roles(tmp_path: Path) -> None:
    """A message of somebody who is no part of a conversation could be stored."""
    Store(tmp_path / "chat.db").close()
    insert = "INSERT INTO messages (session, role, content, created) VALUES ('a', ?, 'x', 0)"
    with raw(tmp_path / "chat.db") as db:
        for role in ("system", "User", "", None):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(insert, (role,))
        db.execute(insert, ("user",))


# Reading no more than is asked for.


def steps_to_read(stored: int, wanted: int) -> int:
    """Count the instructions SQLite runs until the newest so many of a conversation are read."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with Store() as store:
        store._db.executemany(
            "INSERT INTO messages (session, role, content, created) VALUES ('a', ?, 'x', 0)",
            [("user",), ("assistant",)] * (stored // 2),
        )
        store._db.set_progress_handler(count, 1)
        with closing(store.newest("a")) as newest_first:
            read = [next(newest_first)["id"] for _ in range(wanted)]
        store._db.set_progress_handler(None, 1)
    assert [*range(stored, stored - wanted, -1)] == read
    return steps


def test_a_long_conversation_is_not_read() -> None:
    """To read the newest messages would be more work in a conversation of 100,000 messages than in one of 100."""
    assert steps_to_read(100_000, 20) == steps_to_read(100, 20)
    assert steps_to_read(100, 90) > steps_to_read(100, 20)


def test_every_look_up_uses_an_index(store: Store) -> None:
    """A query would read all of a table, so that each answer takes longer the more others talk."""
    queries: list[str] = []
    store._db.set_trace_callback(queries.append)
    store.add_exchange("a", "Hi?", "Hi.")
    store.set_summary("a", "Short.", 2)
    store.add_fact("ada", "Tea.")
    store.export("a", "ada")
    store.messages("a", after_id=1)
    store.forget("ada", 1)
    store.forget("ada")
    store.clear_session("a")
    store._db.set_trace_callback(None)
    looked_up = [query for query in queries if query.startswith(("SELECT", "DELETE"))]
    assert 8 == len(looked_up)
    for query in looked_up:
        plan = [detail for *_, detail in store._db.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert plan != []
        assert all(step.startswith("SEARCH") for step in plan), (query, plan)


# Summaries and facts.


def test_a_summary_takes_the_place_of_the_last(store: Store) -> None:
    """An old summary would stay, or another session's would change."""
    assert store.get_summary("a") is None
    for session in "aba":
        store.add_exchange(session, "Hi?", "Hi.")
    assert store.set_summary("a", "First.", 2)
    assert store.set_summary("b", "Other.", 4)
    assert store.set_summary("a", "Second.", 6)
    assert {"text": "Second.", "up_to": 6} == store.get_summary("a")
    assert {"text": "Other.", "up_to": 4} == store.get_summary("b")


def test_a_summary_does_not_outlive_its_conversation(tmp_path: Path) -> None:
    """What was cleared while the summariser wrote would come back, and be sent for ever."""
    with Store(tmp_path / "chat.db", clock=lambda: 0.0) as store:
        store.add_exchange("a", "My secret is Biscuit.", "Hm.")
        store.add_exchange("b", "Hi?", "Hi.")
        with Store(tmp_path / "chat.db", clock=lambda: 1.0) as other:
            other.clear_session("a")
            assert not store.set_summary("a", "Biscuit.", 2)
            store.add_exchange("a", "New?", "New.")
            assert not store.set_summary("a", "Biscuit.", 2)
            assert not store.set_summary("a", "Biscuit.", 4)  # the number of a message of another
            assert store.get_summary("a") is None
        # A file in which one was left behind.
        with raw(tmp_path / "chat.db") as db:
            db.execute("INSERT INTO summaries VALUES ('gone', 'Biscuit.', 2)")
            with pytest.raises(sqlite3.IntegrityError):
                db.execute("INSERT INTO summaries VALUES ('a', 'No number.', 'two')")
        assert 0 == store.expire(timedelta(days=1))
        assert store.get_summary("gone") is None


def test_numbers_of_facts_are_never_given_again(store: Store) -> None:
    """`/forget 2` could delete another fact than the one that was #2 a minute ago."""
    assert [1, 2, 3] == [store.add_fact("ada", text) for text in ("Tea.", "Tuna.", "Tin.")]
    assert 1 == store.forget("ada", 3)
    assert 4 == store.add_fact("ada", "Toast.")
    assert 3 == store.forget("ada")
    assert 5 == store.add_fact("ada", "Tomatoes.")
    assert [{"id": 5, "text": "Tomatoes."}] == store.facts("ada")


def test_only_the_user_s_own_facts_are_forgotten(store: Store) -> None:
    """A user could see or delete what another asked to keep."""
    store.add_fact("ada", "Tea.")
    store.add_fact("bob", "Tuna.")
    assert 0 == store.forget("ada", 2)
    assert 1 == store.forget("ada")
    assert 0 == store.forget("ada")
    assert [] == store.facts("ada")
    assert [{"id": 2, "text": "Tuna."}] == store.facts("bob")


def test_no_number_is_too_large_to_be_asked_for(store: Store) -> None:
    """A number that no fact can have would be an error, or would be taken for another."""
    store.add_fact("ada", "Tea.")
    for number in (0, -1, 2**63 - 1, 2**63, 2**64 + 1, 10**100):
        assert 0 == store.forget("ada", number)
    assert 1 == store.forget("ada", 1)


def test_clearing_a_session(store: Store) -> None:
    """A summary would give away what was cleared, or facts and other sessions would go too."""
    for session in "aab":
        store.add_exchange(session, "Hi?", "Hi.")
        store.set_summary(session, "Short.", store.messages(session)[-1]["id"])
    store.add_fact("a", "Tea.")
    assert 2 + 2 == store.clear_session("a")
    assert ([], None) == (store.messages("a"), store.get_summary("a"))
    assert [{"id": 1, "text": "Tea."}] == store.facts("a")
    assert ["Hi?", "Hi."] == texts(store.messages("b"))
    assert {"text": "Short.", "up_to": 6} == store.get_summary("b")
    assert 0 == store.clear_session("a")
    store.add_exchange("a", "New?", "New.")
    assert [7, 8] == [message["id"] for message in store.messages("a")]


def test_an_export_holds_everything(store: Store) -> None:
    """What is kept of a person would not all be shown, or not in a form that people can read."""
    assert {"session": "a", "summary": None, "messages": [], "facts": []} == json.loads(store.export("a"))
    store.add_exchange("a", "Szia! 猫?", "Hi\nthere.")
    store.set_summary("a", "Short.", 2)
    store.add_fact("a", "Tea.")
    store.add_fact("ada", "Zażółć.")
    assert {
        "session": "a",
        "summary": {"text": "Short.", "up_to": 2},
        "messages": [
            {"id": 1, "role": "user", "content": "Szia! 猫?"},
            {"id": 2, "role": "assistant", "content": "Hi\nthere."},
        ],
        "facts": [{"id": 2, "text": "Zażółć."}],
    } == json.loads(store.export("a", "ada"))
    assert [{"id": 1, "text": "Tea."}] == json.loads(store.export("a"))["facts"]
    assert '"content": "Szia! 猫?"' in store.export("a")
    assert '"text": "Zażółć."' in store.export("a", "ada")


# Time to live.


def test_sessions_expire_by_their_last_message() -> None:
    """A conversation that goes on would lose its beginning, or one that is over would stay."""
    now = 0.0
    with Store(clock=lambda: now) as store:
        store.add_exchange("over", "Hi?", "Hi.")
        store.set_summary("over", "Short.", 2)
        store.add_exchange("goes on", "Hi?", "Hi.")
        store.set_summary("goes on", "Short.", 4)
        store.add_fact("ada", "Tea.")
        now = 60.0
        store.add_exchange("goes on", "Still?", "Yes.")
        now = 86_400.0
        assert 0 == store.expire(timedelta(days=1))  # exactly a day old is not older
        now = 86_401.0
        assert 2 == store.expire(timedelta(days=1))
        assert ([], None) == (store.messages("over"), store.get_summary("over"))
        assert ["Hi?", "Hi.", "Still?", "Yes."] == texts(store.messages("goes on"))
        assert {"text": "Short.", "up_to": 4} == store.get_summary("goes on")
        assert 4 == store.expire(timedelta(seconds=100))
        assert 0 == store.expire(timedelta(0))
        assert [{"id": 1, "text": "Tea."}] == store.facts("ada")
        with pytest.raises(ValueError, match=r"older_than must not be negative: -1 day"):
            store.expire(timedelta(days=-1))


def test_what_is_deleted_is_gone_after_a_vacuum(tmp_path: Path) -> None:
    """Deleted text would stay in unused parts of the file, and the file would never shrink."""
    path = tmp_path / "chat.db"
    with Store(path) as store:
        store.add_exchange("a", "My secret is Biscuit." * 1_000, "Hm.")
        store.clear_session("a")
        store.vacuum()
        everything = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert b"Biscuit" not in everything
        Store(tmp_path / "empty.db").close()
        assert (tmp_path / "empty.db").stat().st_size == path.stat().st_size
        store.add_exchange("a", "Still?", "Yes.")
    with Store(path) as store:
        assert ["Still?", "Yes."] == texts(store.messages("a"))


def test_a_vacuum_that_somebody_s_reading_undoes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleted text would stay in the log on the disk, and whoever asked for it to go would not know."""
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0)
    path = tmp_path / "chat.db"
    with Store(path) as store, raw(path) as reader:
        store.add_exchange("a", "My secret is Biscuit.", "Hm.")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        store.clear_session("a")
        with pytest.raises(StoreError, match=r"chat\.db: somebody is reading it, so what was deleted is still on the "):
            store.vacuum()
        assert b"Biscuit" in b"".join(file.read_bytes() for file in tmp_path.iterdir())
        reader.execute("COMMIT")
        store.vacuum()
        assert b"Biscuit" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


# Texts and ids.


@same_every_run
@given(st.text(st.one_of(st.characters(), st.sampled_from("\0\ud83d\udc00\n\x1b"))))
def test_any_text_can_be_stored(text: str) -> None:
    """Some text would be an error, would change, or would not come back."""
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    with Store() as store:
        store.add_exchange("a", text, text)
        assert store.set_summary("a", text, 1)
        store.add_fact("a", text)
        assert [expected, expected] == texts(store.messages("a"))
        assert {"text": expected, "up_to": 1} == store.get_summary("a")
        assert [{"id": 1, "text": expected}] == store.facts("a")
        store.export("a").encode()
        assert expected == json.loads(store.export("a"))["messages"][0]["content"]


@same_every_run
@given(st.text(min_size=1), st.text(min_size=1))
def test_ids_are_told_apart(one: str, other: str) -> None:
    """Two ids that look alike would share a conversation."""
    with Store() as store:
        store.add_exchange(one, "Hi?", "Hi.")
        store.add_fact(one, "Tea.")
        assert (2 if one == other else 0) == len(store.messages(other))
        assert (1 if one == other else 0) == len(store.facts(other))


def test_what_is_no_id_is_refused(store: Store) -> None:
    """People without an id would share a conversation, or a number would be another session than its text."""
    for bad in ("", "\ud83d", "\ud83d\ude00"):
        with pytest.raises(ValueError, match=r"^the session id must not be empty or broken text: "):
            store.add_exchange(bad, "Hi?", "Hi.")
        with pytest.raises(ValueError, match=r"^the user id must not be empty or broken text: "):
            store.facts(bad)
    with pytest.raises(TypeError, match=r"^the session id must be text, not 4711$"):
        store.messages(4711)  # type: ignore[arg-type] - that is the point
    with pytest.raises(TypeError, match=r"^the assistant must be text, not None$"):
        store.add_exchange("a", "Hi?", None)  # type: ignore[arg-type] - that is the point
    assert [] == store.messages("a")


def test_what_is_no_number_is_refused(store: Store) -> None:
    """A number that is none would be an error of SQLite, or be stored and compared as text."""
    store.add_exchange("a", "Hi?", "Hi.")
    store.add_fact("a", "Tea.")
    for bad in ("1", 1.0, True, None):
        with pytest.raises(TypeError, match=rf"^the number of a message must be a whole number, not {bad!r}$"):
            store.set_summary("a", "Short.", bad)  # type: ignore[arg-type] - that is the point
        with pytest.raises(TypeError, match=rf"^the number of a message must be a whole number, not {bad!r}$"):
            store.messages("a", bad)
        if bad is not None:
            with pytest.raises(TypeError, match=rf"^the number of a fact must be a whole number, not {bad!r}$"):
                store.forget("a", bad)
    for number in (-1, 2**63, 2**70):
        with pytest.raises(ValueError, match=rf"^there is no message number {number}; numbers go from 0 to 9223372036"):
            store.set_summary("a", "Short.", number)
        with pytest.raises(ValueError, match=rf"^there is no message number {number}; numbers go from 0 to 9223372036"):
            store.messages("a", number)
    assert [] == store.messages("a", 2**63 - 1)
    assert ([{"id": 1, "text": "Tea."}], None) == (store.facts("a"), store.get_summary("a"))


def test_a_path_of_bytes_is_refused() -> None:
    """A path in bytes would be an unexplained error."""
    with pytest.raises(TypeError, match=r"^the path must be text or a Path, not b'x\.db'$"):
        Store(b"x.db")  # type: ignore[arg-type] - that is the point


def test_another_thread_is_told_what_to_do(tmp_path: Path) -> None:
    """A store that is used in two threads would be an error in the words of another module."""
    with Store(tmp_path / "chat.db") as store, ThreadPoolExecutor() as pool:
        said = r"chat\.db: it was opened in another thread; open a Store in each$"
        with pytest.raises(StoreError, match=said):
            pool.submit(store.messages, "a").result()
        with pytest.raises(StoreError, match=said):
            pool.submit(store.close).result()


# Files that are not as they should be.


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    """A file of a newer version would be written in an old way."""
    path = tmp_path / "chat.db"
    Store(path).close()
    with raw(path) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    said = r"chat\.db: it was written by a newer version of this program \(schema 2, this one knows 1\); update"
    with pytest.raises(StoreError, match=said):
        Store(path)
    assert before == path.read_bytes()


@pytest.mark.parametrize("version", [0, 1])
def test_another_program_s_database_is_left_alone(tmp_path: Path, version: int) -> None:
    """Tables would be put into a file that belongs to another program."""
    path = tmp_path / "bookmarks.db"
    with raw(path) as db:
        db.execute("CREATE TABLE bookmarks (address TEXT)")
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"bookmarks\.db: it is the database of another program; choose another file"):
        Store(path)
    assert before == path.read_bytes()
    assert ["bookmarks.db"] == os.listdir(tmp_path)


@pytest.mark.parametrize("version", [0, 1])
def test_another_program_s_tables_of_the_same_names(tmp_path: Path, version: int) -> None:
    """A file with tables that are called like ours would be taken, and fail at the first message."""
    path = tmp_path / "chat.db"
    with raw(path) as db:
        for table in ("messages", "summaries", "facts"):
            db.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, session TEXT, body TEXT)")
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"chat\.db: it is the database of another program; choose another file"):
        Store(path)
    assert before == path.read_bytes()


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """A text file would be an unexplained error, or be overwritten."""
    path = tmp_path / "notes.txt"
    path.write_text("Buy tea. " * 1_000)
    with pytest.raises(StoreError, match=r"notes\.txt: it is no SQLite database; choose anoth"):
        Store(path)
    assert "Buy tea. " * 1_000 == path.read_text()


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    """A name that cannot be a file would be an unexplained error, or be taken for a file that vanishes."""
    for path in (tmp_path, tmp_path / "no folder" / "chat.db"):
        with pytest.raises(StoreError, match=r": it cannot be opened; is it a folder, "):
            Store(path)
    for name in ("", "a\0b"):
        with pytest.raises(StoreError, match=r"is no file name; choose another$"):
            Store(name)
    assert [] == os.listdir(tmp_path)


@pytest.fixture
def as_anybody() -> Iterator[Path]:
    """A folder that anybody may enter, and no privileges, so that permissions hold for root as well."""
    with tempfile.TemporaryDirectory(prefix="conversation-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        privileged = os.geteuid() == 0
        if privileged:
            os.seteuid(65_534)
        try:
            yield folder
        finally:
            if privileged:
                os.seteuid(0)


def test_a_file_that_may_only_be_read(as_anybody: Path) -> None:
    """A file without permission to write would fail later, or without saying why."""
    path = as_anybody / "chat.db"
    Store(path).close()
    path.chmod(0o444)
    with pytest.raises(StoreError, match=r"chat\.db: it may only be read; allow"):
        Store(path)


def test_a_full_disk(tmp_path: Path) -> None:
    """A disk without room would leave half an exchange, or a store that cannot be used any more."""
    with Store(tmp_path / "chat.db") as store:
        store.add_exchange("a", "Hi?", "Hi.")
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}").close()
        with pytest.raises(StoreError, match=r"chat\.db: there is no room left; make room"):
            store.add_exchange("a", "Long?", "x" * 100_000)
        assert ["Hi?", "Hi."] == texts(store.messages("a"))
        store._db.execute("PRAGMA max_page_count = 1000000").close()
        store.add_exchange("a", "Again?", "x" * 100_000)
        assert ["Hi?", "Hi.", "Again?", "x" * 100_000] == texts(store.messages("a"))


def test_a_damaged_file(tmp_path: Path) -> None:
    """A file that was overwritten in the middle would be an unexplained error."""
    path = tmp_path / "chat.db"
    with Store(path) as store:
        for _ in range(50):
            store.add_exchange("a", "x" * 1_000, "y" * 1_000)
    data = bytearray(path.read_bytes())
    data[8_192:] = b"\xff" * len(data[8_192:])
    path.write_bytes(data)
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"chat\.db: it is damaged; put a backup in"),
    ):
        store.messages("a")


def test_a_file_that_stays_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that never lets go of the file would be waited for without end, or not be named as the reason."""
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0)
    moments = iter([0.0, 0.0, 1.0])
    monkeypatch.setattr(store_module.time, "monotonic", lambda: next(moments))
    waits: list[str] = []

    def waited(store: Store, kind: str) -> AbstractContextManager[None]:
        waits.append(kind)
        return nullcontext() if kind == "EXCLUSIVE" else transaction(store, kind)

    transaction = Store._transaction
    monkeypatch.setattr(Store, "_transaction", waited)
    path = tmp_path / "chat.db"
    with raw(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match=r"chat\.db: another program has kept it locked for t"):
            Store(path)
        assert ["EXCLUSIVE"] == [kind for kind in waits if kind == "EXCLUSIVE"]
        other.execute("ROLLBACK")


def test_a_file_that_is_being_set_up_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes that open a new file at once would have one of them fail."""
    path = tmp_path / "chat.db"
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0)
    monkeypatch.setattr(store_module.time, "monotonic", lambda: 0.0)
    with raw(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        transaction = Store._transaction

        def let_go(store: Store, kind: str) -> AbstractContextManager[None]:
            if kind == "EXCLUSIVE":
                other.execute("COMMIT")
            return transaction(store, kind)

        monkeypatch.setattr(Store, "_transaction", let_go)
        with Store(path) as store:
            assert [] == store.messages("a")


def test_processes_that_open_a_new_file_at_once(tmp_path: Path) -> None:
    """Of several processes that start together on a new file, one would fail or lose what it writes."""
    program = (
        "import sys; from lesson_code.conversation.store import Store\n"
        "sys.stdin.readline()\n"
        "for n in range(10):\n"
        "    with Store(f'{sys.argv[1]}/{n}.db') as store: store.add_exchange('a', 'Hi?', 'Hi.')\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    started = [subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.close()
    assert [0] * 4 == [process.wait() for process in started]
    for n in range(10):
        with Store(tmp_path / f"{n}.db") as store:
            assert ["Hi?", "Hi."] * 4 == texts(store.messages("a"))


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    """A process that reads would wait for one that writes, and the other way round."""
    path = tmp_path / "chat.db"
    with Store(path) as store, raw(path) as other:
        store.add_exchange("a", "Hi?", "Hi.")
        assert ("wal",) == other.execute("PRAGMA journal_mode").fetchone()
        assert (30_000,) == store._db.execute("PRAGMA busy_timeout").fetchone()
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM messages")
        assert ["Hi?", "Hi."] == texts(store.messages("a"))
        with closing(store.newest("a")) as newest_first:
            next(newest_first)
            other.execute("COMMIT")
            assert ["Hi?"] == texts([*newest_first])  # what was there when it began to read
        assert [] == store.messages("a")


def test_a_writer_says_so_before_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads first and writes then would fail if another writes in between, however long it waits."""
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0)
    path = tmp_path / "chat.db"
    with Store(path, clock=lambda: 1.0) as store, raw(path) as other:
        store.add_exchange("a", "Hi?", "Hi.")
        others: list[str] = []

        def write_meanwhile(statement: str) -> None:
            if statement.startswith("DELETE"):
                try:
                    other.execute("INSERT INTO facts (user, text, created) VALUES ('bob', 'Tea.', 0)")
                    others.append("has written")
                except sqlite3.OperationalError:
                    others.append("had to wait")

        other.execute("PRAGMA busy_timeout = 0").close()
        # `expire` reads which sessions are old, and then deletes them and what is left of them.
        store._clock = lambda: 100.0
        store._db.set_trace_callback(write_meanwhile)
        assert 2 == store.expire(timedelta(seconds=1))
        store._db.set_trace_callback(None)
        assert ["had to wait", "had to wait"] == others


def test_who_stops_reading_early_holds_up_nobody(tmp_path: Path) -> None:
    """A reader that was closed early would keep an old state of the file, and the next write would fail."""
    path = tmp_path / "chat.db"
    with Store(path) as store, Store(path) as other:
        store.add_exchange("a", "Hi?", "Hi.")
        with closing(store.newest("a")) as newest_first:
            next(newest_first)
            assert newest_first.gi_frame is not None
            rows = newest_first.gi_frame.f_locals["rows"]  # held, so that it does not close by being dropped
        other.add_exchange("a", "And?", "And.")
        store.add_exchange("a", "Then?", "Then.")
        # Left open, it is in the way, and that is what is said.
        newest_first = store.newest("a")
        next(newest_first)
        other.add_exchange("a", "Lost?", "No.")
        said = r"chat\.db: another has written while this program was reading; close what `newest` or `oldest` gave, "
        with pytest.raises(StoreError, match=said):
            store.add_exchange("a", "Again?", "Again.")
        newest_first.close()
        store.add_exchange("a", "Again?", "Again.")
        assert ["Hi?", "And?", "Then?", "Lost?", "Again?"] == texts(store.messages("a"))[::2]
        with pytest.raises(sqlite3.ProgrammingError, match="closed cursor"):
            rows.fetchone()


def test_an_export_is_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export would hold a summary of messages that it does not hold."""
    path = tmp_path / "chat.db"
    with Store(path) as store, Store(path) as other:
        store.add_exchange("a", "Hi?", "Hi.")
        store.set_summary("a", "Short.", 2)
        read = store.get_summary

        def cleared_right_after(session: str) -> object:
            found = read(session)
            other.clear_session("a")
            return found

        monkeypatch.setattr(store, "get_summary", cleared_right_after)
        kept = json.loads(store.export("a"))
        assert ("Short.", 2) == (kept["summary"]["text"], len(kept["messages"]))
        monkeypatch.undo()
        assert [] == store.messages("a")


def test_a_closed_store(store: Store) -> None:
    """Closing twice would fail, or a closed store would be an unexplained error."""
    store.close()
    store.close()
    with pytest.raises(StoreError, match=r"^:memory:: it is closed; open it with a new Store$"):
        store.messages("a")
