"""The page on which seen cells are painted and what follows from them is shown: one file that asks for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.explore.page import page_path as page_path

open_room(__name__)
