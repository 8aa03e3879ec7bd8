"""Do tensors of indices pick and place on a CUDA device as on the CPU, and does one that is outside stop it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.errors import AcceleratorError, DeviceError
from glasstorch.devices import runtime
from glasstorch.kernels.cuda import indexing
from glasstorch.kernels.cuda.tensors import CUDA_TYPE
from tests.devices.devices import Devices, made


def same(there: torch.Tensor, here: torch.Tensor) -> None:
    """The same values, dtype, sizes and strides."""
    assert there.device.type == "cuda"
    assert (there.dtype, there.shape, there.stride()) == (here.dtype, here.shape, here.stride())
    assert there.tolist() == here.tolist()


def agree(cuda: Devices, compute: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> None:
    """The device's result is the CPU's."""
    same(compute(*(x.to(cuda.device) for x in tensors)), compute(*tensors))


def numbers(*shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Different small numbers from 1 on."""
    count = 1
    for size in shape:
        count *= size
    return torch.arange(1, count + 1).view(shape).to(dtype)


def at(*indices: Any) -> torch.Tensor:
    """A tensor of indices, or a mask."""
    return torch.tensor(*indices)


# index, index_put ------------------------------------------------------------------------------------------------

PICKED: dict[str, tuple[Any, ...]] = {
    "the first dimension": ([1, 0, -1],),
    "a middle dimension": (None, [2, 0]),
    "the last dimension": (None, None, [[3], [0]]),
    "two that stand together": (None, [0, 1], [2, 3]),
    "two that do not": ([0, 1], None, [2, 3]),
    "all three": ([0, 1, 1], [-1, 0, 2], [3, -4, 1]),
    "broadcast together": ([[0], [1]], [0, 2]),
    "a mask": ([True, False],),
    "a mask of two dimensions": ([[True, False, True], [False, True, False]],),
    "a mask and indices": ([True, True], [0, 2]),
    "a mask with an index in front": (None, [True, False, True], [1]),
    "a mask of nothing": ([False, False],),
}


def index_of(name: str) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else torch.tensor(i) for i in PICKED[name])


def on(device: Any, index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(i.to(device) if isinstance(i, torch.Tensor) else i for i in index)


@pytest.mark.parametrize("name", PICKED)
def test_what_is_picked(cuda: Devices, name: str) -> None:
    index = index_of(name)
    for x in (numbers(2, 3, 4), numbers(4, 3, 2).permute(2, 1, 0), numbers(3, 4).expand(2, 3, 4)):
        same(x.to(cuda.device)[on(cuda.device, index)], x[index])


@pytest.mark.parametrize("name", PICKED)
def test_what_is_written(cuda: Devices, name: str) -> None:
    # Where an index names a place twice, which of the values stays is left open.
    index = (at([1, -2]),) if name == "the first dimension" else index_of(name)
    there = on(cuda.device, index)
    for x in (numbers(2, 3, 4), numbers(4, 3, 2).permute(2, 1, 0)):
        values = x[index] * 10
        here, written = x.clone(), x.to(cuda.device)
        here[index] = values
        written[there] = values.to(cuda.device)
        same(written, here)
        here[index] = -7
        written[there] = -7
        same(written, here)


@pytest.mark.parametrize("dtype", CUDA_TYPE, ids=str)
def test_every_dtype_is_picked_written_and_added(cuda: Devices, dtype: torch.dtype) -> None:
    x, twice = numbers(3, 5, dtype=dtype), at([2, 0, 2])
    values = numbers(3, 5, dtype=dtype).flip(0)
    agree(cuda, lambda x, i: x[i], x, twice)
    agree(cuda, lambda x, i, v: x.index_put((i,), v), x, at([2, 0, 1]), values)
    agree(cuda, lambda x, i, v: x.index_put((i,), v, accumulate=True), x, twice, values)
    agree(cuda, lambda x, i, v: x.scatter_add(0, i, v), x, at([[2, 0, 1, 0, 2], [2, 2, 1, 0, 0]]), values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool], ids=str)
def test_many_threads_add_to_few_places(cuda: Devices, dtype: torch.dtype) -> None:
    index = torch.arange(700) % 7
    agree(cuda, lambda i: torch.zeros(7, dtype=dtype, device=i.device).index_put(
        (i,), torch.ones(700, dtype=dtype, device=i.device), accumulate=True), index)  # fmt: skip


def test_bytes_beside_what_is_added_to_stay(cuda: Devices) -> None:
    x = torch.full((9,), 255, dtype=torch.uint8)
    agree(cuda, lambda x, i, v: x.index_put((i,), v, accumulate=True), x, at([1, 4, 4]), numbers(3, dtype=torch.uint8))


