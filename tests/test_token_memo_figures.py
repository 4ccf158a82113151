"""Lesson 5, every figure of the page, worked out by hand or by a second, obvious implementation."""

from lesson_code.token_memo import (
    IMAGE_TOKENS,
    LEAF_BYTES,
    LONG_STRING,
    RUN_BYTES,
    TokenMemo,
    UnpinnedMemo,
    counted_work,
    crossing,
    cyclic_scan,
    entry_bytes,
    estimate_message_tokens,
    growing_chat,
    model_size,
    payload_run,
    read_message,
    retained_at,
    two_chats,
    wrong_answer,
)


def test_a_growing_chat_is_counted_once() -> None:
    """The law of re-reading, or the straight line of the memo, would be another."""
    # Before reply n the chat has n questions and n - 1 answers, and 1 + 3 + 5 + ... is a square.
    assert 100 * 100 == growing_chat(100).hits + growing_chat(100).misses
    assert 100 + 99 == growing_chat(100).misses
    assert [n * n for n in range(1, 21)] == [growing_chat(n).hits + growing_chat(n).misses for n in range(1, 21)]
    assert [1, 4, 9, 100, 10_000] == [growing_chat(n).hits + growing_chat(n).misses for n in (1, 2, 3, 10, 100)]
    assert [1 - 1, 4 - 3, 9 - 5, 100 - 19, 10_000 - 199] == [growing_chat(n).hits for n in (1, 2, 3, 10, 100)]
    assert [1, 3, 5, 19, 199] == [growing_chat(n).misses for n in (1, 2, 3, 10, 100)]
    assert [2 * n - 1 for n in range(1, 21)] == [growing_chat(n).misses for n in range(1, 21)]


def test_the_estimates_of_the_table() -> None:
    """A text, a name of a field or a picture would be counted in another way than the page says."""
    assert 4 == estimate_message_tokens("My cat is Biscuit.")
    # role, user, content, and four words.
    assert 1 + 1 + 1 + 4 == estimate_message_tokens({"role": "user", "content": "My cat is Biscuit."})
    # role, user, content; type, text, text and four words; and a picture.
    assert 3 + (3 + 4) + 258 == estimate_message_tokens(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "My cat is Biscuit."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo"}},
            ],
        }
    )
    assert 1 + 1 + 1 == estimate_message_tokens({"role": "assistant", "content": None})


def test_the_constants() -> None:
    """The page would name another price, overhead, bound or length than the code uses."""
    assert 258 == IMAGE_TOKENS
    assert 120 == LEAF_BYTES
    assert 64 == LONG_STRING
    assert 1_024 * 1_024 == RUN_BYTES
    assert 4_096 == TokenMemo().max_entries
    assert 16 * 1_024 * 1_024 == TokenMemo().max_bytes
    assert 4 == len(read_message({"role": "user", "content": ""}).texts)
    assert 4 == len(read_message({"role": "tool", "content": ""}).texts)


def test_the_wrong_answer_without_pins() -> None:
    """The bug would not show, or answer something else."""
    # role, tool and content, and then a hundred words; the same letters with hyphens are a single word.
    assert 3 + 100 == wrong_answer(UnpinnedMemo().estimate)[0]
    assert 3 + 1 == wrong_answer(UnpinnedMemo().estimate)[1]


def test_giant_payloads() -> None:
    """The memory under a count bound alone, or under both bounds, would be another."""
    # role, tool, content and the payload, each with a fixed part of 50 and an overhead of 120.
    assert 4_096 == payload_run(10**15, 2_000_000)[0]
    assert 4_096 * (4 * (50 + 120) + 4 + 4 + 7 + 2_000_000) == payload_run(10**15, 2_000_000)[1]
    assert 2_000_695 == 4 * (50 + 120) + 4 + 4 + 7 + 2_000_000
    assert 7.6 == round(4_096 * 2_000_695 / 1_024**3, 1)
    assert 16 * 1_024 * 1_024 // 2_000_695 == payload_run(16 * 2**20, 2_000_000)[0]
    assert 8 * 2_000_695 == payload_run(16 * 2**20, 2_000_000)[1]


def test_cyclic_scans() -> None:
    """A loop that is a message too long would have hits, or the window would not bring them back."""
    assert 0 == cyclic_scan(4_096, 0)[0]
    assert 4_096 == cyclic_scan(4_096, 0)[1]
    assert 4_096 == cyclic_scan(4_096, 0)[2]
    assert 0 == cyclic_scan(4_097, 0)[0]
    assert 0 == cyclic_scan(4_097, 0)[1]
    assert 0 == cyclic_scan(4_097, 0)[2]
    assert 0 == cyclic_scan(4_097, 60)[0]
    assert 4_097 == cyclic_scan(4_097, 60)[1]
    assert 4_097 == cyclic_scan(4_097, 60)[2]
    # A round takes 409.7 seconds: what the window protects are the last 600 messages, and the next one wanted is older.
    assert (0, 0, 0) == cyclic_scan(4_097, 60, 0.1)


def moments_of_two_chats(window):
    """Two chats, one after the other: for each ten seconds the bytes that are kept, the hits and the misses."""
    kept, hits, misses, moments = [], 0, 0, []  # kept: (chat, number, bytes, when it was used), in order of use
    for moment in range(21):
        chat = "large" if moment < 10 else "small"
        size = 4 * (50 + 120) + 4 + 4 + 7 + (200_000 if chat == "large" else 20)
        for number in range(moment + 1 if chat == "large" else moment - 9):
            before = len(kept)
            kept = [one for one in kept if one[:2] != (chat, number)]
            if len(kept) < before:
                hits += 1
            else:
                misses += 1
            kept = [*kept, (chat, number, size, 10 * moment)]
            while sum(one[2] for one in kept) > 1_048_576 and 10 * moment - kept[0][3] >= window:
                kept = kept[1:]
        moments = [*moments, (sum(one[2] for one in kept), hits, misses)]
    return moments


