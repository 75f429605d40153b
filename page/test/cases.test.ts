/** The small tables of tests/sheets/cases.json, read as Python reads them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../tests/sheets/cases.json";
import roleCases from "../../tests/sheets/role_cases.json";
import { proposeRoles } from "../src/reading/roles.ts";
import { gridOfText, split } from "../src/reading/text.ts";
import { tidy } from "../src/reading/tidy.ts";

interface Case {
  readonly name: string;
  readonly text: string;
  readonly delimiter?: string;
  /** Whether runs of blanks stand between fields, which are read as tabs. */
  readonly blanks?: boolean;
  readonly wide?: string;
  /** A pattern that the refusal matches. */
  readonly refused?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  readonly notes?: readonly string[];
  readonly factors?: readonly string[];
  readonly outcome?: string | null;
}

for (const { name, text, blanks = false, delimiter = ",", wide, refused, columns, rows, notes = [], factors = [], outcome = null } of cases as readonly Case[]) {
  test(`a table with ${name}`, () => {
    const grid = blanks ? gridOfText(text) : split(text, delimiter);
    if (refused !== undefined) return assert.throws(() => tidy(grid, wide), { name: "TableError", message: new RegExp(refused) });
    const table = tidy(grid, wide);
    assert.deepEqual([table.columns, table.rows], [columns, rows]);
    assert.deepEqual(table.notes.map(({ kind }) => kind).sort(), [...notes].sort());
    assert.deepEqual([table.factors, table.outcome], [factors, outcome]);
    assert.equal(gridOfText(text).delimiter, delimiter, "what stands between fields is found");
    return undefined;
  });
}

interface RoleCase extends Readonly<Partial<Record<"outcome" | "weight" | "sd" | "split", string | null>>> {
  readonly name: string;
  readonly text: string;
  readonly factors: readonly string[];
  readonly candidates?: readonly string[];
}

for (const { name, text, factors, candidates = [], ...expected } of roleCases as readonly RoleCase[]) {
  test(`roles of a table with ${name}`, () => {
    const table = tidy(gridOfText(text));
    const guessed = proposeRoles(table.columns, table.rows);
    assert.deepEqual([...guessed.factors].sort(), [...factors].sort());
    for (const role of ["outcome", "weight", "sd", "split"] as const) assert.equal(guessed.columns[role] ?? null, expected[role] ?? null, role);
    for (const candidate of candidates) assert.ok(guessed.candidates.includes(candidate), candidate);
  });
}
