"""One look for every figure: quiet ink, no chart junk, the same bytes for the same figure."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.verdicts import Verdict
from recombine.writing import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas
    from matplotlib.path import Path as Outline

#: Ink for text and points, a softer one for what supports them, and hairlines. Verdicts bring their own colours.
INK, SOFT, HAIR, PAPER = "#20242b", "#666d78", "#d5d9df", "#ffffff"
#: Points on the paper itself: the blue of determined cells, which is too dim by night without a place around it.
POINT = "#0071b2"
#: The two inks on a verdict's colour, which is the same by day and by night; so are they, unlike `INK` and `PAPER`.
DARK_MARK, LIGHT_MARK = "#1f232a", "#fefefe"
#: Figures are laid out in CSS pixels: one unit of the drawing is one pixel of the page.
PIXELS_PER_INCH = 72
WIDTH = 820
#: Width of the same figure for a narrow screen, laid out anew rather than shrunk until no one can read it.
NARROW_WIDTH = 344
#: Colours that follow the page where a figure is part of it, and their names in the style sheet.
_OF_THE_PAGE = {
    INK: "ink", SOFT: "soft", HAIR: "rule", PAPER: "paper", POINT: "point", Verdict.UNSEEN_LEVEL.colour: "unseen"
}  # fmt: skip

_SETTINGS: dict[Any, Any] = {
    "figure.dpi": PIXELS_PER_INCH,
    "savefig.dpi": 2 * PIXELS_PER_INCH,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "text.color": INK,
    "text.parse_math": False,  # a level named "$x$" is a name, not a formula
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.labelsize": 12.5,
    "axes.titlesize": 13,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": HAIR,
    "grid.linewidth": 0.6,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "svg.fonttype": "none",
    "svg.hashsalt": "recombine",
}


@contextmanager
def theme() -> Iterator[None]:
    """Draw inside this context to get the package's look; the reader's own settings come back afterwards.

    Examples
    --------
    >>> import matplotlib
    >>> with theme():
    ...     matplotlib.rcParams["svg.fonttype"]
    'none'
    """
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        for name, value in _SETTINGS.items():
            matplotlib.rcParams[name] = value
        # Letters the measuring font lacks are shown by the reader's own fonts: the text stays text.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        yield


def inches(width: float, height: float) -> tuple[float, float]:
    """Return the size of a figure of ``width`` x ``height`` pixels, in inches.

    Examples
    --------
    >>> inches(720, 360)
    (10.0, 5.0)
    """
    return width / PIXELS_PER_INCH, height / PIXELS_PER_INCH


def text_width(text: str) -> float:
    """Return the width of a line in letters; East Asian characters are wider.

    Examples
    --------
    >>> text_width("abc"), text_width("日本")
    (3.0, 3.4)
    """
    return sum(1.7 if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in text)


def shorten(text: str, limit: float = 18) -> str:
    r"""Return a label on one line, `printable`, cut in the middle if it is long.

    Examples
    --------
    >>> shorten("a name\nthat goes on and on", 12)
    'a nam…and on'
    """
    line = printable(text)
    if text_width(line) <= limit:
        return line
    head, tail = len(line) // 2, len(line) - len(line) // 2
    while head > 1 and text_width(line[:head] + "…" + line[-tail:]) > limit:
        head, tail = (head - 1, tail) if head >= tail else (head, tail - 1)
    return f"{line[:head]}…{line[-tail:]}"


def ink_on(colour: str) -> str:
    """Return the ink that reads best on a background ``colour`` (hex), by day and by night.

    Examples
    --------
    >>> ink_on("#000000"), ink_on("#ffffff")
    ('#fefefe', '#1f232a')
    """
    red, green, blue = rgb(colour)
    return LIGHT_MARK if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 * 255 else DARK_MARK


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a ``colour`` (hex)."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def symbol_marker(verdict: Verdict) -> Outline:
    """Return the verdict's symbol as a marker outline, centred and of unit size."""
    from matplotlib.path import Path as Outline
    from matplotlib.textpath import TextPath

    glyph = TextPath((0, 0), verdict.symbol, size=1)
    box = glyph.get_extents()
    points = np.array(glyph.vertices) - [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
    # The points of closing strokes are never drawn, but would count when the marker is scaled.
    points[glyph.codes == Outline.CLOSEPOLY] = 0.0
    return Outline(points, glyph.codes)


def verdict_legend(figure: Canvas, verdicts: Iterable[Verdict]) -> None:
    """Draw symbol and word of each verdict in a line at the top of a figure."""
    from matplotlib.lines import Line2D

    wide, tall = (float(size) * PIXELS_PER_INCH for size in figure.get_size_inches())
    cursor = 10.0
    for verdict in verdicts:
        mark: dict[str, Any] = {"ms": 8, "mfc": verdict.colour, "mec": INK, "mew": 0.5, "linestyle": "none"}
        figure.add_artist(Line2D([cursor / wide], [1 - 14 / tall], marker=symbol_marker(verdict), **mark))
        figure.text((cursor + 10) / wide, 1 - 14 / tall, verdict.word, va="center", fontsize=11.5)
        cursor += 25 + 6.7 * len(verdict.word)


def inline_svg(figure: Canvas, name: str, alternative: str, by_night: bool = False) -> str:
    """Return a figure as an ``<svg>`` element for an HTML page: no network, no script, ids that start with ``name``.

    Text stays text in the page's own font; ``alternative`` is what a screen reader says. A figure that can be read
    ``by_night`` takes ink and paper from the page, where the page names them.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    root = ET.fromstring(buffer.getvalue())
    for element in list(root.iter()):
        # Inside HTML namespaces are implied, and a style sheet would reach out to the whole page.
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        for child in list(element):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                element.remove(child)
    _rename_ids(root, name)
    for element in root.iter():
        _lighten(element)
        _share_style(element)
        if by_night:
            _follow_page(element)
    box = root.attrib["viewBox"]
    look = f"max-width:{float(box.split()[2]):g}px"
    root.attrib = {"viewBox": box, "class": "plot", "role": "img", "aria-label": printable(alternative), "style": look}
    return ET.tostring(root, encoding="unicode")


def _follow_page(element: ET.Element) -> None:
    """Let ink and paper be those of the page."""
    style = element.attrib.get("style", "")
    for colour, name in _OF_THE_PAGE.items():
        style = style.replace(colour, f"var(--{name}, {colour})")
    if style:
        element.attrib["style"] = style


def _rename_ids(root: ET.Element, name: str) -> None:
    """Keep only ids that something refers to, and make them unique to this figure."""
    used: dict[str, str] = {}

    def renamed(reference: re.Match[str]) -> str:
        before, target = reference.groups()
        return before + used.setdefault(target, f"{name}-{len(used)}")

    for element in root.iter():
        for key, value in element.attrib.items():
            # Hatches are patterns that a style refers to.
            pattern = r"^(#)(\S+)$" if key == "href" else r"(url\(#)([^)\s]+)"
            element.attrib[key] = re.sub(pattern, renamed, value)
    for element in root.iter():
        identity = element.attrib.pop("id", None)
        if identity in used:
            element.attrib["id"] = used[identity]


def _lighten(element: ET.Element) -> None:
    """Drop digits no screen shows, fonts the page sets, and line breaks inside paths."""
    attributes = element.attrib
    if "d" in attributes:
        attributes["d"] = re.sub(r"\s*([A-Za-z])\s*", r"\1", _rounded(attributes["d"])).strip()
    for key in ("x", "y"):
        if key in attributes:
            attributes[key] = _rounded(attributes[key])
    if "style" in attributes:
        attributes["style"] = re.sub(r"font-family:[^;]*;? ?", "", attributes["style"])
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    element.text = printable(element.text or "") if element.tag == "text" else None
    element.tail = None


def _share_style(group: ET.Element) -> None:
    """Write the style of many equal markers once, on the group they are in."""
    styles = {child.attrib.get("style") for child in group if child.tag == "use"}
    if len(group) > 1 and len(styles) == 1 and all(child.tag == "use" for child in group) and None not in styles:
        group.attrib["style"] = str(styles.pop())
        for child in group:
            del child.attrib["style"]


def _rounded(numbers: str) -> str:
    return re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match.group()):.2f}".rstrip("0").rstrip("."), numbers)
