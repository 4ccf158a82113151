"""The attention cache: the memory that reading costs, from a model's own config.json.

For every token it has read, a model keeps a key and a value vector in each layer, for
each of its key/value heads. Grouped-query attention means that several query heads
share such a pair.
"""

import json
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from lesson_code.context_window import check_whole

CONFIG_URL = "https://huggingface.co/Qwen/Qwen3-8B/resolve/main/config.json"
SNAPSHOT = Path(__file__).with_name("qwen3_8b_config.json")
BYTES_PER_VALUE = {"float32": 4, "float16": 2, "bfloat16": 2}

# Fields with these in their names: the model keeps something else than is counted here.
OTHER_MEMORY = (
    "text_config",
    "kv_lora_rank",
    "linear_",
    "mamba",
    "full_attention_interval",
    "attention_chunk_size",
    "multi_query",
    "num_kv_",
    "block_configs",
    "block_types",
)
ELSEWHERE = "see the real-models lesson"


def load_config(path: str | Path = SNAPSHOT) -> dict[str, Any]:
    """Read a model's `config.json`: that of Qwen3-8B, unless you name another.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not a JSON object.
    """
    try:
        return _json_object(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is {error}") from error


def fetch_config(url: str = CONFIG_URL) -> dict[str, Any]:
    """Download a model's `config.json` as it is today, within 30 seconds.

    Raises:
        OSError: There is no network, no such file, or no JSON object in it.
    """
    try:
        with urlopen(url, timeout=30) as response:
            return _json_object(response.read())
    except (OSError, HTTPException, ValueError) as error:
        raise OSError(f"no configuration from {url}: {error}") from error


def kv_bytes_per_token(cfg: Mapping[str, Any]) -> int:
    """Compute the bytes that each token adds to the attention cache.

    With full attention in every layer that is 2 (key and value) x layers x key/value
    heads x head size x bytes per value.

    Raises:
        ValueError: The formula does not hold here, or a field is missing or wrong.

    >>> kv_bytes_per_token(load_config())  # 2 x 36 x 8 x 128 x 2
    147456
    """
    _check_full_attention(cfg)
    layers = _field(cfg, "num_hidden_layers")
    shared = cfg.get("num_key_value_heads") is not None
    heads = _field(cfg, "num_key_value_heads" if shared else "num_attention_heads")
    return 2 * layers * heads * _head_size(cfg) * _value_size(cfg)


def kv_bytes(cfg: Mapping[str, Any], tokens: int) -> int:
    """Compute the bytes of the attention cache of so many tokens, read or written.

    Raises:
        TypeError: `tokens` is no whole number.
        ValueError: `tokens` is negative, or `kv_bytes_per_token` refuses.
    """
    check_whole("tokens", tokens)
    return tokens * kv_bytes_per_token(cfg)


def kv_bytes_at_max_context(cfg: Mapping[str, Any]) -> int:
    """Compute the bytes of the cache when a conversation fills the model's window."""
    return kv_bytes_per_token(cfg) * _field(cfg, "max_position_embeddings")


def _json_object(data: bytes) -> dict[str, Any]:
    """Parse what has to be one JSON object."""
    try:
        cfg = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(cfg, dict):
        raise ValueError(f"not a JSON object, but a {type(cfg).__name__}")
    return cfg


def _check_full_attention(cfg: Mapping[str, Any]) -> None:
    """Refuse what the formula would get wrong, rather than give a wrong number."""
    said = {name: value for name, value in cfg.items() if value is not None}
    others = [name for name in said if any(part in name for part in OTHER_MEMORY)]
    if "sliding_window" in said and said.get("use_sliding_window") is not False:
        others.append("sliding_window")
    if "layer_types" in said:
        layers = _field(cfg, "num_hidden_layers")
        if said["layer_types"] != ["full_attention"] * layers:
            others.append("layer_types")
    if others:
        raise ValueError(
            "the formula holds for full attention in every layer only, "
            f"and there is {', '.join(others)}; {ELSEWHERE}"
        )


def _head_size(cfg: Mapping[str, Any]) -> int:
    """Return the values in a key: `head_dim`, or a head's share of hidden_size."""
    if cfg.get("head_dim") is not None:
        return _field(cfg, "head_dim")
    hidden, heads = _field(cfg, "hidden_size"), _field(cfg, "num_attention_heads")
    if hidden % heads:
        raise ValueError(
            f"hidden_size {hidden} does not divide by num_attention_heads {heads}; "
            f"{ELSEWHERE}"
        )
    return hidden // heads


def _value_size(cfg: Mapping[str, Any]) -> int:
    """Return the bytes of one value in the model's own number format."""
    dtype = cfg.get("dtype") if cfg.get("torch_dtype") is None else cfg["torch_dtype"]
    if not isinstance(dtype, str) or dtype not in BYTES_PER_VALUE:
        raise ValueError(
            f"torch_dtype (or dtype) is {dtype!r}, "
            f"not one of {', '.join(BYTES_PER_VALUE)}; {ELSEWHERE}"
        )
    return BYTES_PER_VALUE[dtype]


def _field(cfg: Mapping[str, Any], name: str) -> int:
    """Return a field that has to be a whole number from 1 on."""
    value = cfg.get(name)
    if value is None:
        raise ValueError(f"{name} is missing; {ELSEWHERE}")
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(
            f"{name} is {value!r}, not a whole number of 1 or more; {ELSEWHERE}"
        )
    return value


# Models to compare, by what their own config.json says. One is made up: Qwen3-8B as it
# would be if every head had a key/value pair of its own.
MODELS: dict[str, dict[str, Any]] = {
    "Qwen3-0.6B": {
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 40_960,
        "torch_dtype": "bfloat16",
    },
    "Qwen3-8B": load_config(),
    "Qwen3-8B, without sharing": load_config() | {"num_key_value_heads": 32},
    "Qwen3-32B": {
        "num_hidden_layers": 64,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 40_960,
        "torch_dtype": "bfloat16",
    },
    "Llama-3.1-8B": {
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "hidden_size": 4_096,
        "max_position_embeddings": 131_072,
        "torch_dtype": "bfloat16",
    },
}
