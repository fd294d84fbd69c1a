"""Writes scores.json: what scikit-learn says of the answers that the tests of ml use."""
import json
import warnings

import numpy as np
from sklearn import metrics

warnings.simplefilter("ignore")  # classes that do not occur, or are not told
rng = np.random.default_rng(5)
out = {"classes": [], "roc": []}

for n, k, noise in [(40, 2, 0.2), (300, 3, 0.4), (12, 4, 0.5), (50, 2, 0.0), (60, 5, 1.0)]:
    right = rng.integers(0, k, n) * (rng.random(n) < 0.8)
    told = np.where(rng.random(n) < noise, rng.integers(0, k, n), right)
    out["classes"].append({
        "k": k, "right": right.tolist(), "told": told.tolist(),
        "balanced": metrics.balanced_accuracy_score(right, told), "f1": metrics.f1_score(right, told, average="macro"), "mcc": metrics.matthews_corrcoef(right, told),
    })

for n, digits in [(30, 6), (200, 1), (25, 0), (500, 6)]:
    positive = rng.random(n) < 0.3
    f = np.round(rng.normal(0, 1, n) + positive, digits) + 0.0
    out["roc"].append({"f": f.tolist(), "positive": positive.tolist(), "area": metrics.roc_auc_score(positive, f), "average": metrics.average_precision_score(positive, f)})

with open("scores.json", "w") as file:
    json.dump(out, file, separators=(",", ":"))
    file.write("\n")
