"""Lesson 1, the attention cache: every figure of the page, every hand-worked case, every refusal."""

import contextlib
import doctest
import io
import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lesson_code import kv_memory
from lesson_code.kv_memory import (
    BYTES_PER_VALUE,
    CONFIG_URL,
    SNAPSHOT,
    fetch_config,
    kv_bytes,
    kv_bytes_at_max_context,
    kv_bytes_per_token,
    load_config,
)

PLAIN: dict[str, Any] = {
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 5,
    "hidden_size": 28,
    "max_position_embeddings": 11,
    "torch_dtype": "float16",
}
POINTER = "; see the real-models lesson$"


def without(*names: str) -> dict[str, Any]:
    """Leave fields out of the plain configuration."""
    return {name: value for name, value in PLAIN.items() if name not in names}


# The snapshot.


def test_snapshot_is_the_file_of_qwen3_8b() -> None:
    """The figures of the page would rest on another configuration than the one it names."""
    assert {
        "architectures": ["Qwen3ForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 151643,
        "eos_token_id": 151645,
        "head_dim": 128,
        "hidden_act": "silu",
        "hidden_size": 4096,
        "initializer_range": 0.02,
        "intermediate_size": 12288,
        "max_position_embeddings": 40960,
        "max_window_layers": 36,
        "model_type": "qwen3",
        "num_attention_heads": 32,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "rms_norm_eps": 1e-06,
        "rope_scaling": None,
        "rope_theta": 1000000,
        "sliding_window": None,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.51.0",
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": 151936,
    } == load_config()
    assert "https://huggingface.co/Qwen/Qwen3-8B/resolve/main/config.json" == CONFIG_URL
    assert "qwen3_8b_config.json" == SNAPSHOT.name


def test_fields_of_the_formula() -> None:
    """The parts of the sum that the page spells out would not be those of the file."""
    assert 36 == load_config()["num_hidden_layers"]
    assert 32 == load_config()["num_attention_heads"]
    assert 8 == load_config()["num_key_value_heads"]
    assert 128 == load_config()["head_dim"]
    assert 32_768 + 8_192 == load_config()["max_position_embeddings"]
    assert 16 // 8 == BYTES_PER_VALUE[load_config()["torch_dtype"]]
    assert {"float32": 32 // 8, "float16": 16 // 8, "bfloat16": 16 // 8} == BYTES_PER_VALUE


def test_a_change_to_one_copy_stays_there() -> None:
    """Whoever changes a loaded configuration would change it for everyone."""
    first = load_config()
    first["num_hidden_layers"] = 1
    first["architectures"].append("mine")
    assert 36 == load_config()["num_hidden_layers"]
    assert ["Qwen3ForCausalLM"] == load_config()["architectures"]


def test_snapshot_is_found_from_any_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The installed package would look for its file in the reader's own folder."""
    monkeypatch.chdir(tmp_path)
    assert 36 == load_config()["num_hidden_layers"]


# The figures of the page.


def test_bytes_per_token() -> None:
    """A token would cost other than 144 KiB."""
    assert 2 * 36 * 8 * 128 * 2 == kv_bytes_per_token(load_config())
    assert 147_456 == kv_bytes_per_token(load_config())
    assert 2 * 36 * 8 * 128 * 2 / 1_024 == kv_bytes_per_token(load_config()) / 2**10
    assert 144 * 1_024 == kv_bytes_per_token(load_config())


def test_bytes_at_growing_lengths() -> None:
    """A conversation would cost other than its tokens times what one costs."""
    assert 0 == kv_bytes(load_config(), 0)
    assert 2 * 36 * 8 * 128 * 2 == kv_bytes(load_config(), 1)
    assert 1_000 * 2 * 36 * 8 * 128 * 2 == kv_bytes(load_config(), 1_000)
    assert 140.625 * 1_024 * 1_024 == kv_bytes(load_config(), 1_000)
    assert 144_000 / 1_024 == kv_bytes(load_config(), 1_000) / 2**20
    assert 4_096 * 2 * 36 * 8 * 128 * 2 == kv_bytes(load_config(), 4_096)
    assert 576 * 1_024 * 1_024 == kv_bytes(load_config(), 4_096)
    assert 144 * 4 == kv_bytes(load_config(), 4_096) / 2**20
    assert 32_768 * 2 * 36 * 8 * 128 * 2 == kv_bytes(load_config(), 32_768)
    assert 4.5 * 1_024**3 == kv_bytes(load_config(), 32_768)
    assert 144 * 32 / 1_024 == kv_bytes(load_config(), 32_768) / 2**30
    assert 40_960 * 2 * 36 * 8 * 128 * 2 == kv_bytes(load_config(), 40_960)
    assert 5.625 * 1_024**3 == kv_bytes(load_config(), 40_960)
    assert 144 * 40 / 1_024 == kv_bytes(load_config(), 40_960) / 2**30
    assert [147_456_000, 603_979_776, 4_831_838_208, 6_039_797_760] == [
        kv_bytes(load_config(), tokens) for tokens in (1_000, 4_096, 32_768, 40_960)
    ]


def test_bytes_at_the_full_window() -> None:
    """One conversation at the full window would not take about 6 gigabytes."""
    assert 40_960 * 2 * 36 * 8 * 128 * 2 == kv_bytes_at_max_context(load_config())
    assert 6_039_797_760 == kv_bytes_at_max_context(load_config())
    assert 144 * 40 / 1_024 == kv_bytes_at_max_context(load_config()) / 2**30
    assert 6.03979776 == kv_bytes_at_max_context(load_config()) / 10**9
    assert 6.04 == round(kv_bytes_at_max_context(load_config()) / 10**9, 2)
    assert 6 == round(kv_bytes_at_max_context(load_config()) / 10**9)
    assert 6 == round(kv_bytes_at_max_context(load_config()) / 1_000_000_000)


def test_one_pair_for_each_query_head() -> None:
    """Without grouped queries the cache would not be four times as large."""
    assert 2 * 36 * 32 * 128 * 2 == kv_bytes_per_token(load_config() | {"num_key_value_heads": 32})
    assert 589_824 == kv_bytes_per_token(load_config() | {"num_key_value_heads": 32})
    assert 2 * 36 * 32 * 128 * 2 == kv_bytes_per_token(load_config() | {"num_key_value_heads": None})
    assert 32 / 8 == kv_bytes_per_token(load_config() | {"num_key_value_heads": 32}) / kv_bytes_per_token(load_config())
    assert 32 // 8 == kv_bytes_per_token(load_config() | {"num_key_value_heads": 32}) // kv_bytes_per_token(
        load_config()
    )
    assert 40_960 * 2 * 36 * 32 * 128 * 2 == kv_bytes_at_max_context(load_config() | {"num_key_value_heads": 32})
    assert 22.5 * 1_024**3 == kv_bytes_at_max_context(load_config() | {"num_key_value_heads": 32})
    assert 4 * 5.625 == kv_bytes_at_max_context(load_config() | {"num_key_value_heads": 32}) / 2**30


def test_weights() -> None:
    """The parameters of the model card would not weigh 16.4 gigabytes."""
    assert 8_200_000_000 * 2 == 8_200_000_000 * BYTES_PER_VALUE["bfloat16"]
    assert 16 // 8 == BYTES_PER_VALUE["bfloat16"]
    assert 8_200_000_000 * 2 / (40_960 * 2 * 36 * 8 * 128 * 2) == 8_200_000_000 * BYTES_PER_VALUE[
        "bfloat16"
    ] / kv_bytes_at_max_context(load_config())
    assert 16.4 == 8_200_000_000 * BYTES_PER_VALUE["bfloat16"] / 10**9
    assert 40_960 == 32_768 + 8_192


def test_check_yourself() -> None:
    """Question 4 would have another answer."""
    assert 2 * 28 * 4 * 128 * 2 == kv_bytes_per_token(
        {
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "torch_dtype": "float16",
        }
    )
    assert 57_344 / 1_024 == (
        kv_bytes_per_token(
            {
                "num_hidden_layers": 28,
                "num_attention_heads": 28,
                "num_key_value_heads": 4,
                "head_dim": 128,
                "torch_dtype": "float16",
            }
        )
        / 2**10
    )
    assert 8_192 * 2 * 28 * 4 * 128 * 2 == kv_bytes(
        {
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "torch_dtype": "float16",
        },
        8_192,
    )
    assert 56 * 8 == (
        kv_bytes(
            {
                "num_hidden_layers": 28,
                "num_attention_heads": 28,
                "num_key_value_heads": 4,
                "head_dim": 128,
                "torch_dtype": "float16",
            },
            8_192,
        )
        / 2**20
    )


# Other hand-worked configurations.


def test_each_field_counts_once() -> None:
    """A factor of the formula would be missing, or be another field's."""
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN)
    assert 2 * 7 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN | {"num_hidden_layers": 7})
    assert 2 * 3 * 1 * 5 * 2 == kv_bytes_per_token(PLAIN | {"num_key_value_heads": 1})
    assert 2 * 3 * 2 * 9 * 2 == kv_bytes_per_token(PLAIN | {"head_dim": 9})
    assert 2 * 3 * 2 * 5 * 4 == kv_bytes_per_token(PLAIN | {"torch_dtype": "float32"})
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN | {"torch_dtype": "bfloat16"})
    assert 13 * 2 * 3 * 2 * 5 * 2 == kv_bytes(PLAIN, 13)
    assert 11 * 2 * 3 * 2 * 5 * 2 == kv_bytes_at_max_context(PLAIN)
    assert 2 * 1 * 1 * 1 * 2 == kv_bytes_per_token(
        {"num_hidden_layers": 1, "num_key_value_heads": 1, "head_dim": 1, "torch_dtype": "float16"}
    )


