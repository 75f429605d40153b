"""SCAN (Lake & Baroni 2018), generated rather than downloaded: every command, what it means, and the published splits.

A command is a sentence, or two joined by "and" or "after"; a sentence is a phrase, done once, "twice" or "thrice"; a
phrase is an action word ("jump"), perhaps with a direction ("jump around left"), or "turn" with a direction. That
makes 34 phrases, 102 sentences and 20,910 commands. ``scan_split`` gives the published splits that are rules,
``scan_reading`` the two settings of Li et al. 2020 and the three ways to read their setting B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

import numpy as np

from recombine.cells.arrays import BoolArray, IntArray
from recombine.cells.brief import brief_repr
from recombine.errors import InputError, near_miss
from recombine.writing import listing

VERBS = ("walk", "look", "run", "jump")
MANNERS = ("opposite", "around")
DIRECTIONS = ("left", "right")
REPEATS = ("twice", "thrice")
JOINTS = ("and", "after")

#: Place in these tuples = code in the arrays; 0 pads and ends a sequence.
WORDS = ("", *VERBS, "turn", *DIRECTIONS, *MANNERS, *REPEATS, *JOINTS)
ACTIONS = ("", "I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT")

ACTION_OF = dict(zip((*VERBS, *DIRECTIONS), ACTIONS[1:], strict=True))

#: Longest action sequence that the length split trains on.
LONGEST_TRAINED_ACTIONS = 22

#: Share of the training rows that an added primitive takes up by being repeated.
PRIMITIVE_SHARE = 0.1

#: Action words that the filler splits show with "around right", in this order.
FILLERS = ("look", "walk", "run")


_END = ("", *JOINTS)
_WAYS = (*DIRECTIONS, *MANNERS)

#: Words that may follow each word; after "" a command begins, and where "" may follow it may end.
FOLLOWS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("", *JOINTS), (*VERBS, "turn")),
    **dict.fromkeys(VERBS, (*_WAYS, *REPEATS, *_END)),
    "turn": _WAYS,
    **dict.fromkeys(MANNERS, DIRECTIONS),
    **dict.fromkeys(DIRECTIONS, (*REPEATS, *_END)),
    **dict.fromkeys(REPEATS, _END),
}


def interpret(command: str) -> tuple[str, ...]:
    """Return the actions that a command asks for.

    Examples
    --------
    >>> interpret("jump opposite left after walk twice")
    ('I_WALK', 'I_WALK', 'I_TURN_LEFT', 'I_TURN_LEFT', 'I_JUMP')
    >>> interpret("jump arround left")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: word 2 of 'jump arround left' is 'arround', which is not a word of SCAN;
    did you mean 'around'? Here fit: left, right, opposite, around, twice, thrice, and, after
    """
    words = command.split()
    _check(words, command)
    joint = next((index for index, word in enumerate(words) if word in JOINTS), None)
    if joint is None:
        return _performed(words)
    first, second = _performed(words[:joint]), _performed(words[joint + 1 :])
    return first + second if words[joint] == "and" else second + first


def _check(words: Sequence[str], command: str) -> None:
    """Raise an error about the first word that does not fit, if any."""
    before, joined = "", False
    for position, word in enumerate((*words, ""), start=1):
        # A command has at most two sentences.
        fitting = [option for option in FOLLOWS[before] if not (joined and option in JOINTS)]
        if word not in fitting:
            raise InputError(_misfit(position, word, before, fitting, command))
        before, joined = word, joined or word in JOINTS


def _misfit(position: int, word: str, before: str, fitting: Sequence[str], command: str) -> str:
    options = listing(option for option in fitting if option) or "nothing, the command is complete"
    if not word:
        return f"{command!r} ends too early; give one of these next: {options}"
    guess = ""
    if word not in WORDS:
        why, guess = "is not a word of SCAN", near_miss(word, filter(None, fitting))
    elif word in FOLLOWS[before]:
        why = "joins a third sentence, but SCAN has at most two"
    else:
        why = f"cannot follow {before!r}" if before else "begins no command"
    return f"word {position} of {command!r} is {word!r}, which {why};{guess} Here fit: {options}"


def _performed(words: Sequence[str]) -> tuple[str, ...]:
    """Return the actions of one sentence."""
    action: tuple[str, ...] = () if words[0] == "turn" else (ACTION_OF[words[0]],)
    for direction in DIRECTIONS:
        if direction in words:
            turn = (ACTION_OF[direction],)
            action = (turn + action) * 4 if "around" in words else turn * (1 + ("opposite" in words)) + action
    times = {"twice": 2, "thrice": 3}.get(words[-1], 1)
    return action * times


@dataclass(frozen=True, eq=False)
class Commands:
    """All commands of SCAN, in the order of the grammar; N = 20,910.

    Attributes
    ----------
    texts : tuple of str, length N
    words : array of int, shape (N, 10)
        Codes of ``WORDS``, then zeros: every row ends in at least one.
    actions : array of int, shape (N, 49)
        Codes of ``ACTIONS``, then zeros, likewise.
    word_counts, action_counts : array of int, shape (N,)
        Lengths without the zeros.

    Examples
    --------
    >>> scan = commands()
    >>> row = scan.row("turn left and jump")
    >>> scan.words[row, :5].tolist(), scan.actions[row, :3].tolist()
    ([5, 6, 12, 4, 0], [5, 4, 0])
    """

    texts: tuple[str, ...]
    words: IntArray
    actions: IntArray
    word_counts: IntArray
    action_counts: IntArray

    __repr__ = brief_repr

    def __len__(self) -> int:
        return len(self.texts)

    def row(self, command: str) -> int:
        """Return the row of one command."""
        interpret(command)
        return self._rows[" ".join(command.split())]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {text: row for row, text in enumerate(self.texts)}

    def containing(self, phrase: str) -> BoolArray:
        """Return which commands (N,) have these words, one directly after the other."""
        sought = f" {phrase} "
        return np.fromiter((sought in f" {text} " for text in self.texts), dtype=bool, count=len(self))


@cache
def commands() -> Commands:
    """Return all commands of SCAN with their actions; the first call takes about a tenth of a second.

    Examples
    --------
    >>> len(commands()), commands().texts[101], int(commands().action_counts.max())
    (20910, 'turn around right thrice', 48)
    """
    sentences = _sentences()
    done = [_performed(sentence) for sentence in sentences]
    words, actions = list(sentences), list(done)
    for joint in JOINTS:
        for first, acted in zip(sentences, done, strict=True):
            words += [(*first, joint, *second) for second in sentences]
            actions += [acted + after if joint == "and" else after + acted for after in done]
    texts = tuple(map(" ".join, words))
    coded, counts = _coded(words, WORDS)
    acted_codes, acted_counts = _coded(actions, ACTIONS)
    return Commands(texts, coded, acted_codes, counts, acted_counts)


def _sentences() -> list[tuple[str, ...]]:
    """Return all 102 sentences as words; ``_redrawn`` counts on their order: action word, direction, repeats."""
    plain = [(direction,) for direction in DIRECTIONS]
    turned = plain + [(manner, direction) for manner in MANNERS for direction in DIRECTIONS]
    phrases = [(verb, *way) for verb in VERBS for way in [(), *turned]] + [("turn", *way) for way in turned]
    return [(*phrase, *times) for phrase in phrases for times in [(), *((word,) for word in REPEATS)]]


def _coded(sequences: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return codes (N, longest + 1), padded with zeros, and lengths (N,), both read-only."""
    code = {name: number for number, name in enumerate(names)}
    counts: IntArray = np.fromiter(map(len, sequences), np.int64, len(sequences))
    codes: IntArray = np.zeros((len(sequences), counts.max() + 1), dtype=np.int64)
    flat = np.fromiter(map(code.__getitem__, chain.from_iterable(sequences)), np.int64, counts.sum())
    codes[np.arange(codes.shape[1]) < counts[:, None]] = flat
    codes.flags.writeable = counts.flags.writeable = False
    return codes, counts


