"""The audit's faces: page, terminal, notebook and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.report.audit.notebook import notebook as notebook
    from recombine.report.audit.page import page as page
    from recombine.report.audit.record import as_json as as_json
    from recombine.report.audit.terminal import show as show
    from recombine.report.audit.terminal import summary_text as summary_text

open_room(__name__)
