"""Lesson 2, saved conversations: atomic files, ids from outside, corrupt files."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_code.chatbot import chat_path, load_chat, save_chat
from lesson_code.context_window import Message

OLD: list[Message] = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
NEW: list[Message] = [*OLD, {"role": "user", "content": "Grüße, 你好, 👋 and half of one: \ud83d"}]

same_every_run = settings(derandomize=True, deadline=None, database=None, max_examples=300)


# What is saved comes back.


def test_a_session_of_two_messages_comes_back(tmp_path: Path) -> None:
    """The session of the page would be lost or changed."""
    save_chat(tmp_path, "asha", OLD)
    assert OLD == load_chat(tmp_path, "asha")
    save_chat(tmp_path, "asha", NEW)
    assert NEW == load_chat(tmp_path, "asha")
    assert [tmp_path / "asha.json"] == list(tmp_path.iterdir())
    assert NEW == json.loads((tmp_path / "asha.json").read_text("utf-8"))


def test_the_folder_is_made(tmp_path: Path) -> None:
    """The first conversation of all would not be saved."""
    save_chat(tmp_path / "chats" / "of today", "asha", OLD)
    assert OLD == load_chat(tmp_path / "chats" / "of today", "asha")


def test_tool_calls_come_back_too(tmp_path: Path) -> None:
    """The call of a tool, which has no text, would be refused or lost."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "remember"}}]}
    save_chat(tmp_path, "asha", [call])  # type: ignore[list-item] # an agent's message has more than a chat's
    assert [call] == load_chat(tmp_path, "asha")


