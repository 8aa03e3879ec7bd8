"""Is a tensor printed as PyTorch prints it?"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from glasstorch import printing
from glasstorch._tensor import from_array
from glasstorch.core.device import CPU, META
from glasstorch.core.dtype import BY_NAME, FROM_NUMPY
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.printing import get_printoptions, printoptions, set_printoptions, tensor_str


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(profile="default")


def text(values: Any, dtype: str | None = None, **facts: Any) -> str:
    array = np.array(values, None if dtype is None else BY_NAME[dtype].numpy)
    return tensor_str(array, array.shape, FROM_NUMPY[array.dtype], CPU, **facts)


ROW = list(range(30))

# values, dtype, what PyTorch 2.13 prints
RECORDED: list[tuple[Any, str, str]] = [
    (1.5, "float32", "tensor(1.5000)"),
    ([], "float32", "tensor([])"),
    ([], "int64", "tensor([], dtype=torch.int64)"),
    (np.zeros((0, 3)), "float32", "tensor([], size=(0, 3))"),
    ([1.0, -2.0, 0.0], "float32", "tensor([ 1., -2.,  0.])"),
    ([1.0, 2.5], "float64", "tensor([1.0000, 2.5000], dtype=torch.float64)"),
    ([1e-5, 1.0], "float32", "tensor([1.0000e-05, 1.0000e+00])"),
    ([1.0, 1e9], "float32", "tensor([1.0000e+00, 1.0000e+09])"),
    # At the limits of plain numbers, and beyond them
    ([1.5, 1500.0], "float32", "tensor([   1.5000, 1500.0000])"),
    ([1.5, 1501.5], "float32", "tensor([1.5000e+00, 1.5015e+03])"),
    ([1e-4, 0.05], "float64", "tensor([0.0001, 0.0500], dtype=torch.float64)"),
    ([9.9e-5, 0.05], "float64", "tensor([9.9000e-05, 5.0000e-02], dtype=torch.float64)"),
    ([1e8, 200000.5], "float64", "tensor([100000000.0000,    200000.5000], dtype=torch.float64)"),
    ([1e8 + 1, 200000.5], "float64", "tensor([1.0000e+08, 2.0000e+05], dtype=torch.float64)"),
    ([np.nan, np.inf, -np.inf, 2.0], "float32", "tensor([nan, inf, -inf, 2.])"),
    ([np.nan, np.inf, -np.inf, 2.5], "float32", "tensor([   nan,    inf,   -inf, 2.5000])"),
    ([np.nan], "float32", "tensor([nan])"),
    ([0.0, -0.0], "float32", "tensor([0., -0.])"),
    ([True, False], "bool", "tensor([ True, False])"),
    ([[1, -20], [300, 4]], "int64", "tensor([[  1, -20],\n        [300,   4]])"),
    ([1, 2], "uint8", "tensor([1, 2], dtype=torch.uint8)"),
    ([0.1, 2.0], "float16", "tensor([0.1000, 2.0000], dtype=torch.float16)"),
    ([0.1, 2.0], "bfloat16", "tensor([0.1001, 2.0000], dtype=torch.bfloat16)"),
    ([0.1, 2.0], "float8_e5m2", "tensor([0.0938, 2.0000], dtype=torch.float8_e5m2)"),
    (1.0 - 2j, "complex64", "tensor(1.-2.j)"),
    ([1 + 2j, 3 - 4.5j], "complex64", "tensor([1.+2.0000j, 3.-4.5000j])"),
    ([1e10 + 1j], "complex128", "tensor([1.0000e+10+1.j], dtype=torch.complex128)"),
    ([complex(0, np.nan), complex(-np.inf, -0.0)], "complex64", "tensor([0.+nanj, -inf-0.j])"),
    ([2**64 - 1], "uint64", "tensor([18446744073709551615], dtype=torch.uint64)"),
    ([[[1.0]], [[2.0]]], "float32", "tensor([[[1.]],\n\n        [[2.]]])"),
    (
        ROW,
        "float32",
        (
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
            "        28., 29.])"
        ),
    ),
    (range(1001), "int64", "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        np.arange(1200).reshape(40, 30),
        "int64",
        (
            "tensor([[   0,    1,    2,  ...,   27,   28,   29],\n"
            "        [  30,   31,   32,  ...,   57,   58,   59],\n"
            "        [  60,   61,   62,  ...,   87,   88,   89],\n"
            "        ...,\n"
            "        [1110, 1111, 1112,  ..., 1137, 1138, 1139],\n"
            "        [1140, 1141, 1142,  ..., 1167, 1168, 1169],\n"
            "        [1170, 1171, 1172,  ..., 1197, 1198, 1199]])"
        ),
    ),
]


@pytest.mark.parametrize(("values", "dtype", "expected"), RECORDED, ids=[r[2][:40] for r in RECORDED])
def test_prints_what_torch_was_seen_to_print(values: Any, dtype: str, expected: str) -> None:
    assert text(values, dtype) == expected


def test_the_recorded_texts_are_torch_s() -> None:
    torch = pytest.importorskip("torch")
    for values, dtype, expected in RECORDED:
        assert repr(theirs(torch, np.array(values, BY_NAME[dtype].numpy))) == expected


def test_gradient_facts_follow_the_numbers() -> None:
    assert text([1.0], "float32", requires_grad=True) == "tensor([1.], requires_grad=True)"
    assert text([1.0], "float32", grad_fn="AddBackward0") == "tensor([1.], grad_fn=<AddBackward0>)"
    both = text([1.0], "float32", grad_fn="AddBackward0", requires_grad=True)
    assert both == "tensor([1.], grad_fn=<AddBackward0>)"


def test_a_suffix_that_does_not_fit_starts_a_line() -> None:
    assert text(ROW[:14], "float64", requires_grad=True) == (
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],\n"
        "       dtype=torch.float64, requires_grad=True)"
    )


def test_a_meta_tensor_prints_its_size_instead_of_numbers() -> None:
    assert tensor_str(None, (2, 3), BY_NAME["float32"], META) == "tensor(..., device='meta', size=(2, 3))"
    expected = "tensor(..., device='meta', size=(2,), dtype=torch.int64)"
    assert tensor_str(None, (2,), BY_NAME["int64"], META) == expected


def test_the_prefix_sets_the_indent() -> None:
    assert text([[1], [2]], "int64", prefix="Masked(") == "Masked([[1],\n        [2]])"


def test_a_subclass_prints_under_its_own_name(torch: Any) -> None:
    class Masked(torch.Tensor):  # type: ignore[misc,name-defined]
        pass

    class Weight(torch.nn.Parameter):  # type: ignore[misc,name-defined]
        pass

    ones = torch.ones(1)
    assert repr(ones.as_subclass(Masked)) == "Masked([1.])"
    assert repr(torch.nn.Parameter(ones)) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    assert repr(Weight(ones)) == "Parameter containing:\nParameter(Weight([1.], requires_grad=True))"


def test_numbers_behind_a_bit_are_printed_as_they_are_meant(torch: Any) -> None:
    x = torch.tensor([1 + 2j, 3 - 1j]).conj()
    assert repr(x) == "tensor([1.-2.j, 3.+1.j])"
    assert repr(x.imag) == "tensor([-2.,  1.])"
    assert repr(torch.tensor([2j], requires_grad=True) * 2) == "tensor([0.+4.j], grad_fn=<MulBackward0>)"


def test_the_default_dtypes_are_not_said(torch: Any) -> None:
    made = [torch.tensor(1.5, dtype=d) for d in (torch.float32, torch.float64)]
    made += [torch.tensor(1.5j, dtype=d) for d in (torch.complex64, torch.complex128)]
    try:
        torch.set_default_dtype(torch.float64)
        said = [repr(x) for x in made]
    finally:
        torch.set_default_dtype(torch.float32)
    assert said == [
        "tensor(1.5000, dtype=torch.float32)", "tensor(1.5000)",
        "tensor(0.+1.5000j, dtype=torch.complex64)", "tensor(0.+1.5000j)",
    ]  # fmt: skip


def test_a_text_may_stand_in_place_of_the_numbers(torch: Any) -> None:
    assert torch.ones(2, requires_grad=True).__repr__(tensor_contents="...") == "tensor(..., requires_grad=True)"


def test_options_can_be_set_asked_for_and_restored() -> None:
    before = get_printoptions()
    with printoptions(precision=2, sci_mode=True):
        assert text([1.5], "float32") == "tensor([1.50e+00])"
        assert get_printoptions() == {**before, "precision": 2, "sci_mode": True}
    assert get_printoptions() == before
    set_printoptions(profile="short", threshold=4)
    assert text([0.125] * 5, "float32") == "tensor([0.12, 0.12,  ..., 0.12, 0.12])"
    set_printoptions(profile="full")
    assert "..." not in text(range(2000), "int64")
    with pytest.raises(ValueError, match="'long' is not one of default, short, full"):
        set_printoptions(profile="long")


def test_options_come_back_after_an_error_inside_the_block() -> None:
    with pytest.raises(KeyError), printoptions(precision=1):
        raise KeyError
    assert printing.options.precision == 4


OPTIONS: list[dict[str, Any]] = [
    {}, {"precision": 2}, {"profile": "short"}, {"profile": "full"}, {"linewidth": 40}, {"linewidth": 1},
    {"edgeitems": 0}, {"edgeitems": 1, "threshold": 10}, {"sci_mode": True}, {"sci_mode": False},
    {"threshold": 0, "precision": 0},
]  # fmt: skip
SHAPES = [
    (), (0,), (1,), (30,), (1001,), (0, 3), (3, 0), (2, 3), (4, 30), (40, 40), (7, 200), (7, 7, 30),
    (2, 3, 4), (2, 2, 2, 2, 2), (2, 1, 0),
]  # fmt: skip
ONE_OF_EACH_KIND = ("bool", "uint8", "int64", "float8_e4m3fn", "float16", "bfloat16", "float32", "float64", "complex64")
KINDS = {
    "plain": lambda x, r: x,
    "small": lambda x, r: x * 1e-6,
    "large": lambda x, r: x * 1e9,
    "whole": lambda x, r: np.round(x * 100),
    "mixed": lambda x, r: x * 10.0 ** r.integers(-3, 3, x.shape),
    "not finite": lambda x, r: np.where(x < 0.5, r.choice([np.nan, np.inf, -np.inf, 0.0, 3.5], x.shape), x),
}


@pytest.mark.parametrize("changes", OPTIONS, ids=str)
def test_agrees_with_torch_for_every_option_shape_and_kind_of_number(changes: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    torch.set_printoptions(profile="default")
    try:
        torch.set_printoptions(**changes)
        set_printoptions(**changes)
        for shape, kind, dtype in itertools.product(SHAPES, KINDS, map(BY_NAME.__getitem__, ONE_OF_EACH_KIND)):
            numbers = KINDS[kind](random.standard_normal(shape), random)
            array = as_dtype(numbers, dtype, random)
            assert tensor_str(array, shape, dtype, CPU) == repr(theirs(torch, array))
    finally:
        torch.set_printoptions(profile="default")


def test_agrees_with_torch_on_two_thousand_random_tensors() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    dtypes = list(BY_NAME.values())
    for number in range(2000):
        dtype, kind = dtypes[number % len(dtypes)], random.choice(list(KINDS))
        shape = random.integers(0 if number % 10 == 0 else 1, [60, 20, 8, 5, 3][: random.integers(0, 6)])
        array = as_dtype(KINDS[kind](random.standard_normal(shape), random), dtype, random)
        if array.ndim:
            array = array.transpose(random.permutation(array.ndim))[:: random.integers(1, 3)]
        ours, torch_s = from_array(array, dtype), theirs(torch, array.copy())
        if number % 3 == 0 and (dtype.is_floating_point or dtype.is_complex):
            ours.requires_grad_()
            torch_s.requires_grad_()
        if number % 50 == 0:
            ours, torch_s = ours.to("meta"), torch_s.to("meta")
        assert repr(ours) == repr(torch_s)


def as_dtype(numbers: Any, dtype: Dtype, random: np.random.Generator) -> Any:
    """Numbers as an array of a dtype; a complex one has the same numbers shuffled as imaginary parts."""
    if dtype.is_complex:
        real, numbers = np.asarray(numbers), np.empty(np.shape(numbers), np.complex128)
        numbers.real, numbers.imag = real, random.permutation(real.reshape(-1)).reshape(real.shape)
    elif not dtype.is_floating_point:
        numbers = np.nan_to_num(numbers, posinf=9, neginf=-9)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(numbers).astype(dtype.numpy)


def theirs(torch: Any, array: Any) -> Any:
    """PyTorch's tensor over an array, whose dtype NumPy itself may not know."""
    if array.dtype.num <= np.dtype(np.float16).num:
        return torch.from_numpy(array)
    as_integers = torch.from_numpy(array.view(f"u{array.itemsize}"))
    return as_integers.view(getattr(torch, array.dtype.name))
