"""Words: every sentence that a reader meets, from results to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.words import additivity as additivity
    from recombine.words import answer as answer
    from recombine.words import audit_answer as audit_answer
    from recombine.words import captions as captions
    from recombine.words import certificates as certificates
    from recombine.words import comparison as comparison
    from recombine.words import forecast as forecast
    from recombine.words import importance as importance
    from recombine.words import page as page
    from recombine.words import plan as plan
    from recombine.words import probe as probe
    from recombine.words import reading as reading
    from recombine.words import score as score
    from recombine.words import structure as structure
    from recombine.words import table as table
    from recombine.words import values as values
    from recombine.words import verdicts as verdicts
    from recombine.words.importance import importance_statement as importance_statement
    from recombine.words.plan import gain_text as gain_text
    from recombine.words.plan import plan_sentence as plan_sentence
    from recombine.words.probe import dependence_sentence as dependence_sentence
    from recombine.words.probe import independence_sentence as independence_sentence
    from recombine.words.probe import probe_notes as probe_notes
    from recombine.words.reading import reading_sentence as reading_sentence
    from recombine.words.score import model_sentences as model_sentences
    from recombine.words.score import score_answers as score_answers
    from recombine.words.score import unclear_sentences as unclear_sentences
    from recombine.words.vocabulary import vocabulary as vocabulary

lazy_package(__name__)
