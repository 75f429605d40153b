"""All claims of the paper, in the order of their numbers."""

from __future__ import annotations

from recombine.papers.multitask.readings.diagonal import CLAIMS as DIAGONAL
from recombine.papers.multitask.readings.images import CLAIMS as IMAGES
from recombine.papers.multitask.readings.students import CLAIMS as STUDENTS
from recombine.papers.multitask.readings.theory import CLAIMS as THEORY

CLAIMS = tuple(sorted((*THEORY, *DIAGONAL, *STUDENTS, *IMAGES), key=lambda claim: claim.place))