def test_overshoot_and_shedding() -> None:
    """The picture of the bytes over time would be another."""
    assert [moment[0] for moment in moments_of_two_chats(60)] == [
        retained_at(second, 60) for second in range(0, 201, 10)
    ]
    assert [moment[0] for moment in moments_of_two_chats(0)] == [retained_at(second, 0) for second in range(0, 201, 10)]
    assert [1_048_576] * 21 == [RUN_BYTES for second in range(0, 201, 10)]
    # It passes the bound with the sixth message, stays there until 140 seconds, and is below it from 150 on.
    over = [second for second in range(0, 201, 10) if retained_at(second, 60) > RUN_BYTES]
    assert [*range(50, 150, 10)] == over
    assert all(retained_at(second, 0) <= RUN_BYTES for second in range(0, 201, 10))
    assert 21 == len(two_chats(60)) == len(two_chats(0))
    # Five large messages fit: 5 * 200,695 = 1,003,475.
    assert 5 * 200_695 + 6 * 715 == retained_at(150, 60)
    assert 10 * 200_695 + 5 * 715 == retained_at(140, 60)


def test_the_large_chat() -> None:
    """The surplus, what of it is overhead, or the hits of the large chat would be other ones."""
    assert 10 * 200_695 == two_chats(60)[9][0]
    assert 10 * 200_695 / 1_048_576 == two_chats(60)[9][0] / RUN_BYTES
    assert 10 * 4 == 4 * two_chats(60)[9][1].misses
    assert 10 * 4 * 120 == 4 * two_chats(60)[9][1].misses * LEAF_BYTES
    assert 10 * 11 // 2 == two_chats(60)[9][1].hits + two_chats(60)[9][1].misses
    assert 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 == two_chats(60)[9][1].hits
    assert 10 == two_chats(60)[9][1].misses
    # Five fit. The sixth round still finds the five before it, and evicts the first; from then on there is no hit.
    assert 10 * 11 // 2 == two_chats(0)[9][1].hits + two_chats(0)[9][1].misses
    assert 0 + 1 + 2 + 3 + 4 + 5 == two_chats(0)[9][1].hits
    assert 1 + 1 + 1 + 1 + 1 + 1 + 7 + 8 + 9 + 10 == two_chats(0)[9][1].misses
    assert moments_of_two_chats(0)[9][1:] == two_chats(0)[9][1][:2]
    assert moments_of_two_chats(60)[20][1:] == two_chats(60)[20][1][:2]


def test_counted_work() -> None:
    """The characters or the visits of the table would be other ones."""
    # The texts are role, user, content and 1,000 characters: 1,015. Anew: 10 times, with 2 visits to each of 4 leaves.
    assert 10 * (4 + 4 + 7 + 1_000) == counted_work(1_000, 10, False).characters
    assert 10 * 2 * 4 == counted_work(1_000, 10, False).leaves
    # With the memo: a miss with 4 visits to each leaf, and 9 hits with 2.
    assert 4 + 4 + 7 + 1_000 == counted_work(1_000, 10, True).characters
    assert 4 * 4 + 9 * 2 * 4 == counted_work(1_000, 10, True).leaves
    assert 0 == counted_work(1_000, 10, False, False).characters
    assert 10 * 2 * 4 == counted_work(1_000, 10, False, False).leaves
    assert 0 == counted_work(1_000, 10, True, False).characters
    assert 4 * 4 + 9 * 2 * 4 == counted_work(1_000, 10, True, False).leaves
    # Once is never worth it.
    for characters in (0, 10, 100_000):
        assert counted_work(characters, 1, True).steps(1) == counted_work(characters, 1, False).steps(1) + 2 * 4


def test_where_the_lines_cross() -> None:
    """The memo would pay from another length on."""
    # Twice anew: 16 visits and twice the characters. With the memo: 16 + 8 visits and the characters once.
    assert [16 * 100 + 2 * (15 + n) for n in range(0, 2_001, 100)] == [
        counted_work(n, 2, False).steps(100) for n in range(0, 2_001, 100)
    ]
    assert [24 * 100 + 15 + n for n in range(0, 2_001, 100)] == [
        counted_work(n, 2, True).steps(100) for n in range(0, 2_001, 100)
    ]
    # k times: it pays if (k - 1) * (15 + n) is more than 8 visits.
    assert 8 * 100 - 15 + 1 == crossing(2, 100)
    assert [160 - 15 + 1, 80 - 15 + 1, 18 - 15, 0] == [crossing(times, 20) for times in (2, 3, 10, 100)]
    assert [800 - 15 + 1, 400 - 15 + 1, 89 - 15, 0] == [crossing(times, 100) for times in (2, 3, 10, 100)]


def test_check_yourself_how_many_fit() -> None:
    """The answer to the question would be another."""
    assert (4 + 4 + 7 + 10_000) + 4 * (50 + 120) == entry_bytes(["role", "tool", "content", "x" * 10_000], model_size)
    assert 16_777_216 // 10_695 == 16 * 2**20 // entry_bytes(["role", "tool", "content", "x" * 10_000], model_size)
