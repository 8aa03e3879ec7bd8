"""What is the Python that runs kernels and externs in their order?

Mirrors: torch/_inductor/codegen/wrapper.py (PythonWrapperCodegen)

The text is the body of a graph as a reader would write it: a line that allocates, a line that calls a kernel, a line
that calls an operator, a line that lets go of what is no longer needed. Buffers that only one kernel uses are places in
its workspace: two of them share a place if the one is last read before the other is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.cpp_text import GRAIN, STORED_AS, GroupText
from glasstorch.compiler.loops.cuda_text import CudaGroupText
from glasstorch.compiler.loops.ir import POSITIONS, Buffer, Extern, View
from glasstorch.compiler.loops.lower import Lowered, Opaque
from glasstorch.compiler.loops.products import in_blocks, product_of
from glasstorch.compiler.loops.reuse import owned_by, taken_over
from glasstorch.compiler.loops.schedule import Group, Schedule
from glasstorch.compiler.loops.settings import settings
from glasstorch.core.device import device
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import SymInt, about, is_symbol
from glasstorch.fx.node import Node

SYMBOL: Final = re.compile(r"\bs\d+\b")
COMMENT: Final = re.compile(r"//.*")
ALIGNMENT = 64  # bytes, of buffers in a workspace


class Kernel(NamedTuple):
    """Groups that run one after the other, with nothing between them."""

    name: str
    groups: list[Group]
    parameters: list[Buffer]  # that come from outside or are wanted there
    inner: dict[Buffer, int]  # that have a place in the workspace
    workspace: int  # bytes
    stored: set[Buffer]
    device: str = "cpu"
    over: Mapping[Buffer, Buffer] = MappingProxyType({})  # what is written over something that was read
    product: Extern | None = None  # what is computed for it in blocks of so many rows
    rows: int = 0

    def parameters_made(self) -> list[Buffer]:
        """The parameters whose memory is made for this kernel."""
        written = {buffer for group in self.groups for buffer in group.writes()}
        return [buffer for buffer in self.parameters if buffer in written]

    def cuda_text(self) -> CudaGroupText:
        """What writes the kernel of a CUDA device."""
        return CudaGroupText(self.name, self.groups[0], self.stored, self.parameters)

    def text(self) -> str:
        """The C++ function."""
        written = {buffer for group in self.groups for buffer in group.writes()}
        old = set(self.over.values())
        taken = [
            f"{STORED_AS[buffer.dtype]}* {buffer.name}"
            if buffer in old
            else f"{'' if buffer in written else 'const '}{STORED_AS[buffer.dtype]}* __restrict__ {buffer.name}"
            for buffer in self.parameters
        ]
        lines: list[str] = []
        for buffer, place in self.inner.items():
            kind = STORED_AS[buffer.dtype]
            lines.append(f"    {kind}* __restrict__ {buffer.name} = ({kind}*)(workspace + {place});")
        for buffer, before in self.over.items():
            lines.append(f"    {STORED_AS[buffer.dtype]}* {buffer.name} = {before.name};")
        rows = ("begin", "end") if self.product else None
        lines += [GroupText(group, self.stored, rows).text() for group in self.groups]
        body = "\n".join([*lines, "}"])
        more = ["int64_t begin", "int64_t end"] if self.product else []
        more += ["char* workspace"] if about(self.workspace) else []
        more += [f"int64_t {name}" for name in symbols_of(body)]
        signature = ", ".join([*taken, *more, "int64_t threads"])
        return f'extern "C" void {self.name}({signature}) {{\n{body}'


def symbols_of(text: str) -> list[str]:
    """The symbols in a text, which stand for numbers that are known when it runs."""
    return sorted(set(SYMBOL.findall(COMMENT.sub("", text))), key=lambda name: int(name[1:]))


class Plan(NamedTuple):
    """Kernels and externs in the order in which they run, and after each the buffers that nothing needs any more."""

    order: list[Kernel | Extern]
    dead: list[list[Buffer]]


def plan(lowered: Lowered, scheduled: Schedule, blocks: bool = True) -> Plan:
    """Cut the schedule into kernels, and find out which buffers live where, and how long.

    Without `blocks`, each product of matrices is computed as a whole.
    """
    runs: list[list[Group] | Extern] = []
    for item in scheduled.order:
        if isinstance(item, Extern):
            runs.append(item)
        elif runs and isinstance(runs[-1], list) and item.device == runs[-1][0].device == "cpu":
            runs[-1].append(item)
        else:
            runs.append([item])
    last = _last_uses(runs)
    returned = {leaf.buffer for leaf in tree_leaves(lowered.outputs) if isinstance(leaf, View)}
    order = [
        run if isinstance(run, Extern) else _kernel(f"kernel{place}", run, place, last, returned)
        for place, run in enumerate(runs)
    ]
    owned = owned_by(order)
    for place, one in enumerate(order):
        if not isinstance(one, Kernel):
            continue
        before = order[place - 1] if place else None
        if blocks and isinstance(before, Extern) and (product := product_of(before)) is not None:
            alone = last[product] == place and product not in returned and product in one.parameters
            if alone and (found := in_blocks(before, one.groups)):
                order[place] = one._replace(groups=[found[0]], product=before, rows=found[1])
                continue
        if one.device == "cpu":
            dying = {buffer for buffer in one.parameters if last[buffer] == place and buffer not in returned}
            if over := taken_over(one.groups, one.parameters, dying, owned):
                left = [buffer for buffer in one.parameters if buffer not in over]
                order[place] = one._replace(parameters=left, over=over)
    dead: list[list[Buffer]] = [[] for _ in runs]
    for buffer, place in last.items():
        if buffer not in returned and buffer.made_by in ("loop", "extern"):
            dead[place].append(buffer)
    inner = {buffer for one in order if isinstance(one, Kernel) for buffer in one.inner}
    seen = {buffer for one in order if isinstance(one, Kernel) for buffer in one.parameters}
    seen |= {buffer for one in order if isinstance(one, Kernel) for buffer in one.over}
    seen |= {buffer for one in order if isinstance(one, Extern) for buffer, _ in one.gives}
    return Plan(order, [[buffer for buffer in some if buffer in seen - inner] for some in dead])


def _last_uses(runs: Sequence[list[Group] | Extern]) -> dict[Buffer, int]:
    last: dict[Buffer, int] = {}
    for place, run in enumerate(runs):
        if isinstance(run, Extern):
            used = [*run.reads, *(buffer for buffer, _ in run.gives)]
        else:
            used = [buffer for group in run for buffer in group.reads() | group.writes()]
        last.update(dict.fromkeys(used, place))
    return last


def _kernel(name: str, groups: list[Group], place: int, last: dict[Buffer, int], returned: set[Buffer]) -> Kernel:
    made = [member.write.buffer for group in groups for member in group.members]
    outside = {buffer for buffer in made if last[buffer] > place or buffer in returned}
    inner = {
        buffer: [i for i, group in enumerate(groups) if buffer in group.reads() | group.writes()] for buffer in made
    }
    crossing = {b: (uses[0], uses[-1]) for b, uses in inner.items() if b not in outside and uses[0] != uses[-1]}
    places, size = _places(crossing)
    reads = (read.buffer for group in groups for member in group.members for read in member.reads)
    read = dict.fromkeys(buffer for buffer in reads if buffer not in made and buffer.made_by != POSITIONS)
    parameters = [*read, *(buffer for buffer in made if buffer in outside)]
    kernel = Kernel(name, groups, list(parameters), places, size, outside | set(places), groups[0].device)
    if kernel.device == "cpu" or kernel.cuda_text().fits():
        return kernel
    kept = [buffer for buffer in kernel.cuda_text().kept if buffer not in parameters]  # a pass later than it is made
    return kernel._replace(parameters=[*parameters, *kept], stored={*kernel.stored, *kept})


def _places(lives: dict[Buffer, tuple[int, int]]) -> tuple[dict[Buffer, int], int]:
    """A place in the workspace for each buffer: none shares memory with one that is needed at the same time."""
    found: dict[Buffer, tuple[int, int]] = {}
    if any(is_symbol(buffer.nbytes) for buffer in lives):  # which of two is larger is not known: all have their own
        size = 0
        for buffer in lives:
            found[buffer] = (size, size := size + (buffer.nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
        return {buffer: place for buffer, (place, _) in found.items()}, size
    for buffer, (start, end) in sorted(lives.items(), key=lambda one: -one[0].nbytes):
        size = -(-buffer.nbytes // ALIGNMENT) * ALIGNMENT
        place = 0
        for other, (begin, finish) in sorted(found.items(), key=lambda one: one[1]):
            if lives[other][0] <= end and start <= lives[other][1] and begin < place + size and place < finish:
                place = finish
        found[buffer] = (place, place + size)
    return {buffer: place for buffer, (place, _) in found.items()}, max((end for _, end in found.values()), default=0)


class WrapperText:
    """Writes `call(args)`; `objects` are what its names stand for."""

    def __init__(self, lowered: Lowered, planned: Plan, symbols: Mapping[str, Sequence[str]] | None = None) -> None:
        self.lowered, self.planned = lowered, planned
        self.symbols = symbols or {}  # the numbers that a kernel is given
        self.bound: set[str] = set()  # those that have names in the text
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {}
        self.names: dict[Buffer, str] = {}

    def text(self) -> str:
        names = [name for name, _ in self.lowered.inputs]
        self.line(f"[{', '.join(names)}] = args")
        self.line("args.clear()")
        self.bind()
        for name, value in [*self.lowered.inputs, *((n, v) for n, (_, v) in self.lowered.constants.items())]:
            if isinstance(value, View):
                self.names[value.buffer] = name
                if value.buffer.made_by == "input" and settings.size_asserts:
                    self.line(f"assert_size_stride({name}, {value.sizes}, {value.strides})")
        later = {id(item.product) for item in self.planned.order if isinstance(item, Kernel) and item.product}
        waiting: list[Buffer] = []
        for item, dead in zip(self.planned.order, self.planned.dead, strict=True):
            waiting += dead
            if id(item) in later:
                continue
            if isinstance(item, Kernel):
                self.kernel(item)
            else:
                self.extern(item)
            if waiting:
                self.line("del " + ", ".join(self.name(buffer) for buffer in waiting))
                waiting = []
        outputs = self.lowered.outputs
        self.line(f"return {self.value(list(outputs) if isinstance(outputs, list | tuple) else [outputs])}")
        return "def call(args):\n" + "\n".join(self.lines) + "\n"

    def bind(self) -> None:
        """Give the numbers names that symbols stand for: of inputs that are numbers, and of sizes."""
        likes = {node.name: node.meta.get("val") for node in self.lowered.values if node.op == "placeholder"}
        for name, like in likes.items():
            if is_symbol(like):
                self.name_symbol(str(like), name)
        for name, like in likes.items():
            if isinstance(like, Tensor):
                for place, numbers in (("_shape", like.shape), ("stride()", like.stride())):
                    for dim, number in enumerate(numbers):
                        if is_symbol(number):
                            self.name_symbol(str(number), f"{name}.{place}[{dim}]")

    def name_symbol(self, symbol: str, found: str) -> None:
        if SYMBOL.fullmatch(symbol) and symbol not in self.bound:
            self.bound.add(symbol)
            self.line(f"{symbol} = {found}")

    def line(self, text: str) -> None:
        self.lines.append("    " + text)

    def name(self, buffer: Buffer) -> str:
        return self.names.setdefault(buffer, buffer.name)

    def kernel(self, kernel: Kernel) -> None:
        if kernel.device != "cpu":
            self.cuda_kernel(kernel)
            return
        if kernel.product:
            self.product(kernel, kernel.product)
            return
        pointers = self.pointers(kernel)
        if kernel.workspace:
            apart = sum(buffer.nbytes for buffer in kernel.inner)
            less = f"  # {apart - kernel.workspace} bytes less than apart" if apart > kernel.workspace else ""
            self.line(f"workspace = empty_strided(({kernel.workspace},), (1,), torch.uint8){less}")
            pointers.append("pointer(workspace)")
        large = any(about(prod(group.dims.sizes)) >= GRAIN for group in kernel.groups)
        pointers += self.symbols.get(kernel.name, ())
        self.line(f"{kernel.name}({', '.join([*pointers, 'threads()' if large else '1'])})")
        for buffer, before in kernel.over.items():
            self.line(f"{self.name(buffer)} = {self.name(before)}  # in its place: {buffer.nbytes} bytes less")
        if kernel.workspace:
            self.line("del workspace")

    def pointers(self, kernel: Kernel) -> list[str]:
        """What a kernel is given, after a line for each buffer that it fills."""
        written = {buffer for group in kernel.groups for buffer in group.writes()}
        pointers = []
        for buffer in kernel.parameters:
            if buffer in written:
                of = str(buffer.dtype)
                self.line(f"{self.name(buffer)} = empty_strided({buffer.sizes}, {buffer.strides}, {of})")
            is_written = buffer in written or buffer in kernel.over.values()
            pointers.append(f"{'pointer' if is_written else 'const_pointer'}({self.name(buffer)})")
        return pointers

    def product(self, kernel: Kernel, extern: Extern) -> None:
        """A product in blocks of rows, and the kernel for each block. See Note [Where blocks pay off]."""
        whole = extern.gives[0][0]
        rows, columns = whole.sizes
        name, step = self.name(whole), columns * whole.dtype.itemsize
        self.line(f"{name} = empty_strided(({kernel.rows}, {columns}), ({columns}, 1), {whole.dtype})  # a block")
        given = self.pointers(kernel)
        one, other = (f"matrix({self.argument(value)})" for value in extern.node.args)
        self.line(f"one, other, block = {one}, {other}, matrix({name})")
        given[kernel.parameters.index(whole)] = f"const_pointer({name}) - start * {step}"
        self.line(f"for start in range(0, {rows}, {kernel.rows}):")
        self.line(f"    end = min(start + {kernel.rows}, {rows})")
        self.line("    multiply(one[start:end], other, block[: end - start])")
        self.line(f"    {kernel.name}({', '.join([*given, 'start', 'end', 'threads()'])})")
        self.line("del one, other, block")

    def cuda_kernel(self, kernel: Kernel) -> None:
        """A launch, which is given tensors."""
        place = self.device(kernel.device)
        for buffer in kernel.parameters:
            if buffer in kernel.groups[0].writes():
                of = f"{buffer.sizes}, {buffer.strides}, {buffer.dtype}"
                self.line(f"{self.name(buffer)} = empty_strided({of}, {place})")
        self.line(f"{kernel.name}({', '.join(map(self.name, kernel.parameters))})")

    def device(self, name: str) -> str:
        """What a device is called in the text."""
        called = name.replace(":", "_")
        self.objects[called] = device(name)
        return called

    def extern(self, item: Extern) -> None:
        node = item.node
        name = str(node.target).replace(".", "_").replace("::", "_")
        self.objects[name] = node.target
        given = [self.argument(value) for value in node.args]
        given += [f"{key}={self.argument(value)}" for key, value in node.kwargs.items()]
        self.line(f"{node.name} = {name}({', '.join(given)})")
        for buffer, place in item.gives:
            if place == node.name:
                self.names[buffer] = place
            self.line(f"{self.name(buffer)} = as_planned({place}, {buffer.sizes}, {buffer.strides})")

    def argument(self, value: Any) -> str:
        if isinstance(value, Node):
            return self.value(self.lowered.values[value])
        if isinstance(value, list | tuple):
            inside = ", ".join(self.argument(one) for one in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
        return self.value(value)

    def value(self, value: Any) -> str:
        if isinstance(value, View):
            if value.buffer.made_by == "loop" and not prod(value.buffer.sizes):  # no loop has run
                on = f", {self.device(value.buffer.device)}" if value.buffer.device != "cpu" else ""
                return f"empty_strided({value.sizes}, {value.strides}, {value.dtype}{on})"
            name = self.name(value.buffer)
            whole = value.buffer.sizes, value.buffer.strides
            # Tuples of other lengths are compared element by element too, which symbols would take for a question.
            if value.offset == 0 and len(value.sizes) == len(whole[0]) and (value.sizes, value.strides) == whole:
                return name
            return f"as_strided({name}, {value.sizes}, {value.strides}, {value.offset})"
        if isinstance(value, Opaque):
            return value.name
        if isinstance(value, list | tuple):
            return f"[{', '.join(self.value(one) for one in value)}]"
        if value is None or isinstance(value, bool | int | str | SymInt):
            return repr(value)
        name = f"object{len(self.objects)}"
        self.objects[name] = value
        return name
