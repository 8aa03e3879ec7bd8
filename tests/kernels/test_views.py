"""Do view operators look where PyTorch's look, and copy nothing?

The strides and offsets here were read off PyTorch, size-1 and empty dimensions included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from tests.strategies import small_shapes, steady

Make = Callable[[Any], Any]


def geometry(x: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Sizes, strides and offset."""
    return tuple(x.shape), tuple(x.stride()), x.storage_offset()


# What is written, for x of sizes (2, 3, 4) in row-major order -> sizes, strides, offset
VIEWS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], tuple[int, ...], int]] = {
    "view": (lambda x: x.view(6, 4), (6, 4), (4, 1), 0),
    "view with -1": (lambda x: x.view(2, -1), (2, 12), (12, 1), 0),
    "view of a transpose": (lambda x: x.transpose(0, 1).view(3, 2, 2, 2), (3, 2, 2, 2), (4, 12, 2, 1), 0),
    "transpose": (lambda x: x.transpose(0, 2), (4, 3, 2), (1, 4, 12), 0),
    "transpose from the back": (lambda x: x.transpose(-1, -2), (2, 4, 3), (12, 1, 4), 0),
    "transpose of one with itself": (lambda x: x.transpose(1, 1), (2, 3, 4), (12, 4, 1), 0),
    "t": (lambda x: x[0].t(), (4, 3), (1, 4), 0),
    "t of a vector": (lambda x: x[0, 0].t(), (4,), (1,), 0),
    "permute": (lambda x: x.permute(2, 0, -2), (4, 2, 3), (1, 12, 4), 0),
    "movedim": (lambda x: x.movedim((0, 1), (-1, 0)), (3, 4, 2), (4, 1, 12), 0),
    "expand": (lambda x: x[:, :1].expand(5, -1, 3, 4), (5, 2, 3, 4), (0, 12, 0, 1), 0),
    "expand by leading ones": (lambda x: x.expand(1, 1, 2, 3, 4), (1, 1, 2, 3, 4), (24, 24, 12, 4, 1), 0),
    "expand a scalar": (lambda x: x[0, 0, 0].expand(1, 2), (1, 2), (0, 0), 0),
    "squeeze": (lambda x: x[:, :1].squeeze(), (2, 4), (12, 1), 0),
    "squeeze a dimension that is larger": (lambda x: x.squeeze(1), (2, 3, 4), (12, 4, 1), 0),
    "squeeze dimensions": (lambda x: x[:1, :, :1].squeeze((0, -1)), (3,), (4,), 0),
    "unsqueeze": (lambda x: x.unsqueeze(1), (2, 1, 3, 4), (12, 12, 4, 1), 0),
    "unsqueeze at the end": (lambda x: x.unsqueeze(-1), (2, 3, 4, 1), (12, 4, 1, 1), 0),
    "unsqueeze before an empty dimension": (lambda x: x[:0].unsqueeze(0), (1, 0, 3, 4), (0, 12, 4, 1), 0),
    "select": (lambda x: x.select(1, -1), (2, 4), (12, 1), 8),
    "slice": (lambda x: x[:, 1:], (2, 2, 4), (12, 4, 1), 4),
    "slice with a step": (lambda x: x[..., 1::2], (2, 3, 2), (12, 4, 2), 1),
    "slice past both ends": (lambda x: x[-9:99], (2, 3, 4), (12, 4, 1), 0),
    "slice of nothing": (lambda x: x[2:1], (0, 3, 4), (12, 4, 1), 24),
    "narrow": (lambda x: x.narrow(2, -2, 2), (2, 3, 2), (12, 4, 1), 2),
    "diagonal": (lambda x: x.diagonal(1, 1, 2), (2, 3), (12, 5), 1),
    "diagonal below": (lambda x: x.diagonal(-2, 2, 1), (2, 2), (12, 5), 2),
    "diagonal beyond": (lambda x: x.diagonal(9), (4, 0), (1, 16), 0),
    "unfold": (lambda x: x.unfold(2, 2, 1), (2, 3, 3, 2), (12, 4, 1, 1), 0),
    "unfold a scalar": (lambda x: x[0, 0, 1].unfold(0, 1, 1), (1,), (1,), 1),
    "as_strided": (lambda x: x.as_strided((2, 2), (1, 1), 3), (2, 2), (1, 1), 3),
    "as_strided keeps the offset": (lambda x: x[1].as_strided((2,), (2,)), (2,), (2,), 12),
    "flatten": (lambda x: x.flatten(1), (2, 12), (12, 1), 0),
    "mT": (lambda x: x.mT, (2, 4, 3), (12, 1, 4), 0),
    "T": (lambda x: x[0].T, (4, 3), (1, 4), 0),
    "unbind": (lambda x: x.unbind(1)[2], (2, 4), (12, 1), 8),
    "split": (lambda x: x.split(2, 1)[1], (2, 1, 4), (12, 4, 1), 8),
    "split by sizes": (lambda x: x.split([1, 0, 2], 1)[2], (2, 2, 4), (12, 4, 1), 4),
    "chunk": (lambda x: x.chunk(3, 2)[1], (2, 3, 2), (12, 4, 1), 2),
    "view_as": (lambda x: x.view_as(x.new_zeros(24)), (24,), (1,), 0),
    "expand_as": (lambda x: x[:1].expand_as(x), (2, 3, 4), (0, 4, 1), 0),
    "reshape": (lambda x: x.reshape(4, 6), (4, 6), (6, 1), 0),
    "detach": (lambda x: x[1].detach(), (3, 4), (4, 1), 12),
    "unflatten": (lambda x: x.unflatten(-1, (2, -1)), (2, 3, 2, 2), (12, 4, 2, 1), 0),
    "ravel": (lambda x: x.ravel(), (24,), (1,), 0),
    "swapaxes": (lambda x: x.swapaxes(0, -1), (4, 3, 2), (1, 4, 12), 0),
    "moveaxis": (lambda x: x.moveaxis(0, -1), (3, 4, 2), (4, 1, 12), 0),
    "tensor_split": (lambda x: x.tensor_split(3, 2)[1], (2, 3, 1), (12, 4, 1), 2),
    "tensor_split past the end": (lambda x: x.tensor_split((1, 9), 1)[2], (2, 0, 4), (12, 4, 1), 12),
    "hsplit": (lambda x: x.hsplit(3)[1], (2, 1, 4), (12, 4, 1), 4),
    "dsplit": (lambda x: x.dsplit((1, 3))[1], (2, 3, 2), (12, 4, 1), 1),
    "broadcast_to": (lambda x: x[:1].broadcast_to(2, 3, 4), (2, 3, 4), (0, 4, 1), 0),
    "adjoint": (lambda x: x.adjoint(), (2, 4, 3), (12, 1, 4), 0),
    "H": (lambda x: x[0].H, (4, 3), (1, 4), 0),
    "split_with_sizes": (lambda x: x.split_with_sizes([1, 0, 2], 1)[2], (2, 2, 4), (12, 4, 1), 4),
    "unsafe_chunk": (lambda x: x.unsafe_chunk(3, 2)[1], (2, 3, 2), (12, 4, 1), 2),
    "real": (lambda x: x.real, (2, 3, 4), (12, 4, 1), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_there(torch: Any, name: str) -> None:
    make, shape, strides, offset = VIEWS[name]
    x = torch.arange(24).view(2, 3, 4)
    view = make(x)
    assert geometry(view) == (shape, strides, offset)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize("name", VIEWS)
def test_the_elements_are_those_of_the_geometry(name: str) -> None:
    import glasstorch

    x = glasstorch.arange(24).view(2, 3, 4)
    view = VIEWS[name][0](x)
    shape, strides, offset = geometry(view)
    cells = x.view(24).as_strided(shape, strides, offset)
    assert view.tolist() == cells.tolist()


def test_what_is_row_major_stays_known_to_be() -> None:
    import glasstorch

    x = glasstorch.zeros(2, 3, 4)
    for view in (x.view(24), x[1], x[1:], x.unsqueeze(0), x[:1].squeeze(), x.detach(), x.flatten(), *x.unbind(0)):
        assert view._strides is None
        assert view.is_contiguous()
    assert x[:, 1]._strides == (12, 1)


REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "view": (lambda x: x.view(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 6"),
    "view of a transpose": (lambda x: x.t().view(6), RuntimeError, r"view size is not compatible .* Use \.reshape"),
    "view with two -1": (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    "view of nothing": (lambda x: x[:0].view(0, -1), RuntimeError, "can be any value and is ambiguous"),
    "transpose": (lambda x: x.transpose(0, 2), IndexError, r"range of \[-2, 1\], but got 2"),
    "t": (lambda x: x[None].t(), RuntimeError, "expects a tensor with <= 2 dimensions, but self is 3D"),
    "permute too few": (lambda x: x.permute(0), RuntimeError, r"input.dim\(\) = 2 is not equal to len\(dims\) = 1"),
    "permute twice": (lambda x: x.permute(0, -2), RuntimeError, "duplicate dims are not allowed"),
    "movedim twice": (lambda x: x.movedim((0, 0), (0, 1)), RuntimeError, r"repeated dim in `source` \(\[0, 0\]\)"),
    "movedim unequal": (lambda x: x.movedim((0, 1), (0,)), RuntimeError, "the same number of dims as destination"),
    "expand too few": (lambda x: x.expand(3), RuntimeError, r"provided \(1\) must be greater or equal .* \(2\)"),
    "expand": (lambda x: x.expand(2, 4), RuntimeError, r"expanded size of the tensor \(4\) .* size \(3\) at .* 1\."),
    "expand of bools": (lambda x: (x > 1).expand(3), RuntimeError, r"expand\(CPUBoolType\{\[2, 3\]\}, size=\[3\]\)"),
    "expand of floats": (lambda x: x.expand(3), RuntimeError, r"expand\(torch.FloatTensor\{\[2, 3\]\}, size=\[3\]\)"),
    "t_": (lambda x: x[None].t_(), RuntimeError, r"t_\(\) expects a tensor with <= 2 dimensions, but self is 3D"),
    "expand by -1": (lambda x: x.expand(-1, 2, 3), RuntimeError, "isn't allowed in a leading, non-existing"),
    "squeeze": (lambda x: x.squeeze(2), IndexError, "but got 2"),
    "squeeze twice": (lambda x: x.squeeze((0, -2)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    "unsqueeze": (lambda x: x.unsqueeze(3), IndexError, r"range of \[-3, 2\], but got 3"),
    "select": (lambda x: x.select(0, 2), IndexError, r"index 2 out of range .* \[2, 3\] at dimension 0"),
    "select in a scalar": (lambda x: x[0, 0].select(0, 0), IndexError, "cannot be applied to a 0-dim tensor"),
    "slice of a scalar": (lambda x: x[0, 0][:], IndexError, "cannot be applied to a 0-dim tensor"),
    "narrow": (lambda x: x.narrow(0, 1, 2), RuntimeError, r"start \(1\) \+ length \(2\) exceeds dimension size \(2\)"),
    "narrow from": (lambda x: x.narrow(0, 3, 0), IndexError, r"start out of range \(expected .* \[-2, 2\], but got 3"),
    "narrow by": (lambda x: x.narrow(0, 0, -1), RuntimeError, "length must be non-negative"),
    "narrow a scalar": (lambda x: x[0, 0].narrow(0, 0, 1), RuntimeError, "cannot be applied to a 0-dim tensor"),
    "narrow from floats": (lambda x: x.narrow(0, x[0, 0], 1), RuntimeError, "start must be an 0-dim integral Tensor"),
    "diagonal": (lambda x: x.diagonal(0, 1, -1), RuntimeError, "dimensions cannot be identical 1, -1"),
    "unfold": (lambda x: x.unfold(1, 4, 1), RuntimeError, "maximum size for tensor at dimension 1 is 3 but size is 4"),
    "unfold by nothing": (lambda x: x.unfold(1, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    "as_strided": (lambda x: x.as_strided((7,), (1,)), RuntimeError, "storage of size 24"),
    "as_strided backwards": (lambda x: x.as_strided((2,), (-1,)), RuntimeError, "Negative strides are not supported"),
    "as_strided unequal": (lambda x: x.as_strided((2,), (1, 1)), RuntimeError, "mismatch in length"),
    "unbind": (lambda x: x[0, 0].unbind(), IndexError, "tensor has no dimensions"),
    "split": (lambda x: x.split(-1), RuntimeError, "got split_size=-1"),
    "split by nothing": (lambda x: x.split(0), RuntimeError, "but got dimension size of 2"),
    "split by sizes": (lambda x: x.split([1, 2]), RuntimeError, "sum exactly to 2 .* got split_sizes="),
    "chunk": (lambda x: x.chunk(0), RuntimeError, "greater than 0, got: 0"),
    "flatten": (lambda x: x.flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    "mT": (lambda x: x[0].mT, RuntimeError, "Got 1-D tensor"),
    "adjoint": (lambda x: x[0].adjoint(), RuntimeError, r"tensor.adjoint\(\) is only supported on matrices"),
    "H": (lambda x: x[None].H, RuntimeError, "Got 3-D tensor. For batches of matrices, consider using tensor.mH"),
    "unflatten": (lambda x: x.unflatten(1, (2, 2)), RuntimeError, r"sizes \[2, 2\] don't multiply up .* dim 1 \(3\)"),
    "unflatten into nothing": (lambda x: x.unflatten(1, ()), RuntimeError, "sizes must be non-empty"),
    "tensor_split": (lambda x: x.tensor_split(0), RuntimeError, "sections must be larger than 0, got 0"),
    "tensor_split a scalar": (lambda x: x[0, 0].tensor_split(1), RuntimeError, "at least a 1-dimensional tensor, but"),
    "tensor_split by floats": (lambda x: x.tensor_split(x[0]), RuntimeError, "dtype of long, but got Float"),
    "hsplit": (lambda x: x.hsplit(2), RuntimeError, "dimension 1, but the size of the dimension 3 is not divisible"),
    "vsplit": (lambda x: x[0].vsplit(1), RuntimeError, "vsplit requires a tensor with at least 2 dimension, but got"),
    "dsplit": (lambda x: x.dsplit(1), RuntimeError, "dsplit requires a tensor with at least 3 dimension, but got"),
    "sum_to_size": (lambda x: x.sum_to_size(4, 3), RuntimeError, r"size \{\[4, 3\]\} is not expandable to size \{\["),
    "split_with_sizes": (lambda x: x.split_with_sizes([3, -1]), RuntimeError, "have only non-negative entries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_seen_is_refused_as_in_pytorch(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch.arange(6.0).view(2, 3))


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda x: x.transpose_(0, 1), lambda x: x.transpose(0, 1)),
        (lambda x: x.t_(), lambda x: x.t()),
        (lambda x: x.unsqueeze_(1), lambda x: x.unsqueeze(1)),
        (lambda x: x.unsqueeze_(0).squeeze_(), lambda x: x.squeeze()),
        (lambda x: x.squeeze_(1), lambda x: x.squeeze(1)),
        (lambda x: x.unsqueeze_(0).squeeze_((0, 1)), lambda x: x.squeeze((0, 1))),
        (lambda x: x.as_strided_((2,), (3,), 1), lambda x: x.as_strided((2,), (3,), 1)),
    ],
)
def test_a_tensor_can_look_elsewhere_itself(torch: Any, change: Make, seen: Make) -> None:
    x = torch.arange(6.0).view(2, 3).clone()
    expected = geometry(seen(x))
    kept = x.view(6)
    assert change(x) is x
    assert geometry(x) == expected
    kept[1] = 9.0
    assert 9.0 in x.flatten().tolist()
    assert x._version >= 1


def test_reshape_copies_only_where_strides_cannot_say_it(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    start = x.data_ptr()
    assert x.reshape(3, 2).data_ptr() == start
    assert x.t().reshape(3, 2, 1).data_ptr() == start
    copy = x.t().reshape(6)
    assert copy.data_ptr() != start
    assert copy.tolist() == [0, 3, 1, 4, 2, 5]


def test_chunks_of_nothing_are_as_many_as_were_asked_for(torch: Any) -> None:
    assert [tuple(piece.shape) for piece in torch.zeros(0, 2).chunk(3)] == [(0, 2)] * 3


def test_narrow_takes_a_start_that_was_computed(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    assert x.narrow(1, torch.tensor(1), 2).tolist() == [[1, 2], [4, 5]]


@pytest.mark.parametrize("name", ["T", "mT", "mH", "H"])
def test_transposing_a_scalar_warns_once(name: str) -> None:
    import glasstorch
    from glasstorch.core import warn_once

    warn_once._given.clear()
    scalar = glasstorch.tensor(1.0)
    with pytest.warns(UserWarning, match=rf"Tensor\.{name} is deprecated on 0-D tensors"):
        assert getattr(scalar, name).shape == ()
    assert getattr(scalar, name).shape == ()  # a second warning would be an error here


def test_tensors_of_the_same_sizes_are_viewed_by_their_own_strides(torch: Any) -> None:
    x = torch.arange(24).view(4, 6)
    every_second, first_half = x[:, ::2], x[:, :3]
    assert every_second.shape == first_half.shape
    assert every_second.view(12).stride() == (2,)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        first_half.view(12)


@steady
@given(small_shapes)
def test_flattening_and_back_is_the_tensor(shape: tuple[int, ...]) -> None:
    import glasstorch

    x = glasstorch.zeros(shape)
    assert geometry(x.reshape(-1).view(shape)) == geometry(x)
    assert geometry(x.unsqueeze(0).squeeze(0)) == geometry(x)


def test_tensor_split_takes_a_cpu_tensor(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    cut = [piece.tolist() for piece in x.tensor_split(torch.tensor([1, 2]), 1)]
    assert cut == [[[0], [3]], [[1], [4]], [[2], [5]]]
    assert [piece.tolist() for piece in torch.tensor_split(x, torch.tensor(2))] == [[[0, 1, 2]], [[3, 4, 5]]]
    with pytest.raises(RuntimeError, match="zero-dimensional or one-dimensional tensor, but got a tensor with 2 dims"):
        x.tensor_split(torch.tensor([[1]]))


def test_pieces_that_are_no_views_can_be_changed_in_place(torch: Any) -> None:
    x = torch.arange(4.0).requires_grad_() * 1
    first, second = x.unsafe_split(2)
    assert (first._version, first._base) == (0, None)
    first.mul_(2)
    assert (first._version, second._version, x._version) == (1, 0, 0)


# Bytes as other numbers -----------------------------------------------------------------------------------------

DTYPES: dict[str, tuple[Callable[[Any, Any], Any], str, tuple[int, ...], tuple[int, ...], int]] = {
    "smaller elements": (lambda torch, x: x.view(torch.int16), "int16", (2, 3, 16), (48, 16, 1), 0),
    "elements of one size": (lambda torch, x: x[1].view(torch.float64), "float64", (3, 4), (4, 1), 12),
    "larger elements": (lambda torch, x: x[1].view(torch.complex128), "complex128", (3, 2), (2, 1), 6),
    "of a slice": (lambda torch, x: x[:, :, 2:].view(torch.uint8), "uint8", (2, 3, 16), (96, 32, 1), 16),
    "of nothing": (lambda torch, x: x[..., :0].view(torch.int32), "int32", (2, 3, 0), (24, 8, 1), 0),
    "pairs": (lambda torch, x: torch.view_as_complex(x.double().view(2, 6, 2)[:, 1:]), "complex128", (2, 5), (6, 1), 1),
    "parts": (lambda torch, x: torch.view_as_real(x[0].to(torch.complex64).t()), "float32", (4, 3, 2), (2, 8, 1), 0),
}


@pytest.mark.parametrize("name", DTYPES)
def test_bytes_are_seen_as_other_numbers(torch: Any, name: str) -> None:
    make, dtype, shape, strides, offset = DTYPES[name]
    view = make(torch, torch.arange(24).view(2, 3, 4))
    assert view.dtype is getattr(torch, dtype)
    assert geometry(view) == (shape, strides, offset)


def test_a_dimension_of_one_may_have_any_stride_where_pairs_are_seen(torch: Any) -> None:
    assert geometry(torch.view_as_complex(torch.ones(6).as_strided((1, 2), (3, 1)))) == ((1,), (1,), 0)


def test_the_bits_of_a_float_can_be_read_and_set(torch: Any) -> None:
    x = torch.tensor([1.0, -0.0])
    bits = x.view(torch.int32)
    assert bits.tolist() == [0x3F800000, -(2**31)]
    bits[1] = 0x40000000
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 1
    assert x.requires_grad_().view(torch.int32).requires_grad is False


REFUSED_DTYPES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a scalar": (lambda torch, x: x[0, 0].view(torch.int64), r"dim\(\) cannot be 0 to view Float as Long"),
    "an odd size": (lambda torch, x: x.view(torch.int64), r"size\(-1\) must be divisible by 2 to view Float as Long"),
    "columns": (lambda torch, x: x.t().view(torch.int16), r"stride\(-1\) must be 1 to view Float as Short .* got 3"),
    "an odd offset": (lambda torch, x: x[0, 1:].view(torch.int64), r"storage_offset\(\) must be divisible by 2"),
    "an odd step": (lambda torch, x: x[:, :2].view(torch.int64), r"stride\(0\) must be divisible by 2 .* got 3"),
    "integers as pairs": (lambda torch, x: torch.view_as_complex(x.long()), "got a tensor of scalar type: Long"),
    "threes as pairs": (lambda torch, x: torch.view_as_complex(x), "must have a last dimension of size 2"),
    "a scalar as a pair": (lambda torch, x: torch.view_as_complex(x[0, 0]), "must have one or more dimensions"),
    "far pairs": (lambda torch, x: torch.view_as_complex(x.t()), "must have a last dimension with stride 1"),
    "odd pairs": (
        lambda torch, x: torch.view_as_complex(x[:, :2]),
        "must have a stride divisible by 2 for all but last",
    ),
    "late pairs": (lambda torch, x: torch.view_as_complex(x[0, 1:]), "must have a storage_offset divisible by 2"),
    "parts of floats": (lambda torch, x: torch.view_as_real(x), "only supported for complex tensors"),
}


@pytest.mark.parametrize("name", REFUSED_DTYPES)
def test_bytes_that_make_no_numbers_are_refused_as_in_pytorch(torch: Any, name: str) -> None:
    make, message = REFUSED_DTYPES[name]
    with pytest.raises(RuntimeError, match=message):
        make(torch, torch.arange(6.0).view(2, 3))


# Other elements where a view looks ------------------------------------------------------------------------------


def test_a_copy_with_other_elements_keeps_the_strides_and_the_storage_around(torch: Any) -> None:
    x = torch.arange(12.0).view(3, 4)[1:, 1:]
    made = torch.slice_scatter(x, torch.zeros(2, 2), 1, 0, None, 2)
    assert (made.tolist(), geometry(made)) == ([[0, 6, 0], [0, 10, 0]], ((2, 3), (4, 1), 5))
    assert made.untyped_storage().nbytes() == 48
    expanded = torch.select_scatter(torch.arange(3.0).expand(2, 3), torch.ones(3), 0, 1)
    assert (expanded.tolist(), expanded.stride()) == ([[0, 1, 2], [1, 1, 1]], (3, 1))


def test_other_elements_must_have_the_sizes_of_the_view(torch: Any) -> None:
    x, wrong = torch.zeros(3, 4, requires_grad=True), torch.zeros(1)
    for scatter in (
        lambda: x.slice_scatter(wrong, 0, 1),
        lambda: x.select_scatter(wrong, 0, 1),
        lambda: x.diagonal_scatter(wrong),
        lambda: x.as_strided_scatter(wrong, (2,), (1,)),
    ):
        with pytest.raises(RuntimeError, match=r"src to have a size equal to the slice of self. src size = \[1\]"):
            scatter()
    with pytest.raises(RuntimeError, match="as_strided_scatter is currently only supported for contiguous"):
        x.t().as_strided_scatter(torch.zeros(2), (2,), (1,))


def test_sizes_beyond_int64_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        torch.ones(1).expand(2**62, 2).numel()
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed with sizes="):
        torch.empty_strided((2**40, 2**40), (1, 2**40))
