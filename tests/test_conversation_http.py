"""The real provider, against a server on this computer: what is sent, what is read, and all that can go wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from lesson_code.conversation import Bot, ProviderError, Reply, Store
from lesson_code.conversation.http_provider import LARGEST_ANSWER, HttpProvider
from lesson_code.fake_server import FakeServer, Fault
from lesson_code.context_window import Message

KEY = "sk-secret-123"
PROTOCOLS: list[Literal["openai", "anthropic"]] = ["openai", "anthropic"]
QUESTION: list[Message] = [{"role": "user", "content": "Hi!"}]
both = pytest.mark.parametrize("protocol", PROTOCOLS)