def test_explicit_head_size_beats_the_division() -> None:
    """Qwen3-0.6B and its like would come out at half of what they take."""
    assert 2 * 2 * 1 * 128 * 2 == kv_bytes_per_token(
        {
            "num_hidden_layers": 2,
            "num_attention_heads": 16,
            "num_key_value_heads": 1,
            "hidden_size": 1_024,
            "head_dim": 128,
            "torch_dtype": "bfloat16",
        }
    )
    # Without the field, a head's share of the hidden size: 28 / 4.
    assert 2 * 3 * 2 * 7 * 2 == kv_bytes_per_token(without("head_dim"))
    assert 2 * 3 * 2 * 7 * 2 == kv_bytes_per_token(PLAIN | {"head_dim": None})


def test_no_key_value_heads_means_one_per_attention_head() -> None:
    """Older models, whose files do not have the field, would be refused or come out too small."""
    assert 2 * 1 * 4 * (8 // 4) * 4 == kv_bytes_per_token(
        {"num_hidden_layers": 1, "num_attention_heads": 4, "hidden_size": 8, "torch_dtype": "float32"}
    )
    assert 2 * 3 * 4 * 5 * 2 == kv_bytes_per_token(without("num_key_value_heads"))
    assert 2 * 3 * 4 * 5 * 2 == kv_bytes_per_token(PLAIN | {"num_key_value_heads": None})


