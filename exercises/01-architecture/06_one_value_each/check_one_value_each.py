"""Is every place listed once, in row-major order, with the sum of its values?"""

from typing import Any

import numpy as np

from workbook.exercises.asking import Ask, expect


def told(found: Any) -> Any:
    """Both arrays as lists, or whatever was returned."""
    if isinstance(found, tuple) and len(found) == 2 and all(isinstance(part, np.ndarray) for part in found):
        return [part.tolist() for part in found]
    return found


def test_the_order(ask: Ask) -> None:
    """the places in row-major order, with their values"""
    found = ask("added_up", np.array([[1, 0, 0], [0, 2, 1]]), np.array([1.0, 2.0, 3.0]), (2, 3)).value
    because = "in row-major order, places are sorted by the first dimension, then by the next"
    expect(told(found), [[[0, 0, 1], [1, 2, 0]], [3.0, 2.0, 1.0]], because=because)


def test_sums(ask: Ask) -> None:
    """the sum of the values at a place that is listed three times, after another place"""
    found = ask("added_up", np.array([[0, 1, 1, 1]]), np.array([5.0, 1.0, 10.0, 100.0]), (2,)).value
    expect(told(found), [[[0, 1]], [5.0, 111.0]], because="the three values of place 1 are added up")


def test_rows(ask: Ask) -> None:
    """the result for values that are rows, as in the gradient of an embedding"""
    found = ask("added_up", np.array([[1, 3]]), np.array([[3.0, 4.0], [5.0, 6.0]]), (5,)).value
    expect(told(found), [[[1, 3]], [[3.0, 4.0], [5.0, 6.0]]], because="a row stays a row in the result")


def test_the_dtype(ask: Ask) -> None:
    """the dtype of the sums of small integers"""
    found = ask("added_up", np.array([[0, 0]]), np.array([1, 2], np.int8), (1,)).value
    dtype = str(found[1].dtype) if isinstance(told(found), list) else found
    expect(dtype, "int8", asked="the dtype of the sums", because="the sums of int8 values are int8, too")


def test_what_was_given(ask: Ask) -> None:
    """the arguments, unchanged by the call"""
    indices, values = np.array([[1, 0, 1]]), np.array([1.0, 2.0, 3.0])
    ask("added_up", indices, values, (2,))
    stays = [[[1, 0, 1]], [1.0, 2.0, 3.0]]
    expect(
        [indices.tolist(), values.tolist()], stays, asked="the arrays after the call", because="they belong to a tensor"
    )
