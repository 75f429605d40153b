"""The list that ``papers --json`` prints beside the JSON Schema of all documents."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

import recombine


def test_claims_are_as_the_schema_says(run):
    schema = json.loads((Path(recombine.__file__).parent / "report" / "schema.json").read_text(encoding="utf-8"))
    claims = json.loads(run("papers", "kernel-theory", "--json")[1])
    check = Draft202012Validator(schema)
    assert check.is_valid(claims)
    for key in claims[0]:
        renamed = {f"{name}s" if name == key else name: value for name, value in claims[0].items()}
        assert not check.is_valid([renamed]), key
        assert not check.is_valid([claims[0] | {key: {}}]), key
