"""Does every key get the kernel that PyTorch's rules give it, and by the right rule?"""

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import Choice
from workbook.exercises.asking import Ask, expect

NONFUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
EXPLICIT = "CompositeExplicitAutograd"
IMPLICIT = "CompositeImplicitAutograd"
NESTED = "CompositeImplicitAutogradNestedTensor"
BATCHED = "FuncTorchBatchedDecomposition"

ALIASES_BY_RULE = (  # each alias, a key that it serves, and the rule
    (NONFUNCTIONAL, "CPU", "default backend kernel"),
    (EXPLICIT, "CPU", "default backend kernel"),
    (IMPLICIT, "CPU", "math kernel"),
    (NESTED, "NestedTensorCPU", "nested kernel"),
    ("Autograd", "AutogradCPU", "autograd kernel"),
    (BATCHED, "FuncTorchBatched", "batched kernel"),
)
NOTHING_SERVES = {  # what stands at those keys where no registration serves them
    "CPU": "missing, no kernel",
    "NestedTensorCPU": "missing, no kernel",
    "AutogradCPU": "backend fallback, a fallthrough",
    "FuncTorchBatched": "missing, no kernel",
}


def kernel(key: str, name: str) -> Kernel:
    """A kernel with a name, registered for a key."""

    def function() -> None:
        """Nobody calls it."""

    function.__name__ = name
    return Kernel(function, DispatchKey[key], where="the check")


def an_operator(registered: str) -> Operator:
    """An operator with a kernel for each of these keys, named as the key."""
    operator = Operator("check::op", "check::op(Tensor x) -> Tensor", "the check")
    for key in registered.split():
        operator.kernels.setdefault(DispatchKey[key], []).append(kernel(key, key))
    return operator


def said(value: object) -> object:
    """A choice in words: its key, its rule, and which kernel it is."""
    if not isinstance(value, Choice):
        return value
    name = "no kernel" if value.kernel is None else getattr(value.kernel.function, "__name__", "a fallthrough")
    return f"{value.key.name}: {value.rule}, {name}"


def asked(registered: str, key: str) -> str:
    """What is asked, in words."""
    return f"the entry at {key}, kernels registered for: {', '.join(registered.split()) or 'nothing'}"


def test_a_kernel_for_the_very_key(ask: Ask) -> None:
    """the entry at a key that has a kernel of its own"""
    for registered, key in (("CPU", "CPU"), (f"{EXPLICIT} CPU", "CPU"), ("Autograd AutogradMeta", "AutogradMeta")):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        accepted = f"{key}: kernel, {key}"
        expect(said(came.value), accepted, asked=asked(registered, key), because="the key itself comes before aliases")


def test_the_kernel_in_force(ask: Ask) -> None:
    """the entry at a key for which kernels were registered one after another"""
    for registered, key, rule in (("Meta", "Meta", "kernel"), *ALIASES_BY_RULE):
        operator = an_operator(registered)
        operator.kernels[DispatchKey[registered]] += [kernel(registered, "second"), kernel(registered, "third")]
        came = ask("choose", operator, DispatchKey[key])
        question = f"the entry at {key}, after three registrations for {registered}"
        expect(said(came.value), f"{key}: {rule}, third", asked=question, because="the last one is in force")


def test_a_kernel_that_was_taken_back(ask: Ask) -> None:
    """the entry at a key whose kernel was taken back"""
    for registered, taken_back, key, accepted in (
        (IMPLICIT, "CPU", "CPU", f"math kernel, {IMPLICIT}"),
        (IMPLICIT, "CPU", "AutogradCPU", f"math kernel, {IMPLICIT}"),
        (IMPLICIT, EXPLICIT, "AutogradCPU", f"math kernel, {IMPLICIT}"),
        *(("Meta", alias, key, NOTHING_SERVES[key]) for alias, key, _ in ALIASES_BY_RULE),
    ):
        operator = an_operator(registered)
        operator.kernels[DispatchKey[taken_back]] = []
        came = ask("choose", operator, DispatchKey[key])
        question = f"the entry at {key}, one kernel registered for {registered}, one for {taken_back} and taken back"
        expect(said(came.value), f"{key}: {accepted}", asked=question, because="an empty list is no kernel")


def test_kernels_for_every_backend(ask: Ask) -> None:
    """the entry at a backend, where kernels for all of them are registered"""
    for registered, key, accepted in (
        (EXPLICIT, "CPU", EXPLICIT),
        (f"{IMPLICIT} {EXPLICIT}", "SparseCPU", EXPLICIT),
        (f"{EXPLICIT} {NONFUNCTIONAL}", "CUDA", NONFUNCTIONAL),
        (f"{EXPLICIT} {NONFUNCTIONAL}", "XLA", EXPLICIT),
    ):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        because = "NonFunctional comes first, but does not serve XLA and Lazy"
        accepted = f"{key}: default backend kernel, {accepted}"
        expect(said(came.value), accepted, asked=asked(registered, key), because=because)


