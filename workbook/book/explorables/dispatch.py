"""Which kernels does a call pass through, for each choice of registrations, of a device and of modes?

Nothing is computed on the page: every table comes from the dispatcher's `choose`, every path from its `next_hop`, for
an operator that has no kernels but those that are switched on. A test compares the paths with traces of real calls.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import glasstorch  # noqa: F401  (registers the operators and fallbacks)
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    AUTOCAST,
    AUTOGRAD_AND_NESTED,
    BELOW_AUTOGRAD,
    CPU_KEYS,
    CUDA_KEYS,
    FUNCTIONALITIES,
    FUNCTIONALITY_BIT,
    META_KEYS,
    DispatchKey,
    key_set_of,
)
from glasstorch.dispatch.active_keys import ALLOWED_BY_DEFAULT, INCLUDED_BY_DEFAULT
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, MATH_KERNEL, Choice, choose, next_hop
from workbook.book.figures.kit import Figure

# What can be registered, in the order of bits of a subset.
PLACES = (
    "CPU",
    "CUDA",
    "Meta",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
    "Autograd",
    "ADInplaceOrView",
    "AutocastCPU",
    "AutocastCUDA",
)
DEVICES = ("CPU", "CUDA", "Meta")
KEYS = {"CPU": CPU_KEYS, "CUDA": CUDA_KEYS, "Meta": META_KEYS}
MODES = ("inference_mode", "autocast", "jit.trace", "TorchDispatchMode")
LAYERS = ("Autocast", "Tracer", "Autograd", "ADInplaceOrView", "Python", "BackendSelect", "")  # the highest first
OPERATORS = (
    "add.Tensor",
    "add_.Tensor",
    "relu",
    "mm",
    "sum",
    "native_layer_norm",
    "linear",
    "matmul",
    "dropout",
    "reshape",
    "expand",
    "transpose.int",
    "native_dropout",
)
FALLS_THROUGH = "fallthrough"
ABOVE_BACKENDS = sum(
    bit for name, bit in FUNCTIONALITY_BIT.items() if name in FUNCTIONALITIES[FUNCTIONALITIES.index("BackendSelect") :]
)
LOAD = """
import json, sys
import glasstorch
from glasstorch.amp.kernels import register_autocast_kernels
from glasstorch.dispatch.operator import registry
from glasstorch.kernels.cuda import register_kernels
register_kernels(), register_autocast_kernels("cpu"), register_autocast_kernels("cuda")
found = {name: registry.find("aten::" + name).kernels for name in sys.argv[1:]}
print(json.dumps({name: [key.name for key, kernels in all.items() if kernels] for name, all in found.items()}))
"""


class Hop(NamedTuple):
    """One entry that a call meets: the keys that fell through before it, what it is, and `by` what was registered."""

    skipped: tuple[str, ...]
    key: str
    rule: str
    by: str


def data() -> dict[str, Any]:
    """For each device, the table and the paths for each subset of the registrations that matter to it.

    A path is the numbers of its rows. A row between them whose key is in the set fell through.
    """
    entries, paths = Numbered(), Numbered()
    devices = []
    for device in DEVICES:
        places, sets = matter_to(device), [key_set(device, on) for on in all_modes()]
        number = {key.name: row for row, key in enumerate(rows(device))}
        operators = [with_kernels(places, subset) for subset in range(1 << len(places))]
        devices.append(
            {
                "name": device,
                "places": places,
                "rows": [key.name for key in rows(device)],
                "sets": [names_in(keys, device) for keys in sets],
                "tables": [[entries[entry(operator, key)] for key in rows(device)] for operator in operators],
                "ways": [
                    [paths[tuple(number[hop.key] for hop in path(operator, keys))] for keys in sets]
                    for operator in operators
                ],
            }
        )
    return {
        "places": PLACES,
        "devices": devices,
        "modes": MODES,
        "operators": [{"name": name, "registered": registrations()[name]} for name in OPERATORS],
        "entries": list(entries.numbers),
        "paths": list(paths.numbers),
    }


def matter_to(device: str) -> list[str]:
    """The places of registration that can change what a call on a device meets; a test tries the others."""
    return [place for place in PLACES if not place.endswith(tuple(DEVICES)) or place.endswith(device)]


class Numbered:
    """Values by the numbers that they got when they were first seen."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def __getitem__(self, value: Hashable) -> int:
        return self.numbers.setdefault(value, len(self.numbers))


def all_modes() -> Iterator[tuple[bool, ...]]:
    """Each choice of modes; that of number n has the mode i where bit i of n is set."""
    return (on[::-1] for on in product((False, True), repeat=len(MODES)))


def with_kernels(places: Sequence[str], subset: int = -1) -> Operator:
    """An operator with kernels at these places only, or at a subset of them by the bits of a number."""
    operator = Operator("explorable::op", "explorable::op() -> ()", "")
    for bit, place in enumerate(places):
        if subset >> bit & 1:
            operator.kernels[DispatchKey[place]] = [Kernel(a_kernel, DispatchKey[place], "")]
    return operator


