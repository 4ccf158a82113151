"""What is kept: messages, summaries and facts, in one SQLite file."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any, Self, TypedDict

from lesson_code.context_window import Message
from lesson_code.conversation.window import well_formed

SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0
LARGEST_ID = 2**63 - 1  # SQLite counts in 64 bits

SCHEMA = (
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
        content TEXT NOT NULL,
        created REAL NOT NULL
    )""",
    "CREATE INDEX messages_of_session ON messages (session, id)",
    """CREATE TABLE summaries (
        session TEXT PRIMARY KEY NOT NULL,
        text TEXT NOT NULL,
        up_to INTEGER NOT NULL CHECK (typeof(up_to) = 'integer')
    )""",
    """CREATE TABLE facts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user TEXT NOT NULL,
        text TEXT NOT NULL,
        created REAL NOT NULL
    )""",
    "CREATE INDEX facts_of_user ON facts (user, id)",
)
COLUMNS = {
    *("messages.id", "messages.session", "messages.role", "messages.content"),
    *("messages.created", "summaries.session", "summaries.text", "summaries.up_to"),
    *("facts.id", "facts.user", "facts.text", "facts.created"),
}

# What to do, by the name of the error or the beginning of its text. The first counts.
ADVICE = {
    "SQLITE_NOTADB": "it is no SQLite database; choose another file",
    "SQLITE_CANTOPEN": "it cannot be opened; is it a folder, is its folder missing, "
    "or may you not write there?",
    "SQLITE_READONLY": "it may only be read; allow writing, or choose another file",
    "SQLITE_FULL": "there is no room left; make room and try again, nothing is half "
    "written",
    "SQLITE_BUSY_SNAPSHOT": "another has written while this program was reading; close "
    "what `newest` or `oldest` gave, and try again",
    "SQLITE_BUSY": "another program has kept it locked for too long; end that program, "
    "or try again",
    "SQLITE_CORRUPT": "it is damaged; put a backup in its place",
    "SQLITE_IOERR": "reading or writing it failed; look after the disk, and try again",
    "Cannot operate on a closed": "it is closed; open it with a new Store",
    "SQLite objects created in a thread": "it was opened in another thread; open a "
    "Store in each",
}


class StoreError(Exception):
    """The file cannot be used; the message names it, and says what to do."""


class StoredMessage(Message):
    """A message with its number, by which messages are ordered."""

    id: int


class Summary(TypedDict):
    """The earlier part of a conversation in short, up to and with a message."""

    text: str
    up_to: int


class Fact(TypedDict):
    """A text that a user asked to keep, with its number."""

    id: int
    text: str


