"""From a model to the reason it misses: every combination left out once, predicted, and scored by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.examination.examine import examine as examine
    from recombine.jobs.examination.rows import ExaminedRows as ExaminedRows
    from recombine.jobs.examination.training import TrainedModel as TrainedModel
    from recombine.jobs.examination.training import predict_by_fold as predict_by_fold

lazy_package(__name__)
