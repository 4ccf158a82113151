"""Print every figure of lesson 1 with the call that makes it.

Or compare the snapshot of the configuration with the live file:

python -m lesson_code.show_numbers
python -m lesson_code.show_numbers --fetch
"""

import argparse
import importlib
import json
import sys
from typing import Any

from lesson_code.kv_memory import CONFIG_URL, fetch_config, load_config

_TEN_TURNS = "total_tokens([filler('user', 50), filler('assistant', 50)] * 10)"
_TWENTY_TURNS = "total_tokens([filler('user', 50), filler('assistant', 50)] * 20)"
_ONE_KV_PAIR_A_HEAD = "load_config() | {'num_key_value_heads': 32}"
_CHOSEN = "MODELS['Qwen3-8B'] | {'torch_dtype': 'bfloat16'}"
_QUIZ_MODEL = (
    "{'num_hidden_layers': 28, 'num_attention_heads': 28, 'num_key_value_heads': 4, "
    "'head_dim': 128, 'torch_dtype': 'float16'}"
)

# Figures that stand in a source, or are worked out from one.
SOURCE_BASED: dict[str, list[str]] = {
    "context_window": [
        "1_048_576",
        "round(1_048_576 * 60 / 100)",
        "round(1_048_576 * 80 / 100)",
        "round(1_048_576 * 60 / 100, -4)",
        "round(1_048_576 * 80 / 100, -4)",
    ],
    "kv_memory": [
        "32_768",
        "131_072",
        "32_768 + 8_192",
        "load_config()['max_position_embeddings']",
        "load_config()['num_hidden_layers']",
        "load_config()['num_attention_heads']",
        "load_config()['num_key_value_heads']",
        "load_config()['head_dim']",
        "load_config()['torch_dtype']",
        *(
            f"MODELS['{model}']['{field}']"
            for model in ("Qwen3-0.6B", "Qwen3-32B", "Llama-3.1-8B")
            for field in (
                "num_hidden_layers",
                "num_key_value_heads",
                "max_position_embeddings",
            )
        ),
        "MODELS['Qwen3-0.6B']['head_dim']",
        "MODELS['Qwen3-32B']['head_dim']",
        "4_096 // 32",
        "8_200_000_000",
        "8_200_000_000 * BYTES_PER_VALUE['bfloat16']",
        "8_200_000_000 * BYTES_PER_VALUE['bfloat16'] / 10**9",
        "8_200_000_000 * BYTES_PER_VALUE['bfloat16']"
        " / kv_bytes_at_max_context(load_config())",
    ],
}

