"""SCAN: meanings against a second interpreter that rewrites strings, counts and rules of every published split."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.lab.worlds.scan import (
    ACTIONS,
    READINGS,
    SPLITS,
    VERBS,
    WORDS,
    ScanSplit,
    commands,
    interpret,
    scan_reading,
    scan_split,
)

#: Applied to a sentence in this order, each until it matches no more.
REWRITES = [
    (r"(.*) twice", r"\1 & \1"),
    (r"(.*) thrice", r"\1 & \1 & \1"),
    (r"(\w+) around (\w+)", r"\1 \2 & \1 \2 & \1 \2 & \1 \2"),
    (r"(\w+) opposite (\w+)", r"turn \2 & \1 \2"),
    (r"(walk|look|run|jump) (left|right)", r"turn \2 & \1"),
    (r"turn (left|right)", r"TURN_\1"),
    (r" &", ""),
]

PUBLISHED = {
    "simple": (16_728, 4_182),
    "length": (16_990, 3_920),
    "addprim_jump": (14_670, 7_706),
    "addprim_turn_left": (21_890, 1_208),
    "template_jump_around_right": (18_528, 1_173),
    "template_around_right": (15_225, 4_476),
    "template_opposite_right": (15_225, 4_476),
    "template_right": (15_225, 4_476),
    "filler_num0": (15_225, 1_173),
    "filler_num1": (16_290, 1_173),
    "filler_num2": (17_391, 1_173),
    "filler_num3": (18_528, 1_173),
}

#: The examples of the data set's own description.
EXAMPLES = {
    "jump": "JUMP",
    "jump left": "TURN_LEFT JUMP",
    "jump around right": "TURN_RIGHT JUMP TURN_RIGHT JUMP TURN_RIGHT JUMP TURN_RIGHT JUMP",
    "turn left twice": "TURN_LEFT TURN_LEFT",
    "jump thrice": "JUMP JUMP JUMP",
    "jump opposite left and walk thrice": "TURN_LEFT TURN_LEFT JUMP WALK WALK WALK",
    "jump opposite left after walk around left": "TURN_LEFT WALK " * 4 + "TURN_LEFT TURN_LEFT JUMP",
}


@cache
def rewritten_sentence(text: str) -> str:
    for pattern, replacement in REWRITES:
        while (changed := re.sub(pattern, replacement, text)) != text:
            text = changed
    return text


def rewritten(command: str) -> tuple[str, ...]:
    """Interpret a command by rewriting strings alone."""
    straight = re.sub(r"(.*) after (.*)", r"\2 and \1", command)
    text = " ".join(rewritten_sentence(sentence) for sentence in straight.split(" and "))
    return tuple(f"I_{word.upper()}" for word in text.split())


def actions_of(row: int) -> tuple[str, ...]:
    return tuple(ACTIONS[code] for code in commands().actions[row, : commands().action_counts[row]])


@pytest.mark.slow
def test_every_command_means_what_rewriting_makes_of_it() -> None:
    scan = commands()
    for row, text in enumerate(scan.texts):
        expected = rewritten(text)
        assert actions_of(row) == expected, text
        assert interpret(text) == expected


@pytest.mark.parametrize(("command", "actions"), EXAMPLES.items())
def test_the_published_examples(command: str, actions: str) -> None:
    assert interpret(command) == tuple(f"I_{word}" for word in actions.split())


def test_the_grammar_has_34_phrases_102_sentences_and_20910_commands() -> None:
    scan = commands()
    assert len(set(scan.texts)) == len(scan) == 20_910
    single = [text for text in scan.texts if not re.search(r" (and|after) ", text)]
    assert len(single) == 102
    assert len({re.sub(r" (twice|thrice)$", "", text) for text in single}) == 34
    assert len(scan) == 102 + 2 * 102**2


def test_arrays_code_the_texts_and_end_in_zeros() -> None:
    scan = commands()
    assert scan.words.shape == (20_910, 10)
    assert scan.actions.shape == (20_910, 49)
    for codes, counts in ((scan.words, scan.word_counts), (scan.actions, scan.action_counts)):
        np.testing.assert_array_equal((codes > 0).sum(1), counts)
        np.testing.assert_array_equal(codes > 0, np.arange(codes.shape[1]) < counts[:, None])
        assert not codes.flags.writeable
    for row in range(0, len(scan), 997):
        assert " ".join(WORDS[code] for code in scan.words[row]).strip() == scan.texts[row]
        assert scan.row(f"  {scan.texts[row]} ") == row
    assert set(np.unique(scan.actions)) == set(range(len(ACTIONS)))


@pytest.mark.parametrize("name", SPLITS)
def test_splits_have_the_published_sizes_and_parts_share_no_command(name: str) -> None:
    one = scan_split(name)
    assert (len(one.train), len(one.test)) == PUBLISHED[name]
    assert not set(one.train) & set(one.test)


def words_before(row: int, phrase: str) -> set[str]:
    return set(re.findall(rf"(\w+) {phrase}\b", commands().texts[row]))


@pytest.mark.parametrize("way", ["around right", "opposite right", "right"])
def test_templates_hold_out_what_their_name_says(way: str) -> None:
    one = scan_split(f"template_{way.replace(' ', '_')}")
    verbs = set(VERBS)
    assert all(words_before(row, way) & verbs for row in one.test)
    assert not any(words_before(row, way) & {*verbs, "turn"} for row in one.train)


@pytest.mark.slow
def test_fillers_come_one_by_one() -> None:
    for count in range(4):
        before = set().union(*(words_before(row, "around right") for row in scan_split(f"filler_num{count}").train))
        assert before == set(["look", "walk", "run"][:count])


@pytest.mark.parametrize(("name", "alone", "times"), [("jump", "jump", 1467), ("turn_left", "turn left", 2189)])
def test_an_added_primitive_is_a_tenth_of_training_or_there_once(name: str, alone: str, times: int) -> None:
    one, once = (scan_split(f"addprim_{name}", without_repeats=without) for without in (False, True))
    counts = Counter(commands().texts[row] for row in one.train)
    assert counts.pop(alone) == times
    assert set(counts.values()) == {1}
    assert not any(alone in text for text in counts)
    assert times / len(one.train) == pytest.approx(0.1, abs=1e-4)
    assert len(once.train) == len(set(one.train)) == len(set(once.train))
    np.testing.assert_array_equal(once.test, one.test)


def test_the_length_split_is_by_actions() -> None:
    one = scan_split("length")
    counts = commands().action_counts
    assert counts[one.train].max() == 22
    assert counts[one.test].min() == 24


@given(st.integers(0, 2**32))
@settings(max_examples=5)
def test_the_simple_split_uses_every_command_once_whatever_the_seed(seed: int) -> None:
    one = scan_split("simple", seed=seed)
    np.testing.assert_array_equal(np.sort(np.concatenate([one.train, one.test])), np.arange(20_910))
    np.testing.assert_array_equal(one.train, scan_split("simple", seed=seed).train)
    assert (one.train != scan_split("simple", seed=seed + 1).train).any()


def shapes(rows: np.ndarray) -> list[str]:
    """Commands with their action words blanked."""
    return [re.sub("|".join(VERBS), "_", commands().texts[row]) for row in rows]


def first_verbs(rows: np.ndarray) -> list[str]:
    return [found[0] for row in rows if (found := re.findall("|".join(VERBS), commands().texts[row]))]


def test_reading_b1_trains_on_everything_once() -> None:
    one = scan_reading("B1")
    np.testing.assert_array_equal(one.train, np.arange(20_910))
    np.testing.assert_array_equal(one.test, scan_reading("A").test)


def test_reading_b2_has_no_jump_and_changes_nothing_else() -> None:
    one, original = scan_reading("B2", seed=4), scan_reading("A")
    jump = commands().containing("jump")
    for rows, before in ((one.train, original.train), (one.test, original.test)):
        assert not jump[rows].any()
        assert shapes(rows) == shapes(before)
        np.testing.assert_array_equal(rows[~jump[before]], before[~jump[before]])
    counts = Counter(first_verbs(one.train[-1467:]))
    assert set(counts) == {"walk", "look", "run"}
    assert min(counts.values()) > 1467 / 3 - 5 * np.sqrt(1467 * 2 / 9)


def test_reading_b3_redraws_each_action_word_alike() -> None:
    one, original = scan_reading("B3", seed=4), scan_reading("A")
    assert shapes(one.train) == shapes(original.train)
    np.testing.assert_array_equal(one.test, original.test)
    counts = Counter(first_verbs(one.train))
    expected = sum(counts.values()) / 4
    assert max(abs(counts[verb] - expected) for verb in VERBS) < 5 * np.sqrt(expected * 3 / 4)
    # Words of one command are redrawn by themselves: both are equal a quarter of the time.
    pairs = [re.findall("|".join(VERBS), commands().texts[row]) for row in one.train]
    equal = np.mean([first == second for first, second in (pair for pair in pairs if len(pair) == 2)])
    assert equal == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("name", READINGS)
def test_readings_follow_their_seed_and_may_leave_repeats_out(name: str) -> None:
    def parts(one: ScanSplit) -> list[list[int]]:
        return [one.train.tolist(), one.test.tolist()]

    assert parts(scan_reading(name, seed=1)) == parts(scan_reading(name, seed=1))
    assert (parts(scan_reading(name, seed=1)) != parts(scan_reading(name, seed=2))) == (name in ("B2", "B3"))
    assert len(scan_reading(name, without_repeats=True).train) == {"B1": 20_910}.get(name, 13_204)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("jump arround left", "word 2 of 'jump arround left' is 'arround'.* not a word.* did you mean 'around'"),
        ("Walk", "did you mean 'walk'"),
        ("jump left right", "word 3 .*'right', which cannot follow 'left'; Here fit: twice, thrice, and, after"),
        ("twice jump", "word 1 .*'twice', which begins no command"),
        ("jump twice twice", "cannot follow 'twice'; Here fit: and, after"),
        ("jump and walk and run", "word 4 .*third sentence"),
        ("jump and walk twice look", "Here fit: nothing, the command is complete"),
        ("turn twice", "cannot follow 'turn'; Here fit: left, right, opposite, around"),
        ("turn", "ends too early; give one of these next: left, right"),
        ("jump and", "ends too early"),
        ("", "ends too early"),
    ],
)
def test_commands_outside_the_grammar_are_refused_by_word(command: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interpret(command)
    with pytest.raises(InputError, match=message):
        commands().row(command)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scan_split("addprim_jmp"), "did you mean 'addprim_jump'"),
        (lambda: scan_reading("B4"), "reading 'B4' is unknown; give one of A, B1, B2, B3"),
    ],
)
def test_unknown_names_are_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@given(st.lists(st.sampled_from(WORDS[1:]), max_size=7).map(" ".join))
def test_a_string_of_words_is_either_one_of_the_commands_or_refused(text: str) -> None:
    try:
        actions = interpret(text)
    except InputError:
        assert text not in commands().texts
    else:
        assert actions_of(commands().row(text)) == actions


#: SHA-256, first 16 digits, of the sorted lines of the files that Lake and Baroni distribute (brendenlake/SCAN, commit
#: c4b756c): for training and for test.
DISTRIBUTED = {
    "addprim_jump": ("1e5ab3357dc95826", "48956239771e67de"),
    "addprim_turn_left": ("4f1ccb48ec39aed7", "81acae1af5137165"),
    "length": ("114e6bdb1575f27d", "45bb5e5f0e0678da"),
    "template_around_right": ("aaf218dfd82a8b6a", "f5f94bb13ea393fb"),
    "template_jump_around_right": ("d3f82d1c47c35af1", "3590e013eaa75106"),
    "template_opposite_right": ("8f0e969c24011176", "e148c4261607e2d9"),
    "template_right": ("d98bd73f93f488dc", "770738098ffaef03"),
    "filler_num0": ("aaf218dfd82a8b6a", "3590e013eaa75106"),
    "filler_num1": ("1f0bf0a27badb9e7", "3590e013eaa75106"),
    "filler_num2": ("50bb46e65b8c83bb", "3590e013eaa75106"),
    "filler_num3": ("d3f82d1c47c35af1", "3590e013eaa75106"),
}


def digest(rows: np.ndarray) -> str:
    """Digest rows as the files write them, repeats included and order left aside."""
    scan = commands()
    lines = [
        f"IN: {scan.texts[row]} OUT: {' '.join(ACTIONS[code] for code in scan.actions[row][: scan.action_counts[row]])}"
        for row in rows.tolist()
    ]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def test_all_commands_are_those_of_the_distributed_file() -> None:
    assert digest(np.arange(len(commands()))) == "345bff3c25864652"


@pytest.mark.parametrize("name", [name for name in SPLITS if name != "simple"])
def test_splits_are_the_distributed_files_as_multisets(name: str) -> None:
    split = scan_split(name)
    assert (digest(split.train), digest(split.test)) == DISTRIBUTED[name]


def test_what_was_released_as_setting_b_trains_on_every_command_once() -> None:
    original, released = scan_split("addprim_jump"), scan_reading("B1")
    assert digest(released.train) == digest(np.union1d(original.train, original.test))
    assert digest(released.test) == DISTRIBUTED["addprim_jump"][1]
