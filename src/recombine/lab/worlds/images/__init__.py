"""Images of classes: sets at hand, pairs of images (which need torch), and labels that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.worlds.images.draws import ImageDraws as ImageDraws
    from recombine.lab.worlds.images.draws import draw_images as draw_images
    from recombine.lab.worlds.images.draws import stack_draws as stack_draws
    from recombine.lab.worlds.images.halves import Halves as Halves
    from recombine.lab.worlds.images.halves import label_halves as label_halves
    from recombine.lab.worlds.images.label_pairs import OFFSETS as OFFSETS
    from recombine.lab.worlds.images.label_pairs import LabelPairs as LabelPairs
    from recombine.lab.worlds.images.label_pairs import PairDraws as PairDraws
    from recombine.lab.worlds.images.label_pairs import draw_grid as draw_grid
    from recombine.lab.worlds.images.label_pairs import draw_pairs as draw_pairs
    from recombine.lab.worlds.images.label_pairs import relation as relation
    from recombine.lab.worlds.images.label_pairs import split_images as split_images
    from recombine.lab.worlds.images.label_pairs import stack_pairs as stack_pairs
    from recombine.lab.worlds.images.pairs import ImagePairs as ImagePairs
    from recombine.lab.worlds.images.sources import Images as Images
    from recombine.lab.worlds.images.sources import data_folder as data_folder
    from recombine.lab.worlds.images.sources import load_images as load_images

lazy_package(__name__)
