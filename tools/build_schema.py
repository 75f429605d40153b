"""Write the JSON Schema of what ``--json`` prints: python tools/build_schema.py [--check].

Verdicts, findings, structures, causes and how a table is read come from the package; the rest of the fields is written
here. ``tests/cli/test_schema.py`` sets it beside what commands print: every field of a document is in the schema, and
every field of the schema is in a document.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from recombine import table_spec
from recombine._version import SCHEMA
from recombine.cells.scales import FactorScale
from recombine.jobs.audit.additivity import AdditivityState
from recombine.jobs.audit.fitted_networks import ForecastSource
from recombine.jobs.audit.noise import NoiseSource
from recombine.jobs.audit.rivals import VERDICTS
from recombine.jobs.comparison.cell_maps import STATES
from recombine.jobs.findings import FINDINGS
from recombine.jobs.score.causes import CAUSES
from recombine.jobs.split.leaks import LeakKind
from recombine.jobs.training.expected_range import TableKind
from recombine.jobs.training.train import LAYERS
from recombine.jobs.values.sources import RestsOn, ValueSource
from recombine.lab.inspection.reading import Composes
from recombine.measures.dependence.independence import DependenceState
from recombine.sheets.notes import KINDS
from recombine.tables.grouping import RowsAre
from recombine.theory.identification.nullspace import Route
from recombine.theory.structures import simplest_first
from recombine.verdicts import Verdict

FILE = Path(__file__).parents[1] / "src" / "recombine" / "report" / "schema.json"

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
#: What does not exist, as the noise without replicates, is null.
NUMBER: Schema = {"type": ["number", "null"]}
#: Of a page of the documentation; null where the package names none.
ADDRESS: Schema = {"type": ["string", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT}


def ref(name: str) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def one_of(words: Iterable[str]) -> Schema:
    """Return one of these words, or of those of an enumeration."""
    return {"enum": [str(word) for word in words]}


def rows(entry: Schema) -> Schema:
    """Return a list of such entries."""
    return {"type": "array", "items": entry}


def maybe(entry: Schema) -> Schema:
    """Return such an entry, or null."""
    return {"anyOf": [entry, {"type": "null"}]}


def by_name(entry: Schema) -> Schema:
    """Return entries under names of the data: factors, models, values of a split."""
    return {"type": "object", "additionalProperties": entry}


def record(more: dict[str, Schema] | None = None, /, *, beside_levels: bool = False, **fields: Schema) -> Schema:
    """Return a record with these fields and no others; ``beside_levels``: and the level of each factor.

    Fields that may be missing are those of ``more`` whose name ends in a question mark.
    """
    every = {**fields, **(more or {})}
    properties = {name.removesuffix("?"): entry for name, entry in every.items()}
    required = [name for name in every if not name.endswith("?")]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": TEXT if beside_levels else False,
    }


def table() -> Schema:
    """Return how a table was read: what of `TableSpec` says something."""
    kinds = {"text": TEXT, "names": TEXTS, "flag": FLAG, "number": WHOLE, "file": TEXT, "tables": TEXTS}
    return record({f"{field.name}?": kinds[field.kind] for field in table_spec.fields()})


def shared() -> dict[str, Schema]:
    """Return what several kinds of documents hold."""
    verdicts = [verdict.word for verdict in Verdict]
    counts = {verdict: ref("count") for verdict in verdicts}
    between = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}
    finding = {"code": one_of(kind.code for kind in FINDINGS), "title": TEXT, "message": TEXT}
    finding["help"] = ADDRESS
    finding["severity"] = one_of(sorted({kind.severity.word for kind in FINDINGS}))
    return {
        "count": {"type": ["integer", "string"], "pattern": "^[0-9]+$", "minimum": 0},
        "verdict": one_of(verdicts),
        "structure": one_of(structure.name for structure in simplest_first()),
        "table": table(),
        "amount": record(value=NUMBER, low=NUMBER, high=NUMBER),
        "finding": record({**finding, "subjects": TEXTS}),
        "finding on one side": record({**finding, "subject": {"type": ["string", "null"]}}),
        "finding on both sides": record({**finding, "subject": {"type": ["string", "null"]}, "message_before": TEXT}),
        "counts": record(
            {**counts, "interval?": record(dict.fromkeys(verdicts, between))},
            total=ref("count"),
            exact=FLAG,
            sampled=WHOLE,
        ),
        "verdict of test": record(
            {"share of cells": NUMBER, "share of rows": NUMBER}, verdict=ref("verdict"), cells=WHOLE, rows=WHOLE
        ),
        "cell map": {"type": "string", "pattern": "^([0-9]+[sdxuqb-])*$"},
    }


def document(kind: str, more: dict[str, Schema]) -> Schema:
    """Return a document of a kind."""
    head = {"recombine": TEXT, "kind": {"const": kind}, "schema": {"const": SCHEMA}}
    return record({**head, **more})


def audit() -> Schema:
    """Return what ``audit --json`` prints."""
    words, tried = ([verdict.word for verdict in verdicts] for verdicts in (Verdict, VERDICTS))
    seen_range = {"seen_range?": TEXTS, "knots?": TEXTS}
    factor = record(seen_range, name=TEXT, levels=WHOLE, scale=one_of(FactorScale))
    misses = {f"miss of {name}?": NUMBER for name in ("values", "mean", "noise", "network")}
    every_order = {"properties": {"verdicts": {"items": {"required": ["verdict at order 1"]}}}}
    return document(
        "audit",
        {
            "explained?": TEXT,
            "libraries": record(numpy=TEXT, scipy=TEXT, narwhals=TEXT, duckdb=TEXT),
            "source": TEXT,
            "table": ref("table"),
            "answer": TEXTS,
            "numbers": record({f"{word}?": ref("count") for word in words} | misses),
            "order": WHOLE,
            "structure": record(
                name=ref("structure"),
                assumes=TEXT,
                help=ADDRESS,
                asked=FLAG,
                statement={"type": ["string", "null"]},
                ceiling=NUMBER,
                not_tried=by_name(TEXT),
                curve=maybe(record(sum=rows(NUMBER), outcome=rows(NUMBER))),
            ),
            "structures": rows(record(name=ref("structure"), r2=NUMBER, error=NUMBER, cells=WHOLE, chosen=FLAG)),
            "seed": WHOLE,
            "factors": rows(factor),
            "levels": maybe(by_name(TEXTS)),
            "digests": maybe(by_name(TEXTS)),
            "symmetric": rows(TEXTS),
            "factors_guessed": FLAG,
            "reading": record(
                rows=record(table=ref("count"), used=ref("count"), left_out=by_name(ref("count"))),
                guessed=TEXTS,
                merged=by_name(rows(TEXTS)),
                notes=rows(record(kind=one_of(KINDS), column=TEXT, lines=rows(WHOLE), values=TEXTS, count=WHOLE)),
                sentences=TEXTS,
                command=maybe(TEXT),
            ),
            "nesting": rows(record(child=TEXT, parent=TEXT, inferred=FLAG, chance=NUMBER)),
            "possible": record(cells=ref("count"), impossible=ref("count"), list=TEXT),
            "outcome": {"type": ["string", "null"]},
            "rows": ref("count"),
            "rows_are": one_of(RowsAre),
            "two_values": maybe(rows({"type": ["number", "string"]})),
            "counts": ref("counts"),
            "counts_order_1": ref("counts"),
            "importance": maybe(
                record(
                    statement=TEXT,
                    scope=TEXT,
                    unseen=NUMBER,
                    sums=record(dict.fromkeys(words, NUMBER)),
                    shares=record(dict.fromkeys(words[1:], NUMBER)),
                    cells=record(dict.fromkeys(words, WHOLE)),
                )
            ),
            "route": one_of(Route),
            "deficit": WHOLE,
            "coverage": rows(record(t=WHOLE, factors=TEXT, seen=ref("count"), possible=ref("count"), share=NUMBER)),
            "additivity": maybe(additivity()),
            "ranges": maybe(
                record(
                    {"of": TEXT},
                    source=one_of(ValueSource),
                    statement=TEXT,
                    share=NUMBER,
                    cells=WHOLE,
                    departure=NUMBER,
                    noise=NUMBER,
                    residual=NUMBER,
                )
            ),
            "shares": maybe(shares()),
            "held_out": maybe(
                rows(record({"value error": NUMBER, "mean error": NUMBER}, verdict=ref("verdict"), cells=WHOLE))
            ),
            "forecast": forecast(),
            "noise": maybe(record(of=TEXT, variance=NUMBER, freedom=NUMBER, error=NUMBER)),
            "findings": rows(ref("finding")),
            "plan": maybe(plan()),
            "models": maybe(
                rows(
                    record(
                        dict.fromkeys(tried, NUMBER) | {f"{word} cells": WHOLE for word in tried},
                        share=NUMBER,
                        model=TEXT,
                        cells=WHOLE,
                    )
                )
            ),
            "left_out": TEXTS,
            "listing": record(note=TEXT, listed=WHOLE, shown=WHOLE),
            "cells": record(
                {"runs?": ref("cell map"), "obstacle?": TEXT}, **{"of": one_of(["all cells", "targets", "none"])}
            ),
            "verdicts": rows(listed_cell()),
        },
    ) | {"if": {"properties": {"order": {"minimum": 2}}}, "then": every_order}


def listed_cell() -> Schema:
    """Return the verdict of one cell beside its levels, with its value where there is an outcome."""
    value = {
        **dict.fromkeys(("predicted", "standard error", "low", "high", "certified"), NUMBER),
        "rests on": one_of(RestsOn),
    }
    more = {f"{name}?": entry for name, entry in value.items()}
    more |= {"importance?": NUMBER, "sum out of range?": FLAG, "verdict at order 1?": ref("verdict")}
    # Any other text would pass for the level of a factor, so a value is there as a whole or not at all.
    whole = {"predicted": list(value)}
    return record(more, verdict=ref("verdict"), leverage=NUMBER, beside_levels=True) | {"dependentRequired": whole}


def additivity() -> Schema:
    """Return how well effects add."""
    states = one_of(AdditivityState)
    order = {
        **dict.fromkeys(("error", "mean baseline", "error if effects add", "share explained"), NUMBER),
        **dict.fromkeys(("lack of fit F", "lack of fit p"), NUMBER),
        "cells tested": WHOLE,
    }
    test = dict.fromkeys(("statistic", "p_value", "departure", "share", "least_share"), NUMBER)
    return record(
        state=states,
        statement=TEXT,
        method=TEXT,
        noise=maybe(one_of(NoiseSource)),
        out_of_range=WHOLE,
        orders=rows(record(order, order=WHOLE, additivity=states)),
        lack_of_fit=maybe(record(test, freedom=rows(NUMBER))),
        breakers=rows(record(rows=WHOLE, observed=NUMBER, predicted=NUMBER, difference=NUMBER, beside_levels=True)),
    )


def shares() -> Schema:
    """Return what carries the outcome."""
    size = dict.fromkeys(("single factors", "pairs", "larger sets", "noise"), NUMBER)
    return record(
        noise_is_alone=FLAG,
        sets=rows(record(set=TEXT, size=WHOLE, share=NUMBER, low=NUMBER, high=NUMBER)),
        by_size=rows(record({**size, "of": one_of(["this table", "network"]), "layers": WHOLE})),
        sentence=TEXT,
    )


def expected_range() -> Schema:
    """Return what is expected of the next model, and how often such ranges held."""
    numbers = dict.fromkeys(("said", "low", "high", "middle"), NUMBER)
    return record(numbers, held=WHOLE, within=WHOLE, trials=WHOLE, kind=one_of([*TableKind, "all"]))


def forecast() -> Schema:
    """Return what networks will do."""
    errors = dict.fromkeys(("ntk", "nngp", "additive", "mean", "noise", "values"), NUMBER)
    return record(
        error=maybe(record(errors, cells=WHOLE, source=one_of(ForecastSource))),
        network=maybe(expected_range()),
        right=maybe(expected_range()),
        trained=maybe(
            record(
                models=rows(
                    record({"model": one_of(LAYERS), "error": NUMBER, "low": NUMBER, "high": NUMBER, "right": NUMBER})
                ),
                cells=WHOLE,
                folds=WHOLE,
                theory=NUMBER,
                left_out=rows(one_of(LAYERS)),
                slopes=by_name(NUMBER),
            )
        ),
        depths=rows(record({"hidden layers": WHOLE}, ntk=NUMBER, nngp=NUMBER)),
        slopes=rows(record(factor=TEXT, effect=NUMBER, slope=NUMBER, ntk=NUMBER, nngp=NUMBER, told=FLAG)),
        cells=WHOLE,
        shortcuts=rows(record(factor=TEXT, pull=NUMBER, size=NUMBER, share=NUMBER, misleads=FLAG)),
        obstacle={"type": ["string", "null"]},
        left_out={"type": ["string", "null"]},
    )


def plan() -> Schema:
    """Return which cells to measure next."""
    reasons = one_of(["connect", "sharpen"])
    cell = record(cell=by_name(TEXT), text=TEXT, reason=reasons, gain=NUMBER, cost=NUMBER, importance=NUMBER)
    return record(
        needed=WHOLE,
        beyond=ref("count"),
        several=WHOLE,
        sampled=FLAG,
        enough=FLAG,
        gain=NUMBER,
        text=TEXT,
        cells=rows(cell),
    )


def score() -> Schema:
    """Return what ``score --json`` prints."""
    amount = ref("amount")
    told = [(cause.name, cause.coefficient.name) for cause in CAUSES if cause.coefficient is not None]
    names = [f"{name} by factor?" for pair in told for name in pair]
    by_verdict = record(
        {"squared error": NUMBER, "plain mean": NUMBER, "accuracy?": NUMBER, "log loss?": NUMBER},
        verdict=ref("verdict"),
        cells=WHOLE,
        low=NUMBER,
        high=NUMBER,
        share=NUMBER,
    )
    piece = record(
        {"miss": maybe(amount), "share of cells": NUMBER, "share of error": NUMBER},
        levels=by_name(TEXT),
        name=TEXT,
        cells=WHOLE,
        error=amount,
        times=amount,
        chance=NUMBER,
    )
    calibration = record(
        {**dict.fromkeys(("over-confident", "under-confident", "too high", "too low"), FLAG), "intercept?": amount},
        slope=amount,
        cells=WHOLE,
        clipped=WHOLE,
        sentence=TEXT,
    )
    model = record(
        {
            "name": TEXT,
            "error on unseen cells": amount,
            "by verdict": rows(by_verdict),
            "below noise?": record(error=amount, noise=amount, cells=WHOLE, chance=NUMBER, sentence=TEXT),
            "slices?": rows(piece),
            "calibration?": calibration,
            "error on determined cells?": amount,
            "causes?": record({f"{cause.name}?": amount for cause in CAUSES}),
            "removed alone?": by_name(amount),
            "got right by?": by_name(TEXT),
            **{name: by_name(amount) for name in names},
            "gain over adding?": amount,
            "explained?": NUMBER,
            "sentences?": TEXTS,
        }
    )
    return document(
        "score",
        {
            **dict.fromkeys(("source", "outcome", "assumption", "held-out digest"), TEXT),
            **dict.fromkeys(("seen cells", "held-out cells", "determined cells", "seed"), WHOLE),
            **dict.fromkeys(("classes", "factors", "answers", "unclear", "left_out"), TEXTS),
            "help": record({cause.name: ADDRESS for cause in CAUSES}),
            "table": ref("table"),
            "structure": ref("structure"),
            "models": rows(model),
            "beside": rows(record({"predictions": TEXT, "squared error": NUMBER})),
            "pairs": rows(
                record(
                    {"better": TEXT, "other": TEXT, "adjusted p": NUMBER}, difference=NUMBER, low=NUMBER, high=NUMBER
                )
            ),
            "failed": by_name(TEXT),
            "cell errors": maybe(record(verdicts=ref("cell map"), errors=by_name(TEXT), cells=TEXT)),
        },
    )


def split() -> Schema:
    """Return what ``split --test --json`` prints."""
    part = record(part=ref("verdict"), asked=NUMBER, got=NUMBER, rows=WHOLE, cells=WHOLE)
    return document(
        "split",
        {
            "source": TEXT,
            "table": ref("table"),
            "factors": TEXTS,
            "assumption": TEXT,
            **dict.fromkeys(("order", "seed", "rows", "rows left out", "training rows", "unused rows"), WHOLE),
            "parts": rows(part),
            "hidden levels": by_name(TEXTS),
            "stratified by": {"type": ["string", "null"]},
            "unlike": NUMBER,
        },
    )


def split_check() -> Schema:
    """Return what ``split --check --json`` prints."""
    return document(
        "split check",
        {
            **dict.fromkeys(("source", "split", "assumption"), TEXT),
            **dict.fromkeys(("training rows", "test rows", "test cells"), WHOLE),
            "table": ref("table"),
            "factors": TEXTS,
            "structure": ref("structure"),
            "asked": FLAG,
            "verdicts": rows(ref("verdict of test")),
            "by value": by_name(rows(ref("verdict of test"))),
            "conclusions": TEXTS,
            "leaks": rows(record(kind=one_of(get_args(LeakKind)), cells=WHOLE, rows=WHOLE, examples=TEXTS)),
            "findings": rows(ref("finding")),
            "levels spelled alike": rows(record(factor=TEXT, test=TEXT, training=TEXT)),
        },
    )


def comparison(of: str, more: dict[str, Schema], side: dict[str, Schema]) -> Schema:
    """Return what ``compare --json`` prints of two documents of a kind."""
    sides = record({"source": TEXT, "recombine": TEXT, "seed": WHOLE, **side})
    return document(
        "comparison",
        {
            "of": {"const": of},
            "before": sides,
            "after": sides,
            "changed": FLAG,
            "answer": TEXT,
            "notes": TEXTS,
            "failed": TEXTS,
            "settings": rows(record(what=TEXT, before=TEXT, after=TEXT)),
            **more,
        },
    )


def audit_comparison() -> Schema:
    """Return what ``compare --json`` prints of two audits."""
    names, states = record(new=TEXTS, gone=TEXTS), one_of(STATES)
    counted = one_of([*(verdict.word for verdict in Verdict), "total"])
    moved = rows(record(cell=by_name(TEXT), before=states, after=states))
    transitions = record(
        dict.fromkeys(("gained", "lost", "vanished", "only_before", "only_after"), WHOLE),
        table=rows(record(before=states, after=states, cells=WHOLE)),
        gained_cells=moved,
        lost_cells=moved,
    )
    one_side, both_sides = rows(ref("finding on one side")), rows(ref("finding on both sides"))
    more = {
        "counts": rows(record(what=counted, before=ref("count"), after=ref("count"))),
        "transitions": maybe(transitions),
        "factors": names,
        "levels": by_name(names),
        "renamed": rows(record(factor=TEXT, old=TEXT, new=TEXT, cells=WHOLE)),
        "noisier": maybe(record(of=TEXT, before=NUMBER, after=NUMBER)),
        "respelled": rows(record(factor=TEXT, gone=TEXT, new=TEXT)),
        "findings": record(new=one_side, gone=one_side, stay=both_sides),
        "structure": record(before=ref("structure"), after=ref("structure")),
        "forecast": rows(record(what=TEXT, before=NUMBER, after=NUMBER)),
    }
    return comparison("audit", more, {"rows": ref("count")})


def score_comparison() -> Schema:
    """Return what ``compare --json`` prints of two scores."""
    amount = maybe(ref("amount"))
    change = record(
        {"rise per cell": amount}, what=TEXT, before=amount, after=amount, outside={"type": ["boolean", "null"]}
    )
    more = {
        "rule": TEXT,
        "common_cells": WHOLE,
        "same_cells": {"type": ["boolean", "null"]},
        "models": record(new=TEXTS, gone=TEXTS, stay=TEXTS),
        "better": TEXTS,
        "worse": TEXTS,
        "changes": by_name(rows(change)),
    }
    return comparison("score", more, {})


def probe() -> Schema:
    """Return what ``probe --json`` prints."""
    numbers = ("excess", "share", "bits", "null", "null sd", "p", "adjusted p", "varied")
    factor = record(
        {
            **dict.fromkeys(numbers, NUMBER),
            "factor": TEXT,
            "verdict": one_of(DependenceState),
            **dict.fromkeys(("levels", "rows", "degrees of freedom"), WHOLE),
            "sentence": TEXT,
        }
    )
    return document(
        "probe",
        {
            "source": TEXT,
            "table": ref("table"),
            "prediction": TEXT,
            "given": TEXTS,
            **dict.fromkeys(("rows", "permutations", "seed"), WHOLE),
            **dict.fromkeys(("level", "entropy", "left_open"), NUMBER),
            "factors_guessed": FLAG,
            "depends": TEXTS,
            "factors": rows(factor),
            "swaps": rows(
                record(factor=TEXT, change=ref("amount"), classes=FLAG, rows=WHOLE, spread=NUMBER, sentence=TEXT)
            ),
            "findings": rows(ref("finding")),
            "notes": TEXTS,
        },
    )


def inspection() -> Schema:
    """Return what ``inspect --json`` prints."""
    verdict = one_of(Composes)
    numbers = ("additive", "F", "F_K", "volume_ratio", "pasted", "pasted_seen", "spanned", "cross_ratio", "predicted")
    still = record(count=WHOLE, ranges=rows(rows(WHOLE)), unseen=NUMBER, seen=NUMBER)
    lists = {"speeds": rows(NUMBER), "readout": rows(NUMBER)}
    layer = record(
        {**dict.fromkeys(numbers, NUMBER), **lists}, name=TEXT, features=WHOLE, still=maybe(still), verdict=verdict
    )
    truth = ("seen_error", "unseen_error", "relative_error", "correlation", "variance")
    return document(
        "inspection",
        {
            **dict.fromkeys(("source", "meaning", "sentence"), TEXT),
            "factors": TEXTS,
            "levels": rows(WHOLE),
            "seen": {"type": ["integer", "null"]},
            "unseen": {"type": ["integer", "null"]},
            "verdict": verdict,
            "truth": maybe(record(dict.fromkeys(truth, NUMBER))),
            "layers": rows(layer),
            "notes": TEXTS,
        },
    )


def claims() -> Schema:
    """Return what ``papers --json`` prints: a list with one entry per claim."""
    texts = (
        *("paper", "number", "statement", "source", "theme", "verdict", "quick_verdict", "measured", "bounds"),
        *("judged_by", "means", "incomparable", "moved", "risk", "experiment", "scale", "of_paper"),
    )
    whose = one_of(["paper", "authors' files", "follows from the paper", "ours"])
    return rows(
        record(
            {**dict.fromkeys(texts, TEXT), "says": whose},
            exploratory=FLAG,
            figures=TEXTS,
            units_run=WHOLE,
            units_planned=WHOLE,
        )
    )


def schema() -> str:
    """Return the schema of all documents as JSON text."""
    documents = {
        "audit": audit(),
        "score": score(),
        "split": split(),
        "split check": split_check(),
        "comparison of audits": audit_comparison(),
        "comparison of scores": score_comparison(),
        "probe": probe(),
        "inspection": inspection(),
        "claims": claims(),
    }
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"What recombine prints with --json, schema {SCHEMA}",
        "oneOf": [ref(name) for name in documents],
        "$defs": documents | shared(),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the schema, or say that it is stale."""
    text = schema()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if FILE.read_text(encoding="utf-8") == text else f"stale: {FILE}; run python tools/build_schema.py")
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
