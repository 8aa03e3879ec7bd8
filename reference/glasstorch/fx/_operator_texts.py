"""How is a call of a function of Python's `operator` written?

Mirrors: torch/fx/graph.py (magic_methods, reflectable_magic_methods, inplace_methods)
Differs: the texts are found by the function, not by its name.
"""

from __future__ import annotations

import operator as py
from collections.abc import Callable
from typing import Any, Final

Texts = dict[Callable[..., Any], str]

# Those that have a form with the operands exchanged, such as `__radd__`.
REFLECTABLE: Final[Texts] = {
    py.add: "{} + {}", py.sub: "{} - {}", py.mul: "{} * {}", py.floordiv: "{} // {}", py.truediv: "{} / {}",
    py.mod: "{} % {}", py.pow: "{} ** {}", py.lshift: "{} << {}", py.rshift: "{} >> {}", py.and_: "{} & {}",
    py.or_: "{} | {}", py.xor: "{} ^ {}", py.getitem: "{}[{}]", py.matmul: "{} @ {}",
}  # fmt: skip

OPERATORS: Final[Texts] = REFLECTABLE | {
    py.eq: "{} == {}", py.ne: "{} != {}", py.lt: "{} < {}", py.gt: "{} > {}", py.le: "{} <= {}", py.ge: "{} >= {}",
    py.pos: "+{}", py.neg: "-{}", py.invert: "~{}",
}  # fmt: skip

IN_PLACE: Final[Texts] = {
    py.iadd: "{} += {}", py.iand: "{} &= {}", py.ifloordiv: "{} //= {}", py.ilshift: "{} <<= {}", py.imod: "{} %= {}",
    py.imul: "{} *= {}", py.imatmul: "{} @= {}", py.ior: "{} |= {}", py.ipow: "{} **= {}", py.irshift: "{} >>= {}",
    py.isub: "{} -= {}", py.itruediv: "{} /= {}", py.ixor: "{} ^= {}", py.setitem: "{}[{}] = {}",
}  # fmt: skip


def by_name(texts: Texts) -> dict[str, str]:
    """The texts by the names of their functions, as `torch.fx.graph` has them."""
    return {function.__name__: text for function, text in texts.items()}