def test_any_text_comes_back() -> None:
    """Some characters would be changed by saving, or break it."""

    @same_every_run
    @given(st.lists(st.fixed_dictionaries({"role": st.text(st.characters()), "content": st.text(st.characters())})))
    def check(messages: list[Message]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            save_chat(Path(folder), "a", messages)
            assert messages == load_chat(Path(folder), "a")

    check()


def test_no_such_conversation(tmp_path: Path) -> None:
    """A missing conversation would look like an empty one."""
    with pytest.raises(FileNotFoundError, match=re.escape(f"no conversation is saved in {tmp_path / 'asha.json'}")):
        load_chat(tmp_path, "asha")


# A crash leaves the old file or the new.

STEPS = ["mkdir", "mkstemp", "open", "write", "flush", "fsync", "replace"]


def break_step(step: str, fail: Callable[..., Any], patch: Callable[[Any, str, Any], object]) -> None:
    """Let one step of saving fail."""

    class BrokenFile:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> "BrokenFile":
            return self

        def __exit__(self, *exception: object) -> None:
            self.file.close()

        def write(self, text: str) -> None:
            self.file.write(text[: len(text) // 2])
            self.file.flush()
            fail()

        def flush(self) -> None:
            fail()

    real_open = open

    def broken_open(handle: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(handle, int):
            return real_open(handle, *args, **options)
        if step == "open":
            os.close(handle)
            fail()
        file = BrokenFile(real_open(handle, *args, **options))
        if step == "flush":
            file.write = file.file.write  # type: ignore[method-assign] # only flushing fails
        return file

    if step in ("open", "write", "flush"):
        patch(__import__("builtins"), "open", broken_open)
    else:
        patch({"mkdir": Path, "mkstemp": tempfile}.get(step, os), step, fail)


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails(step: str, error: BaseException, tmp_path: Path) -> None:
    """A full disk would cost the conversation, or leave half a file lying about."""
    save_chat(tmp_path, "asha", OLD)

    def fail(*args: object, **options: object) -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        break_step(step, fail, patch.setattr)
        with pytest.raises(type(error)):
            save_chat(tmp_path, "asha", NEW)
    assert OLD == load_chat(tmp_path, "asha")
    assert [tmp_path / "asha.json"] == list(tmp_path.iterdir())


def test_a_step_that_fails_when_even_cleaning_up_does(tmp_path: Path) -> None:
    """The first error would be hidden behind that of cleaning up."""
    save_chat(tmp_path, "asha", OLD)

    def fail(*args: object) -> None:
        raise PermissionError("not allowed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "unlink", fail)
        patch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError("No space left on device")))
        with pytest.raises(OSError, match="No space left on device"):
            save_chat(tmp_path, "asha", NEW)
    assert OLD == load_chat(tmp_path, "asha")


CRASH = """
import os, sys
from pathlib import Path
from lesson_code.chatbot import save_chat
from tests.test_chatbot_saving import NEW, break_step
step, folder = sys.argv[1:]
break_step(step, lambda *args, **options: os._exit(9), setattr)
save_chat(Path(folder), "asha", NEW)
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_dies_at_a_step(step: str, tmp_path: Path) -> None:
    """A crash, after which nothing cleans up, would leave half a conversation, or hinder the next save."""
    save_chat(tmp_path, "asha", OLD)
    root = Path(__file__).parent.parent
    died = subprocess.run([sys.executable, "-c", CRASH, step, tmp_path], cwd=root, capture_output=True, check=False)
    assert (9, b"") == (died.returncode, died.stderr)
    assert OLD == load_chat(tmp_path, "asha")
    # What is left is found by its name, which belongs to this session alone; the page says so.
    left = [path for path in tmp_path.iterdir() if path.name != "asha.json"]
    assert left == list(tmp_path.glob(".asha.*.part"))
    assert len(left) == (step not in ("mkdir", "mkstemp"))
    if step in ("fsync", "replace"):
        assert NEW == json.loads(left[0].read_text("utf-8"))
    save_chat(tmp_path, "asha", NEW)
    assert NEW == load_chat(tmp_path, "asha")


def test_after_the_rename_it_is_the_new_one(tmp_path: Path) -> None:
    """A crash right after the last step would leave something between old and new."""
    save_chat(tmp_path, "asha", OLD)
    replace = os.replace

    def replace_and_die(part: str, path: Path) -> None:
        replace(part, path)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace_and_die)
        with pytest.raises(KeyboardInterrupt):
            save_chat(tmp_path, "asha", NEW)
    assert NEW == load_chat(tmp_path, "asha")
    assert [tmp_path / "asha.json"] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ("hello", "this chat cannot be saved: it is no list of messages"),
        ([{"content": "Hi"}], "this chat cannot be saved: message 0 has no role"),
        ([OLD[0], "hello"], "this chat cannot be saved: message 1 has no role"),
        ([{"role": "user"}], "this chat cannot be saved: message 0 has no content"),
        ([{"role": "user", "content": b"Hi"}], "this chat cannot be saved: message 0 has no content"),
    ],
)
def test_what_is_no_chat_is_not_saved(messages: Any, complaint: str, tmp_path: Path) -> None:
    """What cannot be loaded again would be put in place of what can."""
    save_chat(tmp_path, "asha", OLD)
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        save_chat(tmp_path, "asha", messages)
    assert OLD == load_chat(tmp_path, "asha")


def test_what_is_no_json_is_not_saved(tmp_path: Path) -> None:
    """Half a file would be written before the fault is seen."""
    with pytest.raises(TypeError, match="not JSON serializable"):
        save_chat(tmp_path / "new", "asha", [{"role": "user", "content": "Hi", "extra": {1}}])  # type: ignore[typeddict-unknown-key] # the wrong type is the case
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Hi", "seen": {1: 2}},
        {"role": "user", "content": "Hi", "seen": (1, 2)},
        {"role": "user", "content": "Hi", "seen": float("nan")},
    ],
)
def test_what_would_come_back_changed_is_not_saved(message: Any, tmp_path: Path) -> None:
    """JSON knows neither keys that are no texts nor tuples: the chat would come back as another."""
    save_chat(tmp_path, "asha", OLD)
    with pytest.raises(ValueError, match=r"^this chat cannot be saved: message 1 would come back changed$"):
        save_chat(tmp_path, "asha", [OLD[0], message])
    assert OLD == load_chat(tmp_path, "asha")


def test_a_file_that_is_deleted_in_the_middle_of_a_save(tmp_path: Path) -> None:
    """A save would fail because somebody deleted the old conversation at that moment."""
    save_chat(tmp_path, "asha", OLD)
    read_text = Path.read_text

    def delete_and_read(path: Path, **options: Any) -> str:
        path.unlink()
        return read_text(path, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_text", delete_and_read)
        save_chat(tmp_path, "asha", NEW)
    assert NEW == load_chat(tmp_path, "asha")


# Corrupt files.

CORRUPT = [
    b"",
    b'[{"role": "user", "cont',
    b"not json",
    b"{}",
    b"null",
    b'[{"role": "user"}]',
    b'[{"role": 5, "content": "Hi"}]',
    b'["Hi"]',
    b'[{"role": "user", "content": ["Hi"]}]',
    b'[{"role": "user", "content": "\xff"}]',
    b"[" * 100_000,
]


@pytest.mark.parametrize("found", CORRUPT)
def test_a_corrupt_file_is_reported_and_left(found: bytes, tmp_path: Path) -> None:
    """A damaged conversation would count as empty, or be overwritten before anybody could look at it."""
    path = tmp_path / "asha.json"
    path.write_bytes(found)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is corrupt: "):
        load_chat(tmp_path, "asha")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is corrupt: "):
        save_chat(tmp_path, "asha", NEW)
    assert found == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_the_place_in_a_corrupt_file() -> None:
    """Whoever has to mend a file by hand would not be told where."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "asha.json").write_text(json.dumps([*OLD, {"role": "user"}]), "utf-8")
        with pytest.raises(ValueError, match=r"is corrupt: message 2 has no content$"):
            load_chat(Path(folder), "asha")


# Ids come from outside.

DEVICES = ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))]
HOSTILE = [
    "",
    ".",
    "..",
    "../asha",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "..\\asha",
    "C:asha",
    "C:\\asha",
    "\\\\server\\share",
    "//server/share",
    "asha\0",
    "\0",
    "asha\n",
    "asha\r\n",
    "asha\t",
    "asha ",
    " asha",
    "asha.",
    "asha.json",
    ".asha",
    ".asha-x.part",
    "asha:stream",
    "asha*",
    "asha?",
    "~root",
    "-rf",
    "_asha",
    "$HOME",
    "%TEMP%",
    "a" * 65,
    "a" * 100_000,
    *DEVICES,
    *(name.upper() for name in DEVICES),
    "CON.txt",
    "con.json",
    "Con ",
    "conin$",
    "com¹",
    "Asha",
    "ASHA",
    "ａsha",
    "аsha",  # with a Cyrillic a
    "ashа",
    "asha․json",
    "a∕b",
    "a⁄b",
    "a／b",
    "ı",
    "ß",
    "ſ",
    "é",
    "e\u0301",
    "١",
    "asha\u200b",
    "\u202easha",
    "👋",
    "\ud83d",
    "%2e%2e%2f",
]


