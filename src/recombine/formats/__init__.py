"""Tables as they lie on a disk: what a file is by its bytes, and what packed files, workbooks and databases hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.formats.recognition import Format as Format
    from recombine.formats.recognition import format_of as format_of

lazy_package(__name__)
