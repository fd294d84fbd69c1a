"""The linear program of the Minimal Complexity Machine in HiGHS.

    mcm_highs.py DATA.csv [--kernel rbf] [--gamma 1] [--C 1] [--rho 0] [--form dual]

The last column of DATA.csv is the label; the features are standardised, or multiplied by --spread. The form
"full" is the program with a coefficient for every sample,

    min h + C sum xi + rho sum |lambda|
    subject to y_i f(x_i) <= h, y_i f(x_i) + xi_i >= 1, xi >= 0, f = K lambda + b,

and "dual" is its dual, for rho = 0 in the coordinates of a pivoted Cholesky factor
of K, which is what HiGHS does best. Prints one JSON object.
"""

import argparse
import json
import time
import warnings

import numpy
import pandas
from scipy.optimize import linprog

warnings.filterwarnings("ignore")


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data")
    p.add_argument("--kernel", choices=["linear", "poly", "rbf", "linear+rbf"], default="rbf")
    p.add_argument("--form", choices=["dual", "full"], default="dual")
    p.add_argument("--degree", type=int, default=3)
    p.add_argument("--spread", type=float)
    for name, default in [("gamma", 1), ("coef0", 0), ("C", 1), ("rho", 0), ("rank-tol", 1e-3)]:
        p.add_argument("--" + name, type=float, default=default)
    return p.parse_args()


def read(path, times):
    """Standardised features, or the features times a number, and +1 for the last class in the order of names."""
    table = pandas.read_csv(path)
    x = table.iloc[:, :-1].to_numpy(float)
    names = table.iloc[:, -1].astype(str)
    labels = numpy.where(names == names.max(), 1.0, -1.0)
    if times:
        return x * times, labels
    spread = x.std(axis=0)
    spread[spread == 0] = 1
    return (x - x.mean(axis=0)) / spread, labels


def gram(x, o):
    products = x @ x.T
    if o.kernel == "linear":
        return products
    if o.kernel == "poly":
        return (o.gamma * products + o.coef0) ** o.degree
    squares = numpy.diag(products)
    near = numpy.exp(-o.gamma * numpy.maximum(squares[:, None] + squares - 2 * products, 0))
    return near + products if o.kernel == "linear+rbf" else near


def factor(k, tolerance):
    """L with K = L L' but for what is below tolerance times the largest diagonal element."""
    rest = numpy.diag(k).copy()
    enough = tolerance * rest.max()
    columns = numpy.empty((len(k), 0))
    while columns.shape[1] < len(k) and rest.max() > enough:
        pivot = rest.argmax()
        column = (k[:, pivot] - columns @ columns[pivot]) / numpy.sqrt(rest[pivot])
        columns = numpy.column_stack([columns, column])
        rest = rest - column**2
        rest[pivot] = 0
    return columns


def full(k, y, o):
    """The program itself. Its variables are lambda (two parts of it if rho > 0), b, h, xi."""
    n = len(y)
    outputs = y[:, None] * k
    sign = (None, None)
    if o.rho > 0:
        outputs = numpy.hstack([outputs, -outputs])
        sign = (0, None)
    coefficients = outputs.shape[1]
    outputs = numpy.column_stack([outputs, y])
    none, one = numpy.zeros((n, 1)), numpy.ones((n, 1))
    below = numpy.hstack([outputs, -one, numpy.zeros((n, n))])  # y f - h <= 0
    above = numpy.hstack([-outputs, none, -numpy.eye(n)])  # -y f - xi <= -1
    return linprog(
        numpy.concatenate([numpy.full(coefficients, o.rho), [0, 1], numpy.full(n, o.C)]),
        A_ub=numpy.vstack([below, above]),
        b_ub=numpy.repeat([0, -1], n),
        bounds=[sign] * coefficients + [(None, None)] * 2 + [(0, None)] * n,
        method="highs",
    )


def dual(basis, y, o):
    """The dual. Its variables are the multipliers of "above" (at most C) and of "below"."""
    n, rank = basis.shape
    signed = (y[:, None] * basis).T
    balance = numpy.hstack([signed, -signed])
    mass = numpy.repeat([0.0, 1.0], n)[None]  # those of "below" sum to 1 at most
    both = numpy.concatenate([y, -y])[None]  # from b
    if o.rho > 0:
        a_ub, b_ub = numpy.vstack([mass, balance, -balance]), numpy.concatenate([[1], numpy.full(2 * rank, o.rho)])
        a_eq, b_eq = both, numpy.zeros(1)
    else:
        a_ub, b_ub = mass, numpy.ones(1)
        a_eq, b_eq = numpy.vstack([both, balance]), numpy.zeros(1 + rank)
    bounds = [(0, o.C)] * n + [(0, None)] * n
    return linprog(numpy.repeat([-1.0, 1.0], n), a_ub, b_ub, a_eq, b_eq, bounds, method="highs")


def main():
    o = options()
    x, y = read(o.data, o.spread)
    k = gram(x, o)
    start = time.perf_counter()
    rank = len(y)
    if o.form == "full":
        answer = full(k, y, o)
        objective = answer.fun
    else:
        basis = k if o.rho > 0 else factor(k, o.rank_tol)
        rank = basis.shape[1]
        answer = dual(basis, y, o)
        objective = None if answer.fun is None else 1 - answer.fun
    print(json.dumps({
        "status": int(answer.status),
        "message": answer.message.splitlines()[0],
        "objective": None if objective is None else float(objective),
        "rank": rank,
        "iterations": int(answer.nit or 0),
        "seconds": time.perf_counter() - start,
    }))


main()
