"""How is a fused loop generated as C++?

Mirrors: torch/csrc/jit/codegen/fuser/codegen.cpp (generateKernel), cpu/fused_kernel.cpp,
    torch/csrc/jit/tensorexpr/cpp_codegen.cpp
Differs: the source contains neither sizes nor strides; it does distinguish the arrays that the innermost loop reads
    contiguously from those whose single element it broadcasts, so that the compiler can vectorise these accesses.

# Note [How exact is C++]
`-ffast-math` is not used: arithmetic, comparisons, square roots and conversions give NumPy's results bit for bit.
`exp`, `log`, `sin`, `cos`, `tanh` and `pow` are the C library's, on x86-64 in their vector variants (libmvec), with
errors of up to 4 units in the last place. The tests bound each of them more tightly than PyTorch's own tolerance for
the dtype.
"""

from __future__ import annotations

import _ctypes
import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Final

from glasstorch.core.dtype import bool_, dtype, float32, float64, int32, int64, uint8
from glasstorch.core.parallel import get_num_threads
from glasstorch.core.tensor_impl import Array
from glasstorch.devices.cpp_compiler import CompileError, library, native
from glasstorch.jit.codegen.program import Constant, Loop, Operand, Step, UnfusableError
from glasstorch.jit.codegen.walk import Walk
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY, everywhere

NAMES: Final = {
    bool_: "bool",
    uint8: "uint8_t",
    int32: "int32_t",
    int64: "int64_t",
    float32: "float",
    float64: "double",
}
# See Note [How exact is C++].
OPTIONS: Final = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-w",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
)

# The C library's headers are not included: parsing them would take longer than compiling the rest.
HEAD: Final = """\
#include <stdint.h>
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define VECTOR_TANH __attribute__((simd("notinbranch")))
#endif
#define VECTOR __attribute__((simd("notinbranch")))
#endif
#ifndef VECTOR
#define VECTOR
#endif
#ifndef VECTOR_TANH
#define VECTOR_TANH
#endif
extern "C" {
VECTOR float expf(float) noexcept; VECTOR double exp(double) noexcept;
VECTOR float logf(float) noexcept; VECTOR double log(double) noexcept;
VECTOR float sinf(float) noexcept; VECTOR double sin(double) noexcept;
VECTOR float cosf(float) noexcept; VECTOR double cos(double) noexcept;
VECTOR float powf(float, float) noexcept; VECTOR double pow(double, double) noexcept;
VECTOR_TANH float tanhf(float) noexcept; VECTOR_TANH double tanh(double) noexcept;
float expm1f(float) noexcept; double expm1(double) noexcept;
float log1pf(float) noexcept; double log1p(double) noexcept;
float erff(float) noexcept; double erf(double) noexcept;
}
"""

GRAIN_SIZE: Final = 1 << 18  # the least elements for which a thread pays off: starting one takes some 0.05 ms
VECTOR_MULTIPLE: Final = 64  # elements: each thread's part is a multiple, so that only the last one has a remainder

# What stands beside the vocabulary: a value as another dtype, or once more
STEPS: Final = {"cast": everywhere("{0}"), "copy": everywhere("{0}")}


def expression(formula: str, of: dtype, operands: Sequence[str]) -> str:
    """The C++ of a formula for operands of a dtype, which are names or in parentheses."""
    cpp = STEPS.get(formula) or VOCABULARY[formula].cpp
    if cpp is None:
        raise UnfusableError(f"no C++ for {formula}")
    text = cpp.floats if of.is_floating_point else cpp.bools if of is bool_ else cpp.integers
    if text is None:
        raise UnfusableError(f"no C++ for {formula} of {of}")
    return text.replace("#", "f" if of is float32 else "").format(*operands)


class CppLoop:
    """A loop compiled to a function in a shared library. `source` is its C++ text.

    UnfusableError for a formula without a C++ form here, CompileError if compilation fails or there is no compiler.
    """

    def __init__(self, loop: Loop, dtypes: Sequence[dtype], walk: Walk) -> None:
        self.source = write(loop, dtypes, walk)
        loaded = load(self.source)
        if isinstance(loaded, CompileError):
            raise loaded
        self._function = loaded

    def __call__(self, sizes: tuple[int, ...], arrays: Sequence[Array]) -> None:
        """Run over arrays of these sizes, the inputs followed by the outputs.

        A large loop is divided between threads along the slowest dimension.
        """
        jobs = [((count, *sizes[1:]), [array[cut] for array in arrays]) for count, cut in _cuts(sizes)]
        others = [Thread(target=self._run, args=job) for job in jobs[1:]]
        for other in others:
            other.start()
        self._run(*jobs[0])
        for other in others:
            other.join()

    def _run(self, sizes: tuple[int, ...], arrays: Sequence[Array]) -> None:
        strides = [stride for array in arrays for stride in array.strides]
        self._function(
            (ctypes.c_int64 * len(sizes))(*sizes),
            (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays]),
            (ctypes.c_int64 * len(strides))(*strides),
        )


