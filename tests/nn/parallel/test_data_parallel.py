"""Does DataParallel do without a device what PyTorch's does, and on devices what its module does on the CPU?"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import glasstorch
from glasstorch.nn import parallel
from glasstorch.nn.parallel import comm
from tests.devices.devices import Devices
from tests.nn.side_by_side import assert_same


class Pair(NamedTuple):
    a: Any
    b: Any


def wrapped(torch: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.DataParallel(torch.nn.Linear(2, 3), **options)


WITHOUT_A_DEVICE: dict[str, Callable[[Any], Any]] = {
    "repr": lambda torch: repr(wrapped(torch)),
    "call": lambda torch: wrapped(torch)(torch.ones(4, 2)).tolist(),
    "call by name": lambda torch: wrapped(torch)(input=torch.ones(4, 2)).tolist(),
    "attributes": lambda torch: [wrapped(torch).device_ids, hasattr(wrapped(torch), "dim")],
    "ids of missing devices": lambda torch: wrapped(torch, device_ids=[0, 1]).device_ids,
    "state dict": lambda torch: list(wrapped(torch).state_dict()),
    "pickle": lambda torch: repr(pickle.loads(pickle.dumps(wrapped(torch)))),
    "data_parallel": lambda torch: torch.nn.parallel.data_parallel(torch.nn.Linear(2, 3), torch.ones(2, 2)),
    "apply without a device": lambda torch: torch.nn.parallel.parallel_apply([torch.nn.ReLU()], [torch.ones(1)]),
    "apply to fewer inputs": lambda torch: torch.nn.parallel.parallel_apply([torch.nn.ReLU()], []),
    "apply with more names": lambda torch: torch.nn.parallel.parallel_apply([torch.nn.ReLU()], [1], [{}, {}]),
    "apply on more devices": lambda torch: torch.nn.parallel.parallel_apply([torch.nn.ReLU()], [1], None, [0, 1]),
    "replicate": lambda torch: torch.nn.parallel.replicate(torch.nn.Linear(2, 3), [0]),
    "replicate on no device": lambda torch: torch.nn.parallel.replicate(torch.nn.Linear(2, 3), []),
    "replicate what has no parameters": lambda torch: [
        repr(one) for one in torch.nn.parallel.replicate(torch.nn.Sequential(torch.nn.ReLU()), [0, 1])
    ],
    "a replica": lambda torch: [
        [one._is_replica, list(one.parameters()), list(one._modules)]
        for one in [torch.nn.Sequential(torch.nn.Flatten())._replicate_for_data_parallel()]
    ],
    "scatter objects": lambda torch: [
        torch.nn.parallel.scatter(one, [0, 1])
        for one in ([1, 2], (1, [2], {"a": 3}, ()), Pair(1, 2), {}, OrderedDict(a=1), None)
    ],
    "scatter arguments": lambda torch: [
        torch.nn.parallel.scatter_gather.scatter_kwargs(args, kwargs, [0, 1])
        for args, kwargs in (((1, 2), {"a": 1}), ((), {"a": 1}), ((1, 2), None), ((), None))
    ],
    "gather on the CPU": lambda torch: torch.nn.parallel.gather([torch.ones(1)], "cpu"),
    "gather objects": lambda torch: [
        torch.nn.parallel.gather(outputs, "cpu")
        for outputs in ([None, None], [{"a": None}] * 2, [[None], [None]], [Pair(None, None)] * 2)
    ],
    "gather different dictionaries": lambda torch: torch.nn.parallel.gather([{"a": None}, {}], "cpu"),
    "broadcast nowhere": lambda torch: torch.nn.parallel.comm.broadcast(torch.ones(1), None),
    "broadcast to the CPU": lambda torch: torch.nn.parallel.comm.broadcast(torch.ones(1), ["cpu"]),
    "reduce_add on the CPU": lambda torch: torch.nn.parallel.comm.reduce_add([torch.ones(1)], 0),
    "gather with destination and out": lambda torch: torch.nn.parallel.comm.gather(
        [torch.ones(1)], destination="cpu", out=torch.ones(1)
    ),
    "scatter with sizes and out": lambda torch: torch.nn.parallel.comm.scatter(
        torch.ones(1), None, [1], out=[torch.ones(1)]
    ),
}


@pytest.mark.parametrize("name", WITHOUT_A_DEVICE)
def test_without_a_device_it_is_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(WITHOUT_A_DEVICE[name], torch)


# On devices: two simulated ones, or one card -------------------------------------------------------------------------


class Scaled(glasstorch.nn.Module):
    """A layer with a buffer, which counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = glasstorch.nn.Linear(3, 4)
        self.register_buffer("scale", glasstorch.full((4,), 2.0))
        self.register_buffer("calls", glasstorch.zeros(1))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return self.linear(x).tanh() * self.scale


