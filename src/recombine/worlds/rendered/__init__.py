"""Rendered images: bumps, blobs, sprites and rotations, made from latents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.worlds.rendered.bumps import BumpSamples as BumpSamples
    from recombine.worlds.rendered.bumps import BumpWorld as BumpWorld
    from recombine.worlds.rendered.bumps import Hole as Hole
    from recombine.worlds.rendered.rotations import RotationWorld as RotationWorld

open_room(__name__)