# By module: what a reader would type after importing its names.
CALLS: dict[str, list[str]] = {
    "context_window": [
        *SOURCE_BASED["context_window"],
        # The worked example.
        "[count_tokens(message['content']) for message in CAT_CHAT]",
        "[m['role'] for m in CAT_CHAT]",
        "[message['content'] for message in CAT_CHAT]",
        "total_tokens(CAT_CHAT)",
        "total_tokens(CAT_CHAT[:1])",
        "12 - total_tokens(CAT_CHAT[:1])",
        "total_tokens(CAT_CHAT[5:])",
        "12 - total_tokens(CAT_CHAT[:1]) - total_tokens(CAT_CHAT[5:])",
        "total_tokens(CAT_CHAT[4:5])",
        "12 - total_tokens(CAT_CHAT[:1]) - total_tokens(CAT_CHAT[4:])",
        "total_tokens(CAT_CHAT[3:4])",
        "total_tokens(CAT_CHAT[2:3])",
        "len(truncate(CAT_CHAT, 12))",
        "total_tokens(truncate(CAT_CHAT, 12))",
        "12 - total_tokens(truncate(CAT_CHAT, 12))",
        "total_tokens(CAT_CHAT[2:])",
        "len(truncate(CAT_CHAT, 12, keep_system=False))",
        "total_tokens(truncate(CAT_CHAT, 12, keep_system=False))",
        "total_tokens(truncate(CAT_CHAT, 19))",
        "total_tokens(truncate(CAT_CHAT, 1_000))",
        "fates(CAT_CHAT, 12, True)",
        "limit_used(CAT_CHAT, 12, True)",
        "'yes' if fates(CAT_CHAT, 12, True)[1] == 'sent' else 'no'",
        # Reading it all again.
        "tokens_read(3, 10)",
        "[tokens_read(n, 10) - tokens_read(n - 1, 10) for n in range(1, 4)]",
        "[2 * n - 1 for n in range(1, 6)]",
        "[tokens_read(n, 50) - tokens_read(n - 1, 50) for n in range(1, 6)]",
        "[(tokens_read(n, 50) - tokens_read(n - 1, 50)) // 50 for n in range(1, 6)]",
        "[tokens_read(n, 50) for n in range(1, 6)]",
        "[tokens_read(n, 50) for n in range(1, 21)]",
        "[tokens_read(n, 50, 450) for n in range(1, 21)]",
        "tokens_read(20, 50, 450)",
        "[total_tokens([filler('user', 50), filler('assistant', 50)] * n)"
        " for n in (10, 20)]",
        "[tokens_read(n, 50) for n in (10, 20)]",
        _TEN_TURNS,
        "tokens_read(10, 50)",
        f"tokens_read(10, 50) / {_TEN_TURNS}",
        _TWENTY_TURNS,
        "tokens_read(20, 50)",
        f"tokens_read(20, 50) / {_TWENTY_TURNS}",
        "tokens_read(100, 50) / tokens_read(10, 50)",
        # Reading it all again, through a window.
        "[tokens_read(n, 50) - tokens_read(n - 1, 50) for n in range(6, 11)]",
        "[tokens_read(n, 50, 450) - tokens_read(n - 1, 50, 450) for n in range(1, 11)]",
        "tokens_read(10, 50, 450)",
        "[tokens_read(10, 50), tokens_read(10, 50, 450)]",
        "tokens_read(10, 50, 450) - tokens_read(10 - 1, 50, 450)",
        "tokens_read(10, 50, 450) / (2 * 10 * 50)",
        "tokens_read(40, 50)",
        "tokens_read(40, 50, 450)",
        "tokens_read(5, 50, 450)",
        "tokens_read(40, 50, 450) - tokens_read(5, 50, 450)",
        "(tokens_read(40, 50, 450) - tokens_read(5, 50, 450)) // 450",
        "len(truncate([filler('user', 50)] * 10, 400))",
        "[tokens_read(n, 50, 400) - tokens_read(n - 1, 50, 400) for n in range(5, 11)]",
        "(tokens_read(10, 50, 400) - tokens_read(9, 50, 400)) // 50",
        "tokens_read(10, 50, 400) - tokens_read(9, 50, 400)",
        "tokens_read(10, 50, 400)",
        # The strip of messages.
        "[total_tokens([message]) for message in STRIP_CHAT]",
        "[m['role'] for m in STRIP_CHAT]",
        "len(STRIP_CHAT)",
        "len(truncate(STRIP_CHAT, 190 - 40))",
        "total_tokens(truncate(STRIP_CHAT, 190 - 40))",
        "total_tokens(truncate(STRIP_CHAT, 190 - 40)) + 40",
        # Attention pairs.
        "attention_pairs(4)",
        "attention_pairs(1_000)",
        "attention_pairs(2_000)",
        "attention_pairs(40_960)",
        "round(attention_pairs(1_000) / attention_pairs(500), 3)",
        "round(attention_pairs(2_000) / attention_pairs(1_000), 3)",
        "round(attention_pairs(40_960) / attention_pairs(20_480), 3)",
        # Check yourself.
        "[total_tokens([message]) for message in QUIZ_CHAT]",
        "10 - total_tokens(QUIZ_CHAT[:1])",
        "10 - total_tokens(QUIZ_CHAT[:1]) - total_tokens(QUIZ_CHAT[5:])",
        "10 - total_tokens(QUIZ_CHAT[:1]) - total_tokens(QUIZ_CHAT[4:])",
        "total_tokens(QUIZ_CHAT[3:4])",
        "[total_tokens([message]) for message in truncate(QUIZ_CHAT, 10)]",
        "total_tokens(truncate(QUIZ_CHAT, 10))",
        "tokens_read(12, 40)",
        "[tokens_read(n, 40, 200) - tokens_read(n - 1, 40, 200) for n in range(1, 13)]",
        "tokens_read(12, 40, 200)",
    ],
    "kv_memory": [
        *SOURCE_BASED["kv_memory"],
        # For one token, then at growing lengths.
        "BYTES_PER_VALUE['bfloat16']",
        "BYTES_PER_VALUE[load_config()['torch_dtype']]",
        "kv_bytes_per_token(load_config())",
        "kv_bytes_per_token(load_config()) / 2**10",
        "kv_bytes(load_config(), 1_000)",
        "kv_bytes(load_config(), 1_000) / 2**20",
        "kv_bytes(load_config(), 4_096)",
        "kv_bytes(load_config(), 4_096) / 2**20",
        "kv_bytes(load_config(), 32_768)",
        "kv_bytes(load_config(), 32_768) / 2**30",
        "kv_bytes_at_max_context(load_config())",
        "kv_bytes_at_max_context(load_config()) / 2**30",
        "round(kv_bytes_at_max_context(load_config()) / 10**9, 2)",
        "round(kv_bytes_at_max_context(load_config()) / 10**9)",
        # With one key/value pair for each query head.
        f"kv_bytes_per_token({_ONE_KV_PAIR_A_HEAD})",
        f"kv_bytes_per_token({_ONE_KV_PAIR_A_HEAD})"
        " / kv_bytes_per_token(load_config())",
        f"kv_bytes_at_max_context({_ONE_KV_PAIR_A_HEAD})",
        "[kv_bytes(load_config(), n) for n in range(0, 40_961, 4_096)]",
        f"[kv_bytes({_ONE_KV_PAIR_A_HEAD}, n) for n in range(0, 40_961, 4_096)]",
        "[kv_bytes_per_token(load_config() | {'num_key_value_heads': n})"
        " for n in (8, 32)]",
        "[kv_bytes_at_max_context(load_config() | {'num_key_value_heads': n})"
        " for n in (8, 32)]",
        f"kv_bytes_at_max_context({_ONE_KV_PAIR_A_HEAD}) / 2**30",
        # Of the models that can be chosen, the first choice.
        f"kv_bytes_per_token({_CHOSEN})",
        f"kv_bytes({_CHOSEN}, 32_768)",
        f"80_000_000_000 // kv_bytes({_CHOSEN}, 32_768)",
        "'yes' if 32_768 <= MODELS['Qwen3-8B']['max_position_embeddings'] else 'no'",
        # Check yourself.
        f"kv_bytes_per_token({_QUIZ_MODEL})",
        f"kv_bytes_per_token({_QUIZ_MODEL}) / 2**10",
        f"kv_bytes({_QUIZ_MODEL}, 8_192)",
        f"kv_bytes({_QUIZ_MODEL}, 8_192) / 2**20",
    ],
}


