"""Does a traced program run on a CUDA device, and move there and back in its file?"""

from __future__ import annotations

import io

import pytest

import glasstorch
from glasstorch import jit, nn
from tests.devices.devices import Devices


def test_a_traced_module_trains_on_the_device_as_on_the_cpu(cuda: Devices) -> None:
    glasstorch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    x = glasstorch.rand(5, 4)
    wanted = glasstorch.autograd.grad(model(x).pow(2).sum(), list(model.parameters()))
    model.to("cuda")
    traced = jit.trace(model, x[:1].cuda())
    found = glasstorch.autograd.grad(traced(x.cuda()).pow(2).sum(), list(model.parameters()))
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.device.type == "cuda"
        assert glasstorch.allclose(ours.cpu(), theirs, atol=1e-5)


def test_a_chain_that_would_be_fused_gives_the_same_on_the_device(cuda: Devices) -> None:
    traced = jit.trace(lambda x: ((x + 1) * 2).exp().tanh(), glasstorch.zeros(2))
    assert traced.graph_for(glasstorch.zeros(2)).find_all_nodes("prim::FusionGroup")
    x = glasstorch.rand(3, 2) - 1
    assert glasstorch.allclose(traced(x.cuda()).cpu(), traced(x), atol=1e-6)


@pytest.mark.parametrize("place", [None, "cpu", "cuda"])
def test_a_file_brings_tensors_back_where_they_were_or_where_they_are_wanted(cuda: Devices, place: str | None) -> None:
    shift = glasstorch.arange(3.0, device="cuda")
    layer = nn.Linear(2, 3).cuda()

    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: glasstorch.Tensor) -> glasstorch.Tensor:
            return self.layer(x) + shift

    x = glasstorch.rand(4, 2)
    traced = jit.trace(Shifted(), x.cuda())
    loaded = jit.load(io.BytesIO(traced.save_to_buffer()), map_location=place)
    on = place or "cuda"
    assert {parameter.device.type for parameter in loaded.parameters()} == {on}
    assert glasstorch.allclose(loaded(x.to(on)).cpu(), traced(x.cuda()).cpu(), atol=1e-6)
