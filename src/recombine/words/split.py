"""Splits in words: what each part of a test proves, what a split as a whole can show, and what leaks."""

from __future__ import annotations

from recombine.jobs.split.check import SplitCheck
from recombine.jobs.split.table_files import TableSplit
from recombine.theory.structures.all_structures import sum_of
from recombine.verdicts import Verdict
from recombine.words.answer import CAREFUL, MORE_NAME, Answer, AnswerLine
from recombine.words.structure import choice_origin, search_sentences
from recombine.words.table import GUESSED
from recombine.writing import join_words, listing, plural, share

#: What an error on test rows of each verdict speaks of; the hole is the condition under which verdicts hold.
PROVES = {
    Verdict.SEEN: "training has the same combination: this tests memory and noise, not new combinations",
    Verdict.DETERMINED: "never in training, yet fixed by it if {assumption}: this tests whether a model recombines",
    Verdict.DISCONNECTED: "all levels are in training, yet if {assumption} training alone does not settle the value",
    Verdict.UNSEEN_LEVEL: "a level that training never has, so that its effect is not settled",
    Verdict.UNDECIDED: "arithmetic could not tell whether training fixes it",
    Verdict.BEYOND: "outside the range that training has: how the trend goes on there is not settled",
}
VERDICTS = {verdict.word: verdict for verdict in Verdict}
SHARES_TITLE = "Asked for and got, as shares of the table's rows"
CHECK_TITLE = "What the test rows are to training"
#: Levels and pairs of levels that are named.
MAX_LEVELS_NAMED = 5


def proof_of(verdict: Verdict, assumption: str) -> str:
    """Say what an error on test rows of a verdict speaks of, if ``assumption`` holds."""
    return PROVES[verdict].format(assumption=assumption)


def split_opening(made: TableSplit) -> str:
    """Say what was split, and under which condition its parts have their verdicts."""
    rows, cells = len(made.split.part), len(set(made.split.where.tolist()))
    return (
        f"{made.rows.design.space.title}: {plural(rows, 'row')} in {plural(cells, 'cell')}. Each test row has the "
        f"verdict of its part if {sum_of(made.split.order).assumption}; verified cell by cell."
    )


def split_remarks(made: TableSplit) -> list[str]:
    """Say which rows are in no part, which levels training lacks, and how alike the parts are."""
    remarks = []
    if made.split.unused:
        remarks.append(
            f"{plural(made.split.unused, 'row')} in neither part: in training "
            f"{'it' if made.split.unused == 1 else 'they'} would fix what has to stay open."
        )
    for name, labels in made.hidden.items():
        levels = plural(len(labels), "level")
        remarks.append(f"{name}: {levels} in no training row: {listing(labels, MAX_LEVELS_NAMED)}.")
    if made.stratified is not None:
        remarks.append(
            f"{made.stratified}: {share(made.split.unlike)} of the test rows would have to change class (or tenth, "
            "of numbers) to be distributed as the training rows are."
        )
    if made.left_out:
        lack, are = ("row lacks", "is") if made.left_out == 1 else ("rows lack", "are")
        remarks.append(f"{made.left_out:,} {lack} a factor and {are} in no part.")
    return remarks


def check_title(check: SplitCheck) -> str:
    """Say which column of which table was checked."""
    return f"Recombine split check of {check.column} in {check.rows.source.name}"


def check_opening(check: SplitCheck) -> str:
    """Say how many rows and cells each side has, and under which condition verdicts hold."""
    return (
        f"{check.rows.design.space.title}: {plural(check.trained, 'training row')}, "
        f"{plural(len(check.where), 'test row')} in {plural(len(check.cells), 'cell')}. "
        f"Verdicts hold if {check.choice.assumption} ({choice_origin(check.choice)})."
    )


def check_conclusions(check: SplitCheck) -> list[str]:
    """Say what the split as a whole can show, in one sentence each."""
    shares = {row["verdict"]: row["share of rows"] for row in check.verdicts.rows()}
    conclusions = []
    if shares.get(Verdict.SEEN.word, 0.0) == 1.0:
        conclusions.append(
            "Every test row repeats a combination of training: this split shows nothing about new combinations."
        )
    elif Verdict.DETERMINED.word not in shares:
        conclusions.append("No test row is determined by training without being in it: recombining is not tested.")
    undetermined = sum(shares.get(verdict.word, 0.0) for verdict in (Verdict.DISCONNECTED, Verdict.UNSEEN_LEVEL))
    if undetermined and Verdict.DETERMINED.word in shares:
        conclusions.append(
            f"{share(undetermined)} of the test rows are open: training alone does not settle them; score them apart."
        )
    return conclusions


