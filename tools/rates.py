"""The page of rates: every number by which the product says how often it is right, from the records it reads.

`SOURCES` says which benchmark counts which sentences; ``tests/architecture/test_entry_pages.py`` fails where a sentence
of the record has none, or a benchmark that is named does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recombine.data.hit_rates import hit_rate, hit_rates
from recombine.jobs.findings import FINDINGS
from recombine.jobs.score.causes import CAUSES
from recombine.theory.structures import simplest_first

RESULTS = Path(__file__).parents[1] / "results"
HEAD = ("said of", "and was", "right", "a constant", "besides", "quoted by")


class RateSource(NamedTuple):
    """A benchmark: its heading, what it counts on, the command that counts again, and the sentences it counts."""

    heading: str
    tables: str
    command: str
    sentences: tuple[str, ...] = ()


class CountedApart(NamedTuple):
    """A rate that stands in an entry's own words: what was said, how often it was right, a constant, what it is of."""

    code: str
    said: str
    right: str
    constant: str
    tables: str
    command: str


def _stored(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return record


def sources() -> tuple[RateSource, ...]:
    """Return the benchmarks, the forecast's last: it has all sentences that no other one counts."""
    record = hit_rates()
    findings, noise, slices, copies, before = (
        _stored(f"{name}.json")
        for name in ("audit/score_findings", "score/below_noise", "score/slices", "score/copies", "score/foretold")
    )
    others = (
        RateSource(
            "Choice of a structure",
            "Fifteen published tables, random cells and rectangles held out, 200 to 5,000 training cells, five draws: "
            "281 trials, in 173 of which adding was chosen.",
            "python benchmarks/structure_choice.py --write",
            ("structure",),
        ),
        RateSource(
            "Findings about a model's score",
            f"Planted worlds: {len(findings['rows']):,} models whose faults are known. A constant that raises nothing "
            "is always silent and finds no fault; beside each rate stands how many faults are found.",
            findings["command"],
            ("worse than adding", "error of the model's own"),
        ),
        RateSource(
            "Errors below noise",
            f"Planted worlds: {noise['clean']:,} models that have not seen the measurements, and as many that have.",
            noise["command"],
            ("less error than noise",),
        ),
        RateSource(
            "Errors in a slice",
            f"Planted worlds: {slices['clean models']:,} models that err alike everywhere, and 576 that do not.",
            slices["command"],
            ("error concentrated in a slice",),
        ),
        RateSource(
            "Copied levels",
            f"{copies['fresh']['clean tables']} published tables on which no threshold was chosen, as they are and "
            "with a level copied into the test.",
            copies["command"],
            ("copied level",),
        ),
        RateSource(
            "Errors foretold in an examination",
            "Published tables, each combination left out once; what an audit of the other folds said, beside what "
            "models that were then trained were off by.",
            before["command"],
            tuple(before["sentences"]),
        ),
    )
    counted = {key for source in others for key in source.sentences}
    forecast = RateSource(
        "Forecasts of networks and other models",
        f"{record['tables']} published tables and {record['trials'] - record['tables']} planted designs; models were "
        "trained apart from the audit. A quarter of the tables was kept back until ranges and "
        "thresholds stood.",
        record["command"],
        tuple(key for key in record["sentences"] if key not in counted),
    )
    return (*others, forecast)


def source_of(sentence: str) -> RateSource:
    """Return the benchmark that counts a sentence."""
    return next(source for source in sources() if sentence in source.sentences)


def counted_apart() -> tuple[CountedApart, ...]:
    """Return the rates that stand in the words of entries; those of guesses are from committed results."""
    after, final = (_stored(f"reading/{name}.json")["scores"]["published"] for name in ("after", "final"))
    guessed, rule, made_on = final["recombine"], final["pandas"], after["recombine"]
    return (
        CountedApart(
            "RC104",
            "factors and outcome are those that the table's help page names",
            f"{guessed['all right']} of {guessed['files']} ({guessed['wrong']} wrong, the rest asked or refused)",
            f"{rule['all right']} of {rule['files']} ({rule['wrong']} wrong): few values are factors, the last other "
            "numbers the outcome",
            f"published tables, kept apart until the rules were fixed; of {made_on['files']} that they were made on, "
            f"{made_on['all right']}",
            "python benchmarks/reading.py --part final",
        ),
        CountedApart(
            "RC107",
            "levels that look alike are one",
            "23 of 24",
            "–",
            "2,996 columns of labels of 2,309 published tables; of 1,926 second spellings that were planted, 94 % are "
            "found",
            "python benchmarks/spellings.py",
        ),
        CountedApart(
            "RC108",
            "the factor lies inside the other",
            "58 of 60 nestings, none of 440 other pairs",
            "4 of 6,200 crossed pairs, thinned at random, were taken for nested",
            "74 designs from published tables, labelled from their documentation",
            "python benchmarks/nesting.py",
        ),
        CountedApart(
            "RC303",
            "adding beats the plain mean; a network or a forest beats adding",
            "34 of 42; 34 of 42",
            "–",
            "57 published tables, random parts of 30 to 85 % of their cells",
            "python benchmarks/additivity.py --seeds 1",
        ),
    )


def quoted_by(sentence: str) -> str:
    """Return links to the entries that quote a sentence's rate; a rate without a split is that of the same finding."""
    key = sentence.removesuffix(" without a split")
    links = [f"[{kind.code}](findings/{kind.code}.md)" for kind in FINDINGS if kind.hit_rate == key]
    links += [f"[{cause.name}](causes/{page_name(cause.name)}.md)" for cause in CAUSES if cause.hit_rate == sentence]
    links += ["[structures](structures.md)"] * any(kind.hit_rate == sentence for kind in simplest_first())
    return ", ".join(links) or ("examination" if sentence.endswith("before training") else "forecast")


def cause_rows() -> Iterator[Sequence[str]]:
    """Yield how often the range of each cause's amount holds the true one, of planted models."""
    planted, learned, calibration = (_stored(f"score/{name}.json") for name in ("planted", "learned", "calibration"))
    for cause in CAUSES:
        link = f"[{cause.name}](causes/{page_name(cause.name)}.md)"
        rate = planted["all"].get(cause.name)
        if rate is not None:
            held, missed = (
                f"{rate['held']:.1%} of {rate['of']}".replace("%", " %"),
                f"{rate['missed']} of {rate['large']}",
            )
            yield link, f"its 95 % range holds the true amount in {held}", missed, f"`{planted['command']}`"
        elif cause.name == "learnable":
            said = {
                group: [row for row in learned["rows"] if row["group"] == group]
                for group in ("one learned it", "none did")
            }
            told = {group: [row for row in rows if row["by"]] for group, rows in said.items()}
            held = sum(row["held"] for row in told["one learned it"])
            text = (
                f"told of {len(told['one learned it'])} of {len(said['one learned it'])} models beside one that knew, "
            )
            text += (
                f"with the true amount in the range in {held}; of {len(told['none did'])} of {len(said['none did'])} "
            )
            yield link, f"{text}beside models that did not", "–", f"`{learned['command']}`"
        elif cause.name == "over-confidence":
            text = (
                f"named of {calibration['of these named over-confident']} of {calibration['doubled']} models whose log "
            )
            text += f"odds are doubled; anything of {calibration['of these named anything']} of "
            yield link, f"{text}{calibration['right models']} right ones", "–", f"`{calibration['command']}`"


def planted_ranges() -> str:
    """Return how often ranges of what is told besides causes hold the true number, of planted models."""
    planted = _stored("score/planted.json")["all"]
    names = {"gain": "the gain over adding", "slope": "slopes of factors", "pull": "pulls of factors"}
    texts = [f"{text} in {100 * planted[name]['held']:.1f} % of {planted[name]['of']}" for name, text in names.items()]
    return f"ranges hold {', '.join(texts)}"


def paired_command() -> str:
    """Return the command that counts amounts of two planted causes again, on the seeds that were looked at once."""
    return str(_stored("score/paired_causes.json")["final"]["command"])


def paired_rows() -> Iterator[Sequence[str]]:
    """Yield how often ranges hold where one and two causes are planted: by planted cause, then by kind of table."""
    final = _stored("score/paired_causes.json")["final"]
    groups = [final[name] for name in ("one cause", "two causes", "carries no seen noise")]
    for title, keys in (("by cause", ["noise"]), ("planted causes", None), ("by table", None)):
        for key in keys or groups[0][title]:
            rates = [group[title].get(key) for group in groups]
            yield key, *("–" if rate is None else f"{100 * rate['held']:.1f} % of {rate['of']:,}" for rate in rates)


def page_name(name: str) -> str:
    """Return the file name of the page about an entry, as `recombine.registry.help_address` has it."""
    return name.replace(" ", "-")


def sentence_rows(source: RateSource) -> Iterator[Sequence[str]]:
    """Yield what the page says of each sentence of a benchmark."""
    for key in source.sentences:
        rate = hit_rates()["sentences"][key]
        constant = f"{100 * rate['constant']:.0f} %" if "constant" in rate else "–"
        right = hit_rate(key).removesuffix(" trials")
        yield key, rate["says"], right, constant, rate["measure"].replace("nan", "–"), quoted_by(key)


def range_rows() -> Iterator[Sequence[str]]:
    """Yield how often each range of a forecast held, by model, way and kind of table."""
    for case, kinds in hit_rates()["ranges"].items():
        for kind, entry in kinds.items():
            span = f"{entry['low']:.2f} to {entry['high']:.2f}"
            held = f"{entry['held']} of {entry['trials']}"
            back = f"{entry['held, kept back']} of {entry['trials, kept back']}"
            within, constant = (str(entry.get(name, "–")) for name in ("within", "constant within"))
            yield case, kind, span, held, back, within, constant
