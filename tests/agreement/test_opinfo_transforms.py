"""Does every operator give under function transforms what PyTorch's gives, on samples of PyTorch's own database?

Five modes: a batch of calls (`vmap`), of gradients (`vmap-vjp`), of directional derivatives (`vmap-jvp`), one
directional derivative (`jvp`), and that of a gradient (`jvp-vjp`). A batch has two examples, the sample and one near
it. Two samples in float64 are tried of each entry, where PyTorch itself can do it; what does not agree is told by a
line of `opinfo_exceptions.txt`, of which no mode may have more than two in a hundred entries.

Four modes more are tried on one sample, of some entries in CI and of all where `make test-all` runs: the gradient,
whose pull is called when the level has ended (`vjp`), second directional derivatives (`jvp-jvp`), the gradient of one
(`vjp-jvp`), and that of two gradients in a batch (`vjp-vmap-vjp`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import glasstorch
import glasstorch.func
from glasstorch.autograd.forward_table import RULES, Rule
from glasstorch.autograd.generated.autograd_kernels import SinBackward0
from glasstorch.dispatch.operator import registry
from glasstorch.func.rules import dims
from tests.agreement.opinfo import AREAS, Call, Unequal, counterpart, database, entries, leaves, samples_of
from tests.agreement.opinfo_exceptions import Trial, hold, lines

ENTRIES = entries([area for area in AREAS if area not in ("internal", "creation")])

Require = Callable[[str], Any]
Function = Callable[..., Sequence[Any]]


# A sample as a function of its tensors ---------------------------------------------------------------------------


class Subject:
    """A call of an entry in one library, as a function of the tensors among its arguments."""

    def __init__(self, library: Any, entry: Any, sample: Any, torch: Any) -> None:
        ours = library is glasstorch
        call = Call(library, sample, torch, grad=True)
        self.library, self.args, self.kwargs, self.tensors = library, call.args, call.kwargs, call.inputs
        function = counterpart(entry.op, torch) if ours else entry.op
        # What the entry puts around it for derivatives: it makes an argument symmetric, or triangular.
        masked = entry.name.startswith("masked.")  # hides elements by a function of PyTorch's alone
        around = None if masked else entry.gradcheck_wrapper
        around = counterpart(around, torch) if ours and around else around
        self.function = partial(around, function) if around else function
        process = sample.output_process_fn_grad
        self.process = counterpart(process, torch) if ours else process
        self.places = {id(tensor): i for i, tensor in enumerate(self.tensors)}
        self.chosen = [i for i, tensor in enumerate(self.tensors) if tensor.requires_grad and is_float(tensor)]

    def call(self, *tensors: Any) -> tuple[Any, ...]:
        """The results that are tensors."""

        def put(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(map(put, value))
            return tensors[self.places[id(value)]] if id(value) in self.places else value

        result = self.function(*map(put, self.args), **{name: put(v) for name, v in self.kwargs.items()})
        return tuple(leaf for leaf in leaves(self.process(result)) if isinstance(leaf, self.library.Tensor))

    def of_chosen(self, function: Function, tensors: Sequence[Any]) -> Function:
        """The function of those tensors that a derivative is taken with respect to; only its results of floats."""

        def of(*chosen: Any) -> tuple[Any, ...]:
            given = list(tensors)
            for i, value in zip(self.chosen, chosen, strict=True):
                given[i] = value
            return tuple(result for result in function(*given) if is_float(result))

        return of

    def pulled(self, function: Function, *tensors: Any) -> tuple[Any, ...]:
        """The gradients, of ones for every result."""
        point = [tensors[i] for i in self.chosen]
        results, pull = self.library.func.vjp(self.of_chosen(function, tensors), *point)
        return tuple(pull(tuple(self.library.ones_like(result) for result in results)))

    def pulled_together(self, *tensors: Any) -> tuple[Any, ...]:
        """Two gradients in a batch: of ones for every result, and of numbers below one."""
        point = [tensors[i] for i in self.chosen]
        results, pull = self.library.func.vjp(self.of_chosen(self.call, tensors), *point)
        starts = [self.library.ones_like(result) for result in results]
        batches = [self.library.stack([start, start * 0.3]) for start in starts]
        return tuple(self.library.func.vmap(lambda *given: pull(tuple(given)), randomness="same")(*batches))

    def pushed(self, function: Function, *tensors: Any) -> tuple[Any, ...]:
        """The derivative of the results along half of the point."""
        point = tuple(tensors[i] for i in self.chosen)
        direction = tuple(value * 0.5 for value in point)
        return tuple(self.library.func.jvp(self.of_chosen(function, tensors), point, direction)[1])

    def batched(self, function: Function) -> Sequence[Any]:
        """The results for a batch of two."""
        batches = [self.library.stack([tensor, self.near(tensor)]) for tensor in self.plain()]
        return self.library.func.vmap(function, randomness="same")(*batches) if batches else ()

    def near(self, tensor: Any) -> Any:
        return (tensor * 0.9).to(tensor.dtype) if is_float(tensor) else tensor

    def plain(self) -> list[Any]:
        return [tensor.detach() for tensor in self.tensors]

    def arrays(self, mode: str) -> list[Any]:
        """What a mode gives, as arrays."""
        self.library.default_generator.manual_seed(0)
        results = (MODES | NESTED)[mode](self)
        return [result.detach().resolve_conj().resolve_neg().numpy().copy() for result in results]


MODES: dict[str, Callable[[Subject], Sequence[Any]]] = {
    "vmap": lambda subject: subject.batched(subject.call),
    "vmap-vjp": lambda subject: subject.batched(partial(subject.pulled, subject.call)),
    "jvp": lambda subject: subject.pushed(subject.call, *subject.plain()),
    "vmap-jvp": lambda subject: subject.batched(partial(subject.pushed, subject.call)),
    "jvp-vjp": lambda subject: subject.pushed(partial(subject.pulled, subject.call), *subject.plain()),
}
NESTED: dict[str, Callable[[Subject], Sequence[Any]]] = {
    "vjp": lambda subject: subject.pulled(subject.call, *subject.plain()),
    "jvp-jvp": lambda subject: subject.pushed(partial(subject.pushed, subject.call), *subject.plain()),
    "vjp-jvp": lambda subject: subject.pulled(partial(subject.pushed, subject.call), *subject.plain()),
    "vjp-vmap-vjp": lambda subject: subject.pulled(subject.pulled_together, *subject.plain()),
}


def is_float(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


# The comparison --------------------------------------------------------------------------------------------------


def trials_of(entry: Any, torch: Any, modes: Sequence[str] = tuple(MODES), most: int | None = 2) -> Iterator[Trial]:
    """The samples in the modes that PyTorch can do."""
    for sample in samples_of(entry, torch.float64, torch, most):
        for mode in modes:
            if mode != "vmap" and not entry.supports_autograd:
                continue
            try:
                wanted = Subject(torch, entry, sample, torch).arrays(mode)
            except Exception:  # noqa: BLE001  (whatever PyTorch refuses, and however, has nothing to compare with)
                continue
            yield Trial(mode, "float64", partial(compare_with, wanted, entry, sample, mode, torch))


def compare_with(wanted: Sequence[Any], entry: Any, sample: Any, mode: str, torch: Any) -> None:
    """Unequal where a result has another size, or values further away than a millionth."""
    found = Subject(glasstorch, entry, sample, torch).arrays(mode)
    what = f"{mode} of {entry.name}, {sample.summary()[:300]}"
    if [array.shape for array in found] != [array.shape for array in wanted]:
        raise Unequal(f"{what}: {[a.shape for a in found]}, PyTorch {[a.shape for a in wanted]}")
    for ours, theirs in zip(found, wanted, strict=True):
        scale = max(1, np.abs(theirs[np.isfinite(theirs)]).max(initial=0))
        if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * scale, equal_nan=True):
            raise Unequal(f"{what}: {ours}, PyTorch {theirs}")


@pytest.mark.ci
@pytest.mark.parametrize("name", ENTRIES)
def test_transforms(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of(database(torch)[name], torch), every=True)


# Entries that PyTorch passes in each mode, of those that are tried.
PASSED = {"vmap": 500, "vmap-vjp": 420, "jvp": 410, "vmap-jvp": 400, "jvp-vjp": 400}
PASSED |= {"vjp": 515, "jvp-jvp": 495, "vjp-jvp": 500, "vjp-vmap-vjp": 505}


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if i % 5 == 0 else pytest.mark.slow) for i, n in enumerate(ENTRIES)]
)
def test_nested_transforms(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of(database(torch)[name], torch, tuple(NESTED), 1), every=True)


@pytest.mark.parametrize("mode", [*MODES, *NESTED])
def test_at_most_two_in_a_hundred_entries_differ(mode: str) -> None:
    excused = {line.entry for line in lines() if line.check == mode}
    assert len(excused) <= 0.02 * PASSED[mode], sorted(excused)


# Planted faults --------------------------------------------------------------------------------------------------


@pytest.fixture
def forget() -> Iterator[Callable[[], None]]:
    """Makes the dispatch tables forget the rules that they have found; afterwards, too."""
    registry.changed()
    yield registry.changed
    registry.changed()


def fails(name: str, mode: str, torch: Any) -> None:
    """Some trial of the entry in this mode finds a difference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trials = list(trials_of(database(torch)[name], torch, [mode]))
        assert trials
        for trial in trials:
            with pytest.raises(Unequal):
                trial.run()


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["jvp", "vmap-jvp"])
def test_a_wrong_tangent_is_found(mode: str, require: Require, monkeypatch: pytest.MonkeyPatch, forget: Any) -> None:
    monkeypatch.setitem(RULES, "sin", Rule(lambda x, result, x_t: x_t * x.sin(), ("self",)))
    forget()
    fails("sin", mode, require("torch"))


