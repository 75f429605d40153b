"""A small table, and the command line run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.cli import main

TABLE = """colour,shape,site,mass,part
red,cube,x,1.0,train
red,ball,x,2.0,train
blue,cube,x,3.0,train
blue,cube,y,3.5,train
green,cone,y,4.0,train
blue,ball,x,4.0,test
"""


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def run(capsys):
    """Run the command line in this process: exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return call
