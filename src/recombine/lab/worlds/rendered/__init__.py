"""Rendered images: bumps, blobs, sprites and rotations, made from latents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.worlds.rendered.blobs import blob_latents as blob_latents
    from recombine.lab.worlds.rendered.blobs import blob_layers as blob_layers
    from recombine.lab.worlds.rendered.blobs import blob_opacities as blob_opacities
    from recombine.lab.worlds.rendered.blobs import blob_regions as blob_regions
    from recombine.lab.worlds.rendered.blobs import render_blobs as render_blobs
    from recombine.lab.worlds.rendered.bumps import BumpSamples as BumpSamples
    from recombine.lab.worlds.rendered.bumps import BumpWorld as BumpWorld
    from recombine.lab.worlds.rendered.bumps import Hole as Hole
    from recombine.lab.worlds.rendered.canvas import compose_layers as compose_layers
    from recombine.lab.worlds.rendered.canvas import hue_colours as hue_colours
    from recombine.lab.worlds.rendered.canvas import soft_addition as soft_addition
    from recombine.lab.worlds.rendered.rotations import RotationWorld as RotationWorld
    from recombine.lab.worlds.rendered.sprites import render_sprites as render_sprites
    from recombine.lab.worlds.rendered.sprites import sprite_colours as sprite_colours
    from recombine.lab.worlds.rendered.sprites import sprite_latents as sprite_latents
    from recombine.lab.worlds.rendered.sprites import sprite_layers as sprite_layers
    from recombine.lab.worlds.rendered.sprites import sprite_masks as sprite_masks
    from recombine.lab.worlds.rendered.sprites import sprite_regions as sprite_regions

lazy_package(__name__)
