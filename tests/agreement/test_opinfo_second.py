"""Are the second derivatives of every operator of these areas right, on samples of PyTorch's own database?

Every entry that PyTorch marks for gradgradcheck, in float64 and in complex128 where the entry has gradients of it: two
samples of each by `make test`, all by `make test-all`. The fast mode compares one number of each Jacobian, so that
samples of a hundred elements take no longer than those of three; tests/agreement/test_gradients.py compares all numbers
of the table's own samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import gradgradcheck
from tests.agreement.opinfo import Call, counterpart, database, leaves, samples_of
from tests.agreement.opinfo_exceptions import Trial, hold
from tests.agreement.test_opinfo import ENTRIES

DOUBLE = (glasstorch.float64, glasstorch.complex128)

Require = Callable[[str], Any]


def trials_of_second(entry: Any, torch: Any, every: bool) -> Iterator[Trial]:
    """gradgradcheck of the samples, as PyTorch's own test of second derivatives calls it (common_utils.py)."""
    if not (entry.supports_autograd and entry.supports_gradgrad):
        return
    for dtype in ("float64", "complex128"):
        for sample in samples_of(entry, getattr(torch, dtype), torch, None if every else 2):
            yield Trial("second", dtype, partial(check_sample, entry, counterpart(entry.op, torch), sample, torch))


def check_sample(entry: Any, function: Any, sample: Any, torch: Any) -> None:
    """One call, as a function of its tensors that require grad."""
    call = Call(glasstorch, sample, torch, grad=True)
    wanted = [t for t in call.inputs if t.requires_grad and t.numel() and t.dtype in DOUBLE]
    places = {id(tensor): i for i, tensor in enumerate(wanted)}
    if not places:
        return
    wrapper = wrapper_of(entry, sample, call, torch)
    process = counterpart(sample.output_process_fn_grad, torch)

    def of_its_tensors(*tensors: Any) -> list[Any]:
        def put(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(put(v) for v in value)
            return tensors[places[id(value)]] if id(value) in places else value

        glasstorch.default_generator.manual_seed(0)
        result = wrapper(function, *map(put, call.args), **{name: put(v) for name, v in call.kwargs.items()})
        return [leaf for leaf in leaves(process(result)) if isinstance(leaf, glasstorch.Tensor)]

    if any(r.requires_grad for r in of_its_tensors(*wanted)):
        assert gradgradcheck(of_its_tensors, wanted, fast_mode=True), f"{entry.name}, {sample.summary()[:300]}"


def wrapper_of(entry: Any, sample: Any, call: Call, torch: Any) -> Callable[..., Any]:
    """What OpInfo puts around the function: it makes arguments symmetric or triangular, or hides what is masked.

    Which elements those are is a private function of torch.masked, so torch is asked, with ones for the results.
    """
    if not entry.name.startswith("masked."):
        return counterpart(entry.gradcheck_wrapper, torch)

    @wraps(entry.op)
    def ones(*args: Any, **kwargs: Any) -> Any:
        return torch.ones_like(entry.op(*args, **kwargs))

    shown = call.converted(entry.gradcheck_wrapper(ones, sample.input, *sample.args, **sample.kwargs).detach() != 0)

    def hidden(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return glasstorch.where(shown, result, result.new_zeros([]))

    return hidden


@pytest.mark.parametrize("name", ENTRIES)
def test_second_derivatives(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_second(database(torch)[name], torch, every=False), every=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_second_derivatives_of_all_samples(name: str, require: Require) -> None:
    torch = require("torch")
    hold(name, trials_of_second(database(torch)[name], torch, every=True), every=True)
