"""Two factors at order 1 as a graph: levels are nodes, seen cells are edges, and connected means determined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.cells.arrays import IntArray
from recombine.cells.conjunctions import Conjunctions

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def is_graph(features: Conjunctions) -> bool:
    """Say whether connectivity decides: two factors at order 1, whether distinct or one used twice."""
    return len(features.free) == 2 and features.order == 1


def level_graph(features: Conjunctions, seen: IntArray) -> csr_array:
    """Return the graph whose edges are the seen cells ``seen`` (N, C), each stored once, from the first factor.

    Two distinct factors give one node per level. A factor used twice gives two nodes per level, (a, left) and
    (a, right), with the edges (a, left)-(b, right) and (b, left)-(a, right): the bipartite double cover.
    """
    from scipy.sparse import csr_array

    first, second = features.free
    size = features.sizes[first]
    tails, heads = seen[:, first], seen[:, second] + size
    if features.symmetric:
        tails, heads = np.concatenate([tails, seen[:, second]]), np.concatenate([heads, tails + size])
    nodes = size + features.sizes[second]
    return csr_array((np.ones(len(tails), dtype=bool), (tails, heads)), shape=(nodes, nodes))


def component_labels(features: Conjunctions, seen: IntArray) -> tuple[IntArray, int]:
    """Return a null vector in small integers, one per column, and the rank of the seen cells.

    Distinct factors: the number of the component, negative on the second factor, so that two levels cancel if and
    only if they are connected. One factor used twice: plus or minus the number on the two sides of a bipartite
    component and 0 on a component with an odd cycle, whose levels are all determined.

    Examples
    --------
    >>> labels, rank = component_labels(Conjunctions((2, 2)), np.array([[0, 0], [1, 1]]))
    >>> labels.tolist(), rank
    ([1, 2, -1, -2], 2)
    """
    from scipy.sparse.csgraph import connected_components

    size = features.sizes[features.free[0]]
    number, label = connected_components(level_graph(features, seen), directed=False)
    if features.symmetric:
        labels1, labels2 = label[:size].astype(np.int64) + 1, label[size:].astype(np.int64) + 1
        # Both copies of a bipartite component carry a label of their own; the smaller one names the pair.
        table = np.where(labels1 == labels2, 0, np.where(labels1 < labels2, labels1, -labels2))
        rank = size - len(np.unique(np.abs(table[table != 0])))
        return table, rank
    table = label.astype(np.int64) + 1
    table[size:] *= -1
    return table, len(label) - int(number)


def shortest_path(graph: csr_array, start: int, stop: int) -> list[int]:
    """Return the nodes of a shortest path, both ends included; empty if there is none.

    Examples
    --------
    >>> shortest_path(level_graph(Conjunctions((2, 2)), np.array([[0, 0], [1, 0], [1, 1]])), 0, 3)
    [0, 2, 1, 3]
    """
    from scipy.sparse.csgraph import breadth_first_order

    _, before = breadth_first_order(graph, start, directed=False, return_predecessors=True)
    path = [stop]
    while path[-1] != start:
        previous = int(before[path[-1]])
        if previous < 0:
            return []
        path.append(previous)
    return path[::-1]
