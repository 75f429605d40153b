"""The audit's faces: page, terminal, notebook and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.report.audit.notebook import notebook as notebook
    from recombine.report.audit.page import page as page
    from recombine.report.audit.record import audit_json as audit_json
    from recombine.report.audit.terminal import audit_text as audit_text
    from recombine.report.audit.terminal import show_audit as show_audit

open_room(__name__)
