"""Which of several equal elements does an unstable selection return?

Mirrors: std::nth_element, std::partial_sort and std::sort of libstdc++ (bits/stl_algo.h, bits/stl_heap.h), which topk
    and mode call, and aten/src/ATen/native/Sorting.cpp (quick_select_template), which kthvalue calls
Differs: only small tensors follow these algorithms. See Note [Equal elements].

# Note [Equal elements]
PyTorch does not specify which of several equal elements is the k-th, the most frequent or among the k largest; on the
CPU the answer is whatever the algorithms of the C++ library leave. A reader who compares a small example, or its
gradient, with PyTorch should find the same index: in tensors of up to FOLLOWED_UP_TO elements those algorithms are run
step by step. That takes milliseconds; for a million elements it would take seconds, and there the k-th is the first of
its equals, the most frequent the last, and the k largest come in a stable order. Sorting is always stable here, and a
median is the element in the middle of a stable order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from heapq import heapify, heappop, heapreplace
from typing import Any, Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.halves import widened

FOLLOWED_UP_TO: Final = 1 << 12  # elements of a tensor up to which these algorithms are followed
INSERTION_SORTED: Final = 16  # _S_threshold: elements up to which std::sort leaves a part to its last, stable pass

Keys = list[int]
Places = list[int]  # the positions of the keys, rearranged


def ranks(rows: Array, descending: bool = False) -> Array:
    """Keys in the order of the elements, NaN being the largest; equal elements have equal keys, and so have all NaN."""
    keys = np.unique(widened(rows), return_inverse=True)[1].reshape(rows.shape)
    return -keys if descending else keys


def follow(keys: Array, count: int, select: Callable[[Keys], Places]) -> Array:
    """The first `count` places in each row of keys, as an algorithm leaves them."""
    rows = keys.reshape(-1, keys.shape[-1]).tolist()
    return np.array([select(row)[:count] for row in rows], np.int64).reshape(*keys.shape[:-1], count)


def topk(keys: Keys, k: int, sorted: bool) -> Places:
    """topk_impl_loop: the places of the first k; few of many are in order, whether they need to be sorted or not."""
    if 64 * k <= len(keys):
        return partial_sort(keys, k)
    chosen = nth_element(keys, k - 1)[:k]
    if not sorted:
        return chosen
    return [*(chosen[at] for at in unstable_sort([keys[place] for place in chosen[:-1]])), chosen[-1]]


def partial_sort(keys: Keys, k: int) -> Places:
    """std::partial_sort: the places of the first k in order, by a heap, in which Python sifts as libstdc++ does."""
    element: Any = cmp_to_key(lambda a, b: keys[b] - keys[a])  # the largest comes first
    heap = [element(place) for place in range(k)]
    heapify(heap)
    for place in range(k, len(keys)):
        if keys[place] < keys[heap[0].obj]:
            heapreplace(heap, element(place))
    return [heappop(heap).obj for _ in range(k)][::-1]


def nth_element(keys: Keys, rank: int) -> Places:
    """std::nth_element: the element of a rank at its place, and no larger one before it."""
    places = list(range(len(keys)))
    first, last = 0, len(keys)
    while last - first > 3:
        cut = _partition(keys, places, first, last)
        first, last = (cut, last) if cut <= rank else (first, cut)
    places[first:last] = sorted(places[first:last], key=keys.__getitem__)
    return places


def unstable_sort(keys: Keys) -> Places:
    """std::sort: parts are partitioned until they are small; the last pass is stable."""
    places = list(range(len(keys)))
    parts = [(0, len(keys))]
    while parts:
        first, last = parts.pop()
        while last - first > INSERTION_SORTED:
            cut = _partition(keys, places, first, last)
            parts.append((cut, last))
            last = cut
    return sorted(places, key=keys.__getitem__)


def _partition(keys: Keys, places: Places, first: int, last: int) -> int:
    """__unguarded_partition_pivot: the start of the elements not below the median of three."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    key_a, key_b, key_c = (keys[places[at]] for at in (a, b, c))
    if key_a < key_b:
        middle = b if key_b < key_c else c if key_a < key_c else a
    else:
        middle = a if key_a < key_c else c if key_b < key_c else b
    places[first], places[middle] = places[middle], places[first]
    return _exchange(keys, places, first + 1, last, keys[places[first]])[0]


def _exchange(keys: Keys, places: Places, low: int, high: int, pivot: int) -> tuple[int, int]:
    """Exchange elements from both ends that are not below or not above a pivot, until the ends meet."""
    while True:
        while keys[places[low]] < pivot:
            low += 1
        high -= 1
        while pivot < keys[places[high]]:
            high -= 1
        if low >= high:
            return low, high
        places[low], places[high] = places[high], places[low]
        low += 1


def quick_select(keys: Keys, rank: int) -> Places:
    """quick_select_template: the element of a rank at its place."""
    places = list(range(len(keys)))

    def put_in_order(a: int, b: int) -> None:
        if keys[places[a]] > keys[places[b]]:
            places[a], places[b] = places[b], places[a]

    left, right = 0, len(keys) - 1
    while right > left + 1:
        middle = left + (right - left) // 2
        places[middle], places[left + 1] = places[left + 1], places[middle]
        put_in_order(left + 1, right)
        put_in_order(left, right)
        put_in_order(left + 1, left)
        low, high = _exchange(keys, places, left + 2, right, keys[places[left]])
        if low == high:  # at an element equal to the pivot, which stays
            low, high = low + 1, high - 1
        places[left], places[high] = places[high], places[left]
        if high <= rank:
            left = low
        if high >= rank:
            right = high - 1
    if right == left + 1:
        put_in_order(left, right)
    return places
