"""Reproducing a paper: from nothing, from a store, from committed results; the command line and its exit codes."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import fields, replace
from itertools import takewhile
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from recombine.cli.commands import app
from recombine.errors import InputError, RecombineError, StoppedError
from recombine.lab.papers import Claim, Paper, Standing, available, find
from recombine.lab.papers.bounds import Above, by_scale
from recombine.lab.papers.measured import Measured
from recombine.lab.papers.record import Recorded, load_record, record_of, save_record
from recombine.lab.papers.reproduce import Order, Reproduction, from_results, needed_experiments, reproduce
from recombine.lab.papers.results import Evidence, save_evidence
from recombine.lab.report.terminal import legend, remarks
from recombine.lab.runs.executors import make_executor
from recombine.lab.runs.pool import LocalExecutor
from recombine.lab.runs.store import Store
from recombine.tables.table import Table

PAPER = find("kernel-theory")
COMMITTED = Path(__file__).parents[3] / "results"
UNLIKE = Recorded("fails", "paper", "quick", "fails", "", [4, 4])


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with what two claims need."""
    folder = tmp_path_factory.mktemp("results")
    store = Store(tmp_path_factory.mktemp("store"))
    state = reproduce(Order(PAPER, only=["12", "24"]), store, make_executor("inline"))
    for evidence in state.results.values():
        save_evidence(folder, PAPER.name, evidence)
    return folder


def spoiled(folder: Path, target: Path) -> Path:
    """Copy the results with margins turned round, so that claim 12 fails."""
    for name, evidence in from_results(PAPER, folder).results.items():
        table = evidence.table
        columns = {column: table[column] for column in table.columns}
        if name == "by-depth":
            columns["margin"] = -columns["margin"]
        save_evidence(target, PAPER.name, Evidence(Table(columns), evidence.provenance))
    return target


