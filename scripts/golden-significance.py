"""Asks scipy for the truth that src/eval/significance is held to: test/golden/eval/significance.json.

Run from the root of the repository, with `pip install scipy`:
    python scripts/golden-significance.py

Pairs of up to 14 queries are tested exactly (all sign flips), longer ones with 200,000 random ones, and carry what two
such samples may differ by: five standard errors of p. Intervals are percentile bootstraps of 20,000 samples.
"""

import datetime
import json
import platform

import numpy as np
import scipy
from scipy import stats

OUT = "test/golden/eval/significance.json"


def difference(a, b, axis):
    """The sum, not the mean: sums of eighths are exact, and scipy takes equal statistics apart for their rounding."""
    return np.sum(a - b, axis=axis)


def values(rng, n, shift):
    """Metric-like values with many ties: eighths between 0 and 1, the second system a bit better."""
    a = np.round(8 * rng.uniform(0, 1, n)) / 8
    b = np.clip(np.round(8 * (a + rng.normal(shift, 0.2, n))) / 8, 0, 1)
    return a, b


def case(rng, n, shift):
    a, b = values(rng, n, shift)
    resamples = np.inf if n <= 14 else 200_000
    test = stats.permutation_test((a, b), difference, permutation_type="samples", vectorized=True, n_resamples=resamples, rng=rng)
    interval = stats.bootstrap((a,), np.mean, method="percentile", n_resamples=20_000, rng=rng).confidence_interval
    p = float(test.pvalue)
    tolerance = 1e-12 if n <= 14 else 5 * (p * (1 - p) * (1 / 100_000 + 1 / 200_000)) ** 0.5 + 1e-4
    return {"a": a.tolist(), "b": b.tolist(), "p": p, "tolerance": tolerance,
            "interval": [float(interval.low), float(interval.high)]}


rng = np.random.default_rng(4)
sizes = [2, 3, 5, 8, 10, 12, 14, 14, 40, 100, 225, 300]
cases = [case(rng, n, shift) for n in sizes for shift in (0.0, 0.05, 0.15)]
head = {
    "made by": "python scripts/golden-significance.py",
    "date": datetime.date.today().isoformat(),
    "versions": {"scipy": scipy.__version__, "numpy": np.__version__, "python": platform.python_version()},
}
with open(OUT, "w", encoding="utf-8") as file:
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    file.write(json.dumps(head, indent=0)[:-2] + ',\n"cases": [\n' + lines + "\n]}\n")
