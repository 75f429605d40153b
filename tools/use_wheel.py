"""Build the wheel, install it in a clean environment and use it there, as somebody who has no clone would.

    python tools/use_wheel.py [--sdist] [--folder dist]

Prints what the environment takes on disk with all its byte code. Ends with 1 in one line at the first thing that fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A table with a prediction: two levels of a factor were held out in some cells, and the model is off there.
TABLE = "".join(
    f"{site},{dose},{part},{1 + i + 10 * j + 0.1 * ((i * j) % 3)},{1.5 + i + 9 * j}\n"
    for i, site in enumerate("abcdef")
    for j, dose in enumerate("pqrst")
    for part in ["test" if (i + 2 * j) % 5 == 0 else "train"]
)
COLUMNS = ["--factors", "site,dose", "--outcome", "y"]
#: What is run there, and what standard output or error must have.
USES = [
    (["--version"], ""),
    (["demo"], "report written to"),
    (["audit", "my table.csv", *COLUMNS, "--html", "audit.html"], "Predictable"),
    (["score", "my table.csv", "--prediction", "net", "--split", "part=train", *COLUMNS, "--full"], "by verdict"),
    (["explore", "--no-open"], "page.html"),
    (["split", "my table.csv", "--factors", "site,dose", "--test", "determined:0.2"], "determined"),
    (["schema"], "json-schema.org"),
    (["papers"], "go to a clone of recombine, which has one"),
    (["papers", "gated-linear"], "go to a clone of recombine, which has one"),
]


def ran(*words: object, folder: Path = ROOT) -> str:
    """Run a command without anything of this clone around it, and return what it said."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=folder, env=bare, capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["nothing was said"]
        raise SystemExit(f"use_wheel: {' '.join(command[-4:])} ended with {done.returncode}: {last[0]}")
    return done.stdout + done.stderr


def built(folder: Path, python: Path, sdist: bool) -> Path:
    """Build the wheel (and the source distribution) into ``folder`` and return the wheel."""
    for old in folder.glob("recombine-*"):
        old.unlink()
    if sdist:
        ran(python, "-m", "pip", "install", "--quiet", "build")
        ran(python, "-m", "build", "--outdir", folder, ROOT)
    else:
        ran(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.glob("recombine-*.whl")
    return wheel


def environment(folder: Path) -> Path:
    """Make a clean environment and return its Python."""
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder.

    >>> size(Path(__file__).parent) > 1000
    True
    """
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main(arguments: list[str]) -> int:
    """Build, install, use, measure."""
    asked = argparse.ArgumentParser(description="Build the wheel and use it in a clean environment.")
    asked.add_argument("--folder", type=Path, default=ROOT / "dist", help="where the wheel goes")
    asked.add_argument("--sdist", action="store_true", help="build the source distribution too, the wheel from it")
    options = asked.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="recombine wheel é ", ignore_cleanup_errors=True) as place:
        tools = environment(Path(place) / "tools")
        wheel = built(options.folder.resolve(), tools, options.sdist)
        print(f"built {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        python = environment(Path(place) / "environment")
        before = size(python.parents[1])
        ran(python, "-m", "pip", "install", "--quiet", "--compile", "--prefer-binary", wheel)
        print(f"installed with byte code: {(size(python.parents[1]) - before) / 1e6:.0f} MB, pip not counted")
        work = Path(place) / "work"
        work.mkdir()
        (work / "my table.csv").write_text("site,dose,part,y,net\n" + TABLE, encoding="utf-8")
        command = python.with_name("recombine.exe" if os.name == "nt" else "recombine")
        for words, expected in USES:
            said = ran(command, *words, folder=work)
            if expected not in " ".join(said.split()):
                raise SystemExit(f"use_wheel: recombine {' '.join(words)} does not say {expected!r}")
            print(f"recombine {' '.join(words)}: fine")
        if not (work / "recombine-demo.html").is_file() or not (work / "audit.html").is_file():
            raise SystemExit("use_wheel: the reports of demo and audit were not written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
