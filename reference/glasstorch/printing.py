"""How is a tensor written as text?

Mirrors: torch/_tensor_str.py
Differs: works on a NumPy array and a few facts about the tensor, so that printing never calls an operator.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype, get_default_dtype
from glasstorch.core.errors import InplaceError
from glasstorch.core.keys import FUNCTIONALIZE, SPARSE, WRAPPED
from glasstorch.core.sparse_parts import ROW_COMPRESSED, CooParts

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Array = NDArray[Any]

# The numbers of the types that are NumPy's own.
NUMPY_TYPES = frozenset(np.dtype(character).num for character in np.typecodes["All"])

# ---- the options -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class PrintOptions:
    """The options that `set_printoptions` sets."""

    precision: int = 4  # digits after the point
    threshold: float = 1000  # more elements than this are summarised
    edgeitems: int = 3  # how many are then shown at each end of each dimension
    linewidth: int = 80
    sci_mode: bool | None = None  # None: the numbers decide


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed. What is not given stays, except `sci_mode`, which returns to automatic.

    `profile` is `default`, `short` (two digits) or `full` (never summarise); the other arguments refine it.
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile {profile!r} is not one of {', '.join(PROFILES)}")
        base = PROFILES[profile]
        options.precision, options.threshold = base.precision, base.threshold
        options.edgeitems, options.linewidth = base.edgeitems, base.linewidth
    if precision is not None:
        options.precision = precision
    if threshold is not None:
        options.threshold = threshold
    if edgeitems is not None:
        options.edgeitems = edgeitems
    if linewidth is not None:
        options.linewidth = linewidth
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current options, in a form that `set_printoptions(**...)` takes back."""
    return asdict(options)


@contextlib.contextmanager
def printoptions(**changes: Any) -> Iterator[None]:
    """Print with other options inside a `with` block; takes what `set_printoptions` takes."""
    before = get_printoptions()
    set_printoptions(**changes)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---- one number --------------------------------------------------------------------------------------------


class Style(NamedTuple):
    """The format shared by all numbers of one tensor, and their common width."""

    form: str  # "plain" (integers and bools), "whole" (floats without fractions), "fixed" or "scientific"
    precision: int
    width: int

    def text(self, value: float) -> str:
        """One number, padded on the left.

        >>> Style("whole", 4, 4).text(2.0)
        '  2.'
        """
        return self.bare_text(value).rjust(self.width)

    @property
    def room(self) -> int:
        """The width of a number, in columns."""
        return self.width

    def bare_text(self, value: float) -> str:
        """One number without padding."""
        if self.form == "plain":
            return str(value)
        if self.form == "scientific":
            return f"{value:.{self.precision}e}"
        if self.form == "fixed":
            return f"{value:.{self.precision}f}"
        return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


class ComplexStyle(NamedTuple):
    """The styles of the real and of the imaginary parts of one tensor's complex numbers."""

    real: Style
    imaginary: Style

    def text(self, value: complex) -> str:
        """One number; its imaginary part is padded on no side and has its sign in front.

        >>> ComplexStyle(Style("whole", 4, 3), Style("fixed", 1, 5)).text(2 - 0.5j)
        ' 2.-0.5j'
        """
        imaginary = self.imaginary.bare_text(value.imag)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{self.real.text(value.real)}{sign}{imaginary}j"

    @property
    def room(self) -> int:
        """The columns that a number takes, as PyTorch counts them: without the sign between the parts."""
        return self.real.width + self.imaginary.width + 1


def style_of(values: Array) -> Style | ComplexStyle:
    """The most readable style for these values; complex numbers have one for each of their parts."""
    if values.dtype.kind == "c":
        return ComplexStyle(style_for(values.real), style_for(values.imag))
    return style_for(values)


def style_for(values: Array) -> Style:
    """The style of real values. Zeros and non-finite values do not count."""
    precision = options.precision
    if values.dtype.kind != "f":
        return _fitted("plain", precision, values)
    telling = values[np.isfinite(values) & (values != 0)]
    if telling.size == 0:
        return Style("whole", precision, width=1)
    sizes = np.abs(telling).astype(np.float64)
    smallest, largest = float(sizes.min()), float(sizes.max())
    scientific = options.sci_mode
    if scientific is None:
        scientific = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    whole = bool((telling == np.ceil(telling)).all())
    return _fitted("scientific" if scientific else "whole" if whole else "fixed", precision, telling)


def _fitted(form: str, precision: int, values: Array) -> Style:
    """The style just wide enough for all values."""
    style = Style(form, precision, width=1)
    return style._replace(width=max((len(style.bare_text(v)) for v in values.reshape(-1).tolist()), default=1))


# ---- all numbers -------------------------------------------------------------------------------------------


def array_str(array: Array, indent: int = 0) -> str:
    """The numbers with their brackets. `indent` is the column at which the first bracket stands.

    >>> print(array_str(np.array([[1.0, 2.5], [3.0, 4.0]])))
    [[1.0000, 2.5000],
     [3.0000, 4.0000]]
    """
    if array.size == 0:
        return "[]"
    if array.dtype.num not in NUMPY_TYPES:  # bfloat16 and the like, which Python cannot format
        array = array.astype(np.float32)
    summarize = array.size > options.threshold
    style = style_of(_shown_part(array) if summarize else array)
    return _nested_str(array, indent, style, summarize)


