"""Finds the number of elements right, and lays the new sizes out row by row whatever the strides are.

Refused by: check
"""

Shape = tuple[int, ...]


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """The strides under which the storage reads as `target`, None if none do."""
    if shape == target:
        return strides
    found = [1]
    for size in reversed(target[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(target)]
