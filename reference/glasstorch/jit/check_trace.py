"""Does a traced program do what the function does, and would tracing it again give the same graph?

Mirrors: torch/jit/_trace.py (_check_trace, TracingCheckError, _clone_inputs), torch/testing/_comparison.py
    (default_tolerances, make_tensor_mismatch_msg)
Differs: the graphs run as they were traced, without passes: the trace is what is checked. Tensors on the meta device,
    which have no values to compare, count as equal.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.jit.ir import Graph, Node
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.settings import optimized_execution
from glasstorch.jit.side_effects import is_nondeterministic
from glasstorch.jit.tracer import warn

# dtype -> the relative and the absolute tolerance; 0 for dtypes that are not listed (_DTYPE_PRECISIONS).
TOLERANCES: Final[dict[str, tuple[float, float]]] = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
MAX_SHOWN: Final = 20  # the most nodes in a warning


class TracingCheckError(Exception):
    """Tracing a function again gave a different graph, or a different value of a constant."""

    def __init__(
        self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None
    ) -> None:
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        if graph_diff_error is not None:
            self.message += f"ERROR: Graphs differed across invocations!\n{_indent(graph_diff_error)}\n"
        if tensor_compare_error is not None:
            self.message += (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This often indicates that "
                f"the tracer has encountered untraceable code.\n{_indent(tensor_compare_error)}\n"
            )
        super().__init__(self.message)


class _Check:
    """A traced program, its function, and the program from tracing the function again."""

    def __init__(self, function: Callable[..., Any], traced: Any, again: Any, tolerance: float) -> None:
        self.function = function
        self.traced = traced
        self.again = again
        self.tolerance = tolerance
        self._warned_of_chance = False

    def run(self, inputs: tuple[Any, ...]) -> None:
        outputs = self._outputs(self.traced, inputs, "trace")
        if self._compare(outputs, self._outputs(self.function, inputs, "Python function"), "Python function"):
            self._compare(outputs, self._outputs(self.again, inputs, "repeated trace"), "repeated trace")
        found = self._differences()
        if found != (None, None):
            raise TracingCheckError(*found)

    def _outputs(self, program: Callable[..., Any], inputs: tuple[Any, ...], what: str) -> list[Tensor]:
        try:
            result = program(*clone_inputs(inputs))
        except Exception as error:
            said = f"encountered an exception while running the {what} with test inputs.\nException:\n"
            raise TracingCheckError(*self._differences(), said + _indent(str(error))) from error
        return [value for value in (result if isinstance(result, tuple) else (result,)) if isinstance(value, Tensor)]

    def _compare(self, traced: list[Tensor], others: list[Tensor], what: str) -> bool:
        """Whether the outputs are close; warns of each that is not."""
        all_close = True
        for i, (ours, theirs) in enumerate(zip(traced, others, strict=False), start=1):
            absolute = max(_tolerances(ours)[1], _tolerances(theirs)[1])
            mismatch = describe_mismatch(ours, theirs, self.tolerance, absolute)
            if mismatch is not None:
                self._warn_of_chance()
                warn(
                    f"Output nr {i}. of the traced function does not match the corresponding output of the {what}. "
                    f"Detailed error:\n{mismatch}"
                )
                all_close = False
        return all_close

    def _warn_of_chance(self) -> None:
        drawing = [node for node in self.traced.graph.nodes if is_nondeterministic(node)]
        if drawing and not self._warned_of_chance:
            self._warned_of_chance = True
            listed = "\n".join(_indent(str(node)) for node in drawing[:MAX_SHOWN])
            warn(
                f"Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n{listed}\nThis "
                "may cause errors in trace checking. To disable trace checking, pass check_trace=False to "
                "torch.jit.trace()"
            )

    def _differences(self) -> tuple[str | None, str | None]:
        """What differs in the two graphs, and in their tensor constants."""
        first, second = (self.traced.graph.copy(), self.again.graph.copy())
        for graph in (first, second):
            erase_shape_information(graph)
        return _graph_difference(first, second), _constant_difference(first, second)


@no_grad()
def check_trace(
    function: Callable[..., Any],
    traced: Any,
    trace_again: Callable[[tuple[Any, ...]], Any],
    check_inputs: Iterable[tuple[Any, ...]],
    tolerance: float,
) -> None:
    """Compare a traced program with its function on copies of each of these inputs.

    Outputs that differ issue a TracerWarning; graphs that differ, or a program that fails, raise TracingCheckError.
    """
    with optimized_execution(False):
        for inputs in check_inputs:
            again = trace_again(clone_inputs(inputs))
            _Check(function, traced, again, tolerance).run(inputs)


def clone_inputs(inputs: Any) -> Any:
    """The same tuples and lists with copies of their tensors, which are leaves of the autograd graph."""
    if isinstance(inputs, tuple | list):
        return type(inputs)(map(clone_inputs, inputs))
    if not isinstance(inputs, Tensor):
        return inputs
    copy = inputs.detach().clone().requires_grad_(inputs.requires_grad)
    if inputs.is_leaf and inputs.grad is not None:
        copy.grad = clone_inputs(inputs.grad)
    return copy


def _graph_difference(first: Graph, second: Graph) -> str | None:
    if str(first) == str(second):
        return None
    text = f"Graph diff:\n{_difference(first, second)}\n"
    for mine, theirs in zip(first.nodes, second.nodes, strict=False):
        if str(mine) != str(theirs):
            text += f"First diverging operator:\nNode diff:\n{_difference(mine, theirs)}\n"
            for which, node in (("Trace", mine), ("Check", theirs)):
                if node.source is not None:
                    text += f"{which} source location:\n{_indent(str(node.source))}\n"
            break
    return text


def _difference(first: Graph | Node, second: Graph | Node) -> str:
    return _indent("\n".join(difflib.ndiff(str(first).splitlines(), str(second).splitlines())))


def _constant_difference(first: Graph, second: Graph) -> str | None:
    """The first tensor constant whose value differs between the graphs, compared as far as the graphs agree."""
    for mine, theirs in zip(first.nodes, second.nodes, strict=False):
        if mine.kind != theirs.kind:
            return None
        ours, others = (node.attributes.get("value") for node in (mine, theirs))
        if isinstance(ours, Tensor) and isinstance(others, Tensor):
            mismatch = describe_mismatch(
                ours, others, *map(max, zip(_tolerances(ours), _tolerances(others), strict=True))
            )
            if mismatch is not None:
                location = f"Source Location:\n{_indent(str(mine.source))}\n" if mine.source is not None else ""
                return f"Node:\n{_indent(str(mine))}\n{location}Comparison exception: {_indent(mismatch)}"
    return None


def _tolerances(tensor: Tensor) -> tuple[float, float]:
    return TOLERANCES.get(tensor.dtype.name, (0.0, 0.0))


def describe_mismatch(actual: Tensor, expected: Tensor, relative: float, absolute: float) -> str | None:
    """A description of two tensors that differ by more than `absolute + relative * |expected|`; None if they do not.

    NaN equals NaN, and dtypes do not matter.
    """
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
    if actual.is_meta or expected.is_meta:
        return None
    ours, theirs = (_wide(tensor) for tensor in (actual, expected))
    close = np.isclose(ours, theirs, relative, absolute, equal_nan=True)
    if close.all():
        return None
    with np.errstate(all="ignore"):
        apart = np.where(close, 0, np.abs(ours - theirs))
        parts = np.where(close, 0, apart / np.abs(theirs))
    count = ours.size - int(np.count_nonzero(close))
    return (
        f"Tensor-likes are not close!\n\nMismatched elements: {count} / {ours.size} ({count / ours.size:.1%})\n"
        f"Greatest absolute difference: {_greatest(apart)} (up to {absolute} allowed)\n"
        f"Greatest relative difference: {_greatest(parts)} (up to {relative} allowed)"
    )


def _wide(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The elements as float64 or complex128."""
    found = tensor.detach().cpu()
    return np.asarray((found.cdouble() if found.is_complex() else found.double()).host_array())


def _greatest(values: np.ndarray[Any, Any]) -> str:
    """The greatest value, or the first NaN, and its index."""
    position = np.unravel_index(int(np.argmax(values)), values.shape)
    return f"{float(values[position])} at index {tuple(map(int, position))}"


def _indent(text: str) -> str:
    return "\n".join(f"\t{line}" for line in text.splitlines())
