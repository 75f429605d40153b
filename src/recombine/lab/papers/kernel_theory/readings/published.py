"""Kernel theory: numbers read from the vector drawings of the authors' released figures.

A pair is a mean and two standard errors of it, read from the ribbon or the bar around it. Distances are 0, 5, 10, 15
and 20 pixels. Figures are numbered as in version 2. Coordinates have two decimals, which is finer than any digit here.
"""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[float, float]

#: Figure 12a: accuracy on unseen cells by distance, under logistic loss, ten networks each.
CONTEXT_ACCURACY: Mapping[str, tuple[Pair, ...]] = {
    "CD-3": ((0.503, 0.023), (0.424, 0.028), (0.363, 0.029), (0.288, 0.023), (0.229, 0.027)),
    "CD-2": ((0.839, 0.025), (0.870, 0.021), (0.913, 0.015), (0.942, 0.010), (0.944, 0.011)),
    "CD-1": ((0.894, 0.042), (0.910, 0.029), (0.940, 0.023), (0.953, 0.018), (0.963, 0.010)),
}
#: Figure 9a: squared error on sums of new images by distance, unseen pairs ("mse") and seen ones, ten networks each.
SUM_ERRORS: Mapping[str, Mapping[str, tuple[Pair, ...]]] = {
    "mse": {
        "extrapolation": ((5.49, 0.43), (4.91, 0.41), (3.87, 0.39), (3.33, 0.40), (3.10, 0.40)),
        "interpolation": ((4.92, 0.57), (4.31, 0.56), (3.15, 0.36), (2.69, 0.32), (2.46, 0.27)),
        "both": ((4.62, 0.31), (4.14, 0.26), (3.30, 0.26), (2.87, 0.23), (2.72, 0.19)),
        "asymmetric": ((17.89, 1.31), (16.00, 1.61), (11.65, 1.65), (9.04, 1.66), (8.04, 1.28)),
    },
    "in-distribution mse": {
        "extrapolation": ((1.94, 0.16), (1.87, 0.18), (1.67, 0.16), (1.70, 0.18), (1.73, 0.18)),
        "interpolation": ((3.00, 0.31), (2.90, 0.36), (2.78, 0.38), (2.78, 0.44), (2.71, 0.31)),
        "both": ((2.48, 0.21), (2.42, 0.18), (2.23, 0.19), (2.19, 0.22), (2.11, 0.17)),
        "asymmetric": ((1.91, 0.14), (1.83, 0.15), (1.77, 0.19), (1.89, 0.27), (1.89, 0.24)),
    },
}
#: Figure 10c: slopes of the drawn item values on CIFAR; the drawing gives no error of a slope.
PHOTO_SLOPES: Mapping[str, Mapping[str, float]] = {
    "resnet": {"extrapolation": 0.396, "interpolation": 0.468, "both": 0.469},
    "vit": {"extrapolation": 0.259, "interpolation": 0.321, "both": 0.334},
}
#: Figure 10a, at the last epoch. Where the ribbon ends before (ViT on interpolation), nothing is read. The axis has one
#: tick; its scale is that of untrained networks, which say zero and so have errors of 15 and 7.06.
PHOTO_ERRORS: Mapping[str, Mapping[str, Mapping[str, Pair]]] = {
    "mse": {
        "resnet": {"extrapolation": (9.20, 0.79), "interpolation": (14.91, 2.90), "both": (9.40, 0.81)},
        "vit": {"extrapolation": (11.79, 0.77), "both": (12.50, 0.75)},
    },
    "in-distribution mse": {
        "resnet": {"extrapolation": (3.26, 0.35), "interpolation": (5.38, 0.75), "both": (4.47, 0.55)},
        "vit": {"extrapolation": (5.59, 0.34), "both": (7.75, 0.52)},
    },
}
#: Figure 10b: additivity of sums on CIFAR. The drawn errors are over splits of the data too, so they are not used.
PHOTO_SUM_ADDITIVITY: Mapping[str, Mapping[str, float]] = {
    "resnet": {"extrapolation": 0.967, "interpolation": 0.982, "both": 0.984},
    "vit": {"extrapolation": 0.951, "interpolation": 0.964, "both": 0.961},
}
#: Figure 13a: accuracy on unseen cells of CIFAR at the last epoch.
PHOTO_ACCURACY: Mapping[str, Mapping[str, Pair]] = {
    "resnet": {"CD-3": (0.468, 0.008), "CD-2": (0.638, 0.085), "CD-1": (0.750, 0.076)},
    "vit": {"CD-3": (0.461, 0.013), "CD-2": (0.577, 0.039), "CD-1": (0.583, 0.036)},
}
#: Figure 13b: additivity of context dependence on CIFAR; errors are over splits too, so they are not used.
PHOTO_CONTEXT_ADDITIVITY: Mapping[str, Mapping[str, float]] = {
    "resnet": {"CD-3": 0.985, "CD-2": 0.975, "CD-1": 0.985},
    "vit": {"CD-3": 0.955, "CD-2": 0.903, "CD-1": 0.867},
}
#: Figure 13c: the bar of context over that of the right pair.
PHOTO_RATIOS: Mapping[str, Mapping[str, float]] = {
    "resnet": {"CD-3": 0.685, "CD-2": 0.019, "CD-1": 0.055},
    "vit": {"CD-3": 0.966, "CD-2": 0.293, "CD-1": 0.068},
}
#: Figure 8a: additivity by the exponent of ten of the initial scale; no point is drawn where no network was fitted.
ADDITIVITY_BY_SCALE: Mapping[str, Mapping[int, float]] = {
    "extrapolation": {-6: 0.9942, -5: 0.9942, -4: 0.9942, -3: 0.9942, -1: 0.9986, 0: 0.9978},
    "interpolation": {-6: 1.0, -5: 1.0, -4: 1.0, -3: 1.0, -1: 0.9998, 0: 0.9958},
    "both": {-6: 0.9970, -5: 0.9970, -4: 0.9970, -3: 0.9970, -2: 0.9970, -1: 0.9988, 0: 0.9980},
    "asymmetric": {-6: 0.8562, -5: 0.8561, -4: 0.8561, -3: 0.8561, -1: 0.9436, 0: 0.9967},
}
#: Figure 8e: additivity of networks of one to four layers.
ADDITIVITY_BY_DEPTH: Mapping[str, tuple[float, ...]] = {
    "extrapolation": (0.9959, 0.9919, 0.9888, 0.9901),
    "interpolation": (1.0, 1.0, 0.9999, 0.9999),
    "both": (0.9960, 0.9953, 0.9957, 0.9964),
    "asymmetric": (0.9298, 0.9146, 0.9234, 0.9294),
}
#: Figure 11: what networks of one to four layers lean on, by kind of conjunction.
DEEP_BARS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "CD-3": {
        "right": (0.652, 0.424, 0.405, 0.413),
        "wrong": (1.252, 1.190, 1.145, 1.100),
        "sensory": (0.879, 0.745, 0.708, 0.699),
        "context": (2.660, 2.401, 2.309, 2.251),
        "memorized": (1.368, 1.971, 2.130, 2.137),
    },
    "CD-2": {
        "right": (2.803, 2.585, 2.492, 2.240),
        "wrong": (0.922, 1.049, 0.922, 0.832),
        "sensory": (0.772, 0.630, 0.650, 0.582),
        "context": (0.147, 0.147, 0.241, 0.257),
        "memorized": (0.393, 0.396, 0.462, 0.450),
    },
    "CD-1": {
        "right": (2.799, 2.404, 2.643, 2.617),
        "wrong": (0.960, 1.047, 1.139, 1.161),
        "sensory": (0.705, 0.523, 0.581, 0.570),
        "context": (0.006, 0.011, 0.015, 0.021),
        "memorized": (0.415, 0.364, 0.414, 0.424),
    },
}
