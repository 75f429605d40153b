"""An audit as a page, a screenful, a summary for notebooks, JSON, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.report.audit import figures as figures
    from recombine.report.audit.page import page as page
    from recombine.report.audit.record import audit_json as audit_json
    from recombine.report.audit.verdict_map import VerdictMap as VerdictMap
    from recombine.report.notebook import notebook as notebook

lazy_package(__name__)