def test_only_what_the_claims_read_is_run(tmp_path: Path) -> None:
    seen: list[str | None] = []

    def watch(state: Reproduction, name: str | None) -> None:
        seen.append(name)

    store = Store(tmp_path)
    state = reproduce(Order(PAPER, only=["12"]), store, make_executor("inline"), watch=watch)
    assert seen == ["by-depth", None]
    assert list(state.results) == ["by-depth"]
    assert state.results["by-depth"].provenance.seconds >= 0
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    reproduce(Order(PAPER, only=["12"]), store, make_executor("inline"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")} == written != {}


@pytest.mark.slow
def test_half_a_grid_is_judged_and_says_so(tmp_path: Path) -> None:
    store, inline = Store(tmp_path / "store"), make_executor("inline")
    assert reproduce(Order(PAPER, only=["12"], minutes=0), store, inline).results == {}
    reproduce(Order(PAPER, only=["12"]), store, inline)
    units = PAPER.by_name["by-depth"].units("quick")
    shutil.rmtree(store.path(units[-1].key))
    state = reproduce(Order(PAPER, only=["12"], minutes=0), store, inline)
    outcome = state.outcomes["kernel-theory/12"]
    assert outcome.extent == f"{len(units) - 1} of {len(units)} runs of the small grid"
    provenance = state.results["by-depth"].provenance
    assert provenance.settings == [unit.setting for unit in units[:-1]]
    save_evidence(tmp_path / "results", PAPER.name, state.results["by-depth"])
    again = from_results(PAPER, tmp_path / "results", only=["12"])
    assert again.outcomes["kernel-theory/12"] == outcome
    code, text = run("papers", "--results", str(tmp_path / "results"))
    assert code == 0
    own = text.split("kernel-theory  ")[1].split("multitask  ")[0]
    reading = [claim for claim in PAPER.claims if claim.reads == "by-depth"]
    assert sum(int(count) for count in re.findall(r"(\d+) holds?\b", own)) == len(reading)
    assert sum(int(count) for count in re.findall(r"(\d+) not run", own)) == len(PAPER.claims) - len(reading)


def test_committed_results_give_the_same_outcomes(folder: Path) -> None:
    state = from_results(PAPER, folder, only=["12", "24"])
    assert [outcome.verdict for outcome in state.outcomes.values()] == [Standing.HOLDS] * 2
    assert not state.failed
    assert from_results(PAPER, folder, scale="full").results == {}
    assert state.table["measured"].tolist()[0].startswith("right under the hard margin: 0; wrong")


def test_every_claim_names_an_experiment_that_runs() -> None:
    assert {claim.reads for claim in PAPER.claims} == set(needed_experiments(PAPER, PAPER.claims))


@pytest.mark.parametrize("paper", available().values(), ids=lambda paper: paper.name)
def test_the_committed_results_say_where_they_come_from(paper: Paper, judged: dict[str, Reproduction]) -> None:
    state = judged[paper.name]
    assert set(state.results) >= set(paper.by_name)
    for name, evidence in state.results.items():
        assert evidence.provenance.experiment == name
        assert {"recombine", "python", "numpy"} <= set(evidence.provenance.versions)
        assert evidence.provenance.command.startswith(f"recombine reproduce {paper.name}")


def test_the_committed_results_are_small() -> None:
    assert sum(path.stat().st_size for path in COMMITTED.rglob("*")) < 5_000_000 * len(available())


def test_the_legend_explains_the_words_that_stand_in_the_table(folder: Path, tmp_path: Path) -> None:
    assert legend(from_results(PAPER, folder, only=["12", "24"])) == ""
    assert legend(from_results(PAPER, spoiled(folder, tmp_path), only=["12"])) == "✗ did not come out"
    whole = from_results(PAPER, folder).results["by-depth"]
    half = Evidence(whole.table, msgspec.structs.replace(whole.provenance, planned=99))
    one = Claim("1", "", "paper", "", "half", lambda rows: Measured({"one": 1.0}), {"one": Above(0)})
    fails, contradicts, aside, open_, absent = (
        replace(one, number="2", expect={"one": Above(2)}),
        replace(one, number="3", contradicted=one.expect),
        replace(one, number="4", incomparable="Ours are smaller"),
        replace(one, number="5", expect={"one": by_scale(full=Above(0))}),
        replace(one, number="6", reads="nothing"),
    )
    claims = [one, fails, contradicts, aside, open_, absent]
    assert [claim.judge({"half": half}).verdict for claim in claims] == list(Standing)
    every = legend(Reproduction(PAPER, claims, {"half": half}))
    assert [part.split()[0] for part in every.split("; ")] == ["✗", "≠", "∥", "?", "○", "run:"]


class TestCommands:
    def test_ctrl_c_ends_the_workers_at_once_and_says_how_to_go_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ended: list[bool] = []

        def interrupted(order: Order, store: Store, executor: LocalExecutor, **_: object) -> None:
            shutdown = executor.shutdown
            monkeypatch.setattr(executor, "shutdown", lambda wait=True, **how: (ended.append(wait), shutdown(wait)))
            raise KeyboardInterrupt

        monkeypatch.setattr(sys.modules["recombine.lab.papers.reproduce"], "reproduce", interrupted)
        with pytest.raises(StoppedError, match=re.escape(f"Finished units are in {tmp_path}")):
            run("reproduce", "kernel-theory", "--only", "12", "--store", str(tmp_path))
        assert ended == [False]

    def test_what_cannot_work_is_refused_before_any_work(self, tmp_path: Path) -> None:
        store = ("--store", str(tmp_path / "store"))
        with pytest.raises(InputError, match="no folder of results"):
            run("reproduce", "kernel-theory", "--from-results", "--results", str(tmp_path / "nowhere"))
        with pytest.raises(InputError, match=r"--device cuda:99 (cannot be used|needs torch)"):
            run("reproduce", "kernel-theory", "--only", "12", "--device", "cuda:99", *store)
        assert not (tmp_path / "store").exists()

    def test_a_number_stands_for_all_its_parts(self) -> None:
        assert [claim.number for claim in PAPER.chosen(["13", "9b", "9"])] == ["13a", "13b", "9b", "9a"]

    @pytest.mark.parametrize("paper", available().values(), ids=lambda paper: paper.name)
    def test_an_unknown_claim_is_told_every_known_one(self, paper: Paper) -> None:
        with pytest.raises(InputError) as caught:
            run("reproduce", paper.name, "--from-results", "--only", "99z")
        assert str(caught.value).endswith(f"laims: {', '.join(claim.number for claim in paper.claims)}")

    def test_claims_are_named_with_commas_and_in_any_case(self, folder: Path) -> None:
        words = ("reproduce", "kernel-theory", "--from-results", "--results", str(folder), "--only")
        table = run(*words, "13A, 13b,", "--only", "Kernel-Theory/12")[1].split("\n\n")[1]
        assert sorted(re.findall(r"^(\d+\w?) ", table, re.MULTILINE)) == ["12", "13a", "13b"]
        with pytest.raises(InputError, match="'' is not a claim"):
            run(*words, ",")

    def test_without_a_figure_it_says_why(self, folder: Path, tmp_path: Path) -> None:
        bare = next(claim for claim in PAPER.claims if not claim.figures)
        lacking = next(plot for plot in PAPER.figures if not plot.drawable(from_results(PAPER, folder).results))
        shown = next(claim for claim in PAPER.claims if lacking.name in claim.figures)
        words = ("reproduce", "kernel-theory", "--from-results", "--results", str(folder))
        words += ("--figures", str(tmp_path / "none"), "--only")
        assert "no figure written: no figure shows these claims" in run(*words, bare.number)[1]
        assert "no figure written: there are no results of" in run(*words, shown.number)[1]
        assert not (tmp_path / "none").exists()

    def test_a_folder_without_results_of_the_paper_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"has no results of multitask; name another folder"):
            run("reproduce", "multitask", "--from-results", "--results", str(tmp_path))

    def test_a_device_torch_does_not_know_gets_no_lecture(self) -> None:
        pytest.importorskip("torch")
        with pytest.raises(InputError, match=r"^--device gpu is not a device; use cpu, or .* cuda or cuda:1$"):
            run("reproduce", "kernel-theory", "--only", "12", "--device", "gpu")

    def test_a_missing_folder_of_results_is_named_in_full(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match=rf"^{re.escape(str(tmp_path / 'results'))} is no folder .* clone"):
            run("reproduce", "kernel-theory", "--from-results", "--results", "results")

    @pytest.mark.slow
    def test_papers_lists_what_is_established(self, folder: Path) -> None:
        code, text = run("papers", "--results", str(folder))
        assert code == 0
        lines = text.splitlines()
        for name, paper in available().items():
            place = next(place for place, line in enumerate(lines) if line.startswith(f"{name}  "))
            told = takewhile(lambda line: line.startswith("  "), lines[place + 2 :])
            assert sum(int(line.split()[0]) for line in told) == len(paper.claims)
        code, text = run("papers", "kernel-theory", "--results", str(folder))
        assert "13b" in text

    def test_papers_says_where_there_are_no_results(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("recombine.lab.papers.results.default_folder", lambda: tmp_path / "results")
        words = f"{tmp_path / 'results'} is no folder of results; go to a clone"
        code, text = run("papers")
        assert code == 0
        assert words in text
        assert all(name in text for name in available())
        assert "not run" not in text
        assert words in run("papers", "kernel-theory")[1]
        with pytest.raises(InputError, match=f"^{words}"):
            run("papers", "--results", str(tmp_path / "results"))

    @pytest.mark.slow
    def test_the_exit_code_is_one_if_a_verdict_is_not_the_recorded_one(self, folder: Path, tmp_path: Path) -> None:
        words = ("reproduce", "kernel-theory", "--from-results", "--only", "12,24", "--results")
        target = spoiled(folder, tmp_path)
        code, text = run(*words, str(target))
        assert (code, "✗ fails" in text) == (0, True), "a failure is no surprise where nothing is on record"
        save_record(target, record_of(PAPER, folder))
        code, text = run(*words, str(target))
        assert code == 1
        assert re.findall(r"^recombine: (.*)$", text, re.MULTILINE) == ["kernel-theory/12: holds on record, fails now"]
        save_record(target, record_of(PAPER, target))
        code, text = run(*words, str(target))
        assert (code, "on record" in text, "✗ fails" in text) == (0, False, True)

    def test_a_verdict_whose_results_are_gone_counts_as_changed(self, folder: Path, tmp_path: Path) -> None:
        words = ("reproduce", "kernel-theory", "--from-results", "--only", "12,24", "--results", str(tmp_path))
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        save_record(tmp_path, record_of(PAPER, folder))
        assert run(*words)[0] == 0
        for path in tmp_path.rglob("by-depth-quick.*"):
            path.unlink()
        code, text = run(*words)
        assert code == 1
        told = "kernel-theory/12: holds on record by results of scale quick, which are not there now"
        assert re.findall(r"^recombine: (.*)$", text, re.MULTILINE) == [told]
        save_record(tmp_path, record_of(PAPER, tmp_path))
        assert run(*words)[0] == 0, "what was not there on record is not missed"
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        code, text = run(*words)
        assert (code, "kernel-theory/12: not run on record, holds now" in text) == (1, True)

    @pytest.mark.slow
    def test_a_changed_verdict_is_named_though_it_is_saved(self, folder: Path, tmp_path: Path) -> None:
        save_record(tmp_path, {**record_of(PAPER, folder), "kernel-theory/12": UNLIKE})
        how = ("--only", "12", "--executor", "inline", "--save", "--results", str(tmp_path))
        words = ("reproduce", "kernel-theory", *how, "--store", str(tmp_path / "store"))
        code, text = run(*words)
        assert (code, "kernel-theory/12: fails on record, holds now" in text) == (1, True)
        assert run(*words)[0] == 0

    def test_every_claim_is_listed_as_json(self) -> None:
        code, text = run("papers", "--json", "--results", str(COMMITTED))
        entries = json.loads(text)
        record = load_record(COMMITTED)
        assert code == 0
        claims = [claim for paper in available().values() for claim in paper.claims]
        assert [(entry["paper"], entry["number"]) for entry in entries] == [
            (claim.paper, claim.number) for claim in claims
        ]
        written = {"reads": "experiment", "figure": "figures", "expect": "bounds", "size": "of_paper"}
        judging = {"measure", "published", "contradicted"}
        told = {written.get(one.name, one.name) for one in fields(Claim) if one.name not in judging}
        for entry, claim in zip(entries, claims, strict=True):
            assert told <= set(entry)
            known = record[claim.id]
            assert (entry["verdict"], entry["quick_verdict"]) == (known.verdict, known.quick)
            assert [entry["units_run"], entry["units_planned"]] == known.units
            assert (entry["says"], entry["risk"], entry["bounds"]) == (claim.says, claim.risk, claim.expected)
        assert [entry["number"] for entry in json.loads(run("papers", "multitask", "--json")[1])] == [
            claim.number for claim in find("multitask").claims
        ]

    @pytest.mark.slow
    def test_figures_are_written_the_same_each_time(self, folder: Path, tmp_path: Path) -> None:
        words = ("reproduce", "kernel-theory", "--from-results", "--results", str(folder), "--figures")
        for name in ("one", "two"):
            code, _ = run(*words, str(tmp_path / name))
            assert code == 0
        assert [path.name for path in (tmp_path / "one").iterdir()] == ["kinds.svg"]
        assert (tmp_path / "one" / "kinds.svg").read_bytes() == (tmp_path / "two" / "kinds.svg").read_bytes()

    def test_figures_are_not_drawn_over_without_force(self, folder: Path, tmp_path: Path) -> None:
        words = ("reproduce", "kernel-theory", "--from-results", "--results", str(folder), "--figures", str(tmp_path))
        precious = tmp_path / "kinds.svg"
        precious.write_text("mine")
        for only in ((), ("--only", "24")):
            with pytest.raises(InputError, match=rf"^{precious} exists; choose another folder, .* with --force$"):
                run(*words, *only)
        assert precious.read_text() == "mine"
        other = next(claim for claim in PAPER.claims if "kinds" not in claim.figures)
        run(*words, "--only", other.number)
        assert precious.read_text() == "mine"
        run(*words, "--force")
        assert precious.read_text().startswith("<?xml")

    def test_folders_that_take_no_files_are_refused_before_any_work(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unwilling(**_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(tempfile, "TemporaryFile", unwilling)
        store = ("--store", str(tmp_path / "store"), "--only", "12")
        for option, name in (("--html", "report.html"), ("--figures", "new/figures")):
            with pytest.raises(InputError, match=f"{name} cannot be written"):
                run("reproduce", "kernel-theory", *store, option, str(tmp_path / name))
        assert not any(tmp_path.iterdir())

    def test_a_store_that_is_a_file_is_refused_before_any_work(self, tmp_path: Path) -> None:
        (tmp_path / "store").write_text("no folder")
        with pytest.raises(InputError, match=r"--store .* is a file; name a folder"):
            run("reproduce", "kernel-theory", "--only", "12", "--store", str(tmp_path / "store"))

    def test_a_run_writes_report_and_results(self, tmp_path: Path) -> None:
        page = tmp_path / "the $report.html"
        given = ("--executor", "inline", "--only", "12", "--save", "--results", str(tmp_path / "kept"))
        words = ("reproduce", "kernel-theory", *given, "--store", str(tmp_path / "s"), "--html", str(page))
        code, _ = run(*words)
        assert code == 0
        text = page.read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        printed = html.unescape(re.search(r"recombine reproduce kernel-theory [^<]*report[^<]*", text)[0])
        assert sorted(shlex.split(printed)) == sorted(["recombine", *words])
        assert (tmp_path / "kept" / "kernel-theory" / "by-depth-quick.parquet").exists()
        with pytest.raises(InputError, match="--force"):
            run("reproduce", "kernel-theory", "--from-results", "--html", str(page))

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("kernel-theori",), "did you mean 'kernel-theory'"),
            (("kernel-theory", "--scale", "fulll"), "did you mean 'full'"),
            (("kernel-theory", "--only", "99"), "'99' is not a claim"),
            (("kernel-theory", "--html", "nowhere/report.html"), "nowhere is not a folder"),
            (("kernel-theory", "--executor", "ray", "--only", "12"), "executor 'ray' is unknown"),
            (("kernel-theory", "--figures", __file__), "is a file; name a folder"),
            (("kernel-theory", "--from-results", "--store", "nowhere"), "leave out --store"),
            (("kernel-theory", "--from-results", "--save"), "nothing that --save could write"),
        ],
    )
    def test_bad_input_is_refused_before_anything_runs(self, words: tuple[str, ...], message: str) -> None:
        with pytest.raises(InputError, match=message):
            run("reproduce", *words)

    def test_remarks_explain_what_failed(self, folder: Path, tmp_path: Path) -> None:
        state = from_results(PAPER, spoiled(folder, tmp_path), only=["12"])
        assert remarks(state)[0].startswith("✗ 12: ")

    def test_remarks_give_each_reason_not_to_have_run_once(self, tmp_path: Path) -> None:
        left_out = shutil.ignore_patterns("cifar-*")
        shutil.copytree(COMMITTED / PAPER.name, tmp_path / PAPER.name, ignore=left_out)
        state = from_results(PAPER, tmp_path, only=["16a", "16b", "1"])
        lacking = [claim.number for claim in state.claims if state.outcomes[claim.id].verdict is Standing.NOT_RUN]
        lines = [line for line in remarks(state) if line.startswith("○")]
        assert lacking == ["16a", "16b"]
        assert len(lacking) >= len(lines) > 0
        for number in lacking:
            assert sum(number in line.split(":")[0] for line in lines) == 1


@pytest.mark.parametrize("claim", ["1", "8"])
def test_without_torch_one_line_says_how_to_get_it(claim: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Found out before anything runs where data are needed, and by the first unit otherwise; tried once."""
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [
        name
        for name in sys.modules
        if name.startswith(("recombine.lab.nets.", "recombine.lab.worlds.images.label_pairs"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(RecombineError, match=r"'torch' is not installed, .* pip install '.*\[nets\]'"):
        reproduce(Order(find("gradient-resists"), only=[claim]), Store(tmp_path), make_executor("inline"))


def test_papers_are_listed_in_ascii() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "recombine", "papers", "--results", str(COMMITTED)]
    done = subprocess.run(command, capture_output=True, env=environment, check=True, timeout=120)
    assert "kernel-theory" in done.stdout.decode("ascii")
