"""The commands about papers: list their claims, and reproduce one."""

from __future__ import annotations

from recombine._rooms import open_room

open_room(__name__)