def test_more_elements_than_a_block_has_threads(cuda: Devices) -> None:
    x, index = numbers(40, 30), torch.arange(39, -1, -1)
    agree(cuda, lambda x, i: x[i], x, index)
    agree(cuda, lambda x, i, j: x[i, j], x, index[:, None], at([5, 29, 0]))


def test_indices_may_be_int32_or_on_the_cpu(cuda: Devices) -> None:
    x, index = numbers(4, 2), at([3, 0])
    agree(cuda, lambda x: x[index.int()], x)
    agree(cuda, lambda x: x[index], x)
    agree(cuda, lambda x: x.index_put((index,), torch.tensor(9)), x)
    agree(cuda, lambda x: x[at([True, False, False, True])], x)


def test_a_cpu_tensor_takes_no_indices_from_a_device(cuda: Devices) -> None:
    with pytest.raises(DeviceError, match=r"indices should be either on cpu or on the same device as the .*\(cpu\)"):
        torch.ones(3)[at([0]).to(cuda.device)]
    with pytest.raises(DeviceError, match="two devices"):
        torch.ones(3, device=cuda.device).index_put((at([0, 1]),), torch.ones(2))


def test_one_value_where_a_mask_says_is_cast(cuda: Devices) -> None:
    x = torch.zeros(3, device=cuda.device)
    x[at([True, False, True]).to(cuda.device)] = torch.tensor(7)
    assert x.tolist() == [7, 0, 7]


def test_no_index_at_all_is_refused(cuda: Devices) -> None:
    x = numbers(2, 3).to(cuda.device)
    with pytest.raises(RuntimeError, match="expected one index or more in `indices`, got an empty list"):
        x.index_put((), numbers(3).to(cuda.device))


def test_values_and_indices_in_the_target_are_refused_where_that_is_certain(cuda: Devices) -> None:
    x = numbers(8).to(cuda.device)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[at([1, 2, 3, 4]).to(cuda.device)] = x[:4]
    indices = at([3, 2, 1, 0]).to(cuda.device)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        indices[indices] = torch.tensor(7, device=cuda.device)
    here = numbers(8)
    there = here.to(cuda.device)
    for y in (here, there):  # what has gaps is not judged, and read before it is written
        y[at([0, 2]).to(y.device)] = y[::2][1:3]
    same(there, here)


def test_masks_that_do_not_fit_are_refused(cuda: Devices) -> None:
    x = torch.zeros(2, 3, device=cuda.device)
    with pytest.raises(IndexError, match=r"mask \[3\] at index 0 .* \[2, 3\] at index 0"):
        x[at([True] * 3).to(cuda.device)]
    with pytest.raises(IndexError, match="must be long, int, byte or bool tensors"):
        x[at([0.0]).to(cuda.device)]
    with pytest.raises(IndexError, match="at least one index must be provided"):
        torch.ops.aten.index(x, [None])
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        assert x[
            at(
                [0, 1],
            )
            .to(torch.uint8)
            .to(cuda.device)
        ].shape == (1, 3)


def test_writing_to_an_expanded_tensor_is_deprecated(cuda: Devices) -> None:
    x = torch.zeros(1, device=cuda.device).expand(3)
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        x.index_put_((at([1]).to(cuda.device),), torch.ones(1, device=cuda.device))
    assert x.tolist() == [1, 1, 1]


# gather, scatter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_along_a_dimension(cuda: Devices, dim: int) -> None:
    x, src = numbers(3, 4), numbers(3, 4) * 100
    index = at([[0, 1, 2], [2, 0, 1]])
    for order in ((0, 1), (1, 0)):
        y, s = (t.t().contiguous().t() if order == (1, 0) else t for t in (x, src))
        agree(cuda, lambda x, i: x.gather(dim, i), y, index)
        agree(cuda, lambda x, i: x.gather(dim, i.int()), y, index)
        agree(cuda, lambda x, i, s: x.scatter(dim, i, s), y, index, s)
        agree(cuda, lambda x, i: x.scatter(dim, i, 9), y, index)
        agree(cuda, lambda x, i, s: x.scatter_add(dim, i, s), y, index, s)


def test_several_may_be_added_to_one_place(cuda: Devices) -> None:
    src = numbers(5, 64, dtype=torch.float32)
    index = (torch.arange(5 * 64) % 3).view(5, 64)
    agree(cuda, lambda i, s: torch.zeros(3, 64, device=s.device).scatter_add(0, i, s), index, src)
    agree(cuda, lambda i, s: torch.zeros(5, 3, device=s.device).scatter_add(1, i, s), index, src)


