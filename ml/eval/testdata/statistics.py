"""Writes statistics.json: what SciPy says of the numbers that the tests of ml/eval use."""
import json
import math

import numpy as np
from scipy import stats

rng = np.random.default_rng(11)
out = {}

out["wilson"] = []
for right, n, level in [(81, 263, 0.95), (15, 148, 0.95), (0, 20, 0.95), (1, 29, 0.95), (29, 29, 0.99), (5, 10, 0.9), (1, 1, 0.95), (987, 1000, 0.95)]:
    i = stats.binomtest(right, n).proportion_ci(level, method="wilson")
    out["wilson"].append({"right": right, "n": n, "level": level, "low": i.low, "high": i.high})

# The corrected t-test is the plain one with another standard error; the posterior is that t.
out["paired"] = []
for n, ratio, rope, scale in [(10, 1 / 9, 0.01, 0.02), (100, 1 / 9, 0.01, 0.03), (5, 0.25, 0.0, 0.05), (2, 1.0, 0.02, 0.01), (15, 0.0, 0.01, 0.02)]:
    d = np.round(rng.normal(0.01, scale, n), 4)
    mean, error = d.mean(), d.std(ddof=1) * math.sqrt(1 / n + ratio)
    t = stats.t(n - 1, loc=mean, scale=error)
    low, high = t.interval(0.95)
    out["paired"].append({
        "differences": d.tolist(), "ratio": ratio, "rope": rope, "t": mean / error, "p": 2 * stats.t.sf(abs(mean / error), n - 1), "low": low, "high": high,
        "worse": t.cdf(-rope), "same": t.cdf(rope) - t.cdf(-rope), "better": t.sf(rope),
        "plain": stats.ttest_1samp(d, 0).pvalue,
    })

out["wilcoxon"] = []
for n, digits, zeros in [(5, 6, 0), (12, 6, 0), (30, 6, 0), (60, 2, 0), (80, 2, 6), (51, 6, 0)]:
    d = np.concatenate([np.round(rng.normal(0.02, 0.1, n), digits), np.zeros(zeros)])
    nonzero = np.count_nonzero(d)
    r = stats.wilcoxon(d, zero_method="wilcox", mode="exact" if nonzero <= 50 else "approx")
    out["wilcoxon"].append({"differences": d.tolist(), "least": float(r.statistic), "p": r.pvalue})

out["friedman"] = []
for n, k, digits in [(14, 4, 6), (10, 6, 1), (5, 3, 1), (30, 2, 1), (6, 3, 2)]:
    s = np.round(rng.uniform(0.5, 1, (n, k)) + np.linspace(0, 0.2, k), digits)
    ranks = np.array([stats.rankdata(-row) for row in s])
    if k > 2:
        chi = stats.friedmanchisquare(*s.T).statistic
    else:  # SciPy takes three at least: the same formula
        ties = sum(t**3 - t for row in ranks for t in np.unique(row, return_counts=True)[1])
        chi = (12 * (ranks.sum(0) ** 2).sum() / (n * k * (k + 1)) - 3 * n * (k + 1)) / (1 - ties / (n * (k**3 - k)))
    f = (n - 1) * chi / (n * (k - 1) - chi)
    out["friedman"].append({
        "scores": s.tolist(), "ranks": ranks.mean(0).tolist(), "chi": chi, "chi_p": stats.chi2.sf(chi, k - 1), "f": f, "p": stats.f.sf(f, k - 1, (k - 1) * (n - 1)),
    })

out["range"] = []
for k in (2, 3, 4, 5, 6, 10, 20, 50):
    for level in (0.1, 0.05, 0.01):
        out["range"].append({"k": k, "level": level, "q": stats.studentized_range.ppf(1 - level, k, np.inf)})

out["mcnemar"] = [{"a": a, "b": b, "p": stats.binomtest(a, a + b).pvalue} for a, b in [(7, 5), (10, 1), (0, 6), (40, 61), (3, 3)]]

with open("statistics.json", "w") as file:
    json.dump(out, file, indent=None, separators=(",", ":"))
    file.write("\n")
