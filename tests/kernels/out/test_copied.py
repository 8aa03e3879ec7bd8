"""Do operators without an out= kernel of their own write to out= as PyTorch's do?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SEVERAL: dict[str, Callable[..., Any]] = {
    "split_copy": lambda torch, x, out: torch.split_copy(x, 2, out=out),
    "split_with_sizes_copy": lambda torch, x, out: torch.split_with_sizes_copy(x, [2, 2], out=out),
    "unbind_copy": lambda torch, x, out: torch.unbind_copy(x.view(2, 6), out=[o.view(6) for o in out]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_list_of_tensors_is_written_to(torch: Any, name: str) -> None:
    x, outs = torch.arange(12.0).view(4, 3), [torch.zeros(2, 3), torch.zeros(2, 3)]
    assert SEVERAL[name](torch, x, outs) is None
    assert [out.tolist() for out in outs] == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    assert [out._version for out in outs] == [1, 1]


@pytest.mark.parametrize("name", SEVERAL)
def test_the_list_must_have_as_many_as_there_are_results(torch: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match=r"expected an out= argument of size 2, got size 1"):
        SEVERAL[name](torch, torch.arange(12.0).view(4, 3), [torch.zeros(2, 3)])
    with pytest.raises(TypeError, match="argument 'out' must be tuple of Tensors, not Tensor"):
        torch.split_copy(torch.arange(4.0), 2, out=torch.zeros(2))


def test_only_split_with_sizes_copy_resizes_its_list(torch: Any) -> None:
    x, outs = torch.arange(4.0), [torch.zeros(0), torch.zeros(0)]
    torch.split_with_sizes_copy(x, [1, 3], out=outs)
    assert [out.tolist() for out in outs] == [[0], [1, 2, 3]]
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(0\) must match the size of tensor b \(2\)"):
        torch.split_copy(x, 2, out=[torch.zeros(0), torch.zeros(0)])


@pytest.mark.parametrize(
    ("out", "found"),
    [("float64", "double"), ("int64", "long int"), ("uint8", "unsigned char"), ("complex64", "c10::complex<float>")],
)
def test_another_dtype_is_refused_by_its_name_in_c(torch: Any, out: str, found: str) -> None:
    with pytest.raises(RuntimeError, match=f"Expected out tensor to have dtype float, but got {found} instead"):
        torch.t_copy(torch.ones(2, 3), out=torch.empty(0, dtype=getattr(torch, out)))


def test_another_device_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"device cpu|out tensor to have device"):
        torch.t_copy(torch.ones(2, 3), out=torch.empty(0, device="meta"))


def test_narrow_copy_takes_no_dimension_beyond_the_last(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="dim <"):
        torch.narrow_copy(torch.ones(2), 1, 0, 1)
    with pytest.raises(RuntimeError):
        torch.narrow_copy(torch.ones(2), 0, 0, 1, out=torch.empty(0, dtype=torch.float64))
    with pytest.raises(RuntimeError, match=r"start \(1\) \+ length \(-1\) exceeds dimension size \(2\)"):
        torch.narrow_copy(torch.ones(2), 0, 1, -1)
    out = torch.zeros(7)
    assert torch.narrow_copy(torch.arange(4.0), 0, -3, 2, out=out) is out
    assert out.tolist() == [1, 2]
