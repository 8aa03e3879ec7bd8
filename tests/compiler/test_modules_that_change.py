"""Does a compiled module stand for the original in what is saved, copied and changed, and are changes noticed?"""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import glasstorch
from tests.compiler.alike import check


def network(t: Any) -> Any:
    class Network(t.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.drop, self.factor = t.nn.Linear(2, 2), t.nn.Dropout(0.5), 3
            t.nn.init.constant_(self.layer.weight, 0.5)
            t.nn.init.constant_(self.layer.bias, 0.25)
            self.register_buffer("shift", t.ones(2))

        def forward(self, x: Any) -> Any:
            return self.drop(self.layer(x)) * self.factor + self.shift

    return Network()


def attributes(t: Any, compiled: Any) -> Any:
    net = network(t)
    run = compiled(net).eval()
    found = [run(t.ones(2)), net.training, run.training]
    run.factor = 5
    found += [net.factor, "factor" in run.__dict__, run(t.ones(2))]
    net.factor = 7
    found += [run.factor, run(t.ones(2))]
    run.train()
    found += [net.training, net.drop.training]
    net.eval()
    run.shift, run.extra, run.scale = t.zeros(2), t.nn.Linear(2, 2), t.nn.Parameter(t.ones(1))
    found += [run(t.ones(2)), [name for name, _ in run.named_modules()], list(run.state_dict())]
    del run.extra
    return [*found, hasattr(net, "extra"), [name for name, _ in run.named_parameters()]]


def parameters(t: Any, compiled: Any) -> Any:
    net = network(t).eval()
    run = compiled(net)
    found = [run(t.ones(2))]
    with t.no_grad():
        net.layer.weight.mul_(2)
    found.append(run(t.ones(2)))
    net.layer.weight.data = t.zeros(2, 2)
    found.append(run(t.ones(2)))
    net.layer.weight = t.nn.Parameter(t.ones(2, 2))
    found.append(run(t.ones(2)))
    run.load_state_dict({name: value * 2 for name, value in run.state_dict().items()})
    found.append(run(t.ones(2)))
    net.double().requires_grad_(False)
    return [*found, run(t.ones(2, dtype=t.float64))]


def copies(t: Any, compiled: Any) -> Any:
    net = network(t).eval()
    run = compiled(net)
    found = [run(t.ones(2))]
    deep, shallow = copy.deepcopy(run), copy.copy(run)
    t.nn.init.constant_(deep.layer.weight, 2)
    found += [type(deep).__name__, deep._orig_mod is net, shallow._orig_mod is net, run(t.ones(2)), deep(t.ones(2))]
    file = io.BytesIO()
    t.save(run.state_dict(), file)
    file.seek(0)
    other = compiled(network(t).eval())
    other.load_state_dict(t.load(file))
    return [*found, other(t.ones(2)), shallow(t.ones(2))]


@pytest.mark.parametrize("program", [attributes, parameters, copies])
def test_it_stands_for_the_original(require: Any, program: Any) -> None:
    check(require("torch"), program, ("aot_eager",), graphs=False)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_it_is_pickled_with_what_compiles_it(require: Any, backend: str) -> None:
    def through_files(t: Any, backend: str) -> Any:
        net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU())
        run, file = t.compile(net, backend=backend), io.BytesIO()
        t.save(run, file)
        file.seek(0)
        loaded = [pickle.loads(pickle.dumps(run)), t.load(file, weights_only=False)]
        return [(type(one).__name__, type(one._orig_mod).__name__, list(one.state_dict())) for one in loaded], loaded

    ours, loaded = through_files(glasstorch, backend)
    assert ours == through_files(require("torch"), "aot_eager")[0]
    for run in loaded:
        assert glasstorch.equal(run(glasstorch.ones(2)), run._orig_mod(glasstorch.ones(2)))


def test_hooks_that_are_added_later_run() -> None:
    """PyTorch does not look for them, unless a setting says so."""
    net = glasstorch.nn.Sequential(glasstorch.nn.Linear(2, 2))
    run, x = glasstorch.compile(lambda x: net(x) + 1, backend="aot_eager"), glasstorch.ones(2)
    for module in (net, net[0]):
        for _ in range(2):
            assert glasstorch.equal(run(x), net(x) + 1)
            hook = module.register_forward_hook(lambda module, args, result: result * 2)
            assert glasstorch.equal(run(x), net(x) + 1)
            hook.remove()


# What functions are made of ------------------------------------------------------------------------------------------


def new_code(t: Any, compiled: Any) -> Any:
    def helper(x: Any) -> Any:
        return x * 2

    def other(x: Any) -> Any:
        return x * 3

    f, own = compiled(lambda x: helper(x) + 1), compiled(helper)
    found = [f(t.ones(2)), own(t.ones(2))]
    helper.__code__ = other.__code__
    return [*found, f(t.ones(2)), own(t.ones(2))]


def test_new_code_is_noticed(require: Any) -> None:
    check(require("torch"), new_code, ("aot_eager",), graphs=False)


def test_a_class_that_begins_to_have_an_attribute() -> None:
    """PyTorch does not notice it."""

    class Thing:
        def __getattr__(self, name: str) -> int:
            return 7

    thing = Thing()
    run, x = glasstorch.compile(lambda x: x * thing.size + hasattr(thing, "other"), backend="eager"), glasstorch.ones(1)
    assert run(x).item() == 8
    thing.size = 3
    assert run(x).item() == 4
    del thing.size
    Thing.size = 5
    assert run(x).item() == 6
    del Thing.size
    Thing.__getattr__ = lambda self, name: 9
    assert run(x).item() == 10


def test_equal_keys_of_other_classes() -> None:
    """PyTorch takes 1.0 for 1."""

    def weighted(x: Any, table: dict[Any, int]) -> Any:
        return x * sum(key[0] if type(key) is tuple else key for key in table)

    run, x = glasstorch.compile(weighted, backend="eager"), glasstorch.ones(2, dtype=glasstorch.int64)
    for table in ({1: 0, 2: 0}, {1.0: 0, 2: 0}, {True: 0, 2: 0}, {(1, 1): 0}, {(1.0, 1): 0}):
        assert run(x, table).dtype is weighted(x, table).dtype