def test_dtype_stands_in_for_torch_dtype() -> None:
    """Newer files, which call the field dtype, would be refused, or it would beat the other."""
    assert 2 * 1 * 1 * 8 * 2 == kv_bytes_per_token(
        {"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 8, "dtype": "bfloat16"}
    )
    assert 2 * 3 * 2 * 5 * 4 == kv_bytes_per_token(PLAIN | {"torch_dtype": None, "dtype": "float32"})
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN | {"dtype": "float32"})


@pytest.mark.parametrize(
    "fields",
    [
        {"sliding_window": None},
        {"sliding_window": None, "use_sliding_window": True},
        {"sliding_window": 4_096, "use_sliding_window": False},
        {"layer_types": None},
        {"layer_types": ["full_attention"] * 3},
        {"kv_lora_rank": None, "text_config": None, "linear_num_value_heads": None},
        {"rope_scaling": {"type": "linear"}, "attention_bias": True, "vision_config": {"depth": 32}},
    ],
)
def test_what_is_full_attention(fields: dict[str, Any]) -> None:
    """A configuration with nothing but full attention would be refused."""
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN | fields)


# Refusals.


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sliding_window": 4_096}, "sliding_window"),
        ({"sliding_window": 4_096, "use_sliding_window": True}, "sliding_window"),
        ({"sliding_window": 4_096, "use_sliding_window": None}, "sliding_window"),
        ({"sliding_window": 0}, "sliding_window"),
        ({"layer_types": ["full_attention", "sliding_attention", "full_attention"]}, "layer_types"),
        ({"layer_types": ["full_attention", "full_attention", "linear_attention"]}, "layer_types"),
        ({"layer_types": ["full_attention"] * 2}, "layer_types"),
        ({"layer_types": []}, "layer_types"),
        ({"layer_types": "full_attention"}, "layer_types"),
        ({"layer_types": 3}, "layer_types"),
        ({"kv_lora_rank": 512}, "kv_lora_rank"),
        ({"linear_num_value_heads": 32}, "linear_num_value_heads"),
        ({"linear_attn_config": {"num_heads": 32}}, "linear_attn_config"),
        ({"layernorm_linear_attention_alpha": 1}, "layernorm_linear_attention_alpha"),
        ({"mamba_d_state": 128}, "mamba_d_state"),
        ({"full_attention_interval": 4}, "full_attention_interval"),
        ({"attention_chunk_size": 8_192}, "attention_chunk_size"),
        ({"multi_query": True}, "multi_query"),
        ({"num_kv_heads": 8}, "num_kv_heads"),
        ({"num_kv_shared_layers": 15}, "num_kv_shared_layers"),
        ({"block_configs": [{"attention": {"n_heads_in_group": 8}}]}, "block_configs"),
        ({"block_types": ["recurrent", "attention"]}, "block_types"),
        ({"text_config": {"num_hidden_layers": 3}}, "text_config"),
        (
            {"kv_lora_rank": 512, "sliding_window": 8, "layer_types": []},
            "kv_lora_rank, sliding_window, layer_types",
        ),
    ],
)
def test_what_is_not_full_attention(fields: dict[str, Any], reason: str) -> None:
    """A model that keeps something else would get a wrong number, printed as if it were right."""
    match = f"full attention in every layer only, and there is {reason}{POINTER}"
    with pytest.raises(ValueError, match=match):
        kv_bytes_per_token(PLAIN | fields)
    with pytest.raises(ValueError, match=match):
        kv_bytes(PLAIN | fields, 0)
    with pytest.raises(ValueError, match=match):
        kv_bytes_at_max_context(PLAIN | fields)


