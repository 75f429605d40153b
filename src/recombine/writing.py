"""Numbers, names and lists as a reader expects them: few digits, thousands apart, nothing of a name obeyed."""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Iterable, Sequence
from numbers import Integral

#: What is obeyed rather than shown: line ends, tabs and other control characters, marks that turn the direction of
#: writing or have no width, halves of characters; and signs by which logs of builds take any line for a command.
_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]|(?<=#)#(?=\w*\[)"
)
#: By which a build takes a line for a command, where it begins with them.
_LINE_COMMAND = re.compile(r"^(\s*):(?=:)")


def printable(text: str) -> str:
    r"""Return text as one line that means nothing but itself, wherever it is shown: data command nobody.

    What a terminal, a browser or the log of a build would obey is written as JSON writes it: a line end is ``\u000a``,
    so that a backslash and an n stay what they are. Twice is as once, and inside JSON the text means the same.

    Examples
    --------
    >>> print(printable("red\x1b[31m\n::error::none"))
    red\u001b[31m\u000a::error::none
    >>> print(printable("::error::none"))
    \u003a:error::none
    """
    return _LINE_COMMAND.sub(r"\1\\u003a", _OBEYED.sub(lambda match: in_ascii(match.group()), text))


def printable_lines(text: str) -> str:
    r"""Return text of several lines, each `printable`.

    Examples
    --------
    >>> print(printable_lines("seen\n  ::stop-commands::x"))
    seen
      \u003a:stop-commands::x
    """
    return "\n".join(map(printable, text.split("\n")))


def in_ascii(text: str) -> str:
    r"""Return every letter as JSON writes it in ASCII.

    Examples
    --------
    >>> print(in_ascii("日"))
    \u65e5
    """
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def number(value: float | int | None, digits: int = 3) -> str:
    """Write a number for a reader, few digits, thousands apart, a true minus sign: 12,345 or −5.23; – if missing."""
    if value is None or value != value:
        return "–"
    whole = isinstance(value, Integral) or 10 ** (digits - 1) <= abs(value) < 1e12
    return (f"{value:,.0f}" if whole else f"{value:.{digits}g}").replace("-", "−")


def aligned(values: Sequence[float]) -> list[str]:
    """Write a column of numbers, equally many decimals each, so that their points stand under one another.

    Four digits of the largest, two at least of the smallest; a column that spans too much for that has its own digits
    in each row.
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
    """Write a count that may be a weight, whole numbers in full: 12,345 or 2.5."""
    return number(int(value)) if value == int(value) else number(value)


def compact(value: float) -> str:
    """Write a round number in few letters, for the ticks of an axis: 400k or −2.5M."""
    unit, letter = next(((size, name) for size, name in ((1e9, "G"), (1e6, "M")) if abs(value) >= size), (1.0, ""))
    if not letter and abs(value) >= 1e4:
        unit, letter = 1e3, "k"
    return f"{value / unit:.6g}{letter}".replace("-", "−")


def percent(count: int, total: int) -> str:
    """Write a share that never rounds to none or all unless it is: 33.3 % or > 99.9 %."""
    return share(count / total if total else 0.0)


def share(value: float) -> str:
    """Write a number between 0 and 1 as a percentage that never rounds to none or all unless it is."""
    if 0.999 < value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.1f} %".replace("-", "−")


def part_of_what_matters(value: float) -> str:
    """Write a share of importance; it never reads as none or all unless it is."""
    return "all that matters" if value == 1 else f"{share(value)} of what matters"


def whole_percent(value: float) -> str:
    """Write a share in whole percent: 85 %."""
    digits = f"{abs(100 * value):.0f}"
    return f"{'−' if value < 0 and digits != '0' else ''}{digits} %"


def slope_text(value: float) -> str:
    """Write the share of a factor's effect that carries over: 85 %, or not varied."""
    return "not varied" if math.isnan(value) else whole_percent(value)


def join_words(items: Sequence[str]) -> str:
    """Join words as a sentence does: carrier, origin and dest."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def listing(items: Iterable[object], limit: int = 12) -> str:
    """Join items for a message, cut to ``limit`` with the number left out: a, b, ... (1 more)."""
    texts = [printable(str(item)) for item in items]
    if len(texts) <= limit:
        return ", ".join(texts)
    return f"{', '.join(texts[:limit])}, ... ({len(texts) - limit} more)"


def option_text(flag: str, *names: str) -> str:
    """Return an option and the names it is given as a shell takes them, whatever is in a name.

    Examples
    --------
    >>> print(option_text("--factors", "Cell Line", "dose, mg"))
    --factors 'Cell Line,"dose, mg"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return shlex.join([flag, line.getvalue()])


def written_count(count: int) -> str:
    """Write a count, from 10¹⁵ on by its power of ten, 3.6 × 10⁷⁰: nobody reads seventy digits."""
    if count < 10**15:
        return f"{count:,}"
    power = len(str(count)) - 1
    return f"{count / 10**power:.2g} × 10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def plural(count: int, noun: str, several: str = "") -> str:
    """Write a count with its noun: 1 row or 2,000 rows; ``several`` is said of other counts than 1 if an s won't do."""
    return f"{written_count(count)} {noun if count == 1 else several or f'{noun}s'}"


def round_estimate(number: float) -> int:
    """Return an estimated count with two digits: more would look like a count."""
    whole = round(number)
    step: int = 10 ** max(len(str(abs(whole))) - 2, 0)
    return (whole + step // 2) // step * step


def few_digits(value: float) -> str:
    """Write a number in three digits, or in full where it has more before the point: 0.123 or 11,175."""
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e12 else f"{value:.3g}"


def beside_error(value: float, error: float) -> str:
    """Write a value with as many digits as its standard error leaves a meaning: three of the error's."""
    if not 0 < error < math.inf:
        return f"{value:.6g}"
    decimals = 2 - math.floor(math.log10(error))
    return f"{round(float(value), decimals):.{max(decimals, 0)}f}" if decimals < 12 else f"{value:.6g}"
