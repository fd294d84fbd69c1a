"""Times the Weisfeiler-Lehman kernel of a file of graphs as networkx and SciPy compute it.

Usage: graphs_networkx.py FILE ROUNDS: the file holds JSON lines {"n", "edges", "labels"}.
Prints the processor time from graphs to kernel matrix, and the sum of its values. networkx
refines the labels by hashing, and SciPy multiplies the sparse matrix of their counts with
its transpose.
"""

import collections
import json
import sys
import time

import networkx
import numpy
import scipy.sparse

graphs = []
for line in open(sys.argv[1]):
    g = json.loads(line)
    graph = networkx.Graph()
    graph.add_nodes_from((v, {"label": l}) for v, l in enumerate(g["labels"]))
    graph.add_edges_from(g["edges"])
    graphs.append(graph)
rounds = int(sys.argv[2])

begin = time.process_time()
index, rows, columns, values = {}, [], [], []
for i, graph in enumerate(graphs):
    counts = collections.Counter(label for _, label in graph.nodes(data="label"))
    refined = networkx.weisfeiler_lehman_subgraph_hashes(graph, node_attr="label", iterations=rounds)
    for hashes in refined.values():
        counts.update(enumerate(hashes))
    for feature, times in counts.items():
        rows.append(i)
        columns.append(index.setdefault(feature, len(index)))
        values.append(float(times))
x = scipy.sparse.csr_matrix((values, (rows, columns)), shape=(len(graphs), len(index)))
k = (x @ x.T).toarray()
took = time.process_time() - begin
print(json.dumps({"Seconds": took, "Objective": float(numpy.sum(k))}))
