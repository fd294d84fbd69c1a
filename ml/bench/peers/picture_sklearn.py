"""What one would write otherwise: fit, decision surface and picture by scikit-learn and matplotlib.

    picture_sklearn.py N

prints, for PNG and for SVG, the median milliseconds of each part and of all three,
of five runs after a warm-up in one process.
"""

import io
import statistics
import sys
import time

import matplotlib

matplotlib.use("Agg")
import numpy
from matplotlib import pyplot
from sklearn.datasets import make_moons
from sklearn.svm import SVC

CELLS = 200  # along each axis
MARGIN = 0.3  # around the points


def picture(points, labels, kind):
    """Draws once and returns the times between its parts."""
    clock = [time.perf_counter()]
    tick = lambda: clock.append(time.perf_counter())

    model = SVC(C=10, gamma=1).fit(points, labels)
    tick()

    axes = [numpy.linspace(low, high, CELLS) for low, high in zip(points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN)]
    across, up = numpy.meshgrid(*axes)
    surface = model.decision_function(numpy.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    tick()

    figure, plot = pyplot.subplots(figsize=(6, 5))
    plot.pcolormesh(across, up, surface, cmap="coolwarm", rasterized=True)
    plot.contour(across, up, surface, levels=[-1, 0, 1])
    plot.scatter(points[:, 0], points[:, 1], c=labels)
    support = model.support_vectors_
    plot.scatter(support[:, 0], support[:, 1], s=60, facecolors="none", edgecolors="k")
    figure.savefig(io.BytesIO(), format=kind)
    pyplot.close(figure)
    tick()

    return [1000 * (b - a) for a, b in zip(clock, clock[1:])]


points, labels = make_moons(int(sys.argv[1]), noise=0.25, random_state=0)
for kind in ("png", "svg"):
    runs = [picture(points, labels, kind) for _ in range(6)][1:]
    parts = {name: round(statistics.median(r[i] for r in runs), 1) for i, name in enumerate(["fit", "surface", "draw"])}
    parts["total"] = round(statistics.median(sum(r) for r in runs), 1)
    print(kind, parts)
