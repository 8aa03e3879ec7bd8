"""Are parameters and buffers, with and without sizes, what PyTorch's are?"""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.nn.uninitialized import methods_to_refuse
from tests.nn.side_by_side import as_torch, assert_same, outcome

KINDS = ("UninitializedParameter", "UninitializedBuffer")

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "facts": lambda torch, make: [
        (repr(t), str(t), t.size() == (0,), t.dtype.itemsize, str(t.device), t.requires_grad, t.is_leaf, t.nbytes)
        + (t.ndim, t.itemsize, t.is_complex(), t.is_floating_point(), t.get_device(), t._version, t.is_meta)
        + (torch.nn.parameter.is_lazy(t), isinstance(t, torch.nn.Parameter), isinstance(t, torch.nn.Buffer))
        + (vars(t), torch.is_tensor(t), t.grad is None, t.grad_fn is None)
        for t in (make(), make(True, dtype=torch.float64), make(False, device="meta"))
    ],
    "conversions": lambda torch, make: [
        (name, type(c).__name__, str(c.dtype).rpartition(".")[2], c.requires_grad, c.size() == (0,))
        for name in ("half", "float", "double", "char", "short", "int", "long", "cpu")
        for c in [getattr(make(), name)()]
    ],
    "to": lambda torch, make: [type(make().to(torch.float64)).__name__, type(make().to("meta")).__name__],
    "to what it is": lambda torch, make: [t.to(torch.float32) is t for t in (make(), make())],
    "data": lambda torch, make: (type(make().data).__name__, make().data.dtype.itemsize),
    "assigned data": lambda torch, make: [
        (setattr(t, "data", torch.ones(2)), repr(t), t.size() == (2,)) for t in (make(), make())
    ],
    "requires_grad": lambda torch, make: [
        (setattr(t, "requires_grad", True), t.requires_grad) for t in (make(True), make(False))
    ],
    "shape": lambda torch, make: make().shape,
    "assigned shape": lambda torch, make: setattr(make(), "shape", 3),
    "share_memory_": lambda torch, make: make().share_memory_(),
    "materialize": lambda torch, make: [
        (type(t).__name__, tuple(t.shape), t.dtype.itemsize, t.requires_grad, vars(t), t.is_leaf)
        for t in (make(), make(True))
        for _ in [t.materialize((2, 3), dtype=torch.float64)]
    ],
    "materialize on another device": lambda torch, make: make().materialize((2,), device="meta"),
    "pickle": lambda torch, make: [
        (repr(t), t.dtype.itemsize, t.requires_grad)
        for t in [pickle.loads(pickle.dumps(make(True, dtype=torch.float64)))]
    ],
    "copy": lambda torch, make: repr(copy.copy(make())),
    "copy_ of one element": lambda torch, make: repr(make(False).copy_(torch.ones(1))),
    "copy_ of several": lambda torch, make: make(False).copy_(torch.ones(2)),
    "copy_ of one without sizes": lambda torch, make: repr(make(False).copy_(make())),
    "copy_ into a leaf": lambda torch, make: make(True).copy_(make()),
    "copy_ to another": lambda torch, make: torch.ones(2).copy_(make()),
    "a gradient of another size": lambda torch, make: setattr(make(True), "grad", torch.ones(2)),
    "transposed": lambda torch, make: (type(make().mT).__name__, 1),
    "real": lambda torch, make: repr(make().real),
    "a parameter of it": lambda torch, make: torch.nn.Parameter(make()),
    "a buffer of it": lambda torch, make: torch.nn.Buffer(make()),
    "in a set": lambda torch, make: len({make(), make()}),
    "index": lambda torch, make: make()[0],
    "index to": lambda torch, make: make().__setitem__(0, 1),
    "truth": lambda torch, make: bool(make()),
    "float": lambda torch, make: float(make()),
    "iteration": lambda torch, make: list(make()),
    "+": lambda torch, make: make() + 1,
    "tensor +": lambda torch, make: torch.ones(2) + make(),
    "1 *": lambda torch, make: 1 * make(),
    "-": lambda torch, make: -make(),
    "@": lambda torch, make: make() @ make(),
    "==": lambda torch, make: make() == 1,
    "<": lambda torch, make: make() < 1,
    "in place": lambda torch, make: torch.ones(2).add_(make()),
    "init": lambda torch, make: torch.nn.init.zeros_(make()),
    "xavier": lambda torch, make: torch.nn.init.xavier_uniform_(make()),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_has_no_sizes_does_and_refuses_what_pytorchs_does(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    assert_same(lambda torch: PROGRAMS[name](torch, getattr(torch.nn.parameter, kind)), torch)


# Where PyTorch's message has an address in memory.
NAMED_BY_ADDRESS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda torch, make: torch.add(make(), 1),
    "stack": lambda torch, make: torch.stack([torch.ones(1), make()]),
    "empty_like": lambda torch, make: torch.empty_like(make()),
    "backward": lambda torch, make: make().backward(),
    "length": lambda torch, make: len(make()),
    "power": lambda torch, make: make() ** 2,
    "reflected power": lambda torch, make: 2 ** make(),
    "reflected quotient": lambda torch, make: 1 / make(),
    "floor quotient": lambda torch, make: make() // 2,
    "a member": lambda torch, make: 1 in make(),
    "format": lambda torch, make: f"{make()}",
    "names": lambda torch, make: dir(make()),
    "foreach": lambda torch, make: torch._foreach_add([make()], 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMED_BY_ADDRESS)
def test_functions_are_named_in_the_refusal(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")

    def words(library: Any) -> str:
        _, error, _ = outcome(lambda one: NAMED_BY_ADDRESS[name](one, getattr(one.nn.parameter, kind)), library)
        assert isinstance(error, ValueError)
        return re.sub(r"0x[0-9a-f]+", "0x", as_torch(str(error)))

    assert words(glasstorch) == words(torch)


def test_a_buffer_without_sizes_has_no_deep_copy_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for library in (glasstorch, torch):
        with pytest.raises(ValueError, match=r"uninitialized parameter in <function Tensor\.__deepcopy__"):
            copy.deepcopy(library.nn.UninitializedBuffer())
        copied = copy.deepcopy(library.nn.UninitializedParameter(False, dtype=library.float64))
        assert (copied.dtype, copied.requires_grad) == (library.float64, False)


def test_every_method_that_pytorch_refuses_is_refused() -> None:
    """Each compiled method of Tensor without required arguments."""
    torch = pytest.importorskip("torch")
    ours, theirs = glasstorch.nn.UninitializedParameter(), torch.nn.UninitializedParameter()
    compared = 0
    for name in methods_to_refuse():
        if not hasattr(torch.Tensor, name):
            continue
        try:
            getattr(theirs, name)()
        except ValueError as error:
            wanted = re.sub(r"0x[0-9a-f]+", "0x", str(error))
        except (TypeError, RuntimeError, AttributeError):
            continue
        else:
            continue
        with pytest.raises(ValueError, match="uninitialized") as raised:
            getattr(ours, name)()
        assert re.sub(r"0x[0-9a-f]+", "0x", str(raised.value)) == wanted, name
        compared += 1
    assert compared > 150
