"""Is each part of the samples collated by its row, and each container rebuilt with the right type?"""

from collections import OrderedDict, deque
from typing import Any, NamedTuple

from workbook.exercises.asking import Ask, Raises, expect


class Point(NamedTuple):
    """A sample with named fields."""

    x: Any
    y: Any


def row(batch: Any, *, collate_fn_map: Any) -> Any:
    """A row that returns a text with the samples it was called with."""
    return f"row of {list(batch)}"


def other(batch: Any, *, collate_fn_map: Any) -> Any:
    """Another row."""
    return f"other row of {list(batch)}, with a table of {len(collate_fn_map)}"


TABLE = {(int, float): row, str: other}


def judge(ask: Ask, batch: list[Any], accepted: Any, because: str, table: Any = TABLE) -> None:
    """Call the function, and judge the contents and the types of the batch."""
    expect(ask("collate", batch, collate_fn_map=table), repr(accepted), read=repr, because=because)


def test_rows(ask: Ask) -> None:
    """the batch for samples whose type has a row"""
    judge(ask, [1, 2], "row of [1, 2]", "a row may be for several types")
    judge(ask, ["a"], "other row of ['a'], with a table of 2", "the table is passed to a row's function")
    judge(ask, [True], "row of [True]", "a bool is an instance of int")
    exact = {int: row, bool: other}
    because = "a row for exactly this type takes precedence over a row for one of its bases"
    judge(ask, [True], "other row of [True], with a table of 2", because, exact)
    because = "a row may be for a container"
    judge(ask, [{"a": 1}, {"a": 2}], "row of [{'a': 1}, {'a': 2}]", because, {dict: row})


def test_containers(ask: Ask) -> None:
    """the batch for samples that are containers"""
    judge(ask, [(1, 2), (3, 4)], ["row of [1, 3]", "row of [2, 4]"], "there is one entry for each place, in a list")
    judge(ask, [[(1,)], [(2,)]], [["row of [1, 2]"]], "parts are samples themselves, with the same table")
    judge(ask, [{"a": [1]}, {"a": [2]}], {"a": ["row of [1, 2]"]}, "parts are samples themselves, with the same table")
    judge(ask, [Point(1, 2), Point(3, 4)], Point("row of [1, 3]", "row of [2, 4]"), "a named tuple keeps its type")
    judge(ask, [OrderedDict(a=1)], OrderedDict(a="row of [1]"), "a mapping keeps its type")
    judge(ask, [deque([1])], deque(["row of [1]"]), "a sequence keeps its type")
    judge(ask, [{"a": 1}, {"b": 0, "a": 2}], {"a": "row of [1, 2]"}, "the keys are those of the first sample")


def test_what_cannot_be_collated(ask: Ask) -> None:
    """an error for samples that cannot be collated"""
    unequal, message = "their lengths differ", "each element in list of batch should be of equal size"
    for batch in ([[1], [1, 2]], [(1, 2), (1,)]):
        expect(ask("collate", batch, collate_fn_map=TABLE), Raises(RuntimeError, message), because=unequal)
    because = "there is no row for it, and it is not a container"
    expect(ask("collate", [None], collate_fn_map=TABLE), Raises(TypeError, "found <class 'NoneType'>"), because=because)
