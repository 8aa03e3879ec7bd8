"""Are elements cast as C++ casts them, and copied where they belong?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch._tensor import from_array
from glasstorch.core.dtype import DTYPES, dtype

NAN, INF = float("nan"), float("inf")
LEAST = -(2**63)


@pytest.mark.parametrize(
    ("of", "values", "to", "expected"),
    [
        ("float32", [1.7, -1.7, NAN, INF, -INF], "int64", [1, -1, LEAST, LEAST, LEAST]),
        ("float64", [3e9, -1e20, -7.9], "int32", [-(2**31), -(2**31), -7]),
        ("float32", [-1.0, 300.0, -1e10], "uint8", [255, 44, 0]),
        ("int64", [2**40 + 5, -1], "int32", [5, -1]),
        ("int64", [-1, 256], "uint8", [255, 0]),
        ("float32", [0.0, -0.0, 0.5, NAN], "bool", [False, False, True, True]),
        ("bool", [False, True], "float16", [0.0, 1.0]),
        ("float64", [1e300, -1e300, 1e-300], "float32", [INF, -INF, 0.0]),
        ("float64", [70000.0, 1.0009765625], "float16", [INF, 1.0009765625]),
        ("int64", [2**24 + 1, -3], "bfloat16", [16777216.0, -3.0]),
        ("float16", [0.5, 65504.0], "bfloat16", [0.5, 65536.0]),
        ("bfloat16", [2.5, -3.0], "int64", [2, -3]),
        ("float16", [-2.0], "uint8", [254]),
        ("float64", [2.0**31 + 5, -(2.0**31) - 10, -3.5], "int16", [0, 0, -3]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_casts(torch: Any, of: str, values: list[Any], to: str, expected: list[Any]) -> None:
    source = torch.tensor(values, dtype=getattr(torch, of))
    assert source.to(getattr(torch, to)).tolist() == expected
    target = torch.zeros(len(values), 2, dtype=getattr(torch, to))
    target[:, 1].copy_(source)
    assert target[:, 1].tolist() == expected
    assert target[:, 0].tolist() == [0] * len(values)


@pytest.mark.parametrize(
    ("make", "format", "strides"),
    [
        (lambda t: t.zeros(2, 3, 4).transpose(0, 2), "preserve_format", (1, 4, 12)),
        (lambda t: t.zeros(2, 3, 4).transpose(0, 2), "contiguous_format", (6, 2, 1)),
        (lambda t: t.zeros(4, 6)[:, ::2], "preserve_format", (3, 1)),
        (lambda t: t.zeros(3).expand(4, 3), "preserve_format", (3, 1)),
        (lambda t: t.zeros(2, 3, 4, 5), "channels_last", (60, 1, 15, 3)),
    ],
)
def test_the_layout_of_a_copy(torch: Any, make: Any, format: str, strides: tuple[int, ...]) -> None:
    x = make(torch)
    copy = x.clone(memory_format=getattr(torch, format))
    assert tuple(copy.stride()) == strides
    assert tuple(x.to(torch.float64, memory_format=getattr(torch, format)).stride()) == strides
    assert copy.tolist() == x.tolist()


def test_a_copy_shares_no_memory(torch: Any) -> None:
    for x in (torch.zeros(3), torch.zeros(2, 3).t(), torch.zeros(1 << 17), torch.zeros(())):
        copy = x.clone()
        copy.fill_(1.0)
        assert not x.any()
        assert x._version == 0


def test_copying_broadcasts_to_the_target_and_never_from_it(torch: Any) -> None:
    x = torch.zeros(2, 3)
    assert x.copy_(torch.arange(3.0)) is x
    assert x.tolist() == [[0, 1, 2]] * 2
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        torch.zeros(3).copy_(x)
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match the size of tensor b \(2\) at .* dimension 1"):
        x.copy_(torch.zeros(2))


def test_copying_onto_itself(torch: Any) -> None:
    x = torch.arange(6.0)
    assert x.copy_(x).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer"):
        x[1:].copy_(x[:-1])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        torch.zeros(1).expand(3).copy_(torch.ones(3))
    assert x[::2].copy_(x[1::2]).tolist() == [1, 3, 5]


def test_filling_reaches_every_element_of_a_view_and_no_other(torch: Any) -> None:
    x = torch.zeros(3, 4)
    x[:, ::2].fill_(2)
    x.t()[1].fill_(torch.tensor(3))
    assert x.tolist() == [[2, 3, 2, 0]] * 3
    x[1:].zero_()
    assert x.tolist() == [[2, 3, 2, 0], [0] * 4, [0] * 4]
    assert torch.zeros(1).expand(3).fill_(1).tolist() == [1, 1, 1]


def test_a_tensor_to_fill_with_is_one_value(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="only supports 0-dimension value tensor but got tensor with 1 dimensions"):
        torch.zeros(2).fill_(torch.ones(1))
    with pytest.raises(RuntimeError, match="only supports 0-dimension"):
        torch.fill(torch.zeros(2), torch.ones(1))
    x = torch.zeros(2, 3).t()
    assert tuple(torch.fill(x, 5).stride()) == (1, 3)


def test_one_element_as_a_number(torch: Any) -> None:
    kinds = {"float32": float, "bfloat16": float, "float16": float, "int64": int, "uint8": int, "bool": bool}
    for name, kind in kinds.items():
        value = torch.ones(1, 1, dtype=getattr(torch, name)).item()
        assert type(value) is kind
        assert value == 1
    for size in (0, 2):
        with pytest.raises(RuntimeError, match=f"a Tensor with {size} elements cannot be converted to Scalar"):
            torch.ones(size).item()


def test_contiguous_is_the_tensor_itself_where_it_can_be(torch: Any) -> None:
    x = torch.zeros(2, 3)
    assert x.contiguous() is x
    assert x[:, :1].squeeze(1).contiguous() is not x
    assert x.t().contiguous().is_contiguous()
    y = torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert not y.is_contiguous()
    with pytest.raises(RuntimeError, match="required rank 4 tensor"):
        x.contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported by the contiguous operator"):
        x.t().contiguous(memory_format=torch.preserve_format)


# Every pair of dtypes -------------------------------------------------------------------------------------------

NUMBERS = [
    0,
    -0.0,
    1,
    -1,
    0.5,
    1.5,
    -2.7,
    127,
    129.7,
    -129,
    300,
    32768,
    65536.0,
    448,
    449,
    464,
    465,
    57344,
    60000,
    61440,
]
NUMBERS += [65519, 65520, 0.001, 2.0**-9, 2.0**-10, 2.0**31 - 1, -(2.0**31), 2.0**40, 1e10, 1e38, 1e39, NAN, INF, -INF]
UNDEFINED = 2.0**31  # from here on C++ leaves open what a narrow integer becomes, and PyTorch's loops differ


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("of", DTYPES, ids=repr)
def test_every_dtype_is_cast_to_every_other_as_in_pytorch(of: dtype, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    numbers = torch.tensor(NUMBERS, dtype=torch.float64)
    source = (torch.complex(numbers, numbers.flip(0)) if of.is_complex else numbers).to(getattr(torch, of.name))
    ours = from_array(np.frombuffer(bytes(source.view(torch.uint8).tolist()), of.numpy).copy(), of)
    sizes = source.real if of.is_complex else source.to(torch.float64)
    for to in DTYPES:
        defined = np.abs(np.array(sizes.tolist())) < UNDEFINED
        if to.category > 1 or to.itemsize == 8 or to.name == "bool":
            defined |= True
        if of.category > 1 and to.name in ("int64", "uint64"):
            defined &= np.abs(np.array(sizes.tolist())) < 2.0**62
        wanted = source.to(getattr(torch, to.name))
        theirs = np.frombuffer(bytes(wanted.view(torch.uint8).tolist()), to.numpy)
        found = ours.to(to).array()
        same = (found == theirs) | ((found != found) & (theirs != theirs))
        assert same[defined].all(), (to, ours.array()[~same & defined], found[~same & defined], theirs[~same & defined])


def test_the_imaginary_part_is_dropped_with_a_warning(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())
    z = torch.zeros(2, dtype=torch.complex64)
    assert z.bool().tolist() == [False, False]
    if torch.__name__ == "glasstorch":  # PyTorch warns once in a process, which may have been elsewhere
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
            z.float()
