"""Do fake tensors have PyTorch's sizes, devices, texts and refusals?"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import glasstorch
from glasstorch._subclasses.fake_tensor import FakeTensorMode, _fake_form
from glasstorch.core.storage import UntypedStorage
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.mode_stack import modes


class Kit(NamedTuple):
    """One library, its module of fake tensors, a mode, and a fake tensor of it with two rows and three columns."""

    t: Any
    fake: Any
    mode: Any
    x: Any


def kit_of(library: Any) -> Kit:
    fake = importlib.import_module(f"{library.__name__}._subclasses.fake_tensor")
    mode = fake.FakeTensorMode()
    return Kit(library, fake, mode, mode.from_tensor(library.ones(2, 3)))


def told(call: Callable[[Kit], Any], library: Any) -> str:
    """What a call gives or refuses, as text."""
    kit = kit_of(library)
    try:
        result = call(kit)
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        return f"{type(error).__name__}: {error}"
    return str(result).replace("glasstorch", "torch")


def inside(call: Callable[[Kit], Any]) -> Callable[[Kit], Any]:
    def within(k: Kit) -> Any:
        with k.mode:
            return call(k)

    return within


def trained(k: Kit) -> Any:
    net = k.t.nn.Sequential(k.t.nn.Linear(4, 8), k.t.nn.ReLU(), k.t.nn.Linear(8, 2))
    out = net(k.t.ones(3, 4))
    out.sum().backward()
    return [repr(p) for p in net.parameters()], out, [p.grad for p in net.parameters()]


def nested(k: Kit) -> Any:
    with k.mode:
        inner = k.t.ones(1)
    return inner, k.t.ones(1)


def unset(k: Kit) -> Any:
    with k.fake.unset_fake_temporarily() as old:
        return old is k.mode, k.t.ones(1)


def shares(k: Kit) -> Any:
    base = k.t.ones(4)
    a, b = k.mode.from_tensor(base), k.mode.from_tensor(base[1:])
    return a.untyped_storage().nbytes(), b.storage_offset(), k.mode.from_tensor(base) is a


FREE: dict[str, Callable[[Kit], Any]] = {
    "text": lambda k: (k.x, k.x.double(), k.x.bool(), k.mode.from_tensor(k.t.ones(2, requires_grad=True)) * 2),
    "facts": lambda k: (k.x.device, k.x.fake_device, k.x.is_meta, k.x.layout, k.x.dtype, k.x.fake_mode is k.mode),
    "keys": lambda k: k.t._C._dispatch_keys(k.x),
    "class": lambda k: (isinstance(k.x, k.fake.FakeTensor), issubclass(k.fake.FakeTensor, k.t.Tensor)),
    "with a number": lambda k: k.x + 1,
    "with a real tensor": lambda k: k.x + k.t.ones(2, 3),
    "parameter": lambda k: k.mode.from_tensor(k.t.nn.Parameter(k.t.ones(3))),
    "is a parameter": lambda k: isinstance(k.mode.from_tensor(k.t.nn.Parameter(k.t.ones(3))), k.t.nn.Parameter),
    "views": lambda k: (k.x.view(6), k.x.t().stride(), k.x[0]._base is k.x, k.x.expand(4, 2, 3)),
    "strides": lambda k: k.mode.from_tensor(k.t.ones(4, 4)[1:, ::2]).stride(),
    "in place": lambda k: (k.x.add_(1) is k.x, k.x._version, k.x.unsqueeze_(0)),
    "sizes change in place": lambda k: (k.x.t_().shape, k.x.stride()),
    "several results": lambda k: (k.t.max(k.x, 0), k.x.split(1), list(k.x)),
    "like it": lambda k: (k.x.new_zeros(2), k.t.zeros_like(k.x), k.t.zeros_like(k.x, device="meta")),
    "composites": lambda k: (k.t.nn.functional.softmax(k.x, 0), k.t.cat([k.x, k.x]), k.t.stack([k.x, k.x])),
    "numpy": lambda k: k.x.numpy(),
    "tolist": lambda k: k.x.tolist(),
    "item": lambda k: k.x.sum().item(),
    "truth": lambda k: bool(k.x.sum()),
    "equal": lambda k: k.t.equal(k.x, k.x),
    "allclose": lambda k: k.t.allclose(k.x, k.x),
    "nonzero": lambda k: k.x.nonzero(),
    "mask": lambda k: k.x[k.x > 0],
    "unique": lambda k: k.t.unique(k.x),
    "masked_select": lambda k: k.t.masked_select(k.x, k.x > 0),
    "no bytes": lambda k: (k.x.untyped_storage().nbytes(), k.x.is_contiguous(), len(k.x)),
    "made by hand": lambda k: k.fake.FakeTensor(k.mode, k.t.empty(2, device="meta"), k.t.device("cpu")),
    "made of a real one": lambda k: k.fake.FakeTensor(k.mode, k.t.empty(2), k.t.device("cpu")),
    "asked": lambda k: (k.fake.is_fake(k.x), k.fake.is_fake(k.t.ones(1)), k.fake.maybe_get_fake_mode(k.x) is k.mode),
    "one storage": shares,
}
UNDER: dict[str, Callable[[Kit], Any]] = {
    "factories": lambda k: (k.t.zeros(3, 4), k.t.rand(2), k.t.arange(3), k.t.empty(2, device="meta")),
    "on cuda": lambda k: (k.t.empty(2, device="cuda"), k.t.empty(2, device="cuda:1").device),
    "two devices": lambda k: k.t.empty(2, device="cuda") + k.t.empty(2),
    "a lone number of the CPU": lambda k: k.t.empty(2, device="cuda") + k.t.empty(()),
    "from cuda": lambda k: k.t.empty(2, device="cuda").cpu(),
    "product": lambda k: k.x @ k.t.zeros(3, 4),
    "constants": lambda k: (k.t.tensor(3).item(), (k.t.tensor(3) + 4).item(), k.t.tensor(3).constant),
    "a constant written to": lambda k: k.t.tensor([1.0]).add_(1).constant,
    "no constants": lambda k: (k.t.tensor([1.0, 2.0]).constant, k.t.ones(2).constant),
    "sum of no constant": lambda k: k.t.tensor([1.0, 2.0]).sum().item(),
    "float of a filled one": lambda k: float(k.t.ones(1)),
    "real arguments": lambda k: k.t.ones(2) + _outside(k),
    "indices": lambda k: (k.t.ones(3)[k.t.tensor([0, 1])], k.t.ones(2).index_select(0, k.t.tensor([0]))),
    "bincount": lambda k: k.t.bincount(k.t.tensor([1, 2])),
    "repeat_interleave": lambda k: k.t.repeat_interleave(k.t.tensor([1, 2])),
    "decomposition": lambda k: k.t.linalg.eig(k.t.ones(2, 2)),
    "a network trains": trained,
    "the mode twice": nested,
    "the mode off": unset,
    "the stack": lambda k: k.t._C._get_dispatch_mode(k.t._C._TorchDispatchModeKey.FAKE) is k.mode,
    "infrastructure": lambda k: (k.mode.is_infra_mode(), k.mode.ignore_compile_internals()),
    "a parameter made": lambda k: k.t.nn.Parameter(k.t.ones(2)),
}


def _outside(k: Kit) -> Any:
    with k.fake.unset_fake_temporarily():
        return k.t.ones(2)


CASES = {**FREE, **{name: inside(call) for name, call in UNDER.items()}}


@pytest.mark.parametrize("name", CASES)
def test_a_fake_tensor_is_and_says_what_pytorchs_does(require: Callable[[str], Any], name: str) -> None:
    assert told(CASES[name], glasstorch) == told(CASES[name], require("torch"))
    assert (modes.get(), active_keys.get()) == ((), BY_DEFAULT)


def test_real_arguments_become_fake_where_that_is_allowed() -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        made = glasstorch.ones(2) + _outside(kit_of(glasstorch))
    assert repr(made) == "FakeTensor(..., size=(2,))"


def test_an_operator_on_no_elements_costs_no_memory() -> None:
    with FakeTensorMode():
        huge: Any = glasstorch.empty(1 << 20, 1 << 20)
        product = huge @ huge
    assert product.shape == (1 << 20, 1 << 20)
    assert product.untyped_storage().memory is None


def test_views_of_a_fake_tensor_share_its_storage() -> None:
    mode = FakeTensorMode()
    x = mode.from_tensor(glasstorch.ones(2, 3))
    assert x.t().untyped_storage() is x.untyped_storage()
    assert (x + 1).untyped_storage() is not x.untyped_storage()


def test_a_storage_has_one_fake_form_while_somebody_holds_it() -> None:
    meta = UntypedStorage.allocate(8, glasstorch.device("meta"))
    kept = _fake_form(meta, glasstorch.device("cpu"))
    assert _fake_form(meta, glasstorch.device("cpu")) is kept
    assert kept.nbytes() == 8
