"""Finds the number of elements right, and lays the new sizes out row by row whatever the strides are."""

REFUSED_BY = "check"


def view_strides(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...] | None:
    if shape == target:
        return strides
    found = [1]
    for size in reversed(target[1:]):
        found.append(found[-1] * max(size, 1))
    return tuple(reversed(found))[: len(target)]
