"""Words: every sentence that a reader meets, from results to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.words.additivity import STATE_WORDS as STATE_WORDS
    from recombine.words.additivity import additivity_sentences as additivity_sentences
    from recombine.words.additivity import additivity_statement as additivity_statement
    from recombine.words.additivity import beyond_sentence as beyond_sentence
    from recombine.words.additivity import caution_sentence as caution_sentence
    from recombine.words.additivity import method_phrase as method_phrase
    from recombine.words.answer import answer as answer
    from recombine.words.captions import ADDITIVITY_TITLE as ADDITIVITY_TITLE
    from recombine.words.captions import ESTIMATED as ESTIMATED
    from recombine.words.captions import FORECAST_TITLE as FORECAST_TITLE
    from recombine.words.captions import LEFT_OUT as LEFT_OUT
    from recombine.words.captions import MODELS as MODELS
    from recombine.words.captions import PLAN_TITLE as PLAN_TITLE
    from recombine.words.captions import SLOPES as SLOPES
    from recombine.words.captions import STRUCTURE_TITLE as STRUCTURE_TITLE
    from recombine.words.captions import audit_title as audit_title
    from recombine.words.captions import example_title as example_title
    from recombine.words.captions import more_in as more_in
    from recombine.words.captions import product_title as product_title
    from recombine.words.captions import table_phrase as table_phrase
    from recombine.words.captions import targets_title as targets_title
    from recombine.words.captions import unseen_title as unseen_title
    from recombine.words.certificates import explanation as explanation
    from recombine.words.comparison import OUTSIDE_RULE as OUTSIDE_RULE
    from recombine.words.comparison import coefficient_meanings as coefficient_meanings
    from recombine.words.comparison import comparison_headline as comparison_headline
    from recombine.words.comparison import comparison_notes as comparison_notes
    from recombine.words.comparison import unlisted_text as unlisted_text
    from recombine.words.forecast import accuracy_sentences as accuracy_sentences
    from recombine.words.forecast import depth_sentence as depth_sentence
    from recombine.words.forecast import early_sentence as early_sentence
    from recombine.words.forecast import error_caption as error_caption
    from recombine.words.forecast import error_rows as error_rows
    from recombine.words.forecast import nothing_sentence as nothing_sentence
    from recombine.words.forecast import shallow_sentence as shallow_sentence
    from recombine.words.forecast import shortcut_sentence as shortcut_sentence
    from recombine.words.forecast import slopes_trust as slopes_trust
    from recombine.words.forecast import told_slopes as told_slopes
    from recombine.words.forecast import trust_sentence as trust_sentence
    from recombine.words.forecast import untold_sentence as untold_sentence
    from recombine.words.forecast import why_not_forecast as why_not_forecast
    from recombine.words.importance import importance_column as importance_column
    from recombine.words.importance import importance_shares as importance_shares
    from recombine.words.importance import importance_statement as importance_statement
    from recombine.words.importance import no_findings as no_findings
    from recombine.words.inspection import VERDICT_MEANINGS as VERDICT_MEANINGS
    from recombine.words.inspection import inspection_legend as inspection_legend
    from recombine.words.inspection import inspection_notes as inspection_notes
    from recombine.words.inspection import inspection_opening as inspection_opening
    from recombine.words.inspection import inspection_sentence as inspection_sentence
    from recombine.words.inspection import layer_sentence as layer_sentence
    from recombine.words.page import UNIT as UNIT
    from recombine.words.page import Unpainted as Unpainted
    from recombine.words.page import cell_impossible as cell_impossible
    from recombine.words.page import dropped_sentence as dropped_sentence
    from recombine.words.page import level_orders as level_orders
    from recombine.words.page import no_certificate as no_certificate
    from recombine.words.page import painting_off as painting_off
    from recombine.words.page import value_facts as value_facts
    from recombine.words.plan import NOTHING_TO_COLLECT as NOTHING_TO_COLLECT
    from recombine.words.plan import gain_text as gain_text
    from recombine.words.plan import gains_sentence as gains_sentence
    from recombine.words.plan import plan_sentence as plan_sentence
    from recombine.words.plan import plan_sentences as plan_sentences
    from recombine.words.probe import dependence_sentence as dependence_sentence
    from recombine.words.probe import probe_notes as probe_notes
    from recombine.words.probe import probe_opening as probe_opening
    from recombine.words.probe import probe_question as probe_question
    from recombine.words.score import cause_meaning as cause_meaning
    from recombine.words.score import model_sentences as model_sentences
    from recombine.words.score import score_answers as score_answers
    from recombine.words.score import scored_phrase as scored_phrase
    from recombine.words.score import unclear_sentences as unclear_sentences
    from recombine.words.structure import choice_statement as choice_statement
    from recombine.words.table import GUESS as GUESS
    from recombine.words.table import coverage_sentence as coverage_sentence
    from recombine.words.table import impossible_sentence as impossible_sentence
    from recombine.words.table import listing_sentence as listing_sentence
    from recombine.words.table import per_cell_phrase as per_cell_phrase
    from recombine.words.table import rows_phrase as rows_phrase
    from recombine.words.table import scale_sentences as scale_sentences
    from recombine.words.table import thin_levels as thin_levels
    from recombine.words.table import twin_phrases as twin_phrases
    from recombine.words.table import weight_sentence as weight_sentence
    from recombine.words.values import range_of as range_of
    from recombine.words.values import ranges_sentence as ranges_sentence
    from recombine.words.verdicts import RARE as RARE
    from recombine.words.verdicts import Tally as Tally
    from recombine.words.verdicts import count_sentence as count_sentence
    from recombine.words.verdicts import decision as decision
    from recombine.words.verdicts import decision_sentence as decision_sentence
    from recombine.words.verdicts import estimate_sentence as estimate_sentence
    from recombine.words.verdicts import left_out_sentences as left_out_sentences
    from recombine.words.verdicts import verdict_meaning as verdict_meaning
    from recombine.words.vocabulary import vocabulary as vocabulary

lazy_package(__name__)
