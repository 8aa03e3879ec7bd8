"""Are the types of CUDA tensors those of PyTorch, on a machine with CUDA devices and on one without?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module
from tests.python_forms.test_tensor_types import NAMED


@pytest.mark.parametrize("name", NAMED)
def test_a_type_of_cuda_tensors_knows_that_a_cpu_tensor_is_none(torch: Any, name: str) -> None:
    kind, of_cpu = getattr(torch.cuda, name), getattr(torch, name)
    assert (repr(kind), kind.dtype, kind.is_cuda) == (f"<class 'torch.cuda.{name}'>", of_cpu.dtype, True)
    assert not of_cpu.is_cuda
    x = torch.ones(2, dtype=kind.dtype)
    assert isinstance(x, of_cpu)
    assert not isinstance(x, kind)
    assert isinstance(x, (of_cpu, kind))
    assert not isinstance(x.to("meta"), kind)
    assert not isinstance([1], kind)


def test_a_type_makes_cuda_tensors_and_converts_to_them(cuda: Any) -> None:
    import glasstorch

    x = glasstorch.cuda.FloatTensor([1, 2])
    assert (x.dtype, x.device.type, x.tolist(), x.type()) == (
        glasstorch.float32,
        "cuda",
        [1.0, 2.0],
        "torch.cuda.FloatTensor",
    )
    assert glasstorch.cuda.LongTensor(2, 3).shape == (2, 3)
    assert isinstance(x, glasstorch.cuda.FloatTensor)
    assert not isinstance(x, glasstorch.FloatTensor)
    assert not isinstance(x, glasstorch.cuda.LongTensor)
    assert glasstorch.ones(1).type(glasstorch.cuda.LongTensor).type() == "torch.cuda.LongTensor"
    assert x.type(glasstorch.IntTensor).type() == "torch.IntTensor"
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cuda but device type: cpu"):
        glasstorch.cuda.FloatTensor(2, device="cpu")
