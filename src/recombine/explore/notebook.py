"""The page in a notebook: a widget that shows a scene and hears of every change to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError, install_advice
from recombine.explore.scene import page_path, painted, scene_of, scene_parts

try:
    import anywidget
    import traitlets
except ImportError:
    raise InputError(f"the page in a notebook needs anywidget; {install_advice('notebook')}") from None

if TYPE_CHECKING:
    from recombine.design import Design
    from recombine.jobs.audit import Audit


def _module() -> str:
    page, frame = page_path(), page_path().with_name("notebook.js")
    return f"const PAGE = {json.dumps(page.read_text(encoding='utf-8'))};\n{frame.read_text(encoding='utf-8')}"


class Explorer(anywidget.AnyWidget):
    """The page with the cells of a design, in Jupyter, marimo and wherever anywidget runs.

    ``scene`` is what is shown now, the text behind the # of a link to the page; ``height`` that of the frame in pixels.

    Examples
    --------
    >>> import recombine as rc
    >>> explorer = Explorer(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))
    >>> explorer.seen
    [('0', '0'), ('0', '1'), ('1', '0')]
    """

    _esm = _module()
    table = traitlets.Unicode().tag(sync=True)
    scene = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(760).tag(sync=True)

    def __init__(self, design: Design, order: int = 1, **traits: Any) -> None:
        scene = scene_of(design, order)
        super().__init__(table=scene, scene=scene, **traits)
        self.design = design

    @property
    def seen(self) -> list[tuple[str, ...]]:
        """The cells that are painted now, as levels; empty once the reader has gone on to other factors."""
        begun, now = scene_parts(self.table), scene_parts(self.scene)
        if "p" in now or any(begun.get(key) != now.get(key) for key in "fs"):
            return []
        labels = [factor.labels for factor in self.design.factors]
        return [
            tuple(names[level] for names, level in zip(labels, cell, strict=True))
            for cell in painted(self.scene, self.design.sizes).tolist()
        ]


def explorer(audit: Audit) -> Explorer:
    """Return the page with the design and the order of an audit.

    Examples
    --------
    >>> import recombine as rc
    >>> explorer(rc.audit(rc.Design.from_cells([[0, 0], [0, 1], [1, 0]]))).height
    760
    """
    return Explorer(audit.design, audit.order)
