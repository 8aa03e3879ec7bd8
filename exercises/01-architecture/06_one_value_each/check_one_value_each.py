"""Does every place stand once, in row-major order, with the sum of its values?"""

from typing import Any

import numpy as np

from workbook.exercises.asking import Ask, expect


def told(found: Any) -> Any:
    """Both arrays as lists, or whatever was returned."""
    if isinstance(found, tuple) and len(found) == 2 and all(isinstance(part, np.ndarray) for part in found):
        return [part.tolist() for part in found]
    return found


def test_the_order(ask: Ask) -> None:
    """places out of order"""
    found = ask("added_up", np.array([[1, 0, 0], [0, 2, 1]]), np.array([1.0, 2.0, 3.0]), (2, 3)).value
    because = "the first dimension counts first, as in row-major order"
    expect(told(found), [[[0, 0, 1], [1, 2, 0]], [3.0, 2.0, 1.0]], because=because)


def test_sums(ask: Ask) -> None:
    """a place that stands three times, after another"""
    found = ask("added_up", np.array([[0, 1, 1, 1]]), np.array([5.0, 1.0, 10.0, 100.0]), (2,)).value
    expect(told(found), [[[0, 1]], [5.0, 111.0]], because="the three values of place 1 are added up")


def test_rows(ask: Ask) -> None:
    """values that are rows, as the gradient of an embedding has them"""
    found = ask("added_up", np.array([[1, 3]]), np.array([[3.0, 4.0], [5.0, 6.0]]), (5,)).value
    expect(told(found), [[[1, 3]], [[3.0, 4.0], [5.0, 6.0]]], because="a row stays a row")


def test_the_dtype(ask: Ask) -> None:
    """the dtype of the sums of small integers"""
    found = ask("added_up", np.array([[0, 0]]), np.array([1, 2], np.int8), (1,)).value
    dtype = str(found[1].dtype) if isinstance(told(found), list) else found
    expect(dtype, "int8", asked="the dtype of the sums", because="a tensor of int8 stays one")


def test_what_was_given(ask: Ask) -> None:
    """whether the arrays that were given are still what they were"""
    indices, values = np.array([[1, 0, 1]]), np.array([1.0, 2.0, 3.0])
    ask("added_up", indices, values, (2,))
    stays = [[[1, 0, 1]], [1.0, 2.0, 3.0]]
    expect(
        [indices.tolist(), values.tolist()], stays, asked="the arrays, afterwards", because="they belong to a tensor"
    )
