"""Gradient resists: the numbers of a reference run, which figures show in grey. The paper prints none.

They were measured with other code (MNIST with 10 seeds, SCAN with 1 to 5, two dimensions with 50)
before anything here was, and bounds on numbers come from them.
"""

from __future__ import annotations

#: Step -> accuracy on training pairs and on the test, by setting.
PAIRS = {
    "A": {10: (0.332, 0.230), 20: (0.557, 0.377), 30: (0.747, 0.511), 50: (0.858, 0.624), 100: (0.952, 0.700)}
    | {200: (0.977, 0.716)},
    "B": {10: (0.251, 0.251), 20: (0.380, 0.385), 30: (0.569, 0.576), 50: (0.694, 0.707), 100: (0.870, 0.878)}
    | {200: (0.945, 0.948)},
}
#: Step -> share of the right image in the gradient, by setting.
SHARES = {
    "A": {0: 0.498, 10: 0.487, 20: 0.468, 30: 0.437, 50: 0.381, 100: 0.368, 200: 0.373},
    "B": {0: 0.498, 10: 0.484, 20: 0.461, 30: 0.433, 50: 0.330, 100: 0.231, 200: 0.217},
}
#: Step -> sentences right in training and in the test, by reading.
SCAN = {
    "A": {25: (0.104, 0.0), 50: (0.188, 0.001), 100: (0.50, 0.001), 200: (0.60, 0.002), 500: (0.886, 0.006)}
    | {2000: (1.0, 0.0)},
    "B1": {25: (0.0, 0.0), 50: (0.079, 0.090), 100: (0.47, 0.51), 200: (0.67, 0.68), 500: (0.796, 0.816)}
    | {2000: (0.990, 0.996)},
    "B3": {25: (0.006, 0.0), 50: (0.190, 0.080), 100: (0.44, 0.38), 200: (0.72, 0.70), 500: (0.968, 0.968)}
    | {2000: (1.0, 1.0)},
}
#: Epoch -> share of the held-out quadrant labelled right, by data and setting.
PLANE = {
    ("code", "A"): {0: 0.632, 1: 0.432, 4: 0.613, 16: 0.710, 64: 0.749, 1024: 0.786},
    ("text", "A"): {0: 0.719, 1: 0.085, 4: 0.651, 16: 0.872, 64: 0.913, 1024: 0.924},
    ("code", "B"): {1: 0.894, 4: 0.997, 16: 1.0, 64: 1.0, 1024: 1.0},
    ("text", "B"): {1: 0.215, 4: 0.897, 16: 0.970, 64: 0.982, 1024: 0.991},
}
