"""Points in the plane for the comparisons, the same for every peer.

    make_points.py blobs|moons|chess N OUT.csv

writes OUT.csv (x1,x2,label) and, in LIBSVM's format, OUT.svm. Labels are -1 and 1.
"""

import pathlib
import sys

import numpy


def blobs(n, random):
    """Two round clouds that overlap, their centres 1.5 apart in each coordinate."""
    labels = 1 - 2 * (numpy.arange(n) % 2)
    return random.randn(n, 2) + 0.75 * labels.reshape(n, 1), labels


def moons(n, random):
    """Two half moons with noise."""
    from sklearn.datasets import make_moons

    points, second = make_moons(n, noise=0.25, random_state=random)
    return points, 2 * second - 1


def chess(n, random):
    """A board of 4 x 4 fields; one label in twenty is wrong."""
    points = 4 * random.rand(n, 2)
    odd = numpy.floor(points).sum(axis=1) % 2
    wrong = random.rand(n) < 0.05
    return points, numpy.where((odd == 1) != wrong, 1, -1)


KINDS = {"blobs": blobs, "moons": moons, "chess": chess}


def main(kind, n, out):
    if kind not in KINDS:
        sys.exit(f"{kind} is none of {', '.join(KINDS)}")
    points, labels = KINDS[kind](int(n), numpy.random.RandomState(1))
    csv, svm = ["x1,x2,label"], []
    for (x1, x2), label in zip(points, labels):
        csv.append(f"{x1:.9g},{x2:.9g},{label}")
        svm.append(f"{label:+d} 1:{x1:.9g} 2:{x2:.9g}")
    path = pathlib.Path(out)
    path.write_text("\n".join(csv) + "\n")
    path.with_suffix(".svm").write_text("\n".join(svm) + "\n")


main(*sys.argv[1:])
