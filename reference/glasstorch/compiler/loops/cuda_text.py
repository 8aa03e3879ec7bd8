"""What is the CUDA C++ of a group of loops?

Mirrors: torch/_inductor/codegen/triton.py (TritonKernel)
Differs: CUDA C++ where PyTorch writes Triton. A kernel is one group: there is no barrier between two groups.

# Note [Which threads share a row]
If the dimension that lies close together in memory is reduced, a block takes a row: its threads take every 256th
element, and what they have gathered is put together in shared memory. Otherwise a thread takes a column, or an element
where nothing is reduced, so that neighbours read neighbours.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

from glasstorch.compiler.loops.cpp_text import STORED_AS, GroupText, computed
from glasstorch.compiler.loops.ir import Buffer
from glasstorch.compiler.loops.nest import Placed
from glasstorch.compiler.loops.schedule import Group
from glasstorch.core.dtype import bool_

KINDS: Final = {**STORED_AS, bool_: "bool"}
THREADS: Final = 256  # of a block
MOST_SHARED: Final = 32 << 10  # bytes of shared memory for what a later pass over a row needs


class CudaGroupText(GroupText):
    """Writes the kernel of a group; `parameters` are the buffers that it is given."""

    def __init__(self, name: str, group: Group, stored: Collection[Buffer], parameters: Sequence[Buffer]) -> None:
        super().__init__(group, stored)
        self.name, self.parameters = name, parameters
        self.is_team = group.kind in ("rows", "all")
        self.kind = "rows"  # each thread has variables of its own

    @property
    def kept_sizes(self) -> tuple[int, ...]:
        """The sizes of what blocks or threads are distributed over."""
        return self.dims.only(reduced=False)

    def grid(self) -> int:
        """How many blocks are launched."""
        count = prod(self.kept_sizes)
        return count if self.is_team else -(-count // THREADS)

    def text(self) -> str:
        written = self.group.writes()
        taken = ", ".join(
            f"{'' if buffer in written else 'const '}{KINDS[buffer.dtype]}* __restrict__ {buffer.name}"
            for buffer in self.parameters
        )
        self.depth = 0
        self.open(f'extern "C" __global__ void {self.name}({taken})')
        place = "blockIdx.x" if self.is_team else f"blockIdx.x * (int64_t){THREADS} + threadIdx.x"
        self.line(f"const int64_t place = {place};")
        if not self.is_team:
            self.line(f"if (place >= {prod(self.kept_sizes)}) return;")
        self.indices("place", [dim for dim in range(self.rank) if not self.dims.reduced[dim]])
        for buffer in self.kept:
            kind = computed(buffer.dtype)
            self.line(f"{'__shared__ ' if self.is_team else ''}{kind} s_{buffer.name}[{self.row}];")
        for phase in range(max(self.group.phases) + 1):
            self.known = {access: name for access, name in self.known.items() if access.buffer in self.per_row}
            self.body(phase, inner=False)
            if members := self.members(phase, inner=True):
                self.over_a_row(phase, [member for member in members if member.loop.gathers])
        self.close()
        return "\n".join(self.lines)

    def over_a_row(self, phase: int, gathered: Sequence[Placed]) -> None:
        """One pass over the reduced dimensions; see Note [Which threads share a row]."""
        reduced = [dim for dim in range(self.rank) if self.dims.reduced[dim]]
        if not reduced:
            self.body(phase, inner=True)
            return
        self.start(gathered)
        first, step = ("threadIdx.x", THREADS) if self.is_team else ("0", 1)
        self.open(f"for (int64_t along = {first}; along < {self.row}; along += {step})")
        self.indices("along", reduced)
        self.body(phase, inner=True)
        self.close()
        if self.is_team:
            for member in gathered:
                self.together(member)
        self.finish(gathered)

    def together(self, member: Placed) -> None:
        """Put together what the threads of a block have gathered."""
        name = member.write.buffer.name
        self.line(f"__shared__ {self.gathers(member)} t_{name}[{THREADS}];")
        self.line(f"t_{name}[threadIdx.x] = a_{name};")
        self.line("__syncthreads();")
        self.open(f"for (int step = {THREADS // 2}; step; step /= 2)")
        self.line(f"if (threadIdx.x < step) a_{name} = {self.one_more(member, f't_{name}[threadIdx.x + step]')};")
        self.line("__syncthreads();")
        self.line(f"if (threadIdx.x < step) t_{name}[threadIdx.x] = a_{name};")
        self.line("__syncthreads();")
        self.close()
        self.line(f"a_{name} = t_{name}[0];")

    def indices(self, place: str, dims: Sequence[int]) -> None:
        """The index in each dimension of the element at a place in row-major order."""
        step = 1
        for dim in reversed(dims):
            size = self.dims.sizes[dim]
            past = f"{place} / {step}" if step > 1 else place
            self.line(f"const int64_t i{dim} = {past}{f' % {size}' if dim != dims[0] else ''};")
            step *= size

    def store(self, member: Placed, value: str) -> None:
        if self.is_team and (member.loop.gathers or not member.inner):
            self.line("if (threadIdx.x == 0)")
        super().store(member, value)

    def call(self, text: str, operands: Sequence[str]) -> str:
        return text  # the functions are CUDA's

    def fits(self) -> bool:
        """Whether shared memory holds what later passes need."""
        return sum(computed_bytes(buffer) for buffer in self.kept) * self.row <= (MOST_SHARED if self.is_team else 256)


def computed_bytes(buffer: Buffer) -> int:
    return max(buffer.dtype.itemsize, 1 if buffer.dtype is bool_ else 4)


def cuda_source(kernels: Sequence[Any]) -> str:
    """The CUDA C++ of the kernels of a graph that run on a device."""
    prelude = Path(__file__).with_name("cuda_prelude.h").read_text(encoding="utf-8")
    return prelude + "\n\n".join(["", *(kernel.cuda_text().text() for kernel in kernels)]) + "\n"
