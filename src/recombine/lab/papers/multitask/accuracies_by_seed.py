"""Accuracies on CIFAR-100 that the authors published, seed by seed: how far MTL is ahead of plain finetuning.

From the result files behind figure “dnns”, panels a and d. Differences of the same seed in halves of a point, since
each accuracy is a share of 200 test images; seeds that both methods have.
"""

from __future__ import annotations

import numpy as np

from recombine.cells.arrays import FloatArray

#: Test images of the two main classes; a difference of one image is half a point.
TEST_IMAGES = 200
#: Network -> samples -> test images that MTL has right more than PT+FT, seed after seed.
_LEADS: dict[str, dict[int, str]] = {
    "resnet": {
        10: (
            "-20 25 4 -5 -7 -5 -3 -11 -7 -11 -36 -7 1 17 -18 -4 -2 16 -15 9 -14 16 -30 7 11 -2 -12 -7 -5 -28 -16 -6 "
            "32 30 15 23 9 6 2 5 20 43 23 -22 19 -1 -6 6 33 -27"
        ),
        20: (
            "-24 17 -11 -26 -28 -3 -19 -17 2 -21 -6 20 -7 21 2 -6 8 22 -16 -15 7 -8 -26 -15 8 -3 25 6 -6 -27 -14 -24 "
            "36 17 27 12 5 33 32 16 2 14 22 4 21 14 -16 4 11 8"
        ),
        50: (
            "-19 9 -13 -44 -40 -17 -31 -20 -5 -43 -8 12 -6 -7 -3 -12 -27 -5 -29 -30 0 -6 -49 -24 -15 -17 -4 -6 -19 "
            "-19 -23 -28 20 12 3 18 12 31 51 32 26 35 22 -28 7 -8 -32 -26 7 -21"
        ),
        100: (
            "-22 -25 -19 -48 -25 -10 -28 -15 -31 -36 -31 -9 -13 -25 -11 -30 -48 -10 -32 -34 -2 -22 -30 -15 -30 -20 "
            "-17 -13 -16 -11 -19 -35 29 -1 4 14 35 33 42 18 44 22 21 -24 16 -7 -38 -40 12 -20"
        ),
        200: (
            "-25 -33 -15 -29 -11 -18 -30 -17 -31 -19 -19 -12 -7 -25 -8 -19 -37 -7 -6 -14 6 -20 -30 -9 -19 -18 -13 -22 "
            "-9 -16 -11 -21 5 -3 6 4 6 9 30 11 11 2 -8 -15 12 -1 -25 -18 13 -8"
        ),
        500: (
            "-25 -30 -10 -19 -9 -18 -34 -12 -14 -14 -9 -2 -7 -21 -6 -18 -21 -5 -2 -2 -2 -4 -26 -16 -22 -21 -18 -21 "
            "-15 -6 -7 -16 2 -10 -2 -25 -11 12 11 -11 4 1 -6 -13 5 -16 -33 -11 -6 -4"
        ),
        1000: (
            "-27 -26 -11 -19 -14 -13 -34 -11 -16 -10 -8 -13 -7 -4 -2 -15 -17 1 0 0 3 -4 -17 -6 -8 -17 -9 -16 -1 -12 "
            "-5 -21 5 -1 -6 -20 -29 5 0 -15 7 0 -7 -9 6 -9 -29 -5 3 -1"
        ),
    },
    "vit": {
        10: "-6 -9 -6 -1 -53 -14 -17 -26 29 -38 -19 -38 -22 -5 -14 -13 -10 4 -22 -12 16 -35 28 -23 -4 1 -14 -11 41",
        20: "-7 -35 -14 -29 -9 -14 -19 -27 5 -9 -19 -39 -17 -17 -6 -13 -20 -71 -16 -16 -3 -20 0 -3 -9 -2 -8 -4 23",
        50: (
            "-14 -36 -26 -33 -73 -9 -28 -29 -14 -68 -12 -40 -7 -16 -7 -9 -19 -32 -24 -30 -13 -58 -19 -19 -20 -5 -1 "
            "-15 -5"
        ),
        100: (
            "-18 -26 -71 -27 -30 -6 -84 -15 -11 -43 -31 -27 -7 -35 -4 -16 -82 -39 -67 -38 -26 -29 -91 -11 -43 -1 -4 "
            "-37 -3"
        ),
        200: (
            "-10 -19 -28 -20 -21 -2 -55 -16 -18 -11 -35 -33 -7 -22 -1 -15 -31 -22 -32 -24 -19 -21 -20 -34 -38 -17 -6 "
            "-43"
        ),
        500: "-5 -9 -9 0 -2 -1 1 -4 -10 -4 4 3 0 3 -1 -2 -11 -7 1 -7 -4 2 0 -5 -6 -1 2 -11",
        1000: "-8 -8 -14 -4 1 2 5 3 -2 0 -5 5 -5 2 0 -1 -5 5 -4 -15 8 -6 -6 -1 -4 -7 -2 -11",
    },
}


def published_lead(network: str, n: int) -> FloatArray:
    """Return by how many points of accuracy MTL leads plain finetuning in the authors' files, by seed.

    Examples
    --------
    >>> published_lead("resnet", 20).mean().round(2), len(published_lead("vit", 10))
    (np.float64(0.78), 29)
    """
    return 100 * np.array(_LEADS[network][n].split(), dtype=float) / TEST_IMAGES
