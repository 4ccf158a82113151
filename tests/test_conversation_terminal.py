"""Lesson 3, the chat in a terminal and over a pipe: in this process for its parts, in a real one for the whole."""

import asyncio
import builtins
import doctest
import io
import json
import os
import pty
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lesson_code.conversation import runs, terminal
from lesson_code.conversation.bot import HELP
from lesson_code.conversation.providers import FakeProvider
from lesson_code.conversation.store import Store
from lesson_code.conversation.terminal import SettingsError, main, provider_from
from lesson_code.fake_server import FakeServer, Fault, Request

ROOT = Path(__file__).parents[1]
NO_MODEL = {name: text for name, text in os.environ.items() if not name.startswith(("CHAT_", "OPENAI_", "ANTHROPIC_"))}


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a model that the environment of its user names."""
    for name in set(os.environ) - set(NO_MODEL):
        monkeypatch.delenv(name)


@pytest.fixture
def db(tmp_path: Path) -> str:
    """The name of a file that is not there yet."""
    return str(tmp_path / "chat.db")


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> int:
    """Run the chat in this process, with data from a pipe."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    return main(arguments)


def typed(monkeypatch: pytest.MonkeyPatch, keys: list[str | BaseException], *arguments: str) -> int:
    """Run the chat in this process as at a terminal; an exception stands for a key such as Ctrl-D."""
    pressed = iter(keys)

    def read(prompt: str) -> str:
        print(prompt, end="")
        key = next(pressed)
        if isinstance(key, BaseException):
            raise key
        return key

    monkeypatch.setattr(builtins, "input", read)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    return main(arguments)


def said(store_file: str, session: str = "terminal") -> list[str]:
    """What is stored of a session."""
    with Store(store_file) as store:
        return [message["content"] for message in store.messages(session)]


def test_docstrings() -> None:
    """An example in a docstring would print something else."""
    assert (0, 1) == doctest.testmod(terminal)


# Over a pipe.


