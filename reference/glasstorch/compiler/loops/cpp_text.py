"""What is the C++ of a group of loops?

Mirrors: torch/_inductor/codegen/cpp.py (CppKernel, LoopNest)
Differs: plain loops of elements with `omp simd`, which the compiler makes vectors of; sizes and strides are numbers in
    the text.

A group becomes one block. Its values are variables as long as one pass over the inner dimensions needs them; what a
later pass needs is kept in an array of a row's length, and what others need in the buffer.

# Note [Numbers that are far away]
The sine of a number of millions needs pi to more digits than vectors have time for. A loop with sines notes whether it
has met such a number. If so it runs once more, one element at a time, with the C library's sine; nothing that it reads
has been written over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import prod
from typing import Final

from glasstorch.compiler.loops.ir import HALF, POSITIONS, REDUCTIONS, Access, Buffer
from glasstorch.compiler.loops.nest import Placed
from glasstorch.compiler.loops.schedule import Group
from glasstorch.core.dtype import bfloat16, bool_, dtype, float16, float32
from glasstorch.core.symbols import about, is_symbol
from glasstorch.jit.codegen.cpp_loop import NAMES, expression, literal
from glasstorch.jit.codegen.program import Constant, Operand

# A truth value in memory is a byte: GCC makes no vectors of a loop that reads or writes `bool`.
STORED_AS: Final = {**NAMES, bool_: "uint8_t", float16: "half", bfloat16: "brain"}
ROUNDED: Final = {float16: "as_half", bfloat16: "as_brain"}
CHUNK: Final = 1 << 13  # elements of the innermost dimension that one thread takes at a time
GRAIN: Final = 1 << 15  # elements from which a second thread pays off
TILE: Final = 64  # columns that are gathered at a time
MOST_PARTS: Final = 256  # into which a reduction of everything is cut
SINES: Final = re.compile(r"\b(sinf|cosf)\(")
CALLS: Final = re.compile(r"\b(expf?|logf?|sinf?|cosf?|tanhf?|expm1f?|log1pf?|erff?|powf?)\(")


def computed(of: dtype) -> str:
    """The C++ type in which elements of a dtype are computed."""
    return NAMES[float32 if of in HALF else of]


class GroupText:
    """Writes the block of a group; `stored` are the buffers whose elements others need.

    `rows` are the first place in the outermost dimension, and the one after the last, if not all are visited.
    """

    def __init__(self, group: Group, stored: Collection[Buffer], rows: tuple[str, str] | None = None) -> None:
        self.group, self.stored, self.outermost = group, stored, rows
        self.dims, self.kind = group.dims, group.kind
        self.rank = len(self.dims.sizes)
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.known: dict[Access, str] = {}  # values that are variables here
        self.writers = {member.write.buffer: member for member in group.members}
        self.phase = dict(zip((m.write.buffer for m in group.members), group.phases, strict=True))
        self.kept = self._kept()
        self.guarded = False  # whether the sine of a large number is noticed

    def text(self) -> str:
        self.open("")
        getattr(self, self.kind)()
        self.close()
        return "\n".join(self.lines)

    # Lines and loops ------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def open(self, text: str) -> None:
        self.line(f"{text} {{" if text else "{")
        self.depth += 1

    def close(self, count: int = 1) -> None:
        for _ in range(count):
            self.depth -= 1
            self.line("}")

    def over(self, dim: int, start: str = "0", end: str | None = None) -> None:
        if dim == 0 and self.outermost:
            start, end = self.outermost
        self.open(f"for (int64_t i{dim} = {start}; i{dim} < {end or self.dims.sizes[dim]}; ++i{dim})")

    def parallel(self, loops: int, reach: int = 0) -> None:
        """Divide the next loops between threads, if there is enough to do."""
        if about(prod(self.dims.sizes)) >= GRAIN and (reach or loops):
            collapse = f" collapse({loops})" if loops > 1 else ""
            self.line(f"#pragma omp parallel for{collapse} num_threads(threads) schedule(static)")

    def chunks(self, dim: int) -> str:
        """Open the loop over the chunks of a dimension; where a chunk ends."""
        size = self.dims.sizes[dim]
        self.open(f"for (int64_t c{dim} = 0; c{dim} < {size}; c{dim} += {CHUNK})")
        return f"(c{dim} + {CHUNK} < {size} ? c{dim} + {CHUNK} : {size})"

    # Kinds of groups ------------------------------------------------------------------------------------------------

    def flat(self) -> None:
        """Every element once."""
        if not self.rank:
            self.body(0, inner=True)
            return
        last = self.rank - 1
        long = about(self.dims.sizes[last]) > CHUNK
        self.parallel(last + long)
        for dim in range(last):
            self.over(dim)
        end = self.chunks(last) if long else None
        self.innermost(0, last, f"c{last}" if long else "0", end)
        self.close(last + long)

    def rows(self) -> None:
        """For each element that is left, passes over those that are gathered."""
        kept = [dim for dim in range(self.rank) if not self.dims.reduced[dim]]
        self.parallel(len(kept))
        for dim in kept:
            self.over(dim)
        for buffer in self.kept:
            kind = STORED_AS[bool_] if buffer.dtype is bool_ else computed(buffer.dtype)
            self.line(f"{kind} s_{buffer.name}[{self.row}] __attribute__((aligned(64)));")
        for phase in range(max(self.group.phases) + 1):
            self.known = {access: name for access, name in self.known.items() if access.buffer in self.per_row}
            self.body(phase, inner=False)
            members = self.members(phase, inner=True)
            if members:
                gathered = [member for member in members if member.loop.gathers]
                self.start([member for member in members if member.loop.reduction])
                self.passes(members)
                self.finish(gathered)
        self.close(len(kept))

    def passes(self, members: Sequence[Placed]) -> None:
        """One pass over the reduced dimensions."""
        reduced = [dim for dim in range(self.rank) if self.dims.reduced[dim]]
        for dim in reduced[:-1]:
            self.over(dim)
        self.innermost(self.phase[members[0].write.buffer], reduced[-1])
        self.close(len(reduced) - 1)

    def innermost(self, phase: int, dim: int, start: str = "0", end: str | None = None) -> None:
        """The loop that the compiler makes vectors of. See Note [Numbers that are far away]."""
        members = self.members(phase, inner=True)
        gathered = [member for member in members if member.loop.reduction]
        self.guarded = any(map(has_sines, members))
        before = dict(self.known)
        if self.guarded:
            self.open("")
            self.line("int32_t far = 0;")
            for member in gathered:
                name = member.write.buffer.name
                self.line(f"const {self.gathers(member)} b_{name} = a_{name};")
        if not any(member.loop.scans for member in members):
            self.line("#pragma omp simd" + _clauses(gathered) + (" reduction(|:far)" if self.guarded else ""))
        self.over(dim, start, end)
        self.body(phase, inner=True)
        self.close()
        if self.guarded:
            self.guarded, self.known = False, before
            self.open("if (far)")
            for member in gathered:
                self.line(f"a_{member.write.buffer.name} = b_{member.write.buffer.name};")
            self.over(dim, start, end)
            self.body(phase, inner=True)
            self.close(3)

    def all(self) -> None:
        """Everything is gathered: in parts, each by one thread, and then the parts in order."""
        (gathered, rest) = self.members(0, inner=True), max(self.group.phases)
        reductions = [member for member in gathered if member.loop.reduction]
        size = self.dims.sizes[0]
        inner = prod(self.dims.sizes[1:])
        if is_symbol(size) or is_symbol(inner):
            parts: int = max(1, min(MOST_PARTS, about(size), about(size * inner) // CHUNK))
            step = (size + parts - 1) // parts
        else:
            step = max(1, -(-size // MOST_PARTS), CHUNK // inner)
            parts = -(-size // step)
        for member in reductions:
            self.line(f"{self.gathers(member)} parts_{member.write.buffer.name}[{parts}];")
        self.body(0, inner=False)
        self.parallel(1)
        self.open(f"for (int64_t part = 0; part < {parts}; ++part)")
        self.start(reductions)
        self.line(f"const int64_t from = part * {step}, to = from + {step} < {size} ? from + {step} : {size};")
        span = ("from", "to")
        for dim in range(self.rank - 1):
            self.over(dim, *(span if dim == 0 else ()))
        self.innermost(0, self.rank - 1, *(span if self.rank == 1 else ()))
        self.close(self.rank - 1)
        self.known = {}
        for member in reductions:
            name = member.write.buffer.name
            self.line(f"parts_{name}[part] = a_{name};")
        self.close()
        self.start(reductions)
        self.open(f"for (int64_t part = 0; part < {parts}; ++part)")
        for member in reductions:
            name = member.write.buffer.name
            self.line(f"a_{name} = {self.one_more(member, f'parts_{name}[part]')};")
        self.close()
        self.finish(reductions)
        for phase in range(1, rest + 1):
            self.body(phase, inner=False)

    def columns(self) -> None:
        """What is gathered lies side by side: a tile of it grows as the reduced dimensions are passed over."""
        last = self.rank - 1
        outer = [dim for dim in range(last) if not self.dims.reduced[dim]]
        size = self.dims.sizes[last]
        self.parallel(len(outer) + 1)
        for dim in outer:
            self.over(dim)
        self.open(f"for (int64_t c{last} = 0; c{last} < {size}; c{last} += {TILE})")
        self.line(f"const int64_t end = c{last} + {TILE} < {size} ? c{last} + {TILE} : {size};")
        gathered = [member for member in self.members(0, inner=True) if member.loop.reduction]
        for member in self.group.members:
            if member.write.buffer in self.per_row or member.loop.scans:
                self.line(f"{self.gathers(member)} r_{member.write.buffer.name}[{TILE}];")
        if self.members(0, inner=False):
            self.across(0, inner=False)
        self.line(f"for (int64_t l = 0; l < {TILE}; ++l) {{")
        for member in gathered:
            self.line(f"    r_{member.write.buffer.name}[l] = {self.identity(member)};")
        self.line("}")
        for dim in range(last):
            if self.dims.reduced[dim]:
                self.over(dim)
        self.across(0, inner=True)
        self.close(sum(self.dims.reduced))
        stored = [member for member in gathered if member.write.buffer in self.stored and member.loop.gathers]
        if stored:
            self.open(f"for (int64_t i{last} = c{last}; i{last} < end; ++i{last})")
            for member in stored:
                self.store(member, f"r_{member.write.buffer.name}[i{last} - c{last}]")
            self.close()
        for phase in range(1, max(self.group.phases) + 1):
            self.across(phase, inner=False)
        self.close(len(outer) + 1)

    def across(self, phase: int, *, inner: bool) -> None:
        """One pass over a tile."""
        last = self.rank - 1
        self.line("#pragma omp simd")
        self.over(last, f"c{last}", "end")
        self.known = {}
        self.body(phase, inner=inner)
        self.close()

    # Reductions -----------------------------------------------------------------------------------------------------

    def gathers(self, member: Placed) -> str:
        """The C++ type of what a loop gathers, or of what it computes for each row."""
        return NAMES[_result_dtype(member)] if member.loop.reduction else computed(member.write.buffer.dtype)

    def identity(self, member: Placed) -> str:
        assert member.loop.reduction is not None
        of = _result_dtype(member)
        start = REDUCTIONS[member.loop.reduction].start
        return literal(Constant(start(of), of))

    def one_more(self, member: Placed, value: str) -> str:
        """What was gathered, and one more element."""
        assert member.loop.reduction is not None
        return self.gather(member, f"a_{member.write.buffer.name}", f"({value})")

    def gather(self, member: Placed, so_far: str, value: str) -> str:
        word = REDUCTIONS[member.loop.reduction or ""].word
        if word == "logaddexp":
            return f"elementary::log_add_exp({so_far}, {value})"
        return expression(word, _result_dtype(member), [so_far, value])

    def start(self, gathered: Sequence[Placed]) -> None:
        for member in gathered:
            self.line(f"{self.gathers(member)} a_{member.write.buffer.name} = {self.identity(member)};")

    def finish(self, gathered: Sequence[Placed]) -> None:
        """What was gathered is a value of its row."""
        for member in gathered:
            name, of = member.write.buffer.name, member.write.buffer.dtype
            self.line(f"const {computed(of)} r_{name} = {_as_stored(f'a_{name}', of)};")
            if member.write.buffer in self.stored:
                self.store(member, f"r_{name}")

    # Elements -------------------------------------------------------------------------------------------------------

    @property
    def row(self) -> int:
        return prod(self.dims.only(reduced=True))

    @property
    def per_row(self) -> set[Buffer]:
        """The buffers of the group that have one element for each row."""
        return {m.write.buffer for m in self.group.members if m.loop.gathers or not m.inner}

    def _kept(self) -> list[Buffer]:
        """The buffers that are only needed here, by a later pass."""
        found: dict[Buffer, None] = {}
        for member, phase in zip(self.group.members, self.group.phases, strict=True):
            for read in member.reads:
                buffer = read.buffer
                ours = buffer in self.writers and buffer not in self.stored and buffer not in self.per_row
                if ours and self.phase[buffer] < phase:
                    found[buffer] = None
        return list(found)

    def members(self, phase: int, *, inner: bool) -> list[Placed]:
        pairs = zip(self.group.members, self.group.phases, strict=True)
        return [member for member, its in pairs if its == phase and member.inner == inner]

    def body(self, phase: int, *, inner: bool) -> None:
        """The elements of all loops of a phase."""
        for member in self.members(phase, inner=inner):
            self.element(member)

    def element(self, member: Placed) -> None:
        buffer = member.write.buffer
        if member.loop.node is not None:
            self.line(f"// {describe(member)}")
        names = [self.read(*pair) for pair in zip(member.reads, member.loop.read_dtypes, strict=True)]
        dtypes = list(member.loop.read_dtypes)

        def text(operand: Operand) -> str:
            return literal(operand) if isinstance(operand, Constant) else names[operand]

        for step in member.loop.steps:
            first = step.operands[0]
            of = dtypes[first] if isinstance(first, int) else first.dtype
            operands = [text(operand) for operand in step.operands]
            value = self.call(expression(step.formula, of, operands), operands)
            names.append(self.variable(NAMES[step.dtype], f"({NAMES[step.dtype]})({value})"))
            dtypes.append(step.dtype)
        result = text(member.loop.result)
        if member.loop.reduction is not None:
            if self.kind == "columns":
                place = f"r_{buffer.name}[i{self.rank - 1} - c{self.rank - 1}]"
                self.line(f"{place} = {self.gather(member, place, result)};")
            else:
                place = f"a_{buffer.name}"
                self.line(f"{place} = {self.one_more(member, result)};")
            if not member.loop.scans:
                return
            result = self.variable(NAMES[_result_dtype(member)], place)
        if _result_dtype(member) is not buffer.dtype:
            result = self.variable(
                computed(buffer.dtype), _as_stored(f"({computed(buffer.dtype)})({result})", buffer.dtype)
            )
        if not member.inner and self.kind == "columns":
            self.line(f"r_{buffer.name}[i{self.rank - 1} - c{self.rank - 1}] = {result};")
        elif not member.inner:
            self.line(f"const {computed(buffer.dtype)} r_{buffer.name} = {result};")
        self.known[member.write] = result
        if buffer in self.stored:
            self.store(member, result)
        elif buffer in self.kept:
            self.line(f"s_{buffer.name}[{self.position()}] = {result};")

    def call(self, text: str, operands: Sequence[str]) -> str:
        """An expression whose functions are those of `elementary.h`. See Note [Numbers that are far away]."""
        if SINES.search(text):
            if not self.guarded:
                return text
            self.line(f"far |= elementary::is_far({operands[0]});")
        return CALLS.sub(r"elementary::\1(", text)

    def read(self, access: Access, of: dtype) -> str:
        """The variable that holds an element; it is read if it is not held yet."""
        buffer = access.buffer
        if access not in self.known:
            if buffer.made_by == POSITIONS:
                self.known[access] = self.variable("int64_t", self.index(access))
                return self.known[access]
            if buffer in self.per_row and buffer in self.writers:
                place = f"[i{self.rank - 1} - c{self.rank - 1}]" if self.kind == "columns" else ""
                return f"r_{buffer.name}{place}"
            if buffer in self.kept:
                self.known[access] = self.variable(computed(buffer.dtype), f"s_{buffer.name}[{self.position()}]")
            else:
                element = f"{buffer.name}[{self.index(access)}]"
                value = f"as_float({element})" if buffer.dtype in HALF else element
                value = f"{value} != 0" if buffer.dtype is bool_ else value
                self.known[access] = self.variable(computed(buffer.dtype), value)
        return self.known[access]

    def store(self, member: Placed, value: str) -> None:
        buffer = member.write.buffer
        rounded = f"{ROUNDED[buffer.dtype]}({value})" if buffer.dtype in HALF else value
        rounded = f"{value} ? 1 : 0" if buffer.dtype is bool_ else rounded
        self.line(f"{buffer.name}[{self.index(member.write)}] = {rounded};")

    def variable(self, kind: str, value: str) -> str:
        self.count += 1
        self.line(f"const {kind} v{self.count} = {value};")
        return f"v{self.count}"

    def index(self, access: Access) -> str:
        """Where in its buffer an element lies."""
        parts = [
            f"i{dim}" if stride == 1 else f"i{dim} * {stride}" for dim, stride in enumerate(access.strides) if stride
        ]
        return " + ".join([*([str(access.offset)] if access.offset or not parts else []), *parts])

    def position(self) -> str:
        """Where in its row an element lies."""
        step, parts = 1, []
        for dim in reversed(range(self.rank)):
            if self.dims.reduced[dim]:
                parts.append(f"i{dim}" if step == 1 else f"i{dim} * {step}")
                step *= self.dims.sizes[dim]
        return " + ".join(reversed(parts)) or "0"


def describe(member: Placed) -> str:
    """What a loop computes, and the line of the user's program that asked for it."""
    node = member.loop.node
    assert node is not None
    trace = str(node.meta.get("stack_trace") or "").strip().splitlines()
    line = trace[-1].strip().rstrip("\\ ") if trace else ""  # a backslash at its end would join the next line to it
    where = f"   # {line}" if line else ""
    return f"{member.write.buffer.name}: {node.name} = {node.target}{where}"


def has_sines(member: Placed) -> bool:
    steps = member.loop.steps
    return any(step.formula in ("sin", "cos") and step.dtype is float32 for step in steps)


def _result_dtype(member: Placed) -> dtype:
    """The dtype in which a loop's result is computed."""
    loop = member.loop
    if isinstance(loop.result, Constant):
        return loop.result.dtype
    count = len(loop.reads)
    return loop.read_dtypes[loop.result] if loop.result < count else loop.steps[loop.result - count].dtype


def _as_stored(value: str, of: dtype) -> str:
    """A value as it is read back: rounded, where half precision is stored."""
    return f"as_float({ROUNDED[of]}({value}))" if of in HALF else value


def _clauses(gathered: Sequence[Placed]) -> str:
    """How `omp simd` gathers: each lane for itself, and the lanes at the end."""
    return "".join(
        f" reduction({REDUCTIONS[member.loop.reduction or ''].clause}:a_{member.write.buffer.name})"
        for member in gathered
    )
