"""What is no document is refused in one clear line, and nothing in a document can make more than a line of trouble."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recombine as rc
from recombine.report.audit.record import audit_json

CELLS = [[0, 0], [0, 1], [1, 0], [2, 2]]
DOCUMENT = json.loads(audit_json(rc.audit(rc.Design.from_cells(CELLS, names=["colour", "shape"]))))


def changed(**fields) -> dict:
    return {**copy.deepcopy(DOCUMENT), **fields}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "before is JSON of something else; give what recombine audit ... --json or recombine score ... --json"),
        (
            {"recombine": "0.0.1"},
            "before was written by a recombine that did not say of what kind it is; write it anew",
        ),
        (changed(kind="probe"), "before is of kind 'probe'; give what"),
        (changed(kind=["audit"]), r"before is of kind \['audit'\]; give"),
        (
            changed(schema=3),
            "before is of schema 3, written by recombine .*, and this version compares schema 2; write it anew",
        ),
        (changed(schema=True), "schema True"),
        (
            changed(counts=[]),
            r"before is no audit as recombine writes it: Expected `object`, got `array` - at `\$.counts`",
        ),
        (changed(factors="colour"), r"at `\$.factors`"),
        (changed(counts={**DOCUMENT["counts"], "seen": -1}), "seen of the counts is '-1', which is no count"),
        (changed(counts={**DOCUMENT["counts"], "total": "9" * 5000}), "total of the counts is '999"),
        (
            changed(cells={"of": "all cells", "runs": "99s"}),
            "the audit before is damaged: the runs of its cells name more",
        ),
        (changed(cells={"of": "all cells", "runs": "x"}), "the audit before is damaged: the runs of its cells are not"),
        (changed(levels={"colour": ["a"]}), "a document names no levels of its factor 'shape'"),
        (
            changed(levels={"colour": ["a", "a", "b"], "shape": ["c", "d", "e"]}),
            "the audit before names a level of factor 'colour' twice",
        ),
        (7, "before is a int; give an Audit, a Score, or the file or dictionary of their JSON"),
    ],
)
def test_foreign_and_broken_documents_are_refused(document, message):
    with pytest.raises(rc.InputError, match=message) as refused:
        rc.compare(document, DOCUMENT)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "one.json is empty; give what recombine audit ... --json"),
        (b"{", "one.json is not JSON"),
        (b"\xff\xfe\x00", "one.json is not JSON"),
        (b"\x80\x81", "one.json is not JSON"),
        (b"[" * 100_000, "one.json is not JSON"),
        (b"[1, 2]", "one.json is JSON of something else"),
        (b"null", "one.json is JSON of something else"),
    ],
)
def test_broken_files_are_named(tmp_path, content, message):
    path = tmp_path / "one.json"
    path.write_bytes(content)
    with pytest.raises(rc.InputError, match=message) as refused:
        rc.compare(path, DOCUMENT)
    # What was named may be a table: no advice may end in overwriting it.
    assert ">" not in str(refused.value)
    with pytest.raises(rc.InputError, match="is a folder"):
        rc.compare(tmp_path, DOCUMENT)
    with pytest.raises(rc.InputError, match="does not exist"):
        rc.compare(tmp_path / "none.json", DOCUMENT)


def test_what_other_shells_write_is_read(tmp_path):
    text = json.dumps(DOCUMENT)
    for encoding in ("utf-16", "utf-8-sig", "utf-8"):
        (tmp_path / f"{encoding}.json").write_bytes(text.encode(encoding))
        assert not rc.compare(tmp_path / f"{encoding}.json", DOCUMENT).changed


def test_an_audit_and_a_score_do_not_compare(tmp_path):
    import numpy as np

    cells = np.indices((6, 6)).reshape(2, -1).T
    design = rc.Design.from_cells(cells, cells @ [1.0, 2.0], train=cells.sum(axis=1) % 3 > 0)
    found = rc.score(design, {"net": design.held_out @ [1.0, 1.0]})
    with pytest.raises(rc.InputError, match="an audit cannot be compared with a score; give two audits or two scores"):
        rc.compare(found.audit, found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
READ = ["recombine", "source", "order", "structure", "factors", "outcome", "rows", "counts", "findings", "cells"]


@given(st.sampled_from([*READ, "forecast", "levels", "symmetric", "seed"]), JSON)
def test_any_field_may_hold_anything(field, value):
    """A document with one field replaced is compared or refused, on every output, and never breaks."""
    document = changed(**{field: value})
    for other in (DOCUMENT, document):
        try:
            found = rc.compare(document, other)
            said = "" if str(found) and found.markdown else "\n"
        except rc.InputError as error:
            said = str(error)
        assert "\n" not in said


def test_what_is_written_is_what_is_read():
    again = msgspec.json.decode(audit_json(rc.audit(rc.Design.from_cells(CELLS, names=["colour", "shape"]))))
    assert not rc.compare(DOCUMENT, again).changed
    assert DOCUMENT["levels"] == {"colour": ["0", "1", "2"], "shape": ["0", "1", "2"]}
    assert DOCUMENT["cells"] == {"of": "all cells", "runs": "2s1x1s1d3x1s"}
