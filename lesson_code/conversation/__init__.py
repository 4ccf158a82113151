"""Conversation state that survives: a store, a window, a bot, and who answers."""

from lesson_code.conversation import runs
from lesson_code.conversation.bot import Bot, BudgetError, one_shot, summary_request
from lesson_code.conversation.providers import (
    Call,
    FakeProvider,
    Provider,
    ProviderError,
    Reply,
)
from lesson_code.conversation.store import (
    Fact,
    Store,
    StoredMessage,
    StoreError,
    Summary,
)
from lesson_code.conversation.window import (
    build_system,
    estimate_tokens,
    fit_window,
    message_cost,
    newest_that_fit,
    one_line,
    total_cost,
    well_formed,
)

__all__ = [
    "Bot",
    "BudgetError",
    "Call",
    "Fact",
    "FakeProvider",
    "Provider",
    "ProviderError",
    "Reply",
    "Store",
    "StoreError",
    "StoredMessage",
    "Summary",
    "build_system",
    "estimate_tokens",
    "fit_window",
    "message_cost",
    "newest_that_fit",
    "one_line",
    "one_shot",
    "runs",
    "summary_request",
    "total_cost",
    "well_formed",
]
