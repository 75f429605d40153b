"""Multi-task learning and pretraining: what its figures call methods and bands."""

from __future__ import annotations

#: Method -> words, in the order of the colour cycle.
METHODS = {"pt+ft": "PT+FT", "stl": "single task", "mtl": "MTL", "pt+ft probe": "linear probe"}
BANDS = "Bands and bars: two standard errors over n seeds, of logarithms."
