"""Do the registrations that are found lead to the table, and are they as few as possible?"""

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from glasstorch.core.keys import ALIASES, DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator
from glasstorch.dispatch.resolve import INCLUDED_IN, backends_of, choose
from workbook.exercises.asking import Ask, expect

NONFUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
EXPLICIT = "CompositeExplicitAutograd"
IMPLICIT = "CompositeImplicitAutograd"
NESTED = "CompositeImplicitAutogradNestedTensor"
BATCHED = "FuncTorchBatchedDecomposition"
NOTHING = "backend fallback", "missing"
FEW = "CPU AutogradCPU Meta AutogradMeta XLA ADInplaceOrView"  # the keys of most tables here

Rules = Mapping[DispatchKey, str]


def an_operator(registered: Iterable[DispatchKey]) -> Operator:
    """An operator with a kernel for each of these keys and aliases."""
    operator = Operator("check::op", "check::op(Tensor x) -> Tensor", "the check")
    operator.kernels = {name: [Kernel(print, name, "the check")] for name in registered}
    return operator


def lead_to(registered: Iterable[DispatchKey], rules: Rules) -> bool:
    """Whether an operator with these registrations has this table."""
    operator = an_operator(registered)
    found = ((choose(operator, key).rule, rule) for key, rule in rules.items())
    return all(came == rule or {came, rule} <= {*NOTHING} for came, rule in found)


def smallest(rules: Rules) -> frozenset[DispatchKey] | None:
    """The fewest registrations, found by trying all combinations, which is slow but follows the definition.

    It tries the aliases, the keys of the table that have a kernel of their own (no other registration leads to this
    rule), and for each autograd key in the table two of its backends that are not in the table.
    """
    own = [key for key, rule in rules.items() if rule == "kernel"]
    tried = [*INCLUDED_IN]
    for key in rules:
        tried += [backend for backend in sorted(backends_of(key)) if backend not in rules][:2]
    for count in range(6):
        for few in combinations(tried, count):
            if lead_to([*own, *few], rules):
                return frozenset([*own, *few])
    return None


def table(registered: str, keys: str = FEW) -> Rules:
    """The rules at some keys of an operator with these registrations."""
    operator = an_operator(map(DispatchKey.__getitem__, registered.split()))
    return {key: choose(operator, key).rule for key in map(DispatchKey.__getitem__, keys.split())}


def judge(ask: Ask, rules: Rules, because: str) -> None:
    """Judge the answer for a table: it must lead to the table, and have as few registrations as the smallest."""
    found = smallest(rules)

    def as_good(value: object, accepted: object) -> bool:
        if found is None or not isinstance(value, frozenset):
            return value is accepted
        return len(value) == len(found) and lead_to(value, rules)

    expect(ask("fewest_registrations", rules), found, because=because, same=as_good)


def test_kernels_for_every_backend(ask: Ask) -> None:
    """the fewest registrations for a table in which a backend has a default backend kernel"""
    for registered, keys in (
        (EXPLICIT, FEW),
        (NONFUNCTIONAL, FEW),
        (f"{NONFUNCTIONAL} {EXPLICIT}", FEW),
        (f"{NONFUNCTIONAL} {IMPLICIT}", FEW),
        (f"{NONFUNCTIONAL} SparseCPU", "CPU SparseCPU SparseCUDA"),
    ):
        because = "two aliases lead to this rule, and the keys that NonFunctional does not serve distinguish them"
        judge(ask, table(registered, keys), because)


def test_a_kernel_that_the_table_does_not_show(ask: Ask) -> None:
    """the fewest registrations for a table with an autograd key that does not use the composite kernel"""
    for registered, keys in (
        (f"{IMPLICIT} CPU", "AutogradCPU AutogradMeta"),
        (f"{IMPLICIT} CPU XLA", "AutogradCPU Meta AutogradXLA"),
        (f"{IMPLICIT} CPU Autograd", "AutogradCPU AutogradMeta Meta"),
        (f"{IMPLICIT} NestedTensorCPU", "AutogradNestedTensor AutogradCPU NestedTensorCUDA"),
    ):
        because = "the composite kernel is not used where a backend has a kernel, and the table hides that backend"
        judge(ask, table(registered, keys), because)


