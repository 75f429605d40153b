"""The job: two audits or two scores go in, what changed comes out."""

from __future__ import annotations

from recombine.errors import InputError
from recombine.jobs.comparison.audits import AuditComparison, compare_audits
from recombine.jobs.comparison.documents import AuditDocument, ScoreDocument, read_document
from recombine.jobs.comparison.scores import ScoreComparison, compare_scores


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
    >>> comparison = compare(before, after)
    >>> comparison
    AuditComparison(4 gained, 0 lost; 0 findings new, 1 gone)
    >>> comparison.transitions.table
    before        after       cells
    disconnected  determined  3
    disconnected  seen        1
    """
    old, new = (read_document(side, word) for side, word in ((before, "before"), (after, "after")))
    if isinstance(old, AuditDocument) and isinstance(new, AuditDocument):
        return compare_audits(old, new)
    if isinstance(old, ScoreDocument) and isinstance(new, ScoreDocument):
        return compare_scores(old, new)
    kinds = ["an audit" if isinstance(side, AuditDocument) else "a score" for side in (old, new)]
    raise InputError(f"{kinds[0]} cannot be compared with {kinds[1]}; give two audits or two scores")