@pytest.mark.ci
def test_a_wrong_tangent_of_a_gradient_is_found(require: Require, monkeypatch: pytest.MonkeyPatch, forget: Any) -> None:
    monkeypatch.setitem(RULES, "cos", Rule(lambda x, result, x_t: x_t * x.sin(), ("self",)))  # the sign is missing
    forget()
    fails("sin", "jvp-vjp", require("torch"))


@pytest.mark.ci
def test_a_wrong_gradient_is_found(require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    def apply(node: Any, grads: Any) -> Any:
        return (grads[0] * node.unpack(node.saved_self).sin(),)

    monkeypatch.setattr(SinBackward0, "apply", apply)
    fails("sin", "vmap-vjp", require("torch"))


@pytest.mark.ci
def test_a_batching_rule_with_a_wrong_dimension_is_found(require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dims, "further", lambda given, rank: given)  # not one further: the batch itself is summed
    fails("cumsum", "vmap", require("torch"))


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["jvp-jvp", "vjp-jvp"])
def test_a_wrong_second_derivative_is_found(
    mode: str, require: Require, monkeypatch: pytest.MonkeyPatch, forget: Any
) -> None:
    rule = Rule(lambda x, result, x_t: x_t * x.detach().cos(), ("self",))  # right, but constant at the next level
    monkeypatch.setitem(RULES, "sin", rule)
    forget()
    fails("sin", mode, require("torch"))


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["vjp", "vjp-vmap-vjp"])
def test_a_gradient_that_is_wrong_at_another_level_is_found(
    mode: str, require: Require, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply(node: Any, grads: Any) -> Any:
        return (grads[0] * node.unpack(node.saved_self).sin(),)

    monkeypatch.setattr(SinBackward0, "apply", apply)
    fails("sin", mode, require("torch"))