@dataclass(frozen=True, eq=False)
class ScanSplit:
    """Rows of ``commands()`` to train on and to test on; a row that is there twice counts twice."""

    name: str
    train: IntArray
    test: IntArray

    __repr__ = brief_repr


def scan_split(name: str, *, seed: int = 0, without_repeats: bool = False) -> ScanSplit:
    """Return a published split.

    Parameters
    ----------
    name : str
        One of ``SPLITS``.

        - "simple": a random fifth is held out.
        - "length": up to 22 actions in training, more in test.
        - "addprim_jump", "addprim_turn_left": in training the primitive stands alone, over and over, until it takes up
          a tenth of the rows; every other command with it is held out.
        - "template_around_right" and its like: commands with the template are held out, where "right" alone means
          directly after an action word. As in the published files, commands with "turn" before the same words ("turn
          around right") are in neither part.
        - "filler_num0" to "filler_num3": the test of "template_jump_around_right"; training has "around right" with so
          many of the other three action words only (look, walk, run).
    seed : int
        Decides the "simple" split, which the published files do not explain; of the others, nothing.
    without_repeats : bool
        Whether an added primitive is in training only once.

    Returns
    -------
    ScanSplit

    Examples
    --------
    >>> jump = scan_split("addprim_jump")
    >>> len(jump.train), len(jump.test)
    (14670, 7706)
    >>> len(scan_split("addprim_jump", without_repeats=True).train)
    13204
    """
    if name not in SPLITS:
        raise InputError(f"split {name!r} is unknown;{near_miss(name, SPLITS, f'Splits: {listing(SPLITS, limit=20)}')}")
    return SPLITS[name](name, seed, without_repeats)