def test_tensors_without_dimensions_and_without_elements(cuda: Devices) -> None:
    agree(cuda, lambda x, i: x.gather(0, i), torch.tensor(5), at([0, 0]))
    agree(cuda, lambda x, i: x.gather(0, i), numbers(3), torch.tensor(1))
    agree(cuda, lambda x, i: x.scatter(0, i, torch.tensor(2.0, device=x.device)), torch.tensor(1.0), torch.tensor(0))
    agree(cuda, lambda x, i: x.index_select(0, i), torch.tensor(3), at([0]))
    nothing = torch.empty(0, 9, dtype=torch.int64)
    agree(cuda, lambda x, i: x.gather(0, i), numbers(2, 9), nothing)
    agree(cuda, lambda x, i: x.scatter(0, i, 1), numbers(2, 9), nothing)
    agree(cuda, lambda x, i: x[i], numbers(2, 9), torch.empty(0, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(5,), (), (2, 3), (0,)], ids=str)
def test_an_index_without_elements_may_have_any_rank(cuda: Devices, shape: tuple[int, ...]) -> None:
    x, nothing, one = torch.ones(shape), torch.empty(2, 0, dtype=torch.int64), torch.ones(1)
    agree(cuda, lambda x, i: x.gather(0, i), x, nothing)
    agree(cuda, lambda x, i: x.scatter(0, i, 2.0), x, nothing)
    agree(cuda, lambda x, i, src: x.scatter(0, i, src), x, nothing, one)
    agree(cuda, lambda x, i, src: x.scatter_add(0, i, src), x, nothing, one)


@pytest.mark.parametrize("dtype", CUDA_TYPE, ids=str)
def test_every_dtype_is_filled_with_a_number(cuda: Devices, dtype: torch.dtype) -> None:
    agree(cuda, lambda x, i: x.scatter(1, i, 1), torch.zeros(2, 3, dtype=dtype), at([[2], [0]]))


def test_out_may_be_given(cuda: Devices) -> None:
    x, index, src = numbers(2, 3).to(cuda.device), at([[0, 2, 1]]).to(cuda.device), numbers(1, 3).to(cuda.device)
    for compute, expected in (
        (lambda out: torch.gather(x, 1, index, out=out), [[1, 3, 2]]),
        (lambda out: torch.scatter(x, 1, index, src, out=out), [[1, 3, 2], [4, 5, 6]]),
        (lambda out: torch.index_select(x, 1, index[0], out=out), [[1, 3, 2], [4, 6, 5]]),
        (lambda out: torch.nonzero(index, out=out), [[0, 1], [0, 2]]),
    ):
        out = torch.empty(0, dtype=torch.int64, device=cuda.device)
        assert compute(out) is out
        assert out.tolist() == expected
    assert x.clone().scatter_(1, index, src).tolist() == [[1, 3, 2], [4, 5, 6]]
    with pytest.raises(RuntimeError, match="scalar type Long"):
        torch.nonzero(x, out=torch.empty(0, device=cuda.device))


def test_naming_indices_of_one_dimension(cuda: Devices) -> None:
    x, index = numbers(3, 4, 5), at([2, 0, 0, 1])
    for dim in range(3):
        agree(cuda, lambda x, i, d=dim: x.index_select(d, i), x, index)
        agree(cuda, lambda x, i, d=dim: x.transpose(0, 2).index_select(d, i), x, index)
    agree(cuda, lambda x, i: x.index_select(0, i.int()[::2]), x, index)


def test_on_a_device_that_is_not_the_current_one(cuda: Devices) -> None:
    last = f"cuda:{cuda.driver.device_count() - 1}"
    x, i = numbers(3, 2).to(last), at([2, 0]).to(last)
    assert x[i].tolist() == x.index_select(0, i).tolist() == [[5, 6], [1, 2]]
    assert x[i, at([0]).to(last)].tolist() == [5, 1]
    assert x.gather(0, i[:, None]).tolist() == [[5], [1]]
    assert x.scatter(0, i[:, None], 0).tolist() == [[0, 2], [3, 4], [0, 6]]
    assert x.index_put((i,), x[:2], accumulate=True).tolist() == [[4, 6], [3, 4], [6, 8]]
    assert (x > 5).nonzero().tolist() == [[2, 1]]


# nonzero ---------------------------------------------------------------------------------------------------------


def agree_where(cuda: Devices, x: torch.Tensor) -> None:
    """The device finds what the CPU finds, and lays out the columns one after the other."""
    there = x.to(cuda.device).nonzero()
    assert (there.device, there.dtype) == (cuda.device, torch.int64)
    assert there.tolist() == x.nonzero().tolist()
    assert there.t().is_contiguous()


