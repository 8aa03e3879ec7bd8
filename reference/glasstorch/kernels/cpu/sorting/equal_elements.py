"""Which of several equal elements does an unstable selection return?

Mirrors: std::nth_element, std::partial_sort and std::sort of libstdc++ (bits/stl_algo.h, bits/stl_heap.h), which topk
    and mode call, and aten/src/ATen/native/Sorting.cpp (quick_select_template), which kthvalue calls
Differs: only small tensors follow these algorithms. See Note [Equal elements].

# Note [Equal elements]
PyTorch does not specify which of several equal elements is the k-th, the most frequent or among the k largest; on the
CPU the answer is whatever the algorithms of the C++ library leave. A reader who compares a small example, or its
gradient, with PyTorch should find the same index: in tensors of up to FOLLOWED_UP_TO elements those algorithms are run
step by step, on the rows where it matters. That takes milliseconds; for a million elements it would take seconds, and
there any of the equal elements may be returned. Sorting is always stable here, and a median is the element in the
middle of a stable order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.sorting.ordering import ordered_keys

FOLLOWED_UP_TO: Final = 1 << 12  # elements up to which the algorithms of libstdc++ are followed
INSERTION_SORTED: Final = 16  # _S_threshold: elements up to which std::sort leaves a part to its last, stable pass

Selection = Callable[[list[int], int], list[int]]  # (keys of a row, rank) -> the rearranged positions


def follow(rows: Array, descending: bool, concerned: Array, select: Selection, rank: int | Array) -> Array:
    """The rearranged positions of the rows in `concerned`; `rank` is the rank, or the ranks, to select."""
    keys = ordered_keys(rows, descending)[concerned].tolist()
    ranks = np.broadcast_to(rank, concerned.shape)[concerned].tolist()
    return np.array([select(row, wanted) for row, wanted in zip(keys, ranks, strict=True)])


def nth_element(keys: list[int], rank: int) -> list[int]:
    """std::nth_element: the element of a rank at its position, and no larger one before it."""
    positions = list(range(len(keys)))
    first, last = 0, len(keys)
    while last - first > 3:
        cut = _partition(keys, positions, first, last)
        if cut <= rank:
            first = cut
        else:
            last = cut
    positions[first:last] = sorted(positions[first:last], key=keys.__getitem__)
    return positions


def sorted_by_topk(keys: list[int], k: int) -> list[int]:
    """The positions of the first k in order: nth_element, then std::sort of the first k - 1."""
    chosen = nth_element(keys, k - 1)[:k]
    front = [keys[position] for position in chosen[:-1]]
    return [*(chosen[at] for at in unstable_sort(front, 0)), chosen[-1]]


def partial_sort(keys: list[int], k: int) -> list[int]:
    """std::partial_sort: the positions of the first k in order, by a heap of k whose top is the last of them."""
    heap = list(range(k))
    for hole in reversed(range(k // 2)):
        _sift(keys, heap, hole, heap[hole])
    for position in range(k, len(keys)):
        if keys[position] < keys[heap[0]]:
            _sift(keys, heap, 0, position)
    behind: list[int] = []
    while heap:
        last = heap.pop()
        behind.append(heap[0] if heap else last)
        if heap:
            _sift(keys, heap, 0, last)
    return behind[::-1]


def _sift(keys: list[int], heap: list[int], top: int, position: int) -> None:
    """__adjust_heap: sift a position into the heap below `top`, overwriting the position at `top`."""
    hole, size = top, len(heap)
    while (child := 2 * hole + 2) <= size:
        if child == size or keys[heap[child]] < keys[heap[child - 1]]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    while hole > top and keys[heap[(hole - 1) // 2]] < keys[position]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = position


def unstable_sort(keys: list[int], rank: int) -> list[int]:
    """std::sort: parts are partitioned until they are small; the last pass is stable."""
    positions = list(range(len(keys)))
    pieces = [(0, len(keys))]
    while pieces:
        first, last = pieces.pop()
        while last - first > INSERTION_SORTED:
            cut = _partition(keys, positions, first, last)
            pieces.append((cut, last))
            last = cut
    return sorted(positions, key=keys.__getitem__)


def _partition(keys: list[int], positions: list[int], first: int, last: int) -> int:
    """__unguarded_partition_pivot: the start of the elements not below the median of three."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    key_a, key_b, key_c = (keys[positions[at]] for at in (a, b, c))
    if key_a < key_b:
        middle = b if key_b < key_c else c if key_a < key_c else a
    else:
        middle = a if key_a < key_c else c if key_b < key_c else b
    positions[first], positions[middle] = positions[middle], positions[first]
    pivot = keys[positions[first]]
    low, high = first + 1, last
    while True:
        while keys[positions[low]] < pivot:
            low += 1
        high -= 1
        while pivot < keys[positions[high]]:
            high -= 1
        if low >= high:
            return low
        positions[low], positions[high] = positions[high], positions[low]
        low += 1


def quick_select(keys: list[int], rank: int) -> list[int]:
    """quick_select_template: the element of a rank at its position."""
    positions = list(range(len(keys)))

    def swap_unordered(a: int, b: int) -> None:
        if keys[positions[a]] > keys[positions[b]]:
            positions[a], positions[b] = positions[b], positions[a]

    left, right = 0, len(keys) - 1
    while right > left + 1:
        middle = left + (right - left) // 2
        positions[middle], positions[left + 1] = positions[left + 1], positions[middle]
        swap_unordered(left + 1, right)
        swap_unordered(left, right)
        swap_unordered(left + 1, left)
        low, high, pivot = left + 1, right, keys[positions[left]]
        while True:
            low += 1
            while pivot > keys[positions[low]]:
                low += 1
            high -= 1
            while keys[positions[high]] > pivot:
                high -= 1
            if high < low:
                break
            positions[low], positions[high] = positions[high], positions[low]
        positions[left], positions[high] = positions[high], positions[left]
        if high <= rank:
            left = low
        if high >= rank:
            right = high - 1
    if right == left + 1:
        swap_unordered(left, right)
    return positions