def network() -> Any:
    glasstorch.manual_seed(0)
    return Scaled()


def test_on_devices_results_and_gradients_are_those_of_the_module(cuda: Devices) -> None:
    x = glasstorch.arange(12.0).reshape(4, 3) / 12
    plain = network()
    wanted = plain(x)
    wanted.sum().backward()
    spread = glasstorch.nn.DataParallel(network().to("cuda:0"))
    assert spread.device_ids == list(range(glasstorch.cuda.device_count()))
    found = spread(x)
    found.sum().backward()
    assert str(found.device) == "cuda:0"
    glasstorch.testing.assert_close(found.cpu(), wanted)
    for one, other in zip(spread.parameters(), plain.parameters(), strict=True):
        glasstorch.testing.assert_close(one.grad.cpu(), other.grad)
    assert spread.module.calls.tolist() == [1]  # that of the copy on the first device


def test_parameters_elsewhere_are_refused(cuda: Devices) -> None:
    if glasstorch.cuda.device_count() > 1:
        spread = glasstorch.nn.DataParallel(network())
        with pytest.raises(RuntimeError, match=r"on device cuda:0 \(device_ids\[0\]\) but found one of them on device"):
            spread(glasstorch.ones(4, 3))
    moved = glasstorch.nn.DataParallel(network(), device_ids=[0])
    assert {str(p.device) for p in moved.parameters()} == {"cuda:0"}
    assert moved(glasstorch.ones(4, 3)).shape == (4, 4)


def test_replicas_hold_copies_that_hand_gradients_on(cuda: Devices) -> None:
    layer = glasstorch.nn.Linear(2, 1).to("cuda:0")
    devices = list(range(glasstorch.cuda.device_count()))
    replicas = parallel.replicate(layer, devices)
    assert [str(one.weight.device) for one in replicas] == [f"cuda:{i}" for i in devices]
    assert [list(one.parameters()) for one in replicas] == [[] for _ in devices]
    assert [list(one._former_parameters) for one in replicas] == [["weight", "bias"] for _ in devices]
    sum(one.weight.sum().to("cuda:0") for one in replicas).backward()
    assert layer.weight.grad.tolist() == [[len(devices)] * 2]
    assert not any(one.weight.requires_grad for one in parallel.replicate(layer, devices, detach=True))


def test_an_error_in_a_replica_says_in_which(cuda: Devices) -> None:
    class Failing(glasstorch.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    with pytest.raises(ValueError, match=r"Caught ValueError in replica 0 on device 0\.\nOriginal Traceback"):
        parallel.parallel_apply([Failing()], [glasstorch.ones(1, device="cuda:0")])


def test_tensors_are_spread_and_put_together(cuda: Devices) -> None:
    devices = list(range(glasstorch.cuda.device_count()))
    x = glasstorch.arange(6.0).reshape(3, 2)
    parts = parallel.scatter(x, devices)
    assert [str(part.device) for part in parts] == [f"cuda:{i}" for i in devices]
    assert parallel.gather(parts, "cpu").tolist() == x.tolist()
    copies = comm.broadcast(x, devices)
    assert [copy.tolist() for copy in copies] == [x.tolist()] * len(devices)
    assert comm.reduce_add(copies, 0).tolist() == (x * len(devices)).tolist()
    with pytest.warns(UserWarning, match="all input tensors were scalars"):
        joined = parallel.gather([part.sum() for part in parts], 0)
    assert joined.shape == (len(devices),)
    with pytest.warns(FutureWarning, match="Using -1 to represent CPU tensor is deprecated"):
        assert comm.gather(parts, 0, -1).tolist() == x.tolist()
