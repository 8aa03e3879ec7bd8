"""Do lazy layers take their sizes, and are they saved, copied and refused, as in PyTorch?"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

LAYERS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "LazyLinear": (lambda torch: torch.nn.LazyLinear(3), (2, 4)),
    "LazyLinear without bias": (lambda torch: torch.nn.LazyLinear(3, False, dtype=torch.float32), (2, 2, 4)),
    "LazyConv1d": (lambda torch: torch.nn.LazyConv1d(4, 3, stride=2, padding="valid"), (2, 2, 7)),
    "LazyConv2d": (lambda torch: torch.nn.LazyConv2d(4, (3, 2), groups=2, padding_mode="circular"), (1, 2, 5, 5)),
    "LazyConv3d": (lambda torch: torch.nn.LazyConv3d(4, 3, bias=False), (2, 3, 3, 3)),
    "LazyConvTranspose1d": (lambda torch: torch.nn.LazyConvTranspose1d(4, 3, groups=2), (1, 2, 5)),
    "LazyConvTranspose2d": (lambda torch: torch.nn.LazyConvTranspose2d(4, 3, 2, output_padding=1), (1, 2, 3, 3)),
    "LazyConvTranspose3d": (lambda torch: torch.nn.LazyConvTranspose3d(2, 2), (2, 2, 2, 2)),
    "LazyBatchNorm1d": (lambda torch: torch.nn.LazyBatchNorm1d(), (4, 3)),
    "LazyBatchNorm2d": (lambda torch: torch.nn.LazyBatchNorm2d(1e-3, None, bias=False), (2, 3, 2, 2)),
    "LazyBatchNorm3d": (lambda torch: torch.nn.LazyBatchNorm3d(affine=False), (2, 3, 2, 2, 2)),
    "LazyInstanceNorm1d": (lambda torch: torch.nn.LazyInstanceNorm1d(affine=True), (2, 3, 4)),
    "LazyInstanceNorm2d": (lambda torch: torch.nn.LazyInstanceNorm2d(track_running_stats=True), (2, 3, 4, 4)),
    "LazyInstanceNorm3d": (lambda torch: torch.nn.LazyInstanceNorm3d(affine=True, bias=False), (2, 3, 2, 2, 2)),
}


def given(torch: Any, size: tuple[int, ...]) -> Any:
    torch.manual_seed(0)
    return torch.rand(size)


def facts(module: Any) -> list[Any]:
    """What one sees of a layer and of its tensors."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return [
        repr(module),
        type(module).__name__,
        [
            (name, type(t).__name__, t.dtype.itemsize, t.requires_grad, t.size() == (0,), isinstance(t, kind))
            for name, t in tensors
            for kind in (type(t),)
        ],
        list(module.state_dict()),
        module.training,
        len(module._forward_pre_hooks),
        len(module._load_state_dict_pre_hooks),
        hasattr(module, "_initialize_hook"),
    ]


@pytest.mark.parametrize("name", LAYERS)
def test_the_first_call_gives_sizes_and_the_ordinary_class(name: str) -> None:
    torch = pytest.importorskip("torch")
    make, size = LAYERS[name]

    def program(torch: Any) -> Any:
        x = given(torch, size)
        module = make(torch)
        before = facts(module)
        out = module(x)
        out.sum().backward()
        return [
            before,
            facts(module),
            tuple(out.shape),
            [p.tolist() for p in module.parameters()],
            [tuple(p.grad.shape) for p in module.parameters()],
            torch.rand(1).item(),
        ]

    assert_same(program, torch)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("sizes", [(False, False), (True, False), (False, True), (True, True)])
def test_values_are_loaded_into_layers_with_and_without_sizes(
    name: str, assign: bool, sizes: tuple[bool, bool]
) -> None:
    torch = pytest.importorskip("torch")
    make, size = LAYERS[name]

    def program(torch: Any) -> Any:
        x = given(torch, size)
        one, other = make(torch), make(torch)
        for module, called in zip((one, other), sizes, strict=True):
            if called:
                module(x)
        values = one.state_dict()
        kinds = [type(v).__name__ for v in values.values()]
        loaded = repr(other.load_state_dict(values, assign=assign))
        found = facts(other)
        other(x)
        return [kinds, loaded, found, facts(other), [p.tolist() for p in other.parameters()]]

    assert_same(program, torch)


def test_a_failed_load_leaves_a_lazy_layer_without_sizes() -> None:
    layer = glasstorch.nn.LazyLinear(3)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        layer.load_state_dict(
            {"weight": glasstorch.ones(3, 2), "bias": glasstorch.ones(3), "other": glasstorch.ones(1)}
        )
    assert layer.has_uninitialized_params()
    assert [type(p).__name__ for p in layer.parameters()] == ["UninitializedParameter"] * 2
    assert layer(glasstorch.ones(1, 5)).shape == (1, 3)


