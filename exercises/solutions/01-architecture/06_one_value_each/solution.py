"""Sorts the places of a sparse tensor, and adds up the values of equal ones."""

import numpy as np

Array = np.ndarray
Shape = tuple[int, ...]


def added_up(indices: Array, values: Array, shape: Shape) -> tuple:
    """Each place once, in row-major order, with the sum of its values."""
    places = np.ravel_multi_index(tuple(indices), shape) if shape else np.zeros(indices.shape[1], np.int64)
    order = np.argsort(places, kind="stable")
    places = places[order]
    begins = np.append(True, places[1:] != places[:-1])
    which = np.cumsum(begins) - 1
    added = np.zeros((which[-1] + 1, *values.shape[1:]), values.dtype)
    np.add.at(added, which, values[order])
    return indices[:, order[begins]], added
