"""Which deprecated argument orders are still accepted?

Mirrors: tools/autograd/deprecated.yaml, FunctionSignature::deprecated in torch/csrc/utils/python_arg_parser.h
Differs: a function and its method are one function here, so both accept either order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from glasstorch.core.warn_once import warn_once

Order = tuple[str, ...]


def _orders_of_products() -> Iterator[tuple[str, tuple[Order, ...]]]:
    """`addmm(beta, input, alpha, mat1, mat2)`, also without alpha; a method has the tensor first."""
    operands = {
        "addmm": ("mat1", "mat2"),
        "addmv": ("mat", "vec"),
        "addr": ("vec1", "vec2"),
        "addbmm": ("batch1", "batch2"),
        "baddbmm": ("batch1", "batch2"),
    }
    for name, pair in operands.items():
        function: tuple[Order, ...] = (("beta", "input", "alpha", *pair), ("beta", "input", *pair))
        yield name, (*function, ("input", "beta", "alpha", *pair), ("input", "beta", *pair))


# The former positions of arguments, for each function and its in-place form.
OLD_ORDERS: Final[dict[str, tuple[Order, ...]]] = {
    name + suffix: orders
    for name, orders in [
        ("add", (("input", "alpha", "other"),)),
        ("sub", (("input", "alpha", "other"),)),
        ("addcmul", (("input", "value", "tensor1", "tensor2"),)),
        ("addcdiv", (("input", "value", "tensor1", "tensor2"),)),
        *_orders_of_products(),
    ]
    for suffix in ("", "_")
}


def warn_of_old_order(function: str, order: Order, signatures: list[str]) -> None:
    """Warn once, with the current signatures."""
    instead = "".join(f"\n\t{function}{signature}" for signature in signatures)
    warn_once(
        f"This overload of {function} is deprecated:\n\t{function}({', '.join(order)})\n"
        f"Consider using one of the following signatures instead:{instead}"
    )