LINEAR_PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "load of sizes that the input contradicts": lambda torch, m: (
        m.load_state_dict(torch.nn.Linear(4, 3).state_dict()),
        m(torch.ones(1, 5)),
    ),
    "load of what has no sizes": lambda torch, m: torch.nn.Linear(4, 3).load_state_dict(m.state_dict()),
    "half": lambda torch, m: facts(m.half()),
    "double": lambda torch, m: facts(m.double()),
    "to": lambda torch, m: facts(m.to(torch.float64)),
    "cpu": lambda torch, m: facts(m.cpu()),
    "to meta": lambda torch, m: [str(p.device) for p in m.to("meta").parameters()],
    "bfloat16": lambda torch, m: m.bfloat16(),
    "type": lambda torch, m: m.type(torch.float64),
    "share_memory": lambda torch, m: m.share_memory(),
    "requires_grad_": lambda torch, m: m.requires_grad_(False),
    "memory format": lambda torch, m: m.to(memory_format=torch.channels_last),
    "zero_grad, train, eval": lambda torch, m: (m.zero_grad(), m.train(), facts(m.eval()))[2],
    "numel": lambda torch, m: sum(p.numel() for p in m.parameters()),
    "shape": lambda torch, m: m.weight.shape,
    "apply": lambda torch, m: m.apply(lambda one: torch.nn.init.ones_(one.weight)),
    "deepcopy": lambda torch, m: facts(copy.deepcopy(m)),
    "deepcopy, then call": lambda torch, m: [copy.deepcopy(m)(torch.ones(2, 2)).shape == (2, 3), facts(m)],
    "pickle": lambda torch, m: facts(pickle.loads(pickle.dumps(m))),
    "pickle, then call": lambda torch, m: [pickle.loads(pickle.dumps(m))(torch.ones(2, 2)).shape == (2, 3), facts(m)],
    "pickle after the call": lambda torch, m: [m(torch.ones(1, 2)).shape, facts(pickle.loads(pickle.dumps(m)))][1:],
    "replicate": lambda torch, m: m._replicate_for_data_parallel(),
    "steps of an optimizer made before the call": lambda torch, m: stepped(torch, m),
    "hooks see the lazy class before and the ordinary one after": lambda torch, m: hooked(torch, m),
    "an empty input": lambda torch, m: [m(torch.ones(2, 0)).shape == (2, 3), facts(m)],
    "positional arguments of state_dict": lambda torch, m: list(m.state_dict(prefix="a.", keep_vars=True)),
}


def stepped(torch: Any, module: Any) -> Any:
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    torch.manual_seed(0)
    module(torch.ones(2, 2)).sum().backward()
    optimizer.step()
    return [p.tolist() for p in module.parameters()]


def hooked(torch: Any, module: Any) -> Any:
    seen: list[str] = []
    module.register_forward_pre_hook(lambda one, _: seen.append(type(one).__name__))
    module.register_forward_hook(lambda one, *_: seen.append(type(one).__name__))
    module.register_forward_pre_hook(lambda one, _: seen.append(type(one).__name__), prepend=True)
    module(torch.ones(1, 2))
    return seen


@pytest.mark.parametrize("name", LINEAR_PROGRAMS)
def test_a_lazy_linear_does_and_refuses_what_pytorchs_does(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(lambda torch: LINEAR_PROGRAMS[name](torch, torch.nn.LazyLinear(3)), torch)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "channels that groups do not divide": lambda torch: torch.nn.LazyConv2d(4, 3, groups=4)(torch.ones(1, 3, 5, 5)),
    "too few dimensions": lambda torch: torch.nn.LazyConv2d(4, 3)(torch.ones(3, 5)),
    "dimensions of batch norm": lambda torch: torch.nn.LazyBatchNorm1d()(torch.ones(2, 3, 4, 5)),
    "padding mode of a transposed one": lambda torch: torch.nn.LazyConvTranspose1d(4, 3, padding_mode="reflect"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lazy_layers_refuse_with_pytorchs_words(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(REFUSED[name], torch)


def mixed(torch: Any, initialize: Callable[[Any, int, int], None] | None) -> Any:
    """A module of one's own that waits for sizes."""
    nn = torch.nn

    class Waiting(nn.modules.lazy.LazyModuleMixin, nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.UninitializedParameter()
            self.register_buffer("cache", nn.UninitializedBuffer(dtype=torch.float64), persistent=False)

        def forward(self, x: int, *, k: int = 1) -> int:
            return x + k

        if initialize is not None:

            def initialize_parameters(self, x: int, *, k: int = 1) -> None:
                initialize(self, x, k)

    return Waiting()


def both(module: Any, x: int, k: int) -> None:
    module.weight.materialize((x, k))
    module.cache.materialize((x, k), dtype=module.weight.dtype)


@pytest.mark.parametrize("initialize", [None, lambda module, x, k: module.weight.materialize((x, k)), both])
def test_the_mixin_serves_modules_of_ones_own(initialize: Any) -> None:
    torch = pytest.importorskip("torch")

    def program(torch: Any) -> Any:
        module = mixed(torch, initialize)
        before = [list(module.state_dict()), module.forward(1), facts(module)]
        return [before, module(2, k=3), tuple(module.weight.shape), tuple(module.cache.shape), facts(module)]

    assert_same(program, torch)


def test_a_network_with_lazy_layers_trains_as_pytorchs() -> None:
    torch = pytest.importorskip("torch")

    def program(torch: Any) -> Any:
        nn = torch.nn
        torch.manual_seed(1)
        net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
        names = [repr(net)]
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        x = torch.arange(72.0).reshape(2, 1, 6, 6) / 72
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return [names, repr(net), losses]

    assert_same(program, torch, within=1e-4)