@pytest.mark.parametrize("dtype", CUDA_TYPE, ids=str)
def test_where_elements_are_not_zero(cuda: Devices, dtype: torch.dtype) -> None:
    x = (torch.arange(21) % 3).view(3, 7).to(dtype)
    agree_where(cuda, x)
    agree_where(cuda, x.t())


@pytest.mark.parametrize("blocks", [1, 2, 64])
@pytest.mark.parametrize("size", [0, 1, 255, 2500])
def test_elements_of_many_blocks(cuda: Devices, monkeypatch: pytest.MonkeyPatch, size: int, blocks: int) -> None:
    monkeypatch.setattr(indexing, "COUNTS", blocks)  # one or two blocks go round several times
    agree_where(cuda, torch.arange(size) % 3 == 1)


def test_as_many_blocks_as_can_be_added_up(cuda: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BLOCK", 32)
    x = torch.zeros(indexing.COUNTS * indexing.BLOCK + 1, dtype=torch.bool)
    x[:: 2 * indexing.BLOCK] = True
    agree_where(cuda, x)


def test_two_zeros_and_what_is_no_number(cuda: Devices) -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        agree_where(cuda, torch.tensor([0.0, -0.0, float("nan"), 1e-7, float("-inf")]).to(dtype))


def test_dimensions_of_any_number(cuda: Devices) -> None:
    for x in (torch.tensor(3.0), torch.tensor(0.0), torch.empty(0), torch.empty(2, 0, 3), torch.ones(1, 2, 1, 2, 1)):
        agree_where(cuda, x)


# Outside ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["forward", "check"])
def doomed(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Simulated devices of which nothing can be asked after the test: an assert ends them."""
    runtime.use_driver(made(request.param))
    yield runtime.driver()
    runtime.use_driver(None)


OUTSIDE: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "index": (lambda x: x[at([0, 2]).cuda()], "index 2 is out of bounds for dimension 0 with size 2"),
    "negative": (lambda x: x[at([-3]).cuda()], "index -3 is out of bounds for dimension 0 with size 2"),
    "two": (lambda x: x[at([0]).cuda(), at([3]).cuda()], "index 3 is out of bounds for dimension 1 with size 3"),
    "index_put": (lambda x: x.index_put((at([5]).cuda(),), x[0]), "index 5 is out of bounds for dimension 0"),
    "accumulate": (lambda x: x.index_put((at([5]).cuda(),), x[0], True), "index 5 is out of bounds for dimension 0"),
    "gather": (lambda x: x.gather(1, at([[-1]]).cuda()), "index -1 is out of bounds for dimension 1 with size 3"),
    "scatter": (lambda x: x.scatter(1, at([[3]]).cuda(), x), "index 3 is out of bounds for dimension 1 with size 3"),
    "scatter value": (lambda x: x.scatter(1, at([[4]]).cuda(), 1.0), "index 4 is out of bounds for dimension 1"),
    "scatter_add": (lambda x: x.scatter_add(0, at([[2]]).cuda(), x), "index 2 is out of bounds for dimension 0"),
    "index_select": (lambda x: x.index_select(0, at([-1]).cuda()), "index -1 is out of bounds for dimension 0"),
}


def to_the_end(compute: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    """Compute, and wait until the device has."""
    compute(x)
    torch.cuda.synchronize()


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_outside_is_a_device_side_assert(doomed: Any, capsys: pytest.CaptureFixture[str], name: str) -> None:
    compute, said = OUTSIDE[name]
    x = torch.zeros(2, 3, device="cuda")
    with pytest.raises(AcceleratorError, match="device-side assert triggered") as raised:
        to_the_end(compute, x)
    assert raised.value.code == 710
    assert "indexing.cu" in str(raised.value)
    assert "index out of bounds" in str(raised.value)
    assert said in str(raised.value) + capsys.readouterr().out
    with pytest.raises(AcceleratorError, match="device-side assert triggered"):
        x.add(1).cpu()  # nothing runs after it


def named_twice(x: torch.Tensor) -> None:
    """Write the same number to one place from two threads."""
    x[[0, 0]] = torch.ones(2, device="cuda")
    torch.cuda.synchronize()


def test_a_place_that_indices_name_twice_is_a_race_in_check_mode_alone() -> None:
    try:
        runtime.use_driver(made("forward"))
        named_twice(x := torch.zeros(2, device="cuda"))
        assert x.tolist() == [1, 0]
        runtime.use_driver(made("check"))
        added = torch.zeros(2, device="cuda").index_put((at([0, 0]).cuda(),), torch.ones(2, device="cuda"), True)
        assert added.tolist() == [2, 0]
        with pytest.raises(
            AcceleratorError, match=r"indexing\.cu:\d+: race on global memory: written here, and written"
        ):
            named_twice(torch.zeros(2, device="cuda"))
    finally:
        runtime.use_driver(None)
