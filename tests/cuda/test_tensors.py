"""What does a program see of a tensor on a CUDA device?"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.keys import DispatchKeySet
from glasstorch.dispatch.trace import trace
from tests.devices.devices import Devices


def test_its_facts_say_where_it_is(cuda: Devices) -> None:
    x = glasstorch.zeros(2, device="cuda")
    assert (x.is_cuda, x.is_meta, x.device, x.get_device()) == (True, False, glasstorch.device("cuda:0"), 0)
    assert glasstorch.zeros(2).get_device() == -1
    assert repr(DispatchKeySet(x.key_set)) == "DispatchKeySet(CUDA, ADInplaceOrView, AutogradCUDA, AutocastCUDA)"


def test_it_prints_its_device_and_calls_no_operator(cuda: Devices) -> None:
    x = glasstorch.tensor([[1.0, 2.5], [3, 4]], device=cuda.device).t()
    with trace() as hops:
        assert repr(x) == "tensor([[1.0000, 3.0000],\n        [2.5000, 4.0000]], device='cuda:0')"
        assert repr(x[0, 0].detach()) == "tensor(1., device='cuda:0')"
        assert x.tolist() == [[1, 3], [2.5, 4]]
    assert {hop.operator for hop in hops} <= {"aten::select.int", "aten::detach"}
    assert repr(glasstorch.zeros(1, device=cuda.device, requires_grad=True)) == (
        "tensor([0.], device='cuda:0', requires_grad=True)"
    )


def test_numpy_cannot_read_it_and_says_what_to_do(cuda: Devices) -> None:
    x = glasstorch.ones(2, device=cuda.device)
    for read in (x.numpy, x.array, lambda: np.asarray(x)):
        with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\(\)"):
            read()
    assert x.numpy(force=True).tolist() == [1, 1]


def test_it_survives_a_pickle_and_a_deep_copy(cuda: Devices) -> None:
    x = glasstorch.arange(6.0, device=cuda.device).view(2, 3).t().requires_grad_()
    for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (twin.device, twin.stride(), twin.requires_grad) == (x.device, x.stride(), True)
        assert twin.tolist() == x.tolist()
        assert twin.data_ptr() != x.data_ptr()


def test_a_number_on_a_device_serves_as_a_python_number(cuda: Devices) -> None:
    two = glasstorch.tensor(2, device=cuda.device)
    assert glasstorch.arange(5)[two] == 2
    assert [10, 11, 12][two] == 12
    assert float(two) == 2
    assert bool(two)
    assert f"{two}" == "2"
    assert glasstorch.full((1,), two).tolist() == [2]
    assert (glasstorch.ones(2, device=cuda.device) * glasstorch.tensor(3.0)).tolist() == [3, 3]


def test_indices_may_be_on_the_cpu_or_on_the_device(cuda: Devices) -> None:
    x = glasstorch.arange(12, device=cuda.device).view(3, 4)
    here = glasstorch.arange(12).view(3, 4)
    for index in (glasstorch.tensor([2, 0]), here > 5, (slice(None), [1, 3]), glasstorch.tensor([True, False, True])):
        on_device = index.to(cuda.device) if isinstance(index, glasstorch.Tensor) else index
        assert x[index].tolist() == x[on_device].tolist() == here[index].tolist()
    x[x > 5] = -1
    here[here > 5] = -1
    assert x.tolist() == here.tolist()


@pytest.mark.parametrize("move", [lambda x: x.cuda(), lambda x: x.to("cuda"), lambda x: x.to(0), lambda x: x.cuda(0)])
def test_moving_records_where_the_gradient_goes_back_to(cuda: Devices, move: Any) -> None:
    x = glasstorch.ones(3, requires_grad=True)
    moved = move(x)
    assert moved.grad_fn.name() == "ToCopyBackward0"
    (moved * glasstorch.arange(3.0, device=cuda.device)).sum().backward()
    assert x.grad is not None
    assert (x.grad.device.type, x.grad.tolist()) == ("cpu", [0, 1, 2])


def test_a_copy_into_another_device_passes_the_gradient_back(cuda: Devices) -> None:
    x = glasstorch.ones(2, 3, requires_grad=True, device=cuda.device)
    target = glasstorch.zeros(2, 3).copy_(x * 2)
    (target * glasstorch.arange(3.0)).sum().backward()
    assert x.grad is not None
    assert (x.grad.device, x.grad.tolist()) == (cuda.device, [[0, 2, 4]] * 2)


def test_the_gradient_of_a_cpu_number_comes_back_to_the_cpu(cuda: Devices) -> None:
    number = glasstorch.tensor(2.0, requires_grad=True)
    (glasstorch.ones(3, device=cuda.device) * number).sum().backward()
    assert number.grad is not None
    assert (number.grad.device.type, number.grad.item()) == ("cpu", 3)


def test_gradients_on_another_device_are_refused(cuda: Devices) -> None:
    class Lost(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.cpu()

    x = glasstorch.ones(2, device=cuda.device, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        Lost.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with device type 'cpu'"):
        x.grad = glasstorch.ones(2)


def test_cuda_takes_no_other_device(cuda: Devices) -> None:
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        glasstorch.zeros(2).cuda("cpu")
    assert glasstorch.zeros(2).cuda(glasstorch.device(0)).device is cuda.device


def test_data_may_move_a_tensor_to_a_device_that_has_data(cuda: Devices) -> None:
    x = glasstorch.ones(2, requires_grad=True)
    before = x * 3
    x.data = glasstorch.full((3,), 2.0, device=cuda.device)
    assert (x.device, x.tolist(), x.is_leaf) == (cuda.device, [2, 2, 2], True)
    (x * x).sum().backward()
    assert x.grad is not None
    assert (x.grad.device, x.grad.tolist()) == (cuda.device, [4, 4, 4])
    assert before.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = glasstorch.zeros(2, device="meta")


def test_a_view_keeps_the_memory_of_its_base(cuda: Devices) -> None:
    x = glasstorch.zeros(4, device=cuda.device)
    x.view(2, 2)[1].fill_(5)
    x[::2].add_(1)
    assert x.tolist() == [1, 0, 6, 5]
    assert x._version == 2


def test_its_bits_are_resolved_there(cuda: Devices) -> None:
    x = glasstorch.arange(4.0, device=cuda.device)
    z = glasstorch.view_as_complex(x.clone().view(2, 2))
    conjugate = z.conj()
    assert (conjugate.is_conj(), conjugate.tolist(), conjugate.imag.tolist()) == (True, [-1j, 2 - 3j], [-1, -3])
    assert conjugate.clone().tolist() == conjugate.cpu().tolist() == z.conj_physical().tolist()
    assert z.conj_physical_().tolist() == [-1j, 2 - 3j]
    x._neg_view().add_(10)
    assert (x._neg_view() * 2).tolist() == [20, 18, 16, 14]
    assert x.view(glasstorch.int32).dtype is glasstorch.int32
