"""What the explorer of the lesson on the price of memory shows, at every setting, against plain second versions."""

from __future__ import annotations

import pytest

from lesson_code.kv_memory import BYTES_PER_VALUE, MODELS, kv_bytes, kv_bytes_per_token

# Layers, key/value heads, head size and window of each model that can be chosen.
SHAPES = {
    "Qwen3-0.6B": (28, 8, 128, 40_960),
    "Qwen3-8B": (36, 8, 128, 40_960),
    "Qwen3-8B, without sharing": (36, 32, 128, 40_960),
    "Qwen3-32B": (64, 8, 128, 40_960),
    "Llama-3.1-8B": (32, 8, 128, 131_072),
}
TOKENS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
WIDTHS = {"float32": 4, "float16": 2, "bfloat16": 2}


def slow_bytes(model: str, tokens: int, dtype: str) -> int:
    """A key and a value, for every token, layer and head, as many numbers as a head is wide."""
    return 2 * tokens * SHAPES[model][0] * SHAPES[model][1] * SHAPES[model][2] * WIDTHS[dtype]


@pytest.mark.published("qwen3-0-6b-config")
def test_the_smallest_model() -> None:
    """A wrong field would make every figure of this model wrong."""
    assert 28 == MODELS["Qwen3-0.6B"]["num_hidden_layers"]
    assert 8 == MODELS["Qwen3-0.6B"]["num_key_value_heads"]
    assert 128 == MODELS["Qwen3-0.6B"]["head_dim"]
    assert 40_960 == MODELS["Qwen3-0.6B"]["max_position_embeddings"]


@pytest.mark.published("qwen3-32b-config")
def test_the_largest_model() -> None:
    """A wrong field would make every figure of this model wrong."""
    assert 64 == MODELS["Qwen3-32B"]["num_hidden_layers"]
    assert 8 == MODELS["Qwen3-32B"]["num_key_value_heads"]
    assert 128 == MODELS["Qwen3-32B"]["head_dim"]
    assert 40_960 == MODELS["Qwen3-32B"]["max_position_embeddings"]


@pytest.mark.published("llama-3-1-8b-config")
def test_the_model_without_a_head_size() -> None:
    """A wrong field would make every figure of this model wrong."""
    assert 32 == MODELS["Llama-3.1-8B"]["num_hidden_layers"]
    assert 8 == MODELS["Llama-3.1-8B"]["num_key_value_heads"]
    assert 131_072 == MODELS["Llama-3.1-8B"]["max_position_embeddings"]
    assert 4_096 == MODELS["Llama-3.1-8B"]["hidden_size"]
    assert 32 == MODELS["Llama-3.1-8B"]["num_attention_heads"]
    assert 128 == 4_096 // 32


def test_the_cache_at_first() -> None:
    """The explorer would begin with something else than the table that stands on the same page."""
    assert 2 * 36 * 8 * 128 * 2 == kv_bytes_per_token(MODELS["Qwen3-8B"] | {"torch_dtype": "bfloat16"})
    assert 147_456 * 32_768 == kv_bytes(MODELS["Qwen3-8B"] | {"torch_dtype": "bfloat16"}, 32_768)
    # 4.5 GiB are 4.83 GB, and sixteen of them 77.3 GB.
    assert 16 == 80_000_000_000 // kv_bytes(MODELS["Qwen3-8B"] | {"torch_dtype": "bfloat16"}, 32_768)
    assert "yes" == ("yes" if 32_768 <= MODELS["Qwen3-8B"]["max_position_embeddings"] else "no")


def test_the_cache_everywhere() -> None:
    """For some model, length and format a reader would be told another size than the sum of its parts."""
    assert [slow_bytes(model, 1, dtype) for model in SHAPES for tokens in TOKENS for dtype in WIDTHS] == [
        kv_bytes_per_token(MODELS[model] | {"torch_dtype": dtype})
        for model in list(MODELS)
        for tokens in [2**n for n in range(10, 18)]
        for dtype in list(BYTES_PER_VALUE)
    ]
    assert [slow_bytes(model, tokens, dtype) for model in SHAPES for tokens in TOKENS for dtype in WIDTHS] == [
        kv_bytes(MODELS[model] | {"torch_dtype": dtype}, tokens)
        for model in list(MODELS)
        for tokens in [2**n for n in range(10, 18)]
        for dtype in list(BYTES_PER_VALUE)
    ]
    assert [
        80_000_000_000 // slow_bytes(model, tokens, dtype) for model in SHAPES for tokens in TOKENS for dtype in WIDTHS
    ] == [
        80_000_000_000 // kv_bytes(MODELS[model] | {"torch_dtype": dtype}, tokens)
        for model in list(MODELS)
        for tokens in [2**n for n in range(10, 18)]
        for dtype in list(BYTES_PER_VALUE)
    ]
    assert [
        "no" if tokens > SHAPES[model][3] else "yes" for model in SHAPES for tokens in TOKENS for dtype in WIDTHS
    ] == [
        "yes" if tokens <= MODELS[model]["max_position_embeddings"] else "no"
        for model in list(MODELS)
        for tokens in [2**n for n in range(10, 18)]
        for dtype in list(BYTES_PER_VALUE)
    ]
