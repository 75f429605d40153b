"""Numbers and lists as a reader expects them: few digits, thousands apart, shares that never round to none or all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral


def number(value: float | int | None, digits: int = 3) -> str:
    """Write a number for a reader: few digits, thousands apart, a true minus sign.

    Examples
    --------
    >>> number(12345), number(0.123456), number(-5.2299), number(254.52, 4), number(999.6), number(float("nan"))
    ('12,345', '0.123', '−5.23', '254.5', '1,000', '–')
    """
    if value is None or value != value:
        return "–"
    whole = isinstance(value, Integral) or 10 ** (digits - 1) <= abs(value) < 1e12
    return (f"{value:,.0f}" if whole else f"{value:.{digits}g}").replace("-", "−")


def aligned(values: Sequence[float]) -> list[str]:
    """Write a column of numbers, equally many decimals each, so that their points stand under one another.

    Four digits of the largest, two at least of the smallest; a column that spans too much for that has its own digits
    in each row.

    Examples
    --------
    >>> aligned([22.09, 5.114, -83.47, float("nan")]), aligned([3.0, 12.0]), aligned([1e-3, 1e6])
    (['22.09', '5.11', '−83.47', '–'], ['3', '12'], ['0.001', '1,000,000'])
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    values = [0.0 if abs(value) <= 1e-12 * largest else value for value in values]  # what is left by rounding
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes or max(sizes) > 1e5 * min(sizes) or max(sizes) < 1e-4:
        return [number(value, 4) for value in values]
    first, last = (math.floor(math.log10(size)) for size in (max(sizes), min(sizes)))
    places = max(3 - first, min(1 - last, 5 - first), 0)
    if all(size == int(size) for size in sizes):
        places = 0
    texts = [f"{value:,.{places}f}".replace("-", "−") if math.isfinite(value) else number(value) for value in values]
    return ["0" if set(text) <= set("−0.,") and places == 0 else text for text in texts]


def amount(value: float) -> str:
    """Write a count that may be a weight: whole numbers in full.

    Examples
    --------
    >>> amount(12345.0), amount(2.5)
    ('12,345', '2.5')
    """
    return number(int(value)) if value == int(value) else number(value)


def compact(value: float) -> str:
    """Write a round number in few letters, for the ticks of an axis.

    Examples
    --------
    >>> compact(400_000), compact(-2_500_000), compact(0.25), compact(3.0)
    ('400k', '−2.5M', '0.25', '3')
    """
    unit, letter = next(((size, name) for size, name in ((1e9, "G"), (1e6, "M")) if abs(value) >= size), (1.0, ""))
    if not letter and abs(value) >= 1e4:
        unit, letter = 1e3, "k"
    return f"{value / unit:.6g}{letter}".replace("-", "−")


def percent(part: int, whole: int) -> str:
    """Write a share that never rounds to none or all unless it is.

    Examples
    --------
    >>> percent(1, 3), percent(9999, 10000), percent(1, 10**12), percent(0, 5)
    ('33.3 %', '> 99.9 %', '< 0.1 %', '0.0 %')
    """
    return share(part / whole if whole else 0.0)


def share(value: float) -> str:
    """Write a number between 0 and 1 as a percentage that never rounds to none or all unless it is.

    Examples
    --------
    >>> share(0.25), share(1.0), share(0.99999), share(-0.4)
    ('25.0 %', '100.0 %', '> 99.9 %', '−40.0 %')
    """
    if 0.999 < value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.1f} %".replace("-", "−")


def part_of_what_matters(value: float) -> str:
    """Write a share of importance; it never reads as none or all unless it is.

    Examples
    --------
    >>> part_of_what_matters(0.415), part_of_what_matters(1e-9), part_of_what_matters(1.0)
    ('41.5 % of what matters', '< 0.1 % of what matters', 'all that matters')
    """
    return "all that matters" if value == 1 else f"{share(value)} of what matters"


def slope_text(value: float) -> str:
    """Write the share of a factor's effect that carries over.

    Examples
    --------
    >>> slope_text(0.8478), slope_text(float("nan"))
    ('85%', 'not varied')
    """
    return "not varied" if math.isnan(value) else f"{value:.0%}".replace("-", "−")


def join_words(items: Sequence[str]) -> str:
    """Join words as a sentence does.

    Examples
    --------
    >>> join_words(["carrier", "origin", "dest"])
    'carrier, origin and dest'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def listing(items: Iterable[object], limit: int = 12) -> str:
    """Join items for a message, cut to ``limit`` with the number left out.

    Examples
    --------
    >>> listing(["a", "b", "c"], limit=2)
    'a, b, ... (1 more)'
    """
    texts = [str(item) for item in items]
    if len(texts) <= limit:
        return ", ".join(texts)
    return f"{', '.join(texts[:limit])}, ... ({len(texts) - limit} more)"


def written_count(count: int) -> str:
    """Write a count, from 10¹⁵ on by its power of ten: nobody reads seventy digits.

    Examples
    --------
    >>> written_count(12345), written_count(36 * 10**69 + 5)
    ('12,345', '3.6 × 10⁷⁰')
    """
    if count < 10**15:
        return f"{count:,}"
    power = len(str(count)) - 1
    return f"{count / 10**power:.2g} × 10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{written_count(count)} {noun}{'' if count == 1 else 's'}"


def round_estimate(number: float) -> int:
    """Return an estimated count with two digits: more would look like a count.

    Examples
    --------
    >>> round_estimate(959_999_971), round_estimate(47)
    (960000000, 47)
    """
    whole = round(number)
    step: int = 10 ** max(len(str(abs(whole))) - 2, 0)
    return (whole + step // 2) // step * step


def few_digits(value: float) -> str:
    """Write a number in three digits, or in full where it has more before the point.

    Examples
    --------
    >>> few_digits(0.12345), few_digits(11175.3), few_digits(1e15)
    ('0.123', '11,175', '1e+15')
    """
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e12 else f"{value:.3g}"


def beside_error(value: float, error: float) -> str:
    """Write a value with as many digits as its standard error leaves a meaning: three of the error's.

    Examples
    --------
    >>> beside_error(52.4996, 13.85), beside_error(0.12345, 0.0021), beside_error(7.25, float("nan"))
    ('52.5', '0.12345', '7.25')
    """
    if not 0 < error < math.inf:
        return f"{value:.6g}"
    decimals = 2 - math.floor(math.log10(error))
    return f"{round(float(value), decimals):.{max(decimals, 0)}f}" if decimals < 12 else f"{value:.6g}"
