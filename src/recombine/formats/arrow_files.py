"""Arrow IPC and Feather files, by pyarrow or polars, whichever is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recombine.errors import InputError

#: How a file begins that can be read in any order; others are streams.
_FILE_MARK = b"ARROW1"


def arrow_data(path: Path) -> tuple[Any, bool]:
    """Return an Arrow file as a dataset or table of pyarrow, or a frame of polars, and whether DuckDB scans it."""
    try:
        with path.open("rb") as file:
            stream = file.read(len(_FILE_MARK)) != _FILE_MARK
        if sys.modules.get("pandas", sys) is None:  # kept out of a command for speed, which pyarrow cannot stand
            del sys.modules["pandas"]
        if find_spec("pyarrow") is not None:
            import pyarrow.dataset
            import pyarrow.ipc

            if not stream:
                return pyarrow.dataset.dataset(path, format="ipc"), True
            with pyarrow.memory_map(str(path)) as file:
                return pyarrow.ipc.open_stream(file).read_all(), True
        if find_spec("polars") is not None:
            import polars

            return (polars.read_ipc_stream(path) if stream else polars.scan_ipc(path)), False
    except Exception as error:  # libraries raise whatever their parts raise: damage is damage
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} cannot be read as a table: {reason}; write it again") from None
    raise InputError(
        f"{path.name} is read by pyarrow or polars, and neither is there; get one with pip install pyarrow"
    )