def main(argv: list[str] | None = None) -> int:
    """Run the command: 0 success, 1 the files differ, 2 there is no live file."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_code.show_numbers",
        description="Print every figure of lesson 1 with the call that makes it.",
        epilog="Exit status of --fetch: 0 equal, 1 different, 2 not fetched.",
    )
    parser.add_argument(
        "--fetch",
        nargs="?",
        const=CONFIG_URL,
        metavar="URL",
        help="download the live configuration (of Qwen3-8B, unless you give another "
        "address) and compare it with the snapshot, field by field",
    )
    url = parser.parse_args(argv).fetch
    if url is None:
        print("\n\n".join(figures(name) for name in CALLS))
        return 0
    try:
        live = fetch_config(url)
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    lines = differences(load_config(), live)
    print(
        "\n".join(lines) if lines else f"{url} equals the snapshot: {len(live)} fields"
    )
    return 1 if lines else 0


def figures(name: str) -> str:
    """Evaluate the calls of one module, a line each: value, mark and call."""
    names = vars(importlib.import_module(f"lesson_code.{name}"))
    values = {call: _written(eval(call, dict(names))) for call in CALLS[name]}
    width = max(len(value) for value in values.values() if value[0] != "[")
    lines = [f"lesson_code.{name}"]
    for call, value in values.items():
        mark = "source" if call in SOURCE_BASED[name] else ""
        lines.append(f"{value:>{width}}  {mark:6}  {call}")
    return "\n".join(lines)


def differences(snapshot: dict[str, Any], live: dict[str, Any]) -> list[str]:
    """Describe each field that is not the same in both, in the order of their names."""
    lines = []
    for field in sorted(snapshot.keys() | live.keys()):
        old, new = (
            json.dumps(cfg.get(field), sort_keys=True) for cfg in (snapshot, live)
        )
        if field not in snapshot:
            lines.append(f"added: {field} = {new}")
        elif field not in live:
            lines.append(f"missing: {field}, in the snapshot {old}")
        elif old != new:
            lines.append(f"changed: {field}, in the snapshot {old}, now {new}")
    return lines


def _written(value: float | str | list[int] | list[str]) -> str:
    """Write a number with thousands marked, without an empty decimal part."""
    return str(value) if isinstance(value, list | str) else f"{value:,.15g}"


if __name__ == "__main__":
    raise SystemExit(main())