def _simple(name: str, seed: int, without_repeats: bool) -> ScanSplit:
    order = np.random.default_rng(seed).permutation(len(commands()))
    return ScanSplit(name, np.sort(order[: 4 * len(order) // 5]), np.sort(order[4 * len(order) // 5 :]))


def _length(name: str, seed: int, without_repeats: bool) -> ScanSplit:
    long = commands().action_counts > LONGEST_TRAINED_ACTIONS
    return ScanSplit(name, np.flatnonzero(~long), np.flatnonzero(long))


def _primitive(name: str, seed: int, without_repeats: bool) -> ScanSplit:
    primitive = name.removeprefix("addprim_").replace("_", " ")
    held_out = commands().containing(primitive)
    alone = commands().row(primitive)
    training = np.flatnonzero(~held_out)
    times = 1 if without_repeats else round(len(training) * PRIMITIVE_SHARE / (1 - PRIMITIVE_SHARE))
    held_out[alone] = False
    return ScanSplit(name, np.concatenate([training, np.full(times, alone)]), np.flatnonzero(held_out))


def _template(name: str, seed: int, without_repeats: bool) -> ScanSplit:
    template = name.removeprefix("template_").replace("_", " ")
    way = template.removeprefix("jump ")
    verbs = VERBS if way == template else ["jump"]
    held_out = np.any([commands().containing(f"{verb} {way}") for verb in verbs], axis=0)
    turns = commands().containing(f"turn {way}")
    return ScanSplit(name, np.flatnonzero(~held_out & ~turns), np.flatnonzero(held_out & ~turns))


def _filler(name: str, seed: int, without_repeats: bool) -> ScanSplit:
    fillers = FILLERS[: int(name[-1])]
    unseen = [verb for verb in (*VERBS, "turn") if verb not in fillers]
    test = np.any([commands().containing(f"{verb} around right") for verb in unseen], axis=0)
    return ScanSplit(name, np.flatnonzero(~test), _template("template_jump_around_right", seed, without_repeats).test)


_Rule = Callable[[str, int, bool], ScanSplit]
SPLITS: dict[str, _Rule] = {"simple": _simple, "length": _length}
SPLITS |= dict.fromkeys(("addprim_jump", "addprim_turn_left"), _primitive)
SPLITS |= {f"template_{way}": _template for way in ("jump_around_right", "around_right", "opposite_right", "right")}
SPLITS |= {f"filler_num{count}": _filler for count in range(len(FILLERS) + 1)}

READINGS = ("A", "B1", "B2", "B3")


def scan_reading(name: str, *, seed: int = 0, without_repeats: bool = False) -> ScanSplit:
    """Return setting A of Li et al. 2020, or setting B in one of the three readings of the paper and its code.

    Parameters
    ----------
    name : {"A", "B1", "B2", "B3"}
        - "A": the split "addprim_jump".
        - "B1", as released: training is every command once, those of the test too; the test is that of A.
        - "B2", as in the appendix: in training and test each "jump" becomes "walk", "look" or "run" at random.
        - "B3", as in the main text: in training each action word is redrawn at random from all four; the test is that
          of A.
    seed : int
        Decides what is redrawn in B2 and B3.
    without_repeats : bool
        Whether the single word "jump" of A, and what is redrawn from it in B2 and B3, is in training only once.

    Returns
    -------
    ScanSplit

    Examples
    --------
    >>> {name: (len(one.train), len(one.test)) for name in READINGS for one in [scan_reading(name)]}
    {'A': (14670, 7706), 'B1': (20910, 7706), 'B2': (14670, 7706), 'B3': (14670, 7706)}
    >>> bool(commands().containing("jump")[scan_reading("B2").test].any())
    False
    """
    if name not in READINGS:
        raise InputError(f"reading {name!r} is unknown; give one of {listing(READINGS)}")
    start = scan_split("addprim_jump", without_repeats=without_repeats)
    train, test = start.train, start.test
    generator = np.random.default_rng(seed)
    if name == "B1":
        train = np.arange(len(commands()))
    elif name == "B2":
        jump = VERBS.index("jump")
        train, test = (_redrawn(rows, generator, verbs=[jump], by=jump) for rows in (train, test))
    elif name == "B3":
        train = _redrawn(train, generator, verbs=range(len(VERBS)), by=len(VERBS))
    return ScanSplit(name, train, test)


def _redrawn(rows: IntArray, generator: np.random.Generator, verbs: Sequence[int], by: int) -> IntArray:
    """Return the rows of the same commands with ``verbs`` redrawn, each by itself, from the first ``by`` action words.

    Commands go joint by joint, then first sentence by first sentence; sentences of one action word lie together.
    """
    count = len(_sentences())
    each = sum(sentence[0] == VERBS[0] for sentence in _sentences())
    single = rows < count
    pairs, second = np.divmod(np.where(single, count * rows, rows - count), count)
    joint, first = np.divmod(pairs, count)

    def redraw(sentences: IntArray) -> IntArray:
        verb, way = np.divmod(sentences, each)
        drawn = generator.integers(by, size=len(sentences)) * each + way
        return np.where(np.isin(verb, verbs), drawn, sentences)

    first, second = redraw(first), redraw(second)
    return np.where(single, first, count + (joint * count + first) * count + second)
