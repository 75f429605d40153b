"""The commands about papers: list their claims, and reproduce one."""

from __future__ import annotations

from recombine._lazy import lazy_package

lazy_package(__name__)
