"""Decoders from latents to images, and the encoder back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.decoders.bumps import CNNDecoder as CNNDecoder
    from recombine.lab.nets.decoders.bumps import MLPDecoder as MLPDecoder
    from recombine.lab.nets.decoders.components import Component as Component
    from recombine.lab.nets.decoders.components import Decoder as Decoder
    from recombine.lab.nets.decoders.components import FourierNet as FourierNet
    from recombine.lab.nets.decoders.composed import ComposedDecoder as ComposedDecoder
    from recombine.lab.nets.decoders.composed import compositional_decoder as compositional_decoder
    from recombine.lab.nets.decoders.composed import monolithic_decoder as monolithic_decoder
    from recombine.lab.nets.decoders.composed import opaque_at_start as opaque_at_start
    from recombine.lab.nets.decoders.composed import rgba_decoder as rgba_decoder
    from recombine.lab.nets.decoders.composed import small_decoder as small_decoder
    from recombine.lab.nets.decoders.encoder import ImageEncoder as ImageEncoder
    from recombine.lab.nets.decoders.low_rank import LowRankDecoder as LowRankDecoder
    from recombine.lab.nets.decoders.pixels import PixelMLP as PixelMLP
    from recombine.lab.nets.decoders.pixels import TransformerDecoder as TransformerDecoder
    from recombine.lab.nets.decoders.rotation import RotationDecoder as RotationDecoder

lazy_package(__name__)
