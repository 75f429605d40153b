"""The score says why trained models missed: error on held-out cells by verdict, and on determined ones by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.score import causes as causes
    from recombine.jobs.score.amounts import Amount as Amount
    from recombine.jobs.score.attribution import Attribution as Attribution
    from recombine.jobs.score.attribution import FactorAmounts as FactorAmounts
    from recombine.jobs.score.attribution import attribute as attribute
    from recombine.jobs.score.below_noise import BelowNoise as BelowNoise
    from recombine.jobs.score.calibration import Calibration as Calibration
    from recombine.jobs.score.causes import CAUSES as CAUSES
    from recombine.jobs.score.model_score import ModelScore as ModelScore
    from recombine.jobs.score.predictions import class_designs as class_designs
    from recombine.jobs.score.predictions import read_predictions as read_predictions
    from recombine.jobs.score.regression import HeldOutNoise as HeldOutNoise
    from recombine.jobs.score.regression import Regressors as Regressors
    from recombine.jobs.score.score import Score as Score
    from recombine.jobs.score.score import score as score
    from recombine.jobs.score.slices import Slice as Slice

lazy_package(__name__)
