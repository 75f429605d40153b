"""Findings: what may be wrong with a table, a split, a comparison, a score or a probe, each numbered, in its own file.

Whoever adds one writes a file and lists it here; outputs, ``--fail-on`` and documentation read the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.jobs.findings.fail_on import FailOn as FailOn
    from recombine.jobs.findings.finding import Finding as Finding
    from recombine.jobs.findings.finding import FindingEvidence as FindingEvidence
    from recombine.jobs.findings.finding import FindingKind as FindingKind
    from recombine.jobs.findings.finding import ResultKind as ResultKind
    from recombine.jobs.findings.finding import Severity as Severity
    from recombine.jobs.findings.rc101_cells_not_determined import RC101 as RC101
    from recombine.jobs.findings.rc102_level_never_seen import RC102 as RC102
    from recombine.jobs.findings.rc103_rows_left_out import RC103 as RC103
    from recombine.jobs.findings.rc104_factors_guessed import RC104 as RC104
    from recombine.jobs.findings.rc105_cells_undecided import RC105 as RC105
    from recombine.jobs.findings.rc106_shaky import RC106 as RC106
    from recombine.jobs.findings.rc107_levels_in_doubt import RC107 as RC107
    from recombine.jobs.findings.rc108_factor_inside import RC108 as RC108
    from recombine.jobs.findings.rc109_column_taken_apart import RC109 as RC109
    from recombine.jobs.findings.rc110_beyond_range import RC110 as RC110
    from recombine.jobs.findings.rc201_leak_risk import RC201 as RC201
    from recombine.jobs.findings.rc202_shortcut_factor import RC202 as RC202
    from recombine.jobs.findings.rc301_additivity_fails import RC301 as RC301
    from recombine.jobs.findings.rc302_additivity_unchecked import RC302 as RC302
    from recombine.jobs.findings.rc303_additivity_not_shown import RC303 as RC303
    from recombine.jobs.findings.rc401_same_cell import RC401 as RC401
    from recombine.jobs.findings.rc402_permuted_cell import RC402 as RC402
    from recombine.jobs.findings.rc403_respelled_level import RC403 as RC403
    from recombine.jobs.findings.rc404_copied_level import RC404 as RC404
    from recombine.jobs.findings.rc501_cells_lost import RC501 as RC501
    from recombine.jobs.findings.rc502_levels_gone import RC502 as RC502
    from recombine.jobs.findings.rc503_new_findings import RC503 as RC503
    from recombine.jobs.findings.rc504_models_worse import RC504 as RC504
    from recombine.jobs.findings.rc505_models_gone import RC505 as RC505
    from recombine.jobs.findings.rc601_worse_than_adding import RC601 as RC601
    from recombine.jobs.findings.rc602_model_cause import RC602 as RC602
    from recombine.jobs.findings.rc701_dependence import RC701 as RC701
    from recombine.jobs.findings.registry import FINDINGS as FINDINGS
    from recombine.jobs.findings.registry import find_all as find_all

lazy_package(__name__)
