"""What is written about the package outside of it: bounds, recipe, workflows, hooks, citation. And the wheel, used."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from recombine import __version__
from recombine.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
#: Where conda calls something by another name.
CONDA = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}

pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="what is tested here stands in a clone")


@pytest.fixture(scope="module")
def lowest() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("lowest")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def read(path: str | Path) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_every_dependency_of_every_extra_has_a_lower_bound(lowest: ModuleType) -> None:
    found = lowest.floors(lowest.requirements(PROJECT, PROJECT["optional-dependencies"]))
    assert {"numpy", "torch", "submitit", "pytest", "sphinx", "statsmodels"} <= found.keys()
    with pytest.raises(SystemExit, match="rich has no lower bound"):
        lowest.floors(["numpy>=1", "rich<15"])
    with pytest.raises(SystemExit, match="no extra 'tests'; there are anndata"):
        list(lowest.requirements(PROJECT, ["tests"]))


def test_pinned_versions_are_allowed_ones(lowest: ModuleType) -> None:
    found = lowest.floors(lowest.requirements(PROJECT, PROJECT["optional-dependencies"]))
    lines = (ROOT / "constraints-ci.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    assert pinned.keys() <= found.keys()
    for name, version in pinned.items():
        assert [int(part) for part in version.split(".")] >= [int(part) for part in found[name].split(".")], name


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in text
    lines = [line for line in text.splitlines() if not line.startswith("{%")]
    recipe = yaml.safe_load("\n".join(lines).replace("{{ version }}", __version__).replace("{{ PYTHON }}", "python"))
    asked = {re.sub(r"\s", "", line) for line in recipe["requirements"]["run"]}
    wanted = {f"python{PROJECT['requires-python']}"}
    for line in PROJECT["dependencies"]:
        name = re.match(r"[\w-]+", line)
        assert name is not None
        wanted.add(CONDA.get(name[0], name[0]) + line[name.end() :])
    assert asked == wanted
    (point,) = recipe["build"]["entry_points"]
    assert dict([point.split(" = ")]) == PROJECT["scripts"]


def test_the_citation_is_of_this_version_and_complete() -> None:
    cited = read("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    assert cited["keywords"] == PROJECT["keywords"]
    for reference in cited["references"]:
        assert {"type", "title", "authors"} <= reference.keys()
        assert all({"family-names", "given-names"} <= person.keys() for person in reference["authors"])


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["nightly.yml", "pages.yml", "release.yml", "tests.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_is_there_with_least_rights(path: Path) -> None:
    flow = read(path)
    text = path.read_text(encoding="utf-8")
    assert {"name", True, "permissions", "concurrency", "jobs"} <= flow.keys()  # YAML reads `on` as True
    assert flow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for job in flow["jobs"].values():
        assert job["name"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), "an action is pinned by its commit"
                assert re.search(rf"{step['uses']} # v\d+\.\d+\.\d+$", text, re.M), "and says its version"
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False
            for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                assert target in targets
            for script in re.findall(r"\b(?:tools|benchmarks)/\S+\.py", step.get("run", "")):
                assert (ROOT / script).is_file()


def test_the_matrix_is_what_the_package_declares() -> None:
    matrix = read(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "windows", "macos"}
    declared = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: Python :: 3." in line]
    assert matrix["python"] == declared
    assert PROJECT["requires-python"] == f">={declared[0]}"


def test_a_release_is_published_without_a_secret() -> None:
    flow = read(".github/workflows/release.yml")
    publish = flow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == ["build", "attest", "recipe"]
    attest = flow["jobs"]["attest"]
    assert attest["permissions"] == {"id-token": "write", "attestations": "write"}
    assert attest["steps"][-1]["with"]["subject-path"] == "dist/*"
    assert publish["environment"] == "release"
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")


def test_only_what_stands_on_the_main_branch_is_published_as_documentation() -> None:
    flow = read(".github/workflows/pages.yml")
    publish = flow["jobs"]["publish"]
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert publish["if"].endswith("github.ref == 'refs/heads/main'")
    (upload,) = [step for step in flow["jobs"]["build"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert f"-b html docs {upload['with']['path']}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("site", ["", "https://example.org/docs/"])
def test_a_link_to_the_documentation_shows_a_picture_where_a_site_is_named(
    site: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOMBINE_DOCS", site)
    settings = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    settings["add_page"](SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path), None)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    context = {"title": 'A "quoted" title'}
    settings["add_preview"](None, "papers/multitask", "page.html", context, None)
    picture = f'<meta property="og:image" content="{site}_static/preview.png">'
    assert (picture in page, picture in context["metatags"]) == (bool(site), bool(site))
    assert ('content="A &quot;quoted&quot; title"' in context["metatags"]) == bool(site)
    with Image.open(ROOT / "docs" / settings["html_static_path"][0]) as image:
        assert image.size == (1200, 630)


@pytest.mark.parametrize("source", ["", "https://example.org/us/recombine"])
def test_packages_name_the_repository_they_are_released_from(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_REPOSITORY", source)
    monkeypatch.setitem(
        sys.modules, "hatchling.metadata.plugin.interface", SimpleNamespace(MetadataHookInterface=object)
    )
    hook = runpy.run_path(str(ROOT / "tools" / "project_urls.py"))["ProjectUrls"]()
    hook.root = str(ROOT)
    metadata: dict[str, Any] = {}
    hook.update(metadata)
    assert metadata["urls"].get("Source", "") == source
    text = metadata["readme"]["text"]
    assert ("](docs/" in text) == (not source)
    if source:
        for kind, path in re.findall(rf"\({source}/(raw|blob)/main/([^)#]+)", text):
            assert (ROOT / path).is_file()
            assert (kind == "raw") == path.endswith(".png")


def test_the_hooks_and_the_action_are_what_others_can_use() -> None:
    hooks = read(".pre-commit-hooks.yaml")
    assert {hook["id"] for hook in hooks} == {"recombine-audit", "recombine-split"}
    page = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
    for hook in hooks:
        assert hook["entry"].split()[0] == "recombine"
        assert hook["entry"].split()[1] in COMMANDS
        assert hook["id"] in page
    action = read("action.yml")
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "inputs reach a shell through its environment only"
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{0:040}"))
    for name in action["inputs"]:
        assert f"`{name}`" in page


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem
)
def test_an_issue_form_asks_for_something(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_hooks_have_the_versions_of_the_checks() -> None:
    pinned = (ROOT / "constraints-ci.txt").read_text(encoding="utf-8")
    (ruff,) = [repo for repo in read(".pre-commit-config.yaml")["repos"] if "ruff" in repo["repo"]]
    assert f"ruff=={ruff['rev'].removeprefix('v')}\n" in pinned


@pytest.mark.slow
def test_the_wheel_is_used_where_there_is_no_clone(tmp_path: Path) -> None:
    """Build, install (from the index that pip is set up for) and use: `make wheel`."""
    tool = ROOT / "tools" / "use_wheel.py"
    command = [sys.executable, str(tool), "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": fine") == len(runpy.run_path(str(tool))["USES"])
    size = re.search(r"installed with byte code: (\d+) MB", done.stdout)
    assert size is not None
    assert int(size[1]) < 550, "docs/install.md says what it takes and why"