def test_an_ambiguous_key(ask: Ask) -> None:
    """the fewest registrations for a table with the rule "ambiguous autogradother\""""
    for registered, keys in (
        (f"{IMPLICIT} SparseCPU", "SparseCPU AutogradOther CPU"),
        (f"{IMPLICIT} SparseCPU", "AutogradOther"),
        (f"{IMPLICIT} Metal", "FPGA Vulkan AutogradOther"),
        (f"{IMPLICIT} {EXPLICIT} SparseCPU", "AutogradOther AutogradCPU AutogradMeta AutogradXLA"),
        (f"{IMPLICIT} CPU SparseCPU", "AutogradOther AutogradCPU AutogradMeta AutogradXLA"),
    ):
        because = "besides the composite kernel, a backend whose gradients AutogradOther records has a kernel"
        judge(ask, table(registered, keys), because)


def test_registrations_that_change_nothing(ask: Ask) -> None:
    """the fewest registrations for a whole table of an operator with one registration too many"""
    whole = " ".join(key.name for key in DispatchKey if key.name not in ALIASES)
    for registered in (
        f"{IMPLICIT} Autograd",
        f"{NONFUNCTIONAL} {EXPLICIT} Autograd",
        f"{EXPLICIT} {IMPLICIT} CPU",
        f"{IMPLICIT} {NESTED} {BATCHED} Tracer FuncTorchBatched",
    ):
        judge(ask, table(registered, whole), "the table would be the same without one of the operator's registrations")


def test_keys_that_few_aliases_serve(ask: Ask) -> None:
    """the fewest registrations for a table with keys of nested tensors, of batching, or of calls without tensors"""
    for registered, keys in (
        (NESTED, "NestedTensorCPU AutogradNestedTensor CPU"),
        (BATCHED, "FuncTorchBatched CPU"),
        (IMPLICIT, "Undefined"),
        (EXPLICIT, "Undefined AutogradCPU"),
        (f"Undefined {NONFUNCTIONAL}", "Undefined CPU XLA"),
    ):
        judge(ask, table(registered, keys), "the rule of this key tells which alias serves it")


def test_what_is_registered_for_all_operators(ask: Ask) -> None:
    """the fewest registrations for a table with keys that no kernel of the operator serves"""
    for registered in ("", "CPU", f"CPU {IMPLICIT}", "Autograd"):
        rules = table(registered, f"{FEW} Tracer Functionalize")
        for nothing in NOTHING:
            changed = {key: nothing if rule in NOTHING else rule for key, rule in rules.items()}
            judge(ask, changed, "a fallback does not belong to the operator, so it needs no registration here")


def test_a_table_that_nothing_leads_to(ask: Ask) -> None:
    """None for a table that was copied wrongly"""
    for rules in (
        {"CPU": "math kernel", "Meta": "missing"},
        {"CPU": "math kernel", "AutogradCPU": "backend fallback"},
        {"AutogradCPU": "autograd kernel", "AutogradMeta": "backend fallback"},
        {"FuncTorchBatched": "math kernel"},
        {"AutogradOther": "ambiguous autogradother", "SparseCPU": "missing"},
    ):
        came = ask("fewest_registrations", {DispatchKey[key]: rule for key, rule in rules.items()})
        expect(came, None, because="whatever is registered, at least one of these rows has another rule")


def random_tables() -> Iterator[Rules]:
    """Some keys of operators with up to four registrations."""
    draw = random.Random("03.2")
    backends = ("CPU", "Meta", "XLA", "SparseCPU", "QuantizedCPU", "NestedTensorCPU")
    above = ("AutogradCPU", "AutogradMeta", "AutogradXLA", "ADInplaceOrView", "FuncTorchBatched")
    for count in sorted(draw.randint(0, 4) for _ in range(40)):
        registered = draw.sample([*backends, *above, *(alias for alias in ALIASES if alias != NESTED)], count)
        yield table(" ".join(registered), " ".join(draw.sample([*backends, *above], draw.randint(2, 8))))


def test_tables_of_a_few_keys(ask: Ask) -> None:
    """the fewest registrations for a table that shows some keys of an operator"""
    for rules in random_tables():
        judge(ask, rules, "these lead to every row of the table, and no smaller set does")
