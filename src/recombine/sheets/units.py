"""Units after numbers: which text is one, its one spelling, and how much of its base it is."""

from __future__ import annotations

import re
from functools import cache

from recombine.sheets.rules import rule_section

_AMOUNT = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?) ?(\D.*)")


@cache
def unit_spelling(text: str) -> str:
    """Return the one spelling of a unit, or nothing where a text is no unit that the rules know.

    Examples
    --------
    >>> unit_spelling("uM"), unit_spelling("mg/ml"), unit_spelling("hrs"), unit_spelling("apples")
    ('µM', 'mg/mL', 'h', '')
    """
    pieces = [_piece(piece.strip()) for piece in text.replace("μ", "µ").split("/")]
    return "/".join(pieces) if all(pieces) and len(pieces) <= 3 else ""


def _piece(text: str) -> str:
    units = rule_section("units")
    spelled = {spelling: unit for unit, spellings in units["spellings"].items() for spelling in spellings}
    if text in units["bases"] or text in units["others"]:
        return text
    if (unit := spelled.get(text) or spelled.get(text.lower())) is not None:
        return str(unit)
    prefix, base = "µ" if text[:1] == "u" else text[:1], spelled.get(text[1:], text[1:])
    return f"{prefix}{base}" if prefix in units["prefixes"] and base in units["bases"] else ""


def base_amount(level: str) -> tuple[float, str] | None:
    """Return how much of its base unit a level such as ``1 mM`` is, rounded, or None where it has no prefixed unit.

    Examples
    --------
    >>> base_amount("1 mM") == base_amount("1000 µM"), base_amount("5 apples")
    (True, None)
    """
    units, match = rule_section("units"), _AMOUNT.fullmatch(level)
    if match is None or not (unit := unit_spelling(match[2])) or "/" in unit:
        return None
    scale, base = (1.0, unit) if unit in units["bases"] else (units["prefixes"].get(unit[0], 0.0), unit[1:])
    return (float(f"{float(match[1]) * scale:.9g}"), base) if scale and base in units["bases"] else None