class Store:
    """Conversations and facts in a file, or in memory.

    Several processes can use one file: they wait for each other. One store belongs to
    one thread, and its queries run where they are called, which in a bot is the event
    loop. That is fine while each takes well under a millisecond; the page says at
    which scale it stops being fine.

    Texts may hold anything. A NUL is kept. Halves of characters (lone surrogates),
    which no file can hold as text, are replaced by U+FFFD, as `well_formed` does.

    Raises:
        StoreError: In each method: the file cannot be read or written.
        TypeError: In each method: an id or a text is no text, or a number is none.
        ValueError: In each method: an id is empty, or holds a lone surrogate (to
            replace that would make one id out of two); no message has such a number.

    >>> with Store() as store:
    ...     store.add_exchange("terminal", "Hello?", "Hello!")
    ...     [message["content"] for message in store.messages("terminal")]
    ['Hello?', 'Hello!']
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open a file, and make it if it is not there.

        Args:
            path: The file, or ":memory:" for a store that ends with the program.
            clock: Tells the time in seconds, for `expire`. The order of messages does
                not depend on it.

        Raises:
            StoreError: The file cannot be used, is newer than this program, or belongs
                to another program.
        """
        self.path = os.fspath(path)
        if not isinstance(self.path, str):
            raise TypeError(f"the path must be text or a Path, not {path!r}")
        self._clock = clock
        with self._explained():
            if not self.path or "\0" in self.path:
                raise StoreError(f"{self.path!r} is no file name; choose another")
            self._db = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None
            )
            try:
                self._wait_for_others(self._prepare)
            except BaseException:
                self._db.close()
                raise

    def add_exchange(self, session: str, question: str, answer: str) -> None:
        """Store a question and its answer, both or neither."""
        created = self._clock()
        rows = [
            (checked_id("session", session), role, _text(role, content), created)
            for role, content in (("user", question), ("assistant", answer))
        ]
        insert = "INSERT INTO messages (session, role, content, created) "
        with self._writing():
            self._db.executemany(insert + "VALUES (?, ?, ?, ?)", rows)

    def messages(self, session: str, after_id: int = 0) -> list[StoredMessage]:
        """Return the messages of a session after a number, oldest first."""
        return [*self.oldest(session, after_id)]

    def newest(
        self, session: str, after_id: int = 0
    ) -> Generator[StoredMessage, None, None]:
        """Yield the messages of a session after a number, newest first.

        It reads a row when it is asked for one, so that whoever stops early has not
        read a long conversation. Close it when you stop (`contextlib.closing`).
        """
        return self._messages(session, after_id, "DESC")

    def oldest(
        self, session: str, after_id: int = 0
    ) -> Generator[StoredMessage, None, None]:
        """Do what `newest` does, oldest first."""
        return self._messages(session, after_id, "ASC")

    def get_summary(self, session: str) -> Summary | None:
        """Return the summary of a session, if there is one."""
        query = "SELECT text, up_to FROM summaries WHERE session = ?"
        for text, up_to in self._rows(query, checked_id("session", session)):
            return {"text": text, "up_to": up_to}
        return None

    def set_summary(self, session: str, text: str, up_to: int) -> bool:
        """Store the summary of a session, in place of an earlier one.

        Args:
            session: Whose.
            text: The summary.
            up_to: The number of the last message that it covers.

        Returns:
            Whether it was stored. It is not if that message is gone, because somebody
            cleared the conversation while the summary was being written.
        """
        checked_id("session", session)
        _number("message", up_to)
        replace = (
            "REPLACE INTO summaries SELECT session, ?, id FROM messages "
            "WHERE session = ? AND id = ?"
        )
        with self._writing():
            values = (_text("summary", text), session, up_to)
            return self._db.execute(replace, values).rowcount == 1

    def add_fact(self, user: str, text: str) -> int:
        """Store a fact; return its number, which is never given again."""
        insert = "INSERT INTO facts (user, text, created) VALUES (?, ?, ?)"
        values = (checked_id("user", user), _text("fact", text), self._clock())
        with self._writing():
            return self._db.execute(insert, values).lastrowid or 0

    def facts(self, user: str) -> list[Fact]:
        """Return the facts of a user, oldest first."""
        query = "SELECT id, text FROM facts WHERE user = ? ORDER BY id"
        rows = self._rows(query, checked_id("user", user))
        return [{"id": number, "text": text} for number, text in rows]

    def forget(self, user: str, id: int | None = None) -> int:
        """Delete a fact of a user by its number, or all of them; return how many."""
        if id is not None and not 0 < _whole("fact", id) <= LARGEST_ID:
            return 0
        delete = "DELETE FROM facts WHERE user = ? AND id = coalesce(?, id)"
        with self._writing():
            return self._db.execute(delete, (checked_id("user", user), id)).rowcount

    def clear_session(self, session: str) -> int:
        """Delete the messages and the summary of a session; return how many messages.

        Facts belong to a user, and stay.
        """
        values = (checked_id("session", session),)
        with self._writing():
            self._db.execute("DELETE FROM summaries WHERE session = ?", values)
            delete = "DELETE FROM messages WHERE session = ?"
            return self._db.execute(delete, values).rowcount

    def export(self, session: str, user: str | None = None) -> str:
        """Return a session's messages and summary, and a user's facts, as JSON text.

        The times at which they were stored are left out.

        Args:
            session: Whose messages and summary.
            user: Whose facts; without one, those of the user named like the session.
        """
        with self._reading():
            kept = {
                "session": session,
                "summary": self.get_summary(session),
                "messages": self.messages(session),
                "facts": self.facts(session if user is None else user),
            }
        return json.dumps(kept, ensure_ascii=False, indent=2)

    def expire(self, older_than: timedelta) -> int:
        """Delete the sessions in which nothing was said for so long (time to live).

        A session goes as a whole, with its summary, and so does a summary that has no
        messages any more; facts stay until they are forgotten. Call it now and then,
        such as once a day.

        Returns:
            How many messages were deleted.

        Raises:
            ValueError: `older_than` is negative.
        """
        if older_than < timedelta(0):
            raise ValueError(f"older_than must not be negative: {older_than}")
        limit = self._clock() - older_than.total_seconds()
        old = "SELECT session FROM messages GROUP BY session HAVING max(created) < ?"
        with self._writing():
            sessions = self._db.execute(old, (limit,)).fetchall()
            delete = "DELETE FROM messages WHERE session = ?"
            deleted = max(0, self._db.executemany(delete, sessions).rowcount)
            left_over = "session NOT IN (SELECT session FROM messages)"
            self._db.execute(f"DELETE FROM summaries WHERE {left_over}")
            return deleted

    def vacuum(self) -> None:
        """Write the file anew: it shrinks, and what was deleted is really gone.

        Until then SQLite keeps deleted text in unused parts of the file. It takes as
        long as copying the file, and others wait.

        Raises:
            StoreError: Among others: somebody is reading the file as it was before.
        """
        with self._explained():
            self._db.execute("VACUUM")
            checkpoint = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            [(busy, _, _)] = checkpoint.fetchall()
        if busy:
            raise StoreError(
                f"{self.path}: somebody is reading it, so what was deleted is still on "
                "the disk; call vacuum again when they have finished"
            )

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        with self._explained():
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _prepare(self) -> None:
        """Check that the file is ours, make its tables, and set how it is written."""
        with self._transaction("IMMEDIATE"):
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            query = (
                "SELECT t.name || '.' || c.name FROM sqlite_master AS t, "
                "pragma_table_info(t.name) AS c WHERE t.type = 'table'"
            )
            columns = {name for (name,) in self._db.execute(query)}
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path}: it was written by a newer version of this program "
                    f"(schema {version}, this one knows {SCHEMA_VERSION}); "
                    "update the program, or choose another file"
                )
            if version == 0 and not columns:
                for statement in SCHEMA:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION or not columns >= COLUMNS:
                raise StoreError(
                    f"{self.path}: it is the database of another program; "
                    "choose another file"
                )
            # It changes nothing, but fails on a file that may only be read.
            self._db.execute("DELETE FROM messages WHERE false")
        # A write-ahead log: readers do not wait for a writer.
        self._db.execute("PRAGMA journal_mode = WAL").close()

    def _wait_for_others(self, action: Callable[[], None]) -> None:
        """Repeat an action while another process is setting up the same file.

        SQLite waits by itself for most locks, but not for the one that turns the
        write-ahead log on. So it is given one to wait for.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not _is(error, "SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
            with self._transaction("EXCLUSIVE"):
                pass  # nobody else has the file now

    def _messages(
        self, session: str, after_id: int, order: str
    ) -> Generator[StoredMessage, None, None]:
        """Yield the messages of a session after a number, in this order."""
        query = "SELECT id, role, content FROM messages WHERE session = ? AND id > ? "
        values = (checked_id("session", session), _number("message", after_id))
        with self._explained():
            rows = self._db.execute(f"{query} ORDER BY id {order}", values)
            with closing(rows):
                for number, role, content in rows:
                    yield {"id": number, "role": role, "content": content}

    def _rows(self, query: str, value: str) -> list[Any]:
        """Return all rows of a query."""
        with self._explained():
            return self._db.execute(query, (value,)).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run all that is inside as one transaction, alone on the file."""
        with self._explained(), self._transaction("IMMEDIATE"):
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Run all that is inside on one state of the file."""
        with self._explained(), self._transaction("DEFERRED"):
            yield

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._db.execute(f"BEGIN {kind}")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite into one that names the file and says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            advice = [text for name, text in ADVICE.items() if _is(error, name)]
            said = [*advice, str(error)][0]
            raise StoreError(f"{self.path}: {said}") from error


def _is(error: sqlite3.Error, name: str) -> bool:
    """Say whether an error is of a kind; those of the module itself have words only."""
    return getattr(error, "sqlite_errorname", str(error)).startswith(name)


def checked_id(name: str, value: str) -> str:
    """Return an id, which must be whole: what is like another must be the other."""
    if not isinstance(value, str):
        raise TypeError(f"the {name} id must be text, not {value!r}")
    if not value or well_formed(value) != value:
        raise ValueError(f"the {name} id must not be empty or broken text: {value!r}")
    return value


def _text(name: str, value: str) -> str:
    """Return a text as it can be stored."""
    if not isinstance(value, str):
        raise TypeError(f"the {name} must be text, not {value!r}")
    return well_formed(value)


def _number(name: str, value: int) -> int:
    """Return a number that SQLite can look for."""
    if not 0 <= _whole(name, value) <= LARGEST_ID:
        raise ValueError(
            f"there is no {name} number {value}; numbers go from 0 to {LARGEST_ID}"
        )
    return value


def _whole(name: str, value: int) -> int:
    """Return a value, which must be a whole number."""
    if type(value) is not int:
        raise TypeError(f"the number of a {name} must be a whole number, not {value!r}")
    return value
