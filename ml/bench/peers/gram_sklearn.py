"""Trains scikit-learn's SVM on a kernel matrix that `marginlab gram --csv` printed.

    gram_sklearn.py GRAM LABELS TRAIN C

GRAM holds the values among all objects, LABELS one label a line; the first TRAIN objects
are trained on, the others predicted. Prints as JSON the dual objective, the decision values
and the predictions.
"""

import json
import sys

import numpy
import sklearn.svm

gram = numpy.loadtxt(sys.argv[1], delimiter=",")
labels = numpy.array(open(sys.argv[2]).read().split())
train, price = int(sys.argv[3]), float(sys.argv[4])
machine = sklearn.svm.SVC(kernel="precomputed", C=price, tol=1e-9)
machine.fit(gram[:train, :train], labels[:train])
weights, rows = machine.dual_coef_[0], machine.support_
rest = gram[train:, :train]
print(json.dumps({
    "objective": abs(weights).sum() - weights @ gram[numpy.ix_(rows, rows)] @ weights / 2,
    "values": machine.decision_function(rest).tolist(),
    "labels": machine.predict(rest).tolist(),
}))
