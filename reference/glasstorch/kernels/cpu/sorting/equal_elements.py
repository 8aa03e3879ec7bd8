"""Which of several equal elements does a selection pick that is not stable?

Mirrors: std::nth_element, std::partial_sort and std::sort of libstdc++ (bits/stl_algo.h, bits/stl_heap.h), which topk
    and mode call, and aten/src/ATen/native/Sorting.cpp (quick_select_template), which kthvalue calls
Differs: they are followed for small tensors. See Note [Equal elements].

# Note [Equal elements]
PyTorch leaves open which of several equal elements the k-th, the most frequent or one of the k largest is, and on the
CPU the answer is what the algorithms of the C++ library leave behind. Who compares a small example with PyTorch, or its
gradient, should find the same place: so in tensors of up to FOLLOWED elements those algorithms are run step by step, on
the rows where it matters. That takes milliseconds and would take seconds for a million elements, where one of the equal
elements is picked as it comes. Sorting is always stable here, and a median is the one that a stable order has there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.sorting.ordering import ordered_keys

FOLLOWED: Final = 1 << 12  # elements
INSERTION_SORTED: Final = 16  # _S_threshold: so many elements std::sort leaves to its last, stable pass

Selection = Callable[[list[int], int], list[int]]  # (the keys of a row, a rank) -> the places, rearranged


def follow(rows: Array, descending: bool, concerned: Array, select: Selection, rank: int | Array) -> Array:
    """The rearranged places of those rows that are concerned, of which `rank` says what is looked for."""
    keys = ordered_keys(rows, descending)[concerned].tolist()
    ranks = np.broadcast_to(rank, concerned.shape)[concerned].tolist()
    return np.array([select(row, wanted) for row, wanted in zip(keys, ranks, strict=True)])


def nth_element(keys: list[int], rank: int) -> list[int]:
    """std::nth_element: the element of a rank in its place, none that is larger before it."""
    places = list(range(len(keys)))
    first, last = 0, len(keys)
    while last - first > 3:
        cut = _partition(keys, places, first, last)
        if cut <= rank:
            first = cut
        else:
            last = cut
    places[first:last] = sorted(places[first:last], key=keys.__getitem__)
    return places


def sorted_by_topk(keys: list[int], k: int) -> list[int]:
    """The places of the first k in order: nth_element, then std::sort of those in front of the last."""
    chosen = nth_element(keys, k - 1)[:k]
    front = [keys[place] for place in chosen[:-1]]
    return [*(chosen[at] for at in unstable_sort(front, 0)), chosen[-1]]


def partial_sort(keys: list[int], k: int) -> list[int]:
    """std::partial_sort: the places of the first k in order, by a heap of k with the last of them on top."""
    heap = list(range(k))
    for hole in reversed(range(k // 2)):
        _sift(keys, heap, hole, heap[hole])
    for place in range(k, len(keys)):
        if keys[place] < keys[heap[0]]:
            _sift(keys, heap, 0, place)
    behind: list[int] = []
    while heap:
        last = heap.pop()
        behind.append(heap[0] if heap else last)
        if heap:
            _sift(keys, heap, 0, last)
    return behind[::-1]


def _sift(keys: list[int], heap: list[int], top: int, place: int) -> None:
    """__adjust_heap: put a place into the heap below `top`, whose own is overwritten."""
    hole, size = top, len(heap)
    while (child := 2 * hole + 2) <= size:
        if child == size or keys[heap[child]] < keys[heap[child - 1]]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    while hole > top and keys[heap[(hole - 1) // 2]] < keys[place]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = place


def unstable_sort(keys: list[int], rank: int) -> list[int]:
    """std::sort of everything: pieces are partitioned until they are small; the last pass is stable."""
    places = list(range(len(keys)))
    pieces = [(0, len(keys))]
    while pieces:
        first, last = pieces.pop()
        while last - first > INSERTION_SORTED:
            cut = _partition(keys, places, first, last)
            pieces.append((cut, last))
            last = cut
    return sorted(places, key=keys.__getitem__)


def _partition(keys: list[int], places: list[int], first: int, last: int) -> int:
    """__unguarded_partition_pivot: where what is not smaller than the median of three begins."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    key_a, key_b, key_c = (keys[places[at]] for at in (a, b, c))
    if key_a < key_b:
        middle = b if key_b < key_c else c if key_a < key_c else a
    else:
        middle = a if key_a < key_c else c if key_b < key_c else b
    places[first], places[middle] = places[middle], places[first]
    pivot = keys[places[first]]
    low, high = first + 1, last
    while True:
        while keys[places[low]] < pivot:
            low += 1
        high -= 1
        while pivot < keys[places[high]]:
            high -= 1
        if low >= high:
            return low
        places[low], places[high] = places[high], places[low]
        low += 1


def quick_select(keys: list[int], rank: int) -> list[int]:
    """quick_select_template: the element of a rank in its place."""
    places = list(range(len(keys)))

    def swap_unordered(a: int, b: int) -> None:
        if keys[places[a]] > keys[places[b]]:
            places[a], places[b] = places[b], places[a]

    left, right = 0, len(keys) - 1
    while right > left + 1:
        middle = left + (right - left) // 2
        places[middle], places[left + 1] = places[left + 1], places[middle]
        swap_unordered(left + 1, right)
        swap_unordered(left, right)
        swap_unordered(left + 1, left)
        low, high, pivot = left + 1, right, keys[places[left]]
        while True:
            low += 1
            while pivot > keys[places[low]]:
                low += 1
            high -= 1
            while keys[places[high]] > pivot:
                high -= 1
            if high < low:
                break
            places[low], places[high] = places[high], places[low]
        places[left], places[high] = places[high], places[left]
        if high <= rank:
            left = low
        if high >= rank:
            right = high - 1
    if right == left + 1:
        swap_unordered(left, right)
    return places
