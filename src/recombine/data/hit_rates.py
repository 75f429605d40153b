"""How often what the audit says of models was true of models that were trained."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def hit_rates() -> dict[str, Any]:
    """Return the record of the forecast's benchmark: each sentence, how often it was right, beside a constant guess.

    ``benchmarks/forecast.py`` wrote it; the record holds its command, versions, seed and number of trials.

    Examples
    --------
    >>> rate = hit_rates()["sentences"]["error"]
    >>> sorted(rate)
    ['constant', 'measure', 'of', 'right', 'says']
    """
    record: dict[str, Any] = json.loads((files("recombine.data") / "hit_rates.json").read_text(encoding="utf-8"))
    return record


def hit_rate(sentence: str) -> str:
    """Return in how many trials a sentence of the audit was right, in words.

    Examples
    --------
    >>> hit_rate("error").split()[1::2]
    ['of', 'trials']
    """
    record: dict[str, int] = hit_rates()["sentences"][sentence]
    return f"{record['right']} of {record['of']} trials"
