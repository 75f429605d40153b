"""A small table."""

from __future__ import annotations

from pathlib import Path

import pytest

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
