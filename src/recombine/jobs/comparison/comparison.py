"""The job: two audits or two scores go in, what changed comes out."""

from __future__ import annotations

import msgspec

from recombine.errors import InputError
from recombine.jobs.comparison.audits import AuditComparison, compare_audits
from recombine.jobs.comparison.documents import AuditDocument, CellErrors, ScoreDocument, read_document
from recombine.jobs.comparison.paired_errors import cell_errors_record
from recombine.jobs.comparison.scores import ScoreComparison, compare_scores
from recombine.jobs.score.score import Score


def compare(before: object, after: object) -> AuditComparison | ScoreComparison:
    """Say what changed between two audits or two scores.

    Parameters
    ----------
    before, after : Audit, Score, path or mapping
        Two audits or two scores: the results themselves, the files that ``--json`` was written to, or those files read.

    Returns
    -------
    AuditComparison or ScoreComparison
        Print it; ``.markdown`` is the same for a pull request, ``.changed`` says whether anything differs.

    Examples
    --------
    >>> import recombine as rc
    >>> cells = [[0, 0], [0, 1], [1, 0], [2, 2]]
    >>> before = rc.audit(rc.Design.from_cells(cells, names=["colour", "shape"]))
    >>> after = rc.audit(rc.Design.from_cells([*cells, [2, 0]], names=["colour", "shape"]))
    >>> found = compare(before, after)
    >>> found
    AuditComparison(4 gained, 0 lost; 0 findings new, 1 gone)
    >>> found.transitions.table
    before        after       cells
    disconnected  determined  3
    disconnected  seen        1
    """
    old, new = (_read(one, word) for one, word in ((before, "before"), (after, "after")))
    if isinstance(old, AuditDocument) and isinstance(new, AuditDocument):
        return compare_audits(old, new)
    if isinstance(old, ScoreDocument) and isinstance(new, ScoreDocument):
        return compare_scores(old, new)
    kinds = ["an audit" if isinstance(one, AuditDocument) else "a score" for one in (old, new)]
    raise InputError(f"{kinds[0]} cannot be compared with {kinds[1]}; give two audits or two scores")


def _read(source: object, name: str) -> AuditDocument | ScoreDocument:
    """Read a document; one of a result in memory has the errors of its single cells too."""
    found = read_document(source, name)
    if isinstance(source, Score) and isinstance(found, ScoreDocument) and found.cell_errors is None:
        kept = msgspec.convert(cell_errors_record(source), CellErrors | None)
        return msgspec.structs.replace(found, cell_errors=kept)
    return found
