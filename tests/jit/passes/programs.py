"""Which programs show that a pass keeps what a graph computes?

`random_program` writes a graph of views, writes, random draws, branches and loops; `run_twice` gives all that a caller
can see of one: outputs, what happened to the inputs, and which of these tensors share memory.
"""

from __future__ import annotations

import random
from typing import Any

import glasstorch
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir

SHAPES = ((2, 3), (3, 2))
Named = list[tuple[str, tuple[int, int]]]  # the tensors that a statement may use, with their shapes

PURE = ("relu(%a)", "neg(%a)", "tanh(%a)", "add(%a, %b, %one)", "sub(%a, %b, %one)", "mul(%a, %b)", "clone(%a, %none)")
SHARING = ("alias(%a)", "detach(%a)", "contiguous(%a, %zero)", "type_as(%a, %b)", "reshape(%a, %size)", "t(%a)")
SWAPPING = ("t(%a)", "transpose(%a, %zero, %one)", "transpose(%a, %one, %zero)")
WRITING = ("add_(%a, %b, %one)", "sub_(%a, %b, %one)", "mul_(%a, %b)", "tanh_(%a)", "copy_(%a, %b, %no)", "zero_(%a)")
MAKING = ("ones(%size, %none, %none, %none, %none)", "zeros(%size, %none, %none, %none, %none)")
DRAWING = ("rand(%size, %none, %none, %none, %none)",)

CONSTANTS = """\
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %three : int = prim::Constant[value=3]()
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
"""


class _Writer:
    """Writes the text of one random program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def write(self, depth: int, text: str) -> None:
        self.lines.append("  " * (2 * depth + 1) + text)

    def statements(self, values: Named, depth: int, count: int) -> None:
        for _ in range(count):
            roll = self.random.random()
            if depth < 2 and roll < 0.08:
                self.branch(values, depth)
            elif depth < 2 and roll < 0.16:
                self.loop(values, depth)
            elif roll < 0.24:
                self.container(values, depth)
            else:
                self.operator(values, depth)

    def operator(self, values: Named, depth: int) -> None:
        kinds = [PURE, SHARING, SWAPPING, WRITING, MAKING, DRAWING]
        (kind,) = self.random.choices(kinds, [6, 3, 2, 3, 2, 0.5])
        call = self.random.choice(kind)
        first, shape = self.random.choice(values)
        second = self.random.choice([name for name, other in values if other == shape])
        swaps = "t(" in call[:2] or "transpose" in call
        if "%size" in call:
            size = self.name()
            sizes = ", ".join({2: "%two", 3: "%three"}[n] for n in shape)
            self.write(depth, f"{size} : int[] = prim::ListConstruct({sizes})")
            call = call.replace("%size", size)
        name = self.name()
        # one replacement for each letter, as names of values hold letters too
        call = call.replace("(%a", f"({first}").replace(", %b", f", {second}")
        self.write(depth, f"{name} : Tensor = aten::{call}")
        values.append((name, (shape[1], shape[0]) if swaps else shape))

    def container(self, values: Named, depth: int) -> None:
        chosen = self.random.choices(values, k=2)
        whole, parts = self.name(), [self.name(), self.name()]
        if self.random.random() < 0.5:
            self.write(depth, f"{whole} : (Tensor, Tensor) = prim::TupleConstruct({chosen[0][0]}, {chosen[1][0]})")
            unpack = "prim::TupleUnpack"
        elif self.random.random() < 0.5:
            self.write(depth, f"{whole} : Tensor[] = prim::ListConstruct({chosen[0][0]}, {chosen[1][0]})")
            unpack = "prim::ListUnpack"
        else:
            self.write(depth, f"{whole} : Tensor[] = aten::chunk({chosen[0][0]}, %one, %zero)")
            unpack, parts, chosen = "prim::ListUnpack", parts[:1], chosen[:1]
        self.write(depth, f"{', '.join(f'{part} : Tensor' for part in parts)} = {unpack}({whole})")
        values += [(part, shape) for part, (_, shape) in zip(parts, chosen, strict=True)]

    def branch(self, values: Named, depth: int) -> None:
        shapes = self.random.choices(SHAPES, k=self.random.choice([0, 1, 2]))
        names = [self.name() for _ in shapes]
        condition = self.random.choice(["%yes", "%no", "%flag"])
        self.write(depth, f"{', '.join(f'{name} : Tensor' for name in names)} = prim::If({condition})")
        for i in range(2):
            self.write(depth, f"  block{i}():")
            self.body(list(values), depth, shapes, [])
        values += zip(names, shapes, strict=True)

    def loop(self, values: Named, depth: int) -> None:
        carried = self.random.choices(values, k=self.random.choice([1, 2]))
        names, inside = [self.name() for _ in carried], [self.name() for _ in carried]
        shapes = [shape for _, shape in carried]
        times, start = self.random.choice(["%zero", "%two", "%times"]), self.random.choice(["%yes", "%yes", "%flag"])
        given = ", ".join([times, start, *(name for name, _ in carried)])
        self.write(depth, f"{', '.join(f'{name} : Tensor' for name in names)} = prim::Loop({given})")
        taken = ", ".join([f"{self.name()} : int", *(f"{name} : Tensor" for name in inside)])
        self.write(depth, f"  block0({taken}):")
        self.body([*values, *zip(inside, shapes, strict=True)], depth, shapes, ["%yes"])
        values += zip(names, shapes, strict=True)

    def body(self, values: Named, depth: int, shapes: list[tuple[int, int]], first: list[str]) -> None:
        self.statements(values, depth + 1, self.random.choice([0, 1, 2, 4]))
        given = [self.random.choice([name for name, other in values if other == shape][-3:]) for shape in shapes]
        self.write(depth + 1, f"-> ({', '.join(first + given)})")


def random_program(seed: int, length: int = 14) -> Graph:
    """A graph with two tensors of sizes (2, 3) and (3, 2), a bool and an int as inputs."""
    writer = _Writer(seed)
    values: Named = [("%x", SHAPES[0]), ("%y", SHAPES[1])]
    writer.statements(values, 0, length)
    given = [name for name, _ in writer.random.choices(values, k=writer.random.choice([1, 2, 3]))]
    head = "graph(%x : Tensor, %y : Tensor, %flag : bool, %times : int):\n"
    return parse_ir(f"{head}{CONSTANTS}" + "\n".join(writer.lines) + f"\n  return ({', '.join(given)})\n")


def run_twice(graph: Graph, seed: int) -> list[Any]:
    """What a caller sees of two runs; between them the outputs are written to, as a caller may."""
    code = Code(graph)
    seen = []
    for i in range(2):
        glasstorch.manual_seed(seed)
        x = glasstorch.rand(2, 3) - 0.5
        y = x.t() if seed % 3 == 0 else glasstorch.rand(3, 2) - 0.5  # the caller's tensors may share memory
        outputs = code(x, y, (seed + i) % 2 == 0, seed % 4)
        tensors = [*outputs, x, y]
        addresses = [tensor.untyped_storage().data_ptr() for tensor in tensors]
        shared = [[a == b for a in addresses] for b in addresses]
        same = [[a is b for a in tensors] for b in tensors]
        seen.append([[(tensor.shape, tensor.tolist()) for tensor in tensors], shared, same])
        for output in outputs:
            output.fill_(7.0)
    return seen