def check_remarks(check: SplitCheck) -> list[str]:
    """Say which rows were left out, and what the search for a structure left out to save time."""
    count = int((~check.rows.kept).sum())
    unknown = "" if check.rows.design.outcome is None else ", or have a level that no row with an outcome has,"
    lack, are = ("row lacks", "is") if count == 1 else ("rows lack", "are")
    rows = [f"{count:,} {lack} a factor or a part{unknown} and {are} left out."] if count else []
    return [*rows, *search_sentences(check.choice)]


def check_sides(check: SplitCheck) -> list[str]:
    """Say of each value of the split's column what its rows are to training, where there are several."""
    sides = []
    for side, table in check.by_side.items():
        shares = ", ".join(f"{row['verdict']} {share(row['share of rows'])}" for row in table.rows())
        sides.append(f"{side}: {shares} of {plural(sum(table['rows'].tolist()), 'row')}")
    return sides if len(sides) > 1 else []


def check_leaks(check: SplitCheck) -> list[str]:
    """Say what leaks, which levels are spelled alike, or that nothing of what was looked for was found."""
    sentences = [f"{finding}. {finding.address}".strip() for finding in check.findings]
    if check.alike:
        pairs = [f"{name} {test!r} and {train!r}" for name, test, train in check.alike]
        sentences.append(
            "Levels of the test that differ from one of training only by the way they are written: "
            f"{listing(pairs, MAX_LEVELS_NAMED)}."
        )
    if sentences:
        return sentences
    permuted = ["a permuted cell"] if check.rows.design.symmetric else []
    copied = (
        ["a level copied by two fifths or more (single copied rows are not looked for)"]
        if len(check.rows.others) > 1
        else []
    )
    sought = ["the same cell", *permuted, "a level spelled another way", *copied]
    return [f"None of what was looked for: {join_words(sought)} on both sides."]


def check_answer(check: SplitCheck) -> Answer:
    """Return the answer of a checked split: what its test rows are to training, what it can show, and what leaks.

    Examples
    --------
    >>> import pandas as pd
    >>> from recombine.jobs.split import check_split
    >>> frame = pd.DataFrame({"colour": list("rrbb"), "shape": list("xyxy"), "part": ["train"] * 3 + ["test"]})
    >>> print(check_answer(check_split(frame, factors=["colour", "shape"], split="part")))
    Recombine split check of part in the table
    Read          colour (2) × shape (2): 3 training rows, 1 test row in 1 cell
    Assumed       effects add (assumed without comparing)
    Determined    1 row (100.0 %): never in training, yet fixed by it if effects add: this tests whether
                    a model recombines
    Leaks         None of what was looked for: the same cell and a level spelled another way on both
                    sides.
    More          --full (check.summary) prints all of it, --json is for scripts
    """
    rows = f"{plural(check.trained, 'training row')}, {plural(len(check.where), 'test row')}"
    guess = GUESSED if check.rows.design.reading.proposals else ""
    lines = [
        AnswerLine("Read", f"{check.rows.design.space.title}: {rows} in {plural(len(check.cells), 'cell')}{guess}"),
        AnswerLine("Assumed", f"{check.choice.assumption} ({choice_origin(check.choice)})"),
    ]
    numbers: dict[str, float] = {"training rows": check.trained, "test rows": len(check.where)}
    for row in check.verdicts.rows():
        verdict = VERDICTS[row["verdict"]]
        proof, count = proof_of(verdict, check.choice.assumption), f"{plural(row['rows'], 'row')}"
        counted = f"{count} ({share(row['share of rows'])}): "
        lines.append(AnswerLine(verdict.word.capitalize(), f"{counted}{proof}", f"{counted}{proof.partition(':')[0]}"))
        numbers[verdict.word] = row["rows"]
    lines += [AnswerLine(CAREFUL, sentence) for sentence in check_conclusions(check)]
    leaks = check_leaks(check)
    more = f" ({len(leaks) - 1} more)" if len(leaks) > 1 else ""
    left_out = check_remarks(check)
    lines += [
        AnswerLine("Leaks", f"{leaks[0]}{more}"),
        AnswerLine("Left out", left_out[0] if left_out else ""),
        AnswerLine(MORE_NAME, "--full (check.summary) prints all of it, --json is for scripts"),
    ]
    return Answer(check_title(check), tuple(lines), numbers)