def _cuts(sizes: tuple[int, ...]) -> list[tuple[int, slice]]:
    """The parts of the slowest dimension, one for each thread: their lengths and slices."""
    parts = max(1, min(math.prod(sizes) // GRAIN_SIZE, get_num_threads(), sizes[0]))
    step = -(-sizes[0] // parts)
    if len(sizes) == 1:
        step = -(-step // VECTOR_MULTIPLE) * VECTOR_MULTIPLE
    return [(min(step, sizes[0] - start), slice(start, start + step)) for start in range(0, sizes[0], step)]


@cache
def load(source: str) -> Callable[..., None] | CompileError:
    """The function for a source text, compiled unless this or another process has already done so.

    If compilation fails, the error is returned, and it is not tried again in this process. A damaged file from another
    process is compiled again.
    """
    try:
        try:
            return _fused(library(source, options(), "fuser"))
        except (OSError, AttributeError):
            return _fused(library(source, options(), "fuser", anew=True))
    except CompileError as error:
        return error
    except (OSError, AttributeError) as error:
        return CompileError(f"what the compiler made cannot be loaded: {error}")


def _fused(path: Path) -> Callable[..., None]:
    """The function in a library. A library that lacks it is closed, or a new file of its name would not be loaded."""
    loaded = ctypes.CDLL(str(path))
    try:
        return loaded.fused
    except AttributeError:
        _ctypes.dlclose(loaded._handle)
        raise


@cache
def options() -> tuple[str, ...]:
    """The compiler's options; on x86-64 they ask for the widest vectors."""
    import platform  # slow to import, and most programs compile nothing

    wide = ("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()
    return (*OPTIONS, *native(), *wide)


# Generating the source ----------------------------------------------------------------------------------------------


def write(loop: Loop, dtypes: Sequence[dtype], walk: Walk) -> str:
    """The C++ source of a loop: the loops over all dimensions but the last advance pointers, the innermost computes."""
    rank = len(walk.sizes)
    slots = (*loop.reads, *loop.writes)
    arrays = range(len(slots))
    lines = [f"  char* p{i}_0 = data[{i}];" for i in arrays]
    for depth in range(rank - 1):
        indent = "  " * (depth + 1)
        lines.append(f"{indent}for (int64_t i{depth} = 0; i{depth} < sizes[{depth}]; ++i{depth}) {{")
        lines += [
            f"{indent}  char* p{i}_{depth + 1} = p{i}_{depth} + i{depth} * strides[{i * rank + depth}];" for i in arrays
        ]
    lines += [f"{'  ' * rank}{line}" for line in _innermost(loop, dtypes, walk, slots, rank)]
    lines += ["  " * depth + "}" for depth in range(rank - 1, 0, -1)]
    body = "\n".join(lines)
    head = 'extern "C" void fused(const int64_t* sizes, char* const* data, const int64_t* strides) {'
    return f"{HEAD}\n{head}\n{body}\n}}\n"


def _innermost(loop: Loop, dtypes: Sequence[dtype], walk: Walk, slots: Sequence[int], rank: int) -> list[str]:
    """The loop over the last dimension: read, compute, write."""
    before, reads, writes = [], [], []
    names: dict[int, str] = {}
    for i, slot in enumerate(slots):
        kind, moves = NAMES[dtypes[slot]], walk.strides[i][-1]
        pointer, written = f"p{i}_{rank - 1}", i >= len(loop.reads)
        if moves in (0, 1):
            before.append(f"{kind}* __restrict__ a{i} = ({kind}*){pointer};")
            element = f"a{i}[i]" if moves else f"*a{i}"
        else:
            before.append(f"const int64_t s{i} = strides[{i * rank + rank - 1}];")
            element = f"*({kind}*)({pointer} + i * s{i})"
        if written:
            writes.append(f"  {element} = v{slot};")
        elif moves == 0:
            before.append(f"const {kind} v{slot} = {element};")
        else:
            reads.append(f"  const {kind} v{slot} = {element};")
        names[slot] = f"v{slot}"
    return [
        *before,
        f"const int64_t n = sizes[{rank - 1}];",
        "#pragma GCC ivdep",
        "for (int64_t i = 0; i < n; ++i) {",
        *reads,
        *(f"  {_step(step, dtypes)}" for step in loop.steps),
        *writes,
        "}",
    ]


def _step(step: Step, dtypes: Sequence[dtype]) -> str:
    first = step.operands[0]
    of = dtypes[first] if isinstance(first, int) else first.dtype
    kind, operands = NAMES[step.dtype], [_operand(operand) for operand in step.operands]
    return f"const {kind} v{step.slot} = ({kind})({expression(step.formula, of, operands)});"


def _operand(operand: Operand) -> str:
    return literal(operand) if isinstance(operand, Constant) else f"v{operand}"


def literal(constant: Constant) -> str:
    """A number as C++ writes it."""
    value, kind = constant.value, NAMES[constant.dtype]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"(({kind})({value + 1}LL - 1))" if value < 0 else f"(({kind}){value}LL)"
    if math.isnan(value):
        return f'(({kind})__builtin_nan(""))'
    if math.isinf(value):
        return f"(({kind}){'-' if value < 0 else ''}__builtin_inf())"
    return f"(({kind}){value.hex()})"
