"""What several tests of tables read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame() -> pd.DataFrame:
    """A table with one column of each sort a guess must tell apart."""
    index = np.arange(400)
    return pd.DataFrame(
        {
            "row": index,
            "name": [f"row {i}" for i in index],
            "carrier": np.array(list("abcde"))[index % 5],
            "carrier_name": np.array(["Alpha", "Beta", "Gamma", "Delta", "Eps"])[index % 5],
            "origin": np.array(["x", "y", "z"])[index // 7 % 3],
            "hour": index % 12,
            "distance": index * 1.5,
            "constant": "same",
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(index % 3, unit="D"),
            "delay": np.sin(index),
        }
    )