def test_a_nested_configuration_is_named_as_such() -> None:
    """The error would complain of missing fields, though they are there, one level deeper."""
    with pytest.raises(ValueError, match=f"there is text_config{POINTER}"):
        kv_bytes_per_token({"text_config": PLAIN})
    with pytest.raises(ValueError, match=f"there is text_config{POINTER}"):
        kv_bytes_at_max_context({"text_config": PLAIN})


@pytest.mark.parametrize(
    ("cfg", "name"),
    [
        (without("num_hidden_layers"), "num_hidden_layers"),
        (without("num_hidden_layers") | {"layer_types": ["full_attention"]}, "num_hidden_layers"),
        (without("num_attention_heads", "num_key_value_heads"), "num_attention_heads"),
        (without("num_attention_heads", "head_dim"), "num_attention_heads"),
        (without("hidden_size", "head_dim"), "hidden_size"),
        (PLAIN | {"num_hidden_layers": None}, "num_hidden_layers"),
        ({}, "num_hidden_layers"),
    ],
)
def test_missing_fields(cfg: dict[str, Any], name: str) -> None:
    """A guess would stand in for what the file does not say."""
    with pytest.raises(ValueError, match=f"^{name} is missing{POINTER}"):
        kv_bytes_per_token(cfg)


def test_missing_window() -> None:
    """The full window would be guessed."""
    with pytest.raises(ValueError, match=f"^max_position_embeddings is missing{POINTER}"):
        kv_bytes_at_max_context(without("max_position_embeddings"))


