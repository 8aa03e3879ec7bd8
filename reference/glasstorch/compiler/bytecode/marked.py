"""What is a call of a function that a program has marked, or by which it asks whether it is captured?

Mirrors: torch/_dynamo/variables/functions.py (SkipFunctionVariable), torch/_dynamo/variables/torch.py
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Known, Value, known
from glasstorch.compiler.bytecode.wrapping import made
from glasstorch.compiler.marks import (
    graph_break,
    innermost,
    is_allowed_in_graph,
    is_constant_result,
    is_disallowed_in_graph,
    skip_frame,
    why_disabled,
)
from glasstorch.compiler.stance import is_compiling, is_dynamo_compiling, is_exporting, set_stance
from glasstorch.compiler.substitutes import substitute_of

Call = Callable[[Value, list[Value], dict[str, Value]], Value]


def marked(
    recorder: Recorder, call: Call, function: Value, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """What a call of a marked function gives; None where the function has no mark."""
    obj: Any = function.value if isinstance(function, Known) else None
    if obj is None:
        return None
    if obj in (is_compiling, is_dynamo_compiling):
        return Constant(True)
    if obj is is_exporting:
        return Constant(False)
    if obj is graph_break:
        message = known(args[0]) if args else known(kwargs["msg"]) if "msg" in kwargs else ""
        raise Unsupported(f"Call to `torch._dynamo.graph_break()`{f': {message}' if message else ''}")
    if obj is skip_frame:
        raise Unsupported("Call to `torch._dynamo.skip_frame()`", skips=True)
    if obj is set_stance:
        raise Unsupported("Attempt to trace forbidden callable: torch.compiler.set_stance")
    if (why := why_disabled(obj)) is not None:
        raise Unsupported(f"Skip calling `torch.compiler.disable()`d function: {why}")
    if is_disallowed_in_graph(obj):
        raise Unsupported(f"a call of {obj}, which torch._dynamo.disallow_in_graph leaves out of graphs")
    if (other := substitute_of(obj)) is not None:
        return call(Known(other), args, kwargs)
    if is_allowed_in_graph(obj):
        return recorder.call_function(obj, args, kwargs)
    if is_constant_result(obj):
        return made(obj(*map(known, args), **{name: known(value) for name, value in kwargs.items()}))
    inner = innermost(obj)
    if inner is not obj and isinstance(inner, FunctionType):  # a compiled function in a compiled one
        return call(
            Known(inner, source=function.source and function.source.attribute("_torchdynamo_orig_callable")),
            args,
            kwargs,
        )
    return None