def test_a_composite_kernel(ask: Ask) -> None:
    """the entry at a key that a composite kernel serves"""
    for registered, key in (
        (IMPLICIT, "CPU"),
        (IMPLICIT, "AutogradCPU"),
        (f"Autograd {IMPLICIT}", "AutogradMeta"),
        (IMPLICIT, "NestedTensorCPU"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        accepted = f"{key}: math kernel, {IMPLICIT}"
        because = "it serves backends and autograd, and comes before the alias Autograd"
        expect(said(came.value), accepted, asked=asked(registered, key), because=because)


def test_a_composite_kernel_above_one_for_a_backend(ask: Ask) -> None:
    """the entry at an autograd key, where the operator is composite and a backend has its own kernel"""
    for registered, key, accepted in (
        (f"{IMPLICIT} CPU", "AutogradCPU", "backend fallback, a fallthrough"),
        (f"{IMPLICIT} CPU", "AutogradMeta", f"math kernel, {IMPLICIT}"),
        (f"{IMPLICIT} CPU Autograd", "AutogradCPU", "autograd kernel, Autograd"),
        (f"{IMPLICIT} SparseCPU", "AutogradCPU", f"math kernel, {IMPLICIT}"),
        (f"{IMPLICIT} {NONFUNCTIONAL}", "AutogradCPU", f"math kernel, {IMPLICIT}"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        because = "the composite steps aside for that backend, or its kernel would never be reached"
        expect(said(came.value), f"{key}: {accepted}", asked=asked(registered, key), because=because)


def test_a_composite_kernel_above_one_for_every_backend(ask: Ask) -> None:
    """the entry at an autograd key, where an implicit and an explicit composite kernel are registered"""
    registered = f"{IMPLICIT} {EXPLICIT}"
    for key in ("AutogradCPU", "AutogradOther"):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        accepted = f"{key}: backend fallback, a fallthrough"
        because = "an explicit kernel is one of its own for every backend"
        expect(said(came.value), accepted, asked=asked(registered, key), because=because)


def test_backends_without_an_autograd_key_of_their_own(ask: Ask) -> None:
    """the entry at AutogradOther, where the operator is composite"""
    for registered, accepted in (
        (IMPLICIT, f"math kernel, {IMPLICIT}"),
        (f"{IMPLICIT} CPU", f"math kernel, {IMPLICIT}"),
        (f"{IMPLICIT} SparseCPU", "ambiguous autogradother, no kernel"),
        (f"{IMPLICIT} MkldnnCPU Autograd", "ambiguous autogradother, no kernel"),
        (f"{IMPLICIT} {EXPLICIT} SparseCPU", "ambiguous autogradother, no kernel"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey.AutogradOther)
        because = "it records for sparse and other backends together, and they want different kernels"
        question = asked(registered, "AutogradOther")
        expect(said(came.value), f"AutogradOther: {accepted}", asked=question, because=because)


def test_a_call_without_tensors(ask: Ask) -> None:
    """the entry at Undefined"""
    for registered, accepted in (
        (IMPLICIT, f"math kernel, {IMPLICIT}"),
        (f"{EXPLICIT} {IMPLICIT}", f"default backend kernel, {EXPLICIT}"),
        (f"{EXPLICIT} {NONFUNCTIONAL}", f"default backend kernel, {NONFUNCTIONAL}"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey.Undefined)
        because = "it stands in no set of INCLUDED_IN, and three aliases serve it all the same"
        expect(said(came.value), f"Undefined: {accepted}", asked=asked(registered, "Undefined"), because=because)


def test_aliases_for_a_few_keys(ask: Ask) -> None:
    """the entry at a key that an alias for nested tensors or for batching serves"""
    for registered, key, accepted in (
        (f"{IMPLICIT} {NESTED}", "NestedTensorCPU", f"nested kernel, {NESTED}"),
        (f"{IMPLICIT} {NESTED}", "AutogradNestedTensor", f"nested kernel, {NESTED}"),
        (f"{IMPLICIT} {BATCHED}", "FuncTorchBatched", f"batched kernel, {BATCHED}"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        because = "the alias serves this key"
        expect(said(came.value), f"{key}: {accepted}", asked=asked(registered, key), because=because)


def test_nothing_that_serves_the_key(ask: Ask) -> None:
    """the entry at a key for which nothing is registered that serves it"""
    for registered, key, accepted in (
        ("CPU", "Meta", "missing, no kernel"),
        ("CPU", "ADInplaceOrView", "backend fallback, a fallthrough"),
        (f"{IMPLICIT} Autograd", "Functionalize", "missing, no kernel"),
        ("CPU Autograd", "Undefined", "missing, no kernel"),
    ):
        came = ask("choose", an_operator(registered), DispatchKey[key])
        because = "a fallback serves all operators; where there is none, the choice says missing, and raises nothing"
        expect(said(came.value), f"{key}: {accepted}", asked=asked(registered, key), because=because)