@pytest.mark.parametrize(
    "name",
    ["num_hidden_layers", "num_key_value_heads", "head_dim", "max_position_embeddings"],
)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, False, "8", [8, 8], {}])
def test_fields_that_are_no_number_of_anything(name: str, value: object) -> None:
    """A list of head counts, a negative or a broken number would be multiplied through."""
    expected = f"{name} is {value!r}, not a whole number of 1 or more"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}{POINTER}"):
        kv_bytes_at_max_context(PLAIN | {name: value})


@pytest.mark.parametrize("name", ["num_attention_heads", "hidden_size"])
def test_fields_that_only_some_files_need(name: str) -> None:
    """A wrong number in a field that is not needed would be fatal, or harmless in one that is."""
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(PLAIN | {name: 0})
    assert 2 * 3 * 2 * 5 * 2 == kv_bytes_per_token(without(name))
    with pytest.raises(ValueError, match=f"^{name} is 0, not a whole number of 1 or more{POINTER}"):
        kv_bytes_per_token(without("head_dim") | {name: 0})


def test_heads_that_do_not_share_evenly() -> None:
    """The size of a head would be rounded."""
    with pytest.raises(ValueError, match=f"^hidden_size 30 does not divide by num_attention_heads 4{POINTER}"):
        kv_bytes_per_token(without("head_dim") | {"hidden_size": 30})


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "torch.bfloat16", "", "BFLOAT16", 16, ["float16"], None])
def test_unknown_number_formats(dtype: object) -> None:
    """The bytes of a value would be guessed."""
    expected = f"torch_dtype (or dtype) is {dtype!r}, not one of float32, float16, bfloat16"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}{POINTER}"):
        kv_bytes_per_token(PLAIN | {"torch_dtype": dtype})
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}{POINTER}"):
        kv_bytes_per_token(without("torch_dtype") | {"dtype": dtype})


@pytest.mark.parametrize("tokens", [1.0, True, "8", None])
def test_tokens_that_are_no_whole_number(tokens: int) -> None:
    """Half a token would be stored."""
    with pytest.raises(TypeError, match=f"^tokens must be a whole number, not {tokens!r}$"):
        kv_bytes(PLAIN, tokens)


def test_negative_tokens() -> None:
    """A conversation of less than nothing would give memory back."""
    with pytest.raises(ValueError, match=r"^tokens must be 0 or more, not -1$"):
        kv_bytes(PLAIN, -1)


# Files.


def test_load_config_reads_the_file_it_is_given(tmp_path: Path) -> None:
    """Another model's file would not be read."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(PLAIN), encoding="utf-8")
    assert PLAIN == load_config(path)
    assert PLAIN == load_config(str(path))
    path.write_bytes('{"name": "größer"}'.encode())
    assert {"name": "größer"} == load_config(path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<html>", r"not JSON \(Expecting value: line 1 column 1 \(char 0\)\)$"),
        (b"", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "not a JSON object, but a list"),
        (b"null", "not a JSON object, but a NoneType"),
    ],
)
def test_files_that_are_no_configuration(tmp_path: Path, data: bytes, reason: str) -> None:
    """The error would not say which file is wrong, and how."""
    path = tmp_path / "config.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is {reason}"):
        load_config(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The error would not say which file is missing."""
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        load_config(tmp_path / "nowhere.json")