def a_kernel() -> None:
    """Stand in for a registered kernel; nothing calls it."""


@cache
def registrations() -> dict[str, list[str]]:
    """The places at which the library's operators have a kernel once CUDA's and autocast's are loaded.

    They are loaded in another process: here they would change what an operator answers without a GPU.
    """
    done = subprocess.run([sys.executable, "-c", LOAD, *OPERATORS], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return {name: [place for place in PLACES if place in places] for name, places in found.items()}


def rows(device: str) -> list[DispatchKey]:
    """The keys that a call on this device may meet, the highest first."""
    names = [layer + device if layer in ("Autocast", "Autograd", "") else layer for layer in LAYERS]
    return [DispatchKey[name] for name in names if name in DispatchKey.__members__]


def key_set(device: str, on: tuple[bool, ...]) -> int:
    """The set on which a call with a tensor of this device dispatches while these modes are on."""
    inference, autocast, tracing, python = on
    included, allowed = INCLUDED_BY_DEFAULT, ALLOWED_BY_DEFAULT
    if inference:
        included, allowed = included & ~ADINPLACEORVIEW, allowed & ~AUTOGRAD_AND_NESTED
    if autocast:
        allowed |= AUTOCAST
    if tracing:
        included |= FUNCTIONALITY_BIT["Tracer"]
    if python:
        included |= FUNCTIONALITY_BIT["Python"]
    return (KEYS[device] | included) & allowed


def names_in(keys: int, device: str) -> list[str]:
    """The keys of a set, the highest first."""
    return [key.name for key in rows(device) if key_set_of(key) & keys == key_set_of(key)]


def entry(operator: Operator, key: DispatchKey) -> tuple[str, str]:
    """The rule by which a key has its kernel, and what that was registered for."""
    choice = choose(operator, key)
    return choice.rule, served_by(choice)


def served_by(choice: Choice) -> str:
    """What a chosen kernel was registered for: a key, an alias, or all operators."""
    if choice.kernel is None:
        return ""
    if falls_through(choice):
        return FALLS_THROUGH
    return "every operator" if choice.rule == BACKEND_FALLBACK else choice.kernel.key.name


def falls_through(choice: Choice) -> bool:
    """Whether an entry sends the call on to the next key."""
    return choice.kernel is not None and choice.kernel.function is fallthrough_kernel


def path(operator: Operator, keys: int) -> Iterator[Hop]:
    """The entries that a call of this operator meets, until one computes, or leaves it to other operators."""
    while True:
        key, skipped = next_hop(keys, lambda key: falls_through(choose(operator, key)))
        choice = choose(operator, key)
        yield Hop(tuple(one.name for one in skipped), key.name, choice.rule, served_by(choice))
        if choice.kernel is None or choice.rule == MATH_KERNEL or not key_set_of(key) & ABOVE_BACKENDS:
            return
        keys &= below(key)


def below(key: DispatchKey) -> int:
    """The keys that a kernel at this key leaves in the set when it hands the call on."""
    bit = key_set_of(key) & ABOVE_BACKENDS
    if bit & AUTOGRAD_AND_NESTED:
        return BELOW_AUTOGRAD
    return ~bit if bit & (AUTOCAST | FUNCTIONALITY_BIT["Tracer"]) else bit - 1


def figure() -> Figure:
    """The table of `add` on the CPU, and the way of a call through it."""
    operator = with_kernels(("CPU", "Meta", "Autograd"))
    keys = key_set("CPU", (False,) * len(MODES))
    hops = list(path(operator, keys))
    met, skipped = {hop.key for hop in hops}, {name for hop in hops for name in hop.skipped}
    lines = []
    drawing = Figure("explorable-dispatch", "The way of a call of add through its table", "", 620, 0)
    y = 0.0
    for key in rows("CPU"):
        rule, by = entry(operator, key)
        present = key.name in names_in(keys, "CPU")
        drawing.box(
            30, y, 170, 34, kind="glass" if key.name in met else "pane" if present else "plain", dashed=not present
        )
        drawing.text(42, y + 22, key.name, mono=True, size=13, colour="ink" if present else "soft", room=150)
        drawing.text(216, y + 22, told_of(rule, by), size=13, colour="ink" if key.name in met else "soft", room=400)
        if key.name in met | skipped:
            drawing.box(4, y + 10, 14, 14, kind="glass" if key.name in met else "plain", radius=7)
        way = "called" if key.name in met else "fell through" if key.name in skipped else "not in the set"
        lines.append(f"{key.name}: {told_of(rule, by)}, {way}")
        y += 40
    drawing.description = "; ".join(lines) + "."
    drawing.height = y
    return drawing


def told_of(rule: str, by: str) -> str:
    """One entry in words."""
    return f"{rule}: fallthrough" if by == FALLS_THROUGH else f"{rule}, registered for {by}" if by else rule