@pytest.mark.parametrize("session_id", HOSTILE, ids=ascii)
def test_a_hostile_id_is_refused(session_id: str, tmp_path: Path) -> None:
    """Whoever chooses the id would choose a file of ours to read or to overwrite."""
    folder = tmp_path / "chats"
    with pytest.raises(ValueError, match=r"^the session id .* is not allowed: "):
        save_chat(folder, session_id, OLD)
    with pytest.raises(ValueError, match=r"^the session id .* is not allowed: "):
        load_chat(folder, session_id)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("session_id", [None, b"a", 5])
def test_an_id_that_is_no_text(session_id: Any) -> None:
    """A slip in the app would be reported as one in a pattern."""
    with pytest.raises(TypeError, match=r"^a session id is a text, not a (NoneType|bytes|int)$"):
        chat_path(Path("chats"), session_id)


def test_the_complaint_is_short() -> None:
    """A huge id would fill the log."""
    with pytest.raises(ValueError, match="is not allowed") as caught:
        chat_path(Path("chats"), "a" * 100_000)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("session_id", ["a", "7", "asha", "console", "con1", "com10", "a-b_c", "0" * 64, "0a" * 32])
def test_what_is_allowed(session_id: str) -> None:
    """An honest id would be refused, or its file stand somewhere else."""
    assert Path("chats") / f"{session_id}.json" == chat_path(Path("chats"), session_id)


def as_windows_reads(name: str) -> str:
    """Say which file Windows takes a name for: it ignores case, and dots and blanks at the end."""
    return name.casefold().rstrip(". ")


def test_no_id_leaves_the_folder_and_no_two_share_a_file() -> None:
    """Some id that gets through would reach another file than its own."""
    seen: dict[str, str] = {}
    allowed: list[str] = []
    letters = st.sampled_from("abcon1-_./\\ :AB\0\n") | st.characters()

    @same_every_run
    @given(st.text(letters, max_size=5) | st.from_regex(r"[a-z0-9_-]{1,3}", fullmatch=True))
    def check(session_id: str) -> None:
        try:
            path = chat_path(Path("/chats"), session_id)
        except ValueError:
            return
        allowed.append(session_id)
        assert "/chats" == os.path.dirname(os.path.normpath(path))
        assert session_id == path.stem
        assert session_id == seen.setdefault(as_windows_reads(path.name), session_id)
        assert as_windows_reads(path.name).split(".")[0] not in DEVICES

    check()
    assert len(set(allowed)) >= 50
