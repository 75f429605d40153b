"""Models that people use, trained on a design here and now: what they miss, and how near the next one will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.training.expected_range import ExpectedRange as ExpectedRange
    from recombine.jobs.training.expected_range import TableKind as TableKind
    from recombine.jobs.training.expected_range import Way as Way
    from recombine.jobs.training.expected_range import expected_range as expected_range
    from recombine.jobs.training.standard import STANDARD_MODELS as STANDARD_MODELS
    from recombine.jobs.training.standard import model_of_file as model_of_file
    from recombine.jobs.training.standard import named_models as named_models
    from recombine.jobs.training.standard import short_seed as short_seed
    from recombine.jobs.training.standard import standard_model as standard_model
    from recombine.jobs.training.train import NETWORK as NETWORK
    from recombine.jobs.training.train import TrainingTask as TrainingTask
    from recombine.jobs.training.train import TriedModel as TriedModel
    from recombine.jobs.training.train import TriedModels as TriedModels

lazy_package(__name__)
