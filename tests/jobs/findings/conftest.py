"""What the tests of the numbered findings share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import recombine as rc
from recombine.jobs.findings import Finding


@pytest.fixture
def found() -> Callable[..., Finding | None]:
    """Audit a design and return the finding of one number, or None."""

    def find(design: rc.Design, code: str, **options: object) -> Finding | None:
        findings = [item for item in rc.audit(design, **options).findings if item.code == code]
        assert len(findings) <= 1
        return findings[0] if findings else None

    return find
