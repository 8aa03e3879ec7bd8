"""Does the dispatcher answer what PyTorch's answers, by the same names?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch import _dispatch_queries as queries
from glasstorch.core.errors import DeviceError, MissingKernelError
from glasstorch.core.keys import AUTOCAST
from glasstorch.dispatch.active_keys import INCLUDED_BY_DEFAULT
from glasstorch.dispatch.library import Library
from tests.calls.outcomes import same_outcome
from tests.refusals import same_refusal

Require = Callable[[str], Any]
Call = Callable[[Any], Any]


def _dangling_while_registered(t: Any) -> list[list[str]]:
    """What is listed of kernels without an operator, while there is one and after it is gone.

    The list belongs to the process, so only this kernel's lines of it are compared: a library of another test may be
    waiting for the garbage collector.
    """
    name, listed = "dangling_while_registered", t._C._dispatch_find_dangling_impls
    library = t.library.Library(name, "IMPL")
    library.impl("f", lambda x: x, "CPU")
    found = [[re.sub(r" at \S+", "", text) for text in listed() if name in text]]
    library._destroy()
    return [*found, [text for text in listed() if name in text]]


# What is asked of a key, by the name of the function.
OF_A_KEY = (
    "_dispatch_key_name", "_dispatch_is_alias_key", "_dispatch_get_backend_keyset_from_autograd",
    "_dispatch_keyset_full_after", "_dispatch_tls_is_dispatch_key_excluded", "_dispatch_tls_is_dispatch_key_included",
)  # fmt: skip

ANSWERS: dict[str, Call] = {
    "the number of backends": lambda t: t._C._dispatch_num_backends(),
    "an operator that there is": lambda t: t._C._dispatch_has_kernel("aten::add.Tensor"),
    "an operator that there is not": lambda t: t._C._dispatch_has_kernel("aten::nope"),
    "a kernel": lambda t: t._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", "CPU"),
    "a kernel by the key itself": lambda t: t._C._dispatch_has_kernel_for_dispatch_key(
        "aten::add.Tensor", t._C.DispatchKey.CPU
    ),
    "a kernel by an alias": lambda t: t._C._dispatch_has_kernel_for_dispatch_key(
        "aten::matmul", "CompositeImplicitAutograd"
    ),
    "no kernel": lambda t: t._C._dispatch_has_kernel_for_dispatch_key("aten::matmul", "CPU"),
    "a kernel of some key": lambda t: t._C._dispatch_has_kernel_for_any_dispatch_key(
        "aten::add.Tensor", t._C.DispatchKeySet(t._C.DispatchKey.CPU)
    ),
    "a kernel of no key": lambda t: t._C._dispatch_has_kernel_for_any_dispatch_key(
        "aten::matmul", t._C.DispatchKeySet(t._C.DispatchKey.CPU)
    ),
    "a kernel by a rule": lambda t: t._C._dispatch_has_computed_kernel_for_dispatch_key("aten::matmul", "CPU"),
    "not a fallthrough": lambda t: t._C._dispatch_kernel_for_dispatch_key_is_fallthrough("aten::add.Tensor", "CPU"),
    "the dump of nothing": lambda t: t._C._dispatch_dump("aten::nope"),
    "the table of nothing": lambda t: t._C._dispatch_dump_table("aten::nope"),
    "the invariants": lambda t: t._C._dispatch_check_invariants("aten::add.Tensor"),
    "all invariants": lambda t: t._C._dispatch_check_all_invariants(),
    "kernels without operators": lambda t: _dangling_while_registered(t),
    "the full set": lambda t: str(t._C._dispatch_keyset_full()),
    "a set as text": lambda t: t._C._dispatch_keyset_to_string(t._C.DispatchKeySet(t._C.DispatchKey.CPU)),
    "the backends of AutogradOther": lambda t: str(t._C._dispatch_autogradother_backends),
    "an alias": lambda t: str(t._C._dispatch_key_parse("Autograd")),
    "a functionality": lambda t: str(t._C._dispatch_key_parse("Dense")),
    "no key": lambda t: t._C._parse_dispatch_key("Nope"),
    "a mark": lambda t: t._C._parse_dispatch_key("StartOfDenseBackends"),
    "included": lambda t: str(t._C._dispatch_tls_local_include_set()),
    "excluded": lambda t: str(t._C._dispatch_tls_local_exclude_set()),
    "Meta included": lambda t: t._C._meta_in_tls_dispatch_include(),
    "a call": lambda t: t._C._dispatch_call_boxed(
        t._C._dispatch_find_schema_or_throw("aten::add", "Tensor"), t.ones(2), t.ones(2), alpha=2
    ),
}

REFUSED: dict[str, Call] = {
    "an operator": lambda t: t._C._dispatch_has_kernel_for_dispatch_key("aten::nope", "CPU"),
    "an operator for any key": lambda t: t._C._dispatch_has_kernel_for_any_dispatch_key(
        "aten::nope", t._C.DispatchKeySet(t._C.DispatchKey.CPU)
    ),
    "an operator by rule": lambda t: t._C._dispatch_has_computed_kernel_for_dispatch_key("aten::nope", "CPU"),
    "a key": lambda t: t._C._dispatch_has_kernel_for_dispatch_key("aten::add.Tensor", "Nope"),
    "a key that a list is asked for": lambda t: t._C._dispatch_get_registrations_for_dispatch_key("Nope"),
    "a mark": lambda t: t._C._dispatch_key_parse("EndOfFunctionalityKeys"),
    "an alias of no name": lambda t: t._C._dispatch_is_included_in_alias("CPU", "Nope"),
    "an alias without a slot": lambda t: t._C._dispatch_has_computed_kernel_for_dispatch_key(
        "aten::matmul", "Autograd"
    ),
    "a fallthrough": lambda t: t._C._dispatch_kernel_for_dispatch_key_is_fallthrough("aten::add.Tensor", "AutocastCPU"),
    "a schema": lambda t: t._C._dispatch_find_schema_or_throw("aten::addd", "Tensor"),
    "a schema without its overload": lambda t: t._C._dispatch_find_schema_or_throw("aten::add", ""),
    "a key of a device": lambda t: t._C._dispatch_key_for_device("metal"),
}

TENSORS: dict[str, Call] = {
    "CPU": lambda t: t.ones(2),
    "with a gradient": lambda t: t.ones(2, requires_grad=True),
    "its result": lambda t: t.ones(2, requires_grad=True) * 2,
    "integers": lambda t: t.ones(2, dtype=t.int64),
    "Meta": lambda t: t.empty(2, device="meta"),
    "conjugated": lambda t: t.ones(2, dtype=t.complex64).conj(),
    "negated": lambda t: t.ones(2, dtype=t.complex64).conj().imag,
    "a view": lambda t: t.ones(2, 2)[0],
    "a parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "a buffer": lambda t: t.nn.Buffer(t.ones(2)),
    "detached": lambda t: t.ones(2, requires_grad=True).detach(),
}


@pytest.mark.parametrize("call", ANSWERS.values(), ids=ANSWERS)
def test_the_answer_is_pytorchs(require: Require, call: Call) -> None:
    same_outcome(require("torch"), call)


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_pytorch_refuses_is_refused_in_its_words(require: Require, call: Call) -> None:
    try:
        same_refusal(require("torch"), call, more=True)
    except AssertionError:  # a last full stop is no matter
        same_refusal(require("torch"), _without_stop(call), more=True)


def _without_stop(call: Call) -> Call:
    def called(t: Any) -> Any:
        try:
            return call(t)
        except RuntimeError as error:
            raise RuntimeError(str(error).rstrip(".")) from None

    return called


@pytest.mark.parametrize("question", OF_A_KEY)
def test_what_is_asked_of_every_key_is_answered_as_in_pytorch(require: Require, question: str) -> None:
    told: list[dict[str, str]] = []
    names = list(require("torch")._C.DispatchKey.__members__)
    for c in (require("torch")._C, glasstorch._C):
        sets = (c.DispatchKeySet.from_raw_repr(bits) for bits in (INCLUDED_BY_DEFAULT, AUTOCAST))
        with c._ForceDispatchKeyGuard(*sets):  # whatever other tests left behind
            told.append({name: str(getattr(c, question)(getattr(c.DispatchKey, name))) for name in names})
    assert told[0] == told[1]


def test_the_key_of_every_device_is_pytorchs(require: Require) -> None:
    torch = require("torch")
    types = (
        "cpu", "cuda", "ipu", "xpu", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu",
        "mtia", "privateuseone",
    )  # fmt: skip
    for type in types:
        assert glasstorch._C._dispatch_key_for_device(type) == torch._C._dispatch_key_for_device(type), type
    with pytest.raises(DeviceError, match="the device type opengl has no dispatch key"):
        queries._dispatch_key_for_device("opengl")


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_a_tensor_has_the_keys_that_pytorch_gives_it(require: Require, make: Call) -> None:
    torch = require("torch")
    assert str(glasstorch._C._dispatch_keys(make(glasstorch))) == str(torch._C._dispatch_keys(make(torch)))
    assert glasstorch._C._dispatch_key_set(make(glasstorch)) == torch._C._dispatch_key_set(make(torch))
    like = [t._C._dispatch_isTensorSubclassLike(make(t)) for t in (torch, glasstorch)]
    assert like[0] == like[1]


def test_an_inference_tensor_has_the_keys_that_pytorch_gives_it(require: Require) -> None:
    told = []
    for t in (require("torch"), glasstorch):
        with t.inference_mode():
            told.append((str(t._C._dispatch_keys(t.ones(2))), str(t._C._dispatch_tls_local_exclude_set())))
    assert told[0] == told[1]


def test_wrapped_tensors_have_the_keys_that_pytorch_gives_them(require: Require) -> None:
    told: list[list[str]] = []
    for t in (require("torch"), glasstorch):
        seen: list[str] = []

        def look(x: Any, t: Any = t, seen: list[str] = seen) -> Any:
            seen.append(str(t._C._dispatch_keys(x)))
            return x.sum()

        t.func.vmap(look)(t.ones(2, 3))
        t.func.grad(look)(t.ones(3))
        t.func.vmap(t.func.grad(look))(t.ones(2, 3))
        told.append(seen)
    assert told[0] == told[1]


def test_the_masks_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    queries._dump_local_tls_set()
    masks = queries._dispatch_tls_local_include_set(), queries._dispatch_tls_local_exclude_set()
    assert capsys.readouterr().out == f"Included: {masks[0]}\nExcluded: {masks[1]}\n"
    queries._dispatch_print_registrations_for_dispatch_key("CPU")
    assert capsys.readouterr().out.split() == queries._dispatch_get_registrations_for_dispatch_key("CPU")


def test_a_function_is_told_which_key_has_no_kernel() -> None:
    told: list[str] = []
    with Library("reported", "DEF") as library:
        operator = library.define("op(Tensor x) -> Tensor")
        queries._dispatch_set_report_error_callback(operator, told.append)
        with pytest.raises(MissingKernelError):
            operator(glasstorch.ones(2))
    assert told == ["CPU"]
