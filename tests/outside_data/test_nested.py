"""Do numbers and nested sequences make the elements and the dtype that PyTorch makes of them?"""

from __future__ import annotations

import array
import enum
import fractions
import math
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES
from glasstorch.outside_data.nested import array_of
from tests.refusals import builtin


class Five:
    """A number that has an index and is none of Python's."""

    def __index__(self) -> int:
        return 5


class Half:
    """A number that has a value and is none of Python's."""

    def __float__(self) -> float:
        return 0.5


class Pair:
    """A sequence that is none of Python's."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> int:
        if place > 1:
            raise IndexError
        return place + 1


Make = Callable[[Any], Any]


class Level(enum.IntEnum):
    """A number whose class has brackets, though it has none itself; a length alone makes no sequence of it."""

    THREE = 3

    def __len__(self) -> int:
        return 1


class Colour(enum.Enum):
    """As Level, but no number."""

    RED = 1


class OwnInt(int):
    """An int of a class of one's own."""


MADE: dict[str, tuple[Make, str, Any]] = {
    # data -> dtype, elements
    "a complex number": (lambda t: 1 + 2j, "complex64", 1 + 2j),
    "complex numbers among others": (lambda t: [1, 2.5, 3j], "complex64", [1, 2.5, 3j]),
    "NumPy's complex numbers": (lambda t: [np.complex128(1j), 1], "complex128", [1j, 1]),
    "NumPy's small integers": (lambda t: [np.int8(1), np.uint8(2)], "int16", [1, 2]),
    "NumPy's integer beside a float": (lambda t: [np.int32(1), 2.5], "float32", [1.0, 2.5]),
    "NumPy's bools": (lambda t: [np.bool_(True), False], "bool", [True, False]),
    "NumPy's half": (lambda t: np.float16(1.5), "float16", 1.5),
    "a sequence of one's own": (lambda t: Pair(), "int64", [1, 2]),
    "an array of the library": (lambda t: array.array("d", [1, 2]), "float32", [1.0, 2.0]),
    "bytes that can change": (lambda t: bytearray(b"ab"), "int64", [97, 98]),
    "a view of bytes": (lambda t: memoryview(b"ab"), "int64", [97, 98]),
    "tensors": (lambda t: [t.tensor(1), t.tensor(2.5)], "float32", [1.0, 2.5]),
    "a tensor with brackets is one number": (lambda t: [t.tensor([[1.0]])], "float32", [1.0]),
    "a tensor below a list is its elements": (lambda t: [[1, 2], t.tensor([3, 4])], "int64", [[1, 2], [3, 4]]),
    "unsigned below complex": (lambda t: [1.0, np.complex128(1), np.uint64(3)], "complex128", [1, 1, 3]),
    "no rows": (lambda t: [[[]]], "float32", [[[]]]),
    "nothing beside something": (lambda t: [[], [1]], "float32", [[], []]),
    "ints too large beside a float": (lambda t: [2**70, 1.5], "float32", [2.0**70, 1.5]),
    "the least int": (lambda t: -(2**63), "int64", -(2**63)),
    "a member of an IntEnum": (lambda t: Level.THREE, "int64", 3),
    "members of an IntEnum among ints": (lambda t: [Level.THREE, OwnInt(2), 1], "int64", [3, 2, 1]),
    "six brackets": (lambda t: [[[[[[1]]]]]], "int64", [[[[[[1]]]]]]),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_data(torch: Any, name: str) -> None:
    make, dtype, elements = MADE[name]
    made = torch.tensor(make(torch))
    assert (repr(made.dtype), made.tolist()) == (f"torch.{dtype}", elements)


ASKED: dict[str, tuple[Any, str, Any]] = {
    "an index": (Five(), "int64", 5),
    "a member of an IntEnum": ([Level.THREE], "uint64", [3]),
    "an index as a bool": ([Five()], "bool", [True]),
    "a value": ([Half(), 1], "float32", [0.5, 1.0]),
    "a fraction": (fractions.Fraction(1, 2), "float64", 0.5),
    "a float that is NumPy's and Python's": ([np.float64(1.7)], "int64", [1]),
    "NumPy's integer as a float": ([np.int32(3)], "float32", [3.0]),
    "NumPy's complex number as a float": (np.complex128(3), "float32", 3.0),
    "bytes": ([b"ab"], "int64", [[97, 98]]),
    "numbers too large for 8 bits": ([1e300, 500.0], "float8_e4m3fn", [448.0, 448.0]),
    "numbers near the end of 8 bits": ([57344.0, 60000.0, 65000.0], "float8_e5m2", [57344.0, 57344.0, math.inf]),
    "-255 wraps": ([-255], "uint8", [1]),
    "the largest of all": (2**64 - 1, "uint64", 2**64 - 1),
    "complex numbers as bools": ([1j, 0j], "bool", [True, False]),
    "NaN as a bool": ([math.nan], "bool", [True]),
    "real numbers as complex ones": ([1.5, True], "complex128", [1.5, 1]),
}


@pytest.mark.filterwarnings("ignore:Casting complex values to real discards the imaginary part")  # NumPy's warning
@pytest.mark.parametrize("name", ASKED)
def test_what_is_made_in_a_dtype(torch: Any, name: str) -> None:
    data, dtype, elements = ASKED[name]
    made = torch.tensor(data, dtype=getattr(torch, dtype))
    assert made.tolist() == elements


REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "bytes": (lambda t: t.tensor(b"ab"), TypeError, "invalid data type 'bytes'"),
    "strings": (lambda t: t.tensor(["a"]), ValueError, "too many dimensions 'str'"),
    "a string among numbers": (lambda t: t.tensor([1, "a"]), TypeError, "invalid data type 'str'"),
    "bytes in a list": (lambda t: t.tensor([b"a"]), TypeError, "invalid data type 'bytes'"),
    "a tensor in 64 unsigned bits": (
        lambda t: t.tensor([t.tensor(1)], dtype=t.uint64), TypeError, "an integer is required"),
    "a float tensor as a bool": (
        lambda t: t.tensor([t.tensor(1.0)], dtype=t.bool), TypeError, "only integer tensors of a single element"),
    "unsigned after signed": (lambda t: t.tensor([1, np.uint32(1), 1.5]), RuntimeError, "Promotion for uint16"),
    "an int beyond floats": (lambda t: t.tensor([10**400], dtype=t.float64), OverflowError, "int too large to convert"),
    "an int beyond complex numbers": (lambda t: t.tensor([10**400, 1j]), OverflowError, "int too large to convert"),
    "a member of an Enum": (lambda t: t.tensor(Colour.RED), RuntimeError, "Could not infer dtype of Colour"),
    "an Enum": (lambda t: t.tensor(Colour), ValueError, "not determine the shape of object type 'Enum(Type|Meta)'"),
    "a set": (lambda t: t.tensor({1}), RuntimeError, "Could not infer dtype of set"),
    "an index without a dtype": (lambda t: t.tensor(Five()), RuntimeError, "Could not infer dtype of Five"),
    "None as a float": (lambda t: t.tensor([None], dtype=t.float32), TypeError, "must be real number, not NoneType"),
    "None as a bool": (lambda t: t.tensor([None], dtype=t.bool), TypeError, "'NoneType' object cannot be"),
    "two numbers for one": (
        lambda t: t.tensor([t.tensor([1, 2])]), TypeError, "only integer tensors of a single element"),
    "two floats for one": (lambda t: t.tensor([t.ones(2)]), ValueError, "only one element tensors can be converted"),
    "a tensor's fraction": (
        lambda t: t.tensor([t.tensor(1.7)], dtype=t.int64), TypeError, "only integer tensors of a single element"),
    "a fraction of NumPy's": (
        lambda t: t.tensor([np.float32(1.7)], dtype=t.int64), TypeError, "'numpy.float32' object cannot be"),
    "a complex number as an int": (lambda t: t.tensor([1j], dtype=t.int8), TypeError, "'complex' object cannot be"),
    "a complex number as a float": (lambda t: t.tensor([1j], dtype=t.float16), TypeError, "not complex"),
    "a complex tensor as a float": (
        lambda t: t.tensor([t.tensor(1j)], dtype=t.float32), RuntimeError, "to type double without overflow"),
    "a string of NumPy's": (lambda t: t.tensor(np.str_("a")), TypeError, "invalid data type 'numpy.str_'"),
    "a date": (lambda t: t.tensor(np.datetime64("2020")), TypeError, "of type numpy.datetime64"),
    "an array without dimensions in a list": (lambda t: t.tensor([np.array(1)]), TypeError, "len"),
    "unsigned beside signed": (lambda t: t.tensor([np.uint16(1), 2]), RuntimeError, "Promotion for uint16"),
    "a negative fraction in an unsigned dtype": (
        lambda t: t.tensor([-0.5], dtype=t.uint8), RuntimeError, "to type uint8 without overflow"),
    "-256 in 8 bits": (lambda t: t.tensor([-256], dtype=t.uint8), RuntimeError, "to type uint8 without overflow"),
    "a float in 64 unsigned bits": (lambda t: t.tensor([1.0], dtype=t.uint64), TypeError, "an integer is required"),
    "-1 in 64 unsigned bits": (lambda t: t.tensor([-1], dtype=t.uint64), OverflowError, "negative int to unsigned"),
    "2**64": (lambda t: t.tensor([2**64], dtype=t.uint64), OverflowError, "int too big"),
    "ragged and no number": (lambda t: t.tensor([[1, 2], "a"]), TypeError, "invalid data type 'str'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_data(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


ELEMENTS: list[Any] = [
    0, 1, -1, 127, 128, 255, 256, -128, -129, 300, 65535, 65536, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63),
    2**64 - 1, 2**64, 0.0, 0.1, 1.7, -1.7, 254.9, 255.5, 1e10, 65504.0, 65520.0, 1e38, 1e39, 1e300, math.inf, math.nan,
    True, 1j, 1 + 0j, np.float32(0.1), np.float64(2.5), np.int8(-3), np.uint64(9), np.complex64(2j), None, "a", [1],
    np.bool_(True),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_every_number_becomes_an_element_of_every_dtype_as_in_torch(dtype: Any) -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for element in ELEMENTS:
        if isinstance(element, np.complex64) and not dtype.is_complex and dtype.name != "bool":
            continue  # NumPy warns and gives the real part
        said = []
        for library in (ours, theirs):
            try:
                said.append(repr(library.tensor([0, element], dtype=getattr(library, dtype.name)).tolist()))
            except (RuntimeError, TypeError, ValueError, OverflowError) as error:
                said.append(f"{builtin(error).__name__}: {str(error)[:20]}")
        assert said[0] == said[1], (element, dtype)


WHOLE = [0, 1, -3, 7, 300, 2**31, 2**63, 2**64]
PLAIN: list[Any] = [*WHOLE, 0.5, -1.7, 1e300, math.nan, math.inf, True, False, 1j, 2 + 0j]
NUMPY = [
    np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
    np.uint64, np.bool_, np.complex64, np.complex128,
]  # fmt: skip
ODD: list[Any] = [None, "a", b"a", {}, [1], (), []]


class ATensor:
    """Stands for a tensor of either library."""

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype


def random_data(random: Random, depth: int) -> Any:
    """Numbers of Python's and NumPy's, tensors, arrays, nested to a depth and now and then ragged."""
    if depth:
        length = random.choice([0, 1, 2, 2, 3])
        if random.random() < 0.08:
            return np.ones((length, 2)[: random.randrange(1, 3)], random.choice(NUMPY))
        parts = [random_data(random, depth - (random.random() > 0.03)) for _ in range(length)]
        return tuple(parts) if random.random() < 0.2 else parts
    kind = random.randrange(20)
    if kind < 5:
        return random.choice(NUMPY)(random.choice([0, 1, 3]))
    if kind == 5:
        return ATensor(random.choice([(), (1,), (1, 1), (2,)]), random.choice(["int64", "float32", "complex64"]))
    return random.choice(ODD if kind == 6 else WHOLE[:4] if kind < 14 else PLAIN)


def of_library(data: Any, library: Any) -> Any:
    if isinstance(data, ATensor):
        return library.ones(data.shape, dtype=getattr(library, data.dtype))
    return type(data)(of_library(part, library) for part in data) if isinstance(data, list | tuple) else data


@pytest.mark.filterwarnings("ignore")  # NumPy's and either library's, about casts and slow lists
def test_random_nested_data_is_read_as_torch_reads_it() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    random = Random(5)
    read = 0
    for _ in range(20_000):
        data = random_data(random, random.choice([0, 1, 1, 2, 3]))
        asked = random.choice([None, *(d.name for d in DTYPES)])
        said = []
        for library in (ours, theirs):
            options = {} if asked is None else {"dtype": getattr(library, asked)}
            try:
                made = library.tensor(of_library(data, library), **options)
                said.append((repr(made.dtype), tuple(made.shape), repr(made.tolist())))
            except (RuntimeError, TypeError, ValueError, OverflowError):  # which, where several are due, is no matter
                said.append(None)
        assert said[0] == said[1], (data, asked)
        read += said[0] is not None
    assert read > 10_000


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")  # either library warns once
def test_arrays_in_a_list_are_stacked(torch: Any) -> None:
    rows = [np.array([1, 2], np.int16), np.array([3, 4], np.int16)]
    made = torch.tensor(rows)
    assert (repr(made.dtype), made.tolist()) == ("torch.int16", [[1, 2], [3, 4]])
    assert torch.tensor(rows, dtype=torch.float64).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.tensor([np.array([1.5]), np.array([2])]).tolist() == [[1.5], [2.0]]
    with pytest.raises(ValueError, match="expected sequence of length 2"):
        torch.tensor([np.zeros(2), np.zeros(3)])
    with pytest.raises(TypeError, match=r"numpy\.float32"):
        torch.tensor([np.zeros(2, np.float32)], dtype=torch.int64)


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
def test_the_array_is_fresh_and_row_major() -> None:
    source = np.arange(6.0).reshape(2, 3).T
    made, dtype = array_of([source[0], source[1]])
    assert (dtype.name, made.flags.c_contiguous) == ("float64", True)
    assert not np.shares_memory(made, source)


def test_numbers_of_64_unsigned_bits_in_arrays_are_refused_as_one_by_one(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each library warns of such a list once
        with pytest.raises(TypeError, match="an integer is required"):
            torch.tensor([np.array([1], np.uint64)], dtype=torch.uint64)


def test_a_float_near_the_largest_of_32_bits_is_rounded_or_becomes_infinite(torch: Any) -> None:
    numbers = [3.4e38, -3.4e38, 3.5e38, -1e39, 1e300]
    made = [torch.tensor(number, dtype=torch.float32).item() for number in numbers]
    assert made == [float(np.float32(3.4e38)), float(np.float32(-3.4e38)), math.inf, -math.inf, math.inf]


def nested(depth: int) -> Any:
    data: Any = 1
    for _ in range(depth):
        data = [data]
    return data


def test_as_many_dimensions_are_made_as_an_array_may_have() -> None:
    import glasstorch  # PyTorch makes up to 128

    assert glasstorch.tensor(nested(64)).ndim == 64
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        glasstorch.tensor(nested(65))


def test_a_tensor_that_requires_grad_is_no_number_without_a_warning(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torch.__name__ == "glasstorch":
        monkeypatch.setattr("glasstorch.core.warn_once._given", set())  # PyTorch's warning, too, is given once
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        made = torch.tensor([x[0], x[1]])
    assert (made.tolist(), made.requires_grad) == ([1.0, 1.0], False)
    if torch.__name__ == "glasstorch":
        assert "Converting a tensor with requires_grad=True to a scalar" in str(given[0].message)
        assert len(given) == 1
