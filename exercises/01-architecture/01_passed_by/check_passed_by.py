"""Is every key found that was passed by in a call, and no other: no key of another call, and none never reached?"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from glasstorch.core.keys import (
    ALL_BACKENDS,
    DispatchKey,
    DispatchKeySet,
    below,
    key_set_of,
)
from workbook.exercises.asking import Ask, Came, expect

HIGHEST_FIRST = (
    "FuncTorchBatched", "AutocastCPU", "Tracer", "ADInplaceOrView", "Negative", "Conjugate", "Functionalize",
    "Python", "BackendSelect",
)  # fmt: skip
CPU = key_set_of("CPU", "BackendSelect")
FULL = key_set_of("CPU", "BackendSelect", "ADInplaceOrView", "AutogradCPU")


@dataclass(frozen=True)
class Hop:
    """The fields of a hop of a trace that this exercise needs."""

    depth: int
    operator: str
    key: DispatchKey
    keys: int

    def __repr__(self) -> str:
        keys = ", ".join(key.name for key in downwards(self.keys))
        return f"<depth {self.depth}: {self.operator} at {self.key.name} of {{{keys}}}>"


def downwards(keys: int) -> list[DispatchKey]:
    """The keys of a set in the order in which they are looked up: each functionality on its highest backend."""
    asked: dict[int, DispatchKey] = {}
    for key in DispatchKeySet(keys):  # the lowest first
        asked[key_set_of(key) & ~ALL_BACKENDS] = key
    return [*asked.values()][::-1]


Call = tuple[str, int]  # an operator that is called, and the key set of that call
Table = dict[str, Sequence[str | Call]]  # key -> what its kernel does: redispatches below a functionality, or calls


class Program:
    """Runs calls of made-up operators, and records their hops and, for each call, the keys that were passed by.

    A key that is not in an operator's table is passed by.
    """

    def __init__(self, tables: dict[str, Table], *calls: Call) -> None:
        self.tables, self.hops = tables, list[Hop]()
        self.passed: dict[int, list[DispatchKey]] = {}  # by the number of the hop with which a call begins
        for operator, keys in calls:
            self.call(operator, keys, 0)

    def call(self, operator: str, keys: int, depth: int) -> None:
        """One call; all hops that are redispatched in it share one list."""
        self.hop(operator, keys, depth, self.passed.setdefault(len(self.hops), []))

    def hop(self, operator: str, keys: int, depth: int, passed: list[DispatchKey]) -> None:
        """Look up the keys from the highest down; the first kernel found runs."""
        table, asked = self.tables[operator], downwards(keys)
        stop = next((key for key in asked if key.name in table), DispatchKey.Undefined)
        before = asked[: asked.index(stop)] if stop in asked else asked
        passed += [key for key in before if key not in passed]
        self.hops.append(Hop(depth, operator, stop, keys))
        for step in table.get(stop.name, ()):
            if isinstance(step, str):
                self.hop(operator, keys & below(step), depth + 1, passed)
            else:
                self.call(*step, depth + 1)


def judge(ask: Ask, program: Program, because: str, *, first: int = 0) -> None:
    """Ask about one call of a program."""
    came = ask("passed_by", program.hops, first)
    accepted = tuple(key.name for key in program.passed[first])
    question = f"the keys passed by in the call of {program.hops[first].operator} that begins at hops[{first}]"
    expect(named(came), accepted, asked=question, because=because)


def named(came: Came) -> object:
    """The result, with the names of keys in place of keys; anything else as it is."""
    match came.value:
        case tuple() as keys if all(isinstance(key, DispatchKey) for key in keys):
            return tuple(key.name for key in keys)
    return came.value


def chains() -> list[Program]:
    """Programs of one call that redispatches down to its backend, with kernels that take out more than they must."""
    draw = random.Random("01.1")
    found = []
    for count in (2, 3, 3, 4, 5, 6, 8, 8):
        names = sorted(draw.sample(HIGHEST_FIRST, count), key=HIGHEST_FIRST.index)
        stops = [name for name in names if draw.random() < 0.5]
        table: Table = {"CPU": ()}
        for name in stops:
            lower = names[names.index(name) :]
            table[name] = (draw.choice(lower[:2]),)
        found.append(Program({"lab::op": table}, ("lab::op", key_set_of("CPU", *names))))
    return found


def test_the_hops_of_one_call(ask: Ask) -> None:
    """the keys passed by in a call of one or more hops"""
    for program in chains():
        judge(ask, program, "for each hop, the keys of its set are looked up from the highest down to its own")


def test_two_backends(ask: Ask) -> None:
    """the keys passed by in a call with tensors on two backends"""
    for names, table in (
        (("CPU", "Meta", "AutogradCPU"), {"Meta": ()}),
        (("CPU", "CUDA", "AutogradCPU", "ADInplaceOrView"), {"ADInplaceOrView": ("ADInplaceOrView",), "CUDA": ()}),
        (("CUDA", "XLA", "AutogradCUDA", "Tracer"), {"Tracer": ("Tracer",), "XLA": ()}),
    ):
        program = Program({"lab::op": table}, ("lab::op", key_set_of(*names)))
        judge(ask, program, "a functionality is looked up on the highest backend only, and passed by on all")


def test_calls_in_a_kernel(ask: Ask) -> None:
    """the keys passed by in a call whose kernel calls other operators"""
    leaf: Table = {"AutogradCPU": ("AutogradFunctionality",), "CPU": ()}
    for table in (
        {"AutogradCPU": (("lab::leaf", FULL), ("lab::leaf", FULL))},
        {
            "AutogradCPU": ("AutogradFunctionality",),
            "ADInplaceOrView": (("lab::leaf", FULL), "ADInplaceOrView"),
            "CPU": (),
        },
        {"AutogradCPU": (("lab::between", FULL),), "CPU": ()},
    ):
        between: Table = {"AutogradCPU": ("AutogradFunctionality",), "CPU": (("lab::op", CPU),)}
        tables: dict[str, Table] = {"lab::op": table, "lab::leaf": leaf, "lab::between": between}
        judge(ask, Program(tables, ("lab::op", FULL)), "a hop of another operator, or made by one, is in another call")


def test_the_same_operator_called_anew(ask: Ask) -> None:
    """the keys passed by in a call whose kernel calls the same operator anew, on another tensor"""
    inner = key_set_of("Meta", "BackendSelect", "AutogradMeta", "Tracer")
    table: Table = {
        "AutogradCPU": ("AutogradFunctionality",),
        "CPU": (("lab::op", inner),),
        "Meta": (),
    }
    program = Program({"lab::op": table}, ("lab::op", FULL))
    because = "a redispatch adds no key to the set; this hop's set has a new key, so the kernel made another call"
    judge(ask, program, because)


def test_a_kernel_that_redispatches_twice(ask: Ask) -> None:
    """the keys passed by in a call that one kernel redispatches twice"""
    for masks in (("AutogradFunctionality", "ADInplaceOrView"), ("ADInplaceOrView", "AutogradFunctionality")):
        program = Program({"lab::op": {"AutogradCPU": masks, "CPU": ()}}, ("lab::op", FULL))
        because = "the first hop made both others, and a key passed by in both is listed once, at its first place"
        judge(ask, program, because)


def test_one_of_several_calls(ask: Ask) -> None:
    """the keys passed by in one call of a program with several"""
    table: Table = {
        "Tracer": ("Tracer",),
        "AutogradCPU": ("ADInplaceOrView",),
        "CPU": (),
    }
    calls = [("lab::op", FULL), ("lab::op", key_set_of("Tracer", "ADInplaceOrView", "BackendSelect", "CPU"))]
    for program in (Program({"lab::op": table}, *calls), Program({"lab::op": table}, *calls[::-1])):
        for first in program.passed:
            because = "the call ends before the next hop that is no deeper than its first"
            judge(ask, program, because, first=first)


def test_nobody_left(ask: Ask) -> None:
    """the keys passed by in a call that finds no kernel"""
    for names in ((), ("BackendSelect",), ("CPU",), ("Tracer", "AutogradCPU", "CPU")):
        program = Program({"lab::op": {}}, ("lab::op", key_set_of(*names)))
        judge(ask, program, "the key of this hop is Undefined, so all keys of its set were passed by")