def _nested_str(array: Array, indent: int, style: Style | ComplexStyle, summarize: bool) -> str:
    if array.ndim == 0:
        return style.text(array.item())
    if array.ndim == 1:
        return _row_str(array, indent, style, summarize)
    edge = options.edgeitems
    if summarize and len(array) > 2 * edge:
        rows = [_nested_str(row, indent + 1, style, summarize) for row in array[:edge]]
        rows.append("...")
        rows += [_nested_str(row, indent + 1, style, summarize) for row in array[len(array) - edge :]]
    else:
        rows = [_nested_str(row, indent + 1, style, summarize) for row in array]
    # One blank line for each dimension above two, as in PyTorch.
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _row_str(row: Array, indent: int, style: Style | ComplexStyle, summarize: bool) -> str:
    edge = options.edgeitems
    if summarize and edge == 0:
        texts = ["..."]
    elif summarize and len(row) > 2 * edge:
        texts = [style.text(v) for v in row[:edge].tolist()]
        texts += [" ..."]
        texts += [style.text(v) for v in row[-edge:].tolist()]
    else:
        texts = [style.text(v) for v in row.tolist()]
    each = style.room + 2  # a number, a comma and a blank
    per_line = max(1, math.floor((options.linewidth - indent) / each))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _shown_part(array: Array) -> Array:
    """The elements that a summary shows; they alone decide the style."""
    edge = options.edgeitems
    if edge == 0 and array.ndim > 1:
        return array[:0]
    for dimension, size in enumerate(array.shape):
        if 0 < 2 * edge < size:
            shown = [*range(edge), *range(size - edge, size)]
            array = array.take(shown, axis=dimension)
    return array


# ---- the whole tensor --------------------------------------------------------------------------------------


def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The `repr` of a tensor: its elements, and what of it they do not show."""
    if self.key_set & (WRAPPED | FUNCTIONALIZE) and hooks.transform_hooks is not None:
        return hooks.transform_hooks.text(self)
    try:
        grad_fn = self.grad_fn.name().rpartition("::")[2] if self.grad_fn is not None else None
    except InplaceError:  # a view whose history a change in place made ambiguous
        grad_fn = "Invalid"
    if self.key_set & SPARSE:
        return _sparse_str(self, grad_fn, tensor_contents)
    return tensor_str(
        None if self.is_meta else self.host_array(),
        self._shape,
        self.dtype,
        self.device,
        requires_grad=self.requires_grad,
        grad_fn=grad_fn,
        prefix=type(self).__dict__.get("_printed_as", type(self).__name__) + "(",
        contents=tensor_contents,
        tangent=hooks.variable_hooks.tangent(self),
    )


def tensor_str(
    array: Array | None,
    shape: tuple[int, ...],
    element_type: dtype,
    device: Device,
    *,
    grad_fn: str | None = None,
    requires_grad: bool = False,
    prefix: str = "tensor(",
    contents: str | None = None,
    tangent: Tensor | None = None,
) -> str:
    """The `repr` of a tensor with these facts.

    `array` is None where there is no data (device meta), `grad_fn` the name of the node that made the tensor,
    `prefix` the class's name and a bracket, `contents` a text to stand in place of the numbers, `tangent` that of a
    dual tensor.
    """
    default = get_default_dtype()
    # Reading back `tensor([...])` would infer these from the numbers; without numbers only the default.
    inferred = [default.name]
    if array is not None and array.size:
        inferred += ["complex128" if default.name == "float64" else "complex64", "int64", "bool"]
    suffixes = []
    if device.type != "cpu":
        suffixes.append(f"device='{device}'")
    # A list of nothing says (0,), and any other shape without elements, or not shown, must be said.
    if array is None or (array.size == 0 and array.ndim != 1) or (array.size and options.edgeitems == 0):
        suffixes.append(f"size={tuple(shape)}")
    if element_type.name not in inferred:
        suffixes.append(f"dtype={element_type}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    if contents is None:
        contents = "..." if array is None else array_str(array, indent=len(prefix))
    return _with_suffixes(prefix + contents, suffixes, indent=len(prefix))


def _sparse_str(self: Tensor, grad_fn: str | None, contents: str | None) -> str:
    """The `repr` of a sparse tensor: each of the tensors that it consists of, or `contents`, then its facts."""
    held, default = self._parts, get_default_dtype()
    if isinstance(held, CooParts):
        named = {"indices": held.indices}
    elif held.layout in ROW_COMPRESSED:
        named = {"crow_indices": held.compressed, "col_indices": held.plain}
    else:
        named = {"ccol_indices": held.compressed, "row_indices": held.plain}
    prefix = type(self).__dict__.get("_printed_as", type(self).__name__) + "("
    shown = []
    for name, part in {**named, "values": held.values}.items():
        indent = len(prefix) + len(f"{name}=tensor(")
        text = "..." if part.is_meta else array_str(part.host_array(), indent=indent)
        told = part.numel() and not part.is_meta
        shown.append(f"{name}=tensor({text}{'' if told else f', size={tuple(part._shape)}'})")
    size = f"size={tuple(self._shape)}"
    suffixes = ["device='meta'", size] if self.is_meta else [size, f"nnz={held.nnz}"]
    if self.dtype.name not in (
        default.name,
        "complex128" if default.name == "float64" else "complex64",
        "int64",
        "bool",
    ):
        suffixes.append(f"dtype={self.dtype}")
    suffixes.append(f"layout={self.layout}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif self.requires_grad:
        suffixes.append("requires_grad=True")
    text = prefix + (",\n" + " " * len(prefix)).join(shown if contents is None else [contents])
    return _with_suffixes(text, suffixes, len(prefix), on_new_line=self.is_sparse)


def _with_suffixes(text: str, suffixes: list[str], indent: int, on_new_line: bool = False) -> str:
    """The text, its suffixes and the closing bracket; a suffix that would not fit starts a line."""
    used = len(text) - text.rfind("\n") + 1
    for i, suffix in enumerate(suffixes):
        if used + len(suffix) + 2 > options.linewidth or (on_new_line and not i):
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"