def test_each_line_of_a_pipe_is_answered(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that reads the answers would find prompts or history between them."""
    assert 0 == piped(monkeypatch, b"Hi?\n\n  \n/facts\nAgain?", "--db", db)
    assert 0 == piped(monkeypatch, b"And?\n", "--db", db)
    assert (
        "(fake) I was sent 1 message(s); the last was: 'Hi?'\n"
        "There are no facts.\n"
        "(fake) I was sent 3 message(s); the last was: 'Again?'\n"
        "(fake) I was sent 5 message(s); the last was: 'And?'\n",
        "",
    ) == capsys.readouterr()


def test_sessions_and_users(db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The chat would go on in another conversation, or with another's facts."""
    piped(monkeypatch, b"Hi?\n/remember tea\n", "--db", db, "--session", "a", "--user", "ada")
    piped(monkeypatch, b"Hi?\n/facts\n", "--db", db, "--session", "b", "--user", "ada")
    piped(monkeypatch, b"/facts\n", "--db", db, "--session", "a")
    assert [
        "(fake) I was sent 1 message(s); the last was: 'Hi?'",
        "Remembered as #1.",
        "(fake) I was sent 1 message(s); the last was: 'Hi?'",
        "#1 tea",
        "There are no facts.",
    ] == capsys.readouterr().out.splitlines()
    assert ([], 2, 2) == (said(db), len(said(db, "a")), len(said(db, "b")))


def test_text_that_is_no_utf_8(db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A byte that is no text would end the chat."""
    assert 0 == piped(monkeypatch, b"H\xff?\r\nAgain?\n", "--db", db)
    assert "H�?" in capsys.readouterr().out
    assert ["H�?", "Again?"] == said(db)[::2]


def test_control_characters_do_not_reach_the_terminal(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer could move the cursor, or set the title of the window."""
    piped(monkeypatch, "a\x1b[31mb\x9b\x7f\tc\n".encode(), "--db", db)
    assert capsys.readouterr().out.endswith("the last was: 'a�[31mb��\tc'\n")
    assert "a\x1b[31mb\x9b\x7f\tc" == said(db)[0]


def test_invisible_characters_do_not_reach_the_terminal() -> None:
    """An answer could show its words in another order than it has them; or scripts that need a joiner would break."""
    assert "a�b�c�d" == terminal.printable("a\u202eb\u2066c\ufeffd")
    assert "می\u200cخواهم \U0001f469\u200d\U0001f680" == terminal.printable("می\u200cخواهم \U0001f469\u200d\U0001f680")


def test_a_failure_is_said_and_the_chat_goes_on(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failing provider would end the chat, or look like success to a script."""
    with FakeServer([Fault(400), "Hello, Asha."]) as server:
        for name, text in {"MODEL": "m-1", "CONTEXT_WINDOW": "2000"}.items():
            monkeypatch.setenv(f"CHAT_{name}", text)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        assert 1 == piped(monkeypatch, b"Lost?\nI am Asha.\n", "--db", db)
        monkeypatch.setenv("CHAT_CONTEXT_WINDOW", "1025")  # the reply may have all but one
        assert 1 == piped(monkeypatch, b"Hi?\n", "--db", db)
        assert 0 == typed(monkeypatch, ["Hi?", EOFError()], "--db", db)
    shown = capsys.readouterr()
    assert shown.out.startswith("Hello, Asha.\n/help shows")
    first, *others = shown.err.splitlines()
    assert first.startswith("error: ")
    assert ["error: nothing is left for the conversation:"] * 2 == [line[:44] for line in others]
    assert ["I am Asha.", "Hello, Asha."] == said(db)


# Who answers.


def test_a_real_model_answers_if_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment would be used by a chat that was meant to be without, or not found."""
    assert isinstance(provider_from({}), FakeProvider)
    assert isinstance(provider_from({"OPENAI_API_KEY": "sk-1", "CHAT_MODEL": ""}), FakeProvider)
    for name, address in {"OPENAI": "https://api.openai.com/v1", "ANTHROPIC": "https://api.anthropic.com"}.items():
        settings = {"CHAT_MODEL": "m-1", f"{name}_API_KEY": "sk-1"}
        assert f"HttpProvider('{address}', 'm-1')" == repr(provider_from(settings))
        assert provider_from(settings).context_window is None
        settings |= {f"{name}_BASE_URL": "http://127.0.0.1:1", "CHAT_CONTEXT_WINDOW": "9000"}
        assert "HttpProvider('http://127.0.0.1:1', 'm-1')" == repr(provider_from(settings))
        assert 9000 == provider_from(settings).context_window


def test_settings_that_name_nobody(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setting that was forgotten would be a traceback, or leave a new file behind."""
    settings = {"CHAT_MODEL": "m-1"}
    with pytest.raises(SettingsError, match=r"^CHAT_MODEL is set, .* set OPENAI_API_KEY or ANTHROPIC_API_KEY, and not"):
        provider_from(settings)
    settings |= {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-1"}
    with pytest.raises(SettingsError, match=r"^CHAT_MODEL is set, .* and not both$"):
        provider_from(settings)
    settings["ANTHROPIC_API_KEY"] = ""
    for bad in ("many", "-1", "0", "²", "1e6", "9" * 5_000):
        wanted = rf"^CHAT_CONTEXT_WINDOW must be a whole number of tokens, 1 or more, not '{bad[:20]}"
        with pytest.raises(SettingsError, match=wanted) as caught:
            provider_from(settings | {"CHAT_CONTEXT_WINDOW": bad})
        assert len(str(caught.value)) < 120
    wanted = "^CHAT_CONTEXT_WINDOW must be more than the 1024 tokens that a reply may have, not 1024$"
    with pytest.raises(SettingsError, match=wanted):
        provider_from(settings | {"CHAT_CONTEXT_WINDOW": "1024"})
    assert 1025 == provider_from(settings | {"CHAT_CONTEXT_WINDOW": "1025"}).context_window
    monkeypatch.setenv("CHAT_MODEL", "m-1")
    assert 2 == piped(monkeypatch, b"Hi?\n", "--db", db)
    assert ("", 1) == ((shown := capsys.readouterr()).out, shown.err.count("\n"))
    assert not Path(db).exists()


def test_a_wrong_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong name would be a traceback."""
    for wrong in (str(tmp_path), str(tmp_path / "no folder" / "chat.db"), ""):
        assert 2 == piped(monkeypatch, b"Hi?\n", "--db", wrong)
        shown = capsys.readouterr()
        assert ("", 1) == (shown.out, shown.err.count("\n"))
        assert shown.err.startswith(f"error: {wrong or repr(wrong)}")


def test_wrong_arguments(db: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file name or an id that is none would be a traceback, or be taken for something."""
    for wrong in ([], ["--db"], ["--db", db, "--session", ""], ["--db", db, "--user", "\udcff"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert 2 == ended.value.code
    assert "argument --session: the given id must not be empty or broken text: ''" in capsys.readouterr().err
    for bad in ("0", "-5", "many", "9" * 5_000):
        with pytest.raises(SystemExit):
            main(["--db", db, f"--budget={bad}"])
        assert f"--budget: it must be a whole number of tokens, 1 or more, not '{bad[:20]}" in capsys.readouterr().err
    assert not Path(db).exists()


def test_help_names_all_settings(capsys: pytest.CaptureFixture[str]) -> None:
    """A person would have to read the code to let a real model answer, or to learn what the file holds."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert 0 == ended.value.code
    shown = capsys.readouterr().out
    keys = [f"{name}_{what}" for name in ("OPENAI", "ANTHROPIC") for what in ("API_KEY", "BASE_URL")]
    for name in ("CHAT_MODEL", "CHAT_CONTEXT_WINDOW", *keys, "--system TEXT", "--budget TOKENS", "--summarise"):
        assert name in shown
    assert "conversations, summaries and facts" in " ".join(shown.split())


# What the bot is given.


def test_a_budget(db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The reader would see other windows than the page shows."""
    lines = "\n".join([*runs.SIX_QUESTIONS, "What is my cat called?"]).encode()
    piped(monkeypatch, lines, "--db", db, "--budget", "60")
    # "What is my cat called?" is 22 characters: 6 + 4 tokens. An answer of the fake has more than 50 characters,
    # so that with the exchange before it there would be more than 60 tokens.
    last = capsys.readouterr().out.splitlines()[-1]
    assert "(fake) I was sent 3 message(s); the last was: 'What is my cat called?'" == last


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
    """The fake that the chat asks, to see what it was sent."""
    provider = FakeProvider()
    monkeypatch.setattr(terminal, "FakeProvider", lambda: provider)
    return provider


def test_a_system_prompt(db: str, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model would not be told what the app wants of it."""
    piped(monkeypatch, b"Hi?\n", "--db", db, "--system", "Be brief.")
    assert ["Be brief."] == [call.system for call in fake.calls]


def test_summaries(db: str, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no longer fits would be left out, though summaries were asked for."""
    lines = b"I am Asha, and it is raining." + b"." * 91 + b"\nIs it?\nWho am I?\n"
    piped(monkeypatch, lines, "--db", db, "--summarise", "--budget", "108")
    # Messages of 30, 42, 2, 14 and 3 tokens, and 4 more for each: 111, over 108.
    assert terminal.MAX_TOKENS == fake.calls[0].max_tokens
    asked = [call.messages[0]["content"] for call in fake.calls if call.system and "You summarise" in call.system]
    assert asked[0].startswith(f"Conversation:\nuser: I am Asha, and it is raining.{'.' * 91}\nassistant: (fake)")


# At a terminal.


def test_a_person_is_greeted_and_shown_the_history(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person would not know how to leave, or what was said before."""
    assert 0 == typed(monkeypatch, ["Hi?", "", "/help", EOFError()], "--db", db)
    answer = "(fake) I was sent 1 message(s); the last was: 'Hi?'"
    welcome = "/help shows the commands. Ctrl-C stops an answer, Ctrl-D leaves; what was said stays."
    assert f"{welcome}\nyou> {answer}\nyou> you> {HELP}\nyou> \n" == capsys.readouterr().out
    assert 0 == typed(monkeypatch, [KeyboardInterrupt()], "--db", db)
    assert f"{welcome}\nyou> Hi?\n{answer}\nyou> \n" == capsys.readouterr().out


def test_only_the_end_of_the_history_is_shown(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long conversation would fill the screen each time."""
    with Store(db) as store:
        for number in range(6):
            store.add_exchange("terminal", f"{number}?", f"{number}.\x1b")
    typed(monkeypatch, [EOFError()], "--db", db)
    lines = [f"you> {number}?\n{number}.�\n" for number in range(1, 6)]
    assert capsys.readouterr().out.endswith("stays.\n" + "".join(lines) + "you> \n")


STOPPED = "Stopped. Neither the message nor an answer is stored."


async def interrupted() -> None:
    """Press Ctrl-C while an answer is awaited."""
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()


def test_ctrl_c_stops_an_answer_and_not_the_chat(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person who is tired of waiting would lose the chat, or not know what is stored."""
    monkeypatch.setattr(terminal, "FakeProvider", lambda: FakeProvider(pause=interrupted))
    assert 0 == typed(monkeypatch, ["Hi?", "/facts", EOFError()], "--db", db)
    assert capsys.readouterr().out.endswith(f"you> \n{STOPPED}\nyou> There are no facts.\nyou> \n")
    assert [] == said(db)


def test_ctrl_c_ends_a_pipe(db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that is stopped would look as if all had been answered."""
    monkeypatch.setattr(terminal, "FakeProvider", lambda: FakeProvider(pause=interrupted))
    assert 128 + signal.SIGINT == piped(monkeypatch, b"Hi?\nAgain?\n", "--db", db)
    assert ("", "") == capsys.readouterr()
    assert [] == said(db)


# In a process of its own.


def run(db: str, data: bytes, *arguments: str, **options: str) -> subprocess.CompletedProcess[bytes]:
    """Run the chat as a reader would, over a pipe."""
    command = [sys.executable, "-m", "lesson_code.conversation", "--db", db, *arguments]
    return subprocess.run(command, input=data, capture_output=True, cwd=ROOT, env=NO_MODEL | options, check=False)


def test_two_processes_share_a_memory(db: str) -> None:
    """What was said would be gone with the process."""
    first = run(db, b"My name is Asha.\n/remember I like tea\nHello?\n")
    assert (0, b"") == (first.returncode, first.stderr)
    second = run(db, "Wie heiße ich?\n/export\n".encode())
    assert (0, b"") == (second.returncode, second.stderr)
    answer, exported = second.stdout.decode().split("\n", 1)
    assert "(fake) I was sent 5 message(s); the last was: 'Wie heiße ich?'" == answer
    kept = json.loads(exported)
    assert (6, [{"id": 1, "text": "I like tea"}]) == (len(kept["messages"]), kept["facts"])


def test_a_terminal_without_unicode(db: str) -> None:
    """A locale that cannot write an answer would end the chat."""
    done = run(db, "猫?\n".encode(), LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (0, b"") == (done.returncode, done.stderr)
    assert done.stdout.endswith(b"?'\n")


def test_a_wrong_file_in_a_process(tmp_path: Path) -> None:
    """A wrong name would be a traceback with status 1."""
    done = run(str(tmp_path), b"Hi?\n")
    assert (2, b"", 1) == (done.returncode, done.stdout, done.stderr.count(b"\n"))
    assert done.stderr.startswith(f"error: {tmp_path}: it cannot be opened".encode())


def test_nobody_reads_the_answers(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that goes away would leave a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert 1 == piped(monkeypatch, b"Hi?\n", "--db", db)
        monkeypatch.undo()
    assert 2 == len(said(db))


@contextmanager
def at_a_terminal(db: str, settings: dict[str, str] | None = None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the chat at a terminal of its own; yield it and the other end."""
    ours, theirs = pty.openpty()
    chat = ["-m", "lesson_code.conversation", "--db", db]
    start = f"import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, *{chat!r}])"
    surroundings = NO_MODEL | {"TERM": "dumb", "INPUTRC": os.devnull, "PYTHONUTF8": "1"} | (settings or {})
    command = [sys.executable, "-c", start]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=surroundings)
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(ours: int, end: bytes | None, key: bytes = b"") -> bytes:
    """Read what the terminal shows, until that appears at the end; without it, until there is nothing more.

    A key is pressed now and then while nothing comes. Python overlooks a Ctrl-C that comes when it has shown the prompt
    and does not yet wait for a line; a person presses it once more, too.
    """
    shown = b""
    while end is None or not shown.endswith(end):
        for _ in range(60):
            if select.select([ours], [], [], 1)[0]:
                break
            os.write(ours, key)
        else:
            raise AssertionError(f"nothing more after {shown!r}")
        try:
            part = os.read(ours, 4_096)
        except OSError:  # so Linux says that the other end is closed
            part = b""
        if not part:
            assert end is None, shown
            break
        shown += part
    return shown


@pytest.mark.parametrize("key", [b"\x03", b"\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_leaving_a_real_terminal(db: str, key: bytes) -> None:
    """A key with which people leave would show a traceback, or leave a status that says failure."""
    with at_a_terminal(db) as (process, ours):
        assert b"Ctrl-D leaves" in read_until(ours, b"you> ")
        os.write(ours, b"Szia?\n")
        assert "the last was: 'Szia?'" in read_until(ours, b"you> ").decode()
        os.write(ours, b"H\xff?\n")  # no text
        read_until(ours, b"you> ")
        os.write(ours, key)
        rest = read_until(ours, None, key)
        assert 0 == process.wait()
        assert b"Traceback" not in rest
        assert b"\n" == rest[-1:]
    assert ["Szia?", "H�?"] == said(db)[::2]


class Awaited(FakeServer):
    """A server that never answers, and says when a request has come."""

    def __init__(self) -> None:
        super().__init__([Fault(hang=True)])
        self.asked = threading.Event()

    def keep(self, request: Request) -> None:
        """Say that it has come."""
        super().keep(request)
        self.asked.set()


def test_stopping_an_answer_that_is_awaited(db: str) -> None:
    """Ctrl-C during a slow answer would hang, end the chat, show a traceback or store half an exchange."""
    with Awaited() as server:
        settings = {"CHAT_MODEL": "m-1", "OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": f"{server.url}/v1"}
        with at_a_terminal(db, settings) as (process, ours):
            read_until(ours, b"you> ")
            os.write(ours, b"Hi?\n")
            assert server.asked.wait(60)
            os.write(ours, b"\x03")
            assert f"{STOPPED}\r\nyou> ".encode() == read_until(ours, b"you> ")[-len(STOPPED) - 7 :]
            os.write(ours, b"/facts\n")
            assert b"There are no facts." in read_until(ours, b"you> ")
            os.write(ours, b"\x04")
            assert b"Traceback" not in read_until(ours, None)
            assert 0 == process.wait()
    assert [] == said(db)


CONNECTING = """
import os, signal, socket, sys
from lesson_code.conversation.terminal import main

connect = socket.create_connection

def interrupted(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return connect(*arguments, **options)

socket.create_connection = interrupted
sys.exit(main(["--db", *sys.argv[1:]]))
"""


def test_leaving_while_the_provider_is_connecting(db: str) -> None:
    """Ctrl-C would hang for two minutes where nobody takes the call."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        settings = {"CHAT_MODEL": "m-1", "OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": url}
        with socket.create_connection(listening.getsockname()):  # the one that the queue has room for
            done = subprocess.run(
                [sys.executable, "-c", CONNECTING, db],
                input=b"Hi?\n",
                capture_output=True,
                cwd=ROOT,
                env=NO_MODEL | settings,
                timeout=60,
                check=False,
            )
    assert (130, b"", b"") == (done.returncode, done.stdout, done.stderr)
    assert [] == said(db)


def test_the_package_is_a_program(db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m lesson_code.conversation` would not start the chat, or hide its status; importing would start one."""
    monkeypatch.setattr(sys, "argv", ["conversation", "--db", db])
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hi?\n"))
    runpy.run_module("lesson_code.conversation.__main__", run_name="imported")
    assert not Path(db).exists()
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("lesson_code.conversation", run_name="__main__")
    assert 0 == ended.value.code
    assert capsys.readouterr().out.startswith("(fake) I was sent 1 message(s)")
