"""Train MAVE-NN on a table of MAVE-NN's own format and print its held-out R2 and seconds as one line of JSON.

Run by ``benchmarks/structures.py --mavenn-python PYTHON``, with an interpreter of its own: MAVE-NN needs TensorFlow.
The model is that of MAVE-NN's tutorial for the table: a global epistasis regression on an additive or pairwise latent.
"""

from __future__ import annotations

import argparse
import json
import time

import keras
import mavenn
import numpy as np
import pandas as pd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", help="csv.gz with columns x, y and set")
    parser.add_argument("--map", choices=("additive", "pairwise"), default="additive")
    parser.add_argument("--alphabet", default="protein")
    parser.add_argument("--share", type=float, default=0.0, help="train on such a share, at random; 0: the own split")
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--patience", type=int, default=25)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    frame = pd.read_csv(given.table)
    if given.share:
        order = np.random.default_rng(given.seed).permutation(len(frame))
        kept, out = np.split(order, [round(given.share * len(frame))])
    else:
        kept, out = np.flatnonzero(frame["set"] != "test"), np.flatnonzero(frame["set"] == "test")
    train, test = frame.iloc[kept], frame.iloc[out]
    keras.utils.set_random_seed(given.seed)
    start = time.perf_counter()
    model = mavenn.Model(
        L=len(frame["x"].iloc[0]),
        alphabet=given.alphabet,
        gpmap_type=given.map,
        regression_type="GE",
        ge_noise_model_type="Gaussian",
        ge_heteroskedasticity_order=0,
    )
    validation = np.random.default_rng(given.seed).random(len(train)) < 0.05
    model.set_data(x=train["x"].to_numpy(), y=train["y"].to_numpy(), validation_flags=validation, verbose=False)
    model.fit(
        learning_rate=0.005,
        epochs=given.epochs,
        batch_size=given.batch,
        early_stopping=True,
        early_stopping_patience=given.patience,
        verbose=False,
        try_tqdm=False,
    )
    seconds = time.perf_counter() - start
    predicted = model.x_to_yhat(test["x"].to_numpy())
    y = test["y"].to_numpy()
    epochs = len(model.history["loss"])
    r2 = float(1 - np.mean((y - predicted) ** 2) / np.var(y))
    print(json.dumps({"r2": r2, "seconds": seconds, "epochs": epochs, "rows": len(train)}))


if __name__ == "__main__":
    main()
