"""What is the result of all the swaps of a shuffle?

Mirrors: the loop of randperm_cpu in aten/src/ATen/native/TensorFactories.cpp
Differs: all swaps at once. NumPy's own shuffle cannot be used, because it picks its swaps itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Note [Swaps without a loop]
# A shuffle looks as if each swap needed the one before. But a place is final after its own step, and before
# that its content changes only when it is a target. Let k be the last step before step i that had the same
# target. It put there what place k held at that moment. So step i brings either the target's own number (no
# such k) or what place k held, and that is found in the same way, from the last step that had k as its
# target. These links are followed to their ends for all places at once; each round doubles the distance.


def swapped_in_turn(targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The result of swapping position i with position `targets[i]` in 0, 1, 2, ..., for i = 0, 1, 2, ... in turn.

    No target may lie before its position. This is the Fisher-Yates shuffle, see Note [Swaps without a loop].
    `swapped_in_turn_plain` is the same as a loop; this takes a third of its time.
    """
    count = len(targets)
    steps = np.arange(count)
    moving = targets != steps
    held = steps.copy()
    held[targets[moving]] = steps[moving]  # of several steps with one target the last one stays
    while True:
        further = held[held]
        if np.array_equal(further, held):
            break
        held = further
    # Steps sorted by target, then by time: the neighbour before is the step before with the same target.
    order = targets << 32 | steps
    order.sort()
    step, target = order & 0xFFFFFFFF, order >> 32
    again = target[1:] == target[:-1]
    result = targets.copy()
    result[step[1:][again]] = held[step[:-1][again]]
    return result


def swapped_in_turn_plain(targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The plain version of `swapped_in_turn`."""
    positions = list(range(len(targets)))
    for i, target in enumerate(targets.tolist()):
        positions[i], positions[target] = positions[target], positions[i]
    return np.array(positions, np.int64)