# The live file, from a server of this test's own.


@contextlib.contextmanager
def server(answer: bytes) -> Iterator[str]:
    """Serve these bytes, status line and headers included, at an address of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_port}/config.json"
        finally:
            httpd.shutdown()
            thread.join()


def ok(body: bytes) -> bytes:
    """Make a whole answer of a body."""
    return b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask this machine directly, whatever the environment says."""
    monkeypatch.setenv("no_proxy", "*")


def test_fetch_config_downloads() -> None:
    """The live configuration would not be what the server sends."""
    with server(ok(SNAPSHOT.read_bytes())) as url:
        assert load_config() == fetch_config(url)


def test_fetch_config_waits_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer would hang the command for ever, or another file be asked for."""
    asked = []

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        asked.append((url, timeout))
        return io.BytesIO(b"{}")

    monkeypatch.setattr(kv_memory, "urlopen", urlopen)
    assert {} == fetch_config()
    assert [(CONFIG_URL, 30)] == asked


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ok(b"<html>"), "not JSON"),
        (ok(b"[]"), "not a JSON object, but a list"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", "HTTP Error 404: Not Found"),
        (b"HTTP/1.0 503 Busy\r\n\r\n{}", "HTTP Error 503: Busy"),
        (
            b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{}",
            r"IncompleteRead\(2 bytes read, 7 more expected\)",
        ),
        (b"something else\r\n\r\n", "something else"),
        (b"", "Remote end closed connection without response"),
    ],
)
def test_fetch_config_answers_that_are_no_configuration(answer: bytes, reason: str) -> None:
    """What went wrong would come as any of several exceptions, without the address."""
    with server(answer) as url, pytest.raises(OSError, match=f"^no configuration from {url}: .*{reason}"):
        fetch_config(url)


def test_fetch_config_without_a_server() -> None:
    """No network would look like anything but that."""
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}/config.json"
        with pytest.raises(OSError, match=f"^no configuration from {url}: .*refused"):
            fetch_config(url)


def test_fetch_config_without_an_address() -> None:
    """A mistyped address would be a traceback of its own kind."""
    with pytest.raises(OSError, match=r"^no configuration from nowhere: unknown url type"):
        fetch_config("nowhere")


def test_the_number_format_of_the_file() -> None:
    """The table of the page would name another format than the published file."""
    assert "bfloat16" == load_config()["torch_dtype"]


def test_the_curves_and_the_table_of_the_page() -> None:
    """The lines of the picture would be drawn somewhere else, or the table would compare something else."""
    # 2 x 36 layers x 8 pairs x 128 numbers x 2 bytes for a token; with 32 pairs four times that.
    a_token = 2 * 36 * 8 * 128 * 2
    assert [a_token * 4_096 * n for n in range(11)] == [kv_bytes(load_config(), n) for n in range(0, 40_961, 4_096)]
    assert [4 * a_token * 4_096 * n for n in range(11)] == [
        kv_bytes(load_config() | {"num_key_value_heads": 32}, n) for n in range(0, 40_961, 4_096)
    ]
    assert [a_token, 4 * a_token] == [kv_bytes_per_token(load_config() | {"num_key_value_heads": n}) for n in (8, 32)]
    assert [a_token * 40_960, 4 * a_token * 40_960] == [
        kv_bytes_at_max_context(load_config() | {"num_key_value_heads": n}) for n in (8, 32)
    ]


def test_examples_in_docstrings() -> None:
    """An example that a reader sees in the code would show another result."""
    result = doctest.testmod(kv_memory)
    assert (0, 1) == (result.failed, result.attempted)
