"""How are the rules of `autograd/generated/forward_rules.py` emitted: the tangents of results?

Mirrors: the `result:` lines of tools/autograd/derivatives.yaml, and what gen_variable_type.py makes of them
    (emit_fw_derivatives), load_derivatives.py (postprocess_forward_derivatives)
Differs: a rule is a function by itself, which `autograd/forward.py` calls; PyTorch writes it into the autograd kernel.

`auto_linear` calls the operator with the tangents in place of the tensors. `auto_element_wise` is the formula of the
gradient with the tangent in place of `grad`, both conjugated. `auto_backward` needs no formula either: gradients are
linear in `grad`, and the map from tangents is the transpose of that. Any other text is an expression, in which `x_t` is
the tangent of the argument x (zeros where it has none), and the names of arguments and results are their values.

Where an expression of two tangents is a sum, the rule leaves out the terms of a tangent that an argument has not, which
is then None. PyTorch has tensors of the key ZeroTensor for that: a product with one is zero even where the other factor
is infinite.
"""

from __future__ import annotations

import ast
import re

from glasstorch.core.errors import SchemaError
from glasstorch.operators.gen.formulas import BUILTINS, helper_modules, helper_names
from glasstorch.operators.gen.model import Derivative, NativeFunction, located, python_name, result_names

HEADER = '''"""The tangents of each operator's results, from those of its arguments. {mark}

Mirrors: the forward derivatives in torch/csrc/autograd/generated/VariableType_*.cpp
Differs: functions of their own, which `autograd/forward.py` calls.
"""

from __future__ import annotations

from typing import Any

{helpers}
from glasstorch.autograd.forward_table import linear, rule, transposed
from glasstorch.operators.generated import functions as f
'''

ROWS = """# `linear`: the operator, of these arguments' tangents. `transposed`: the transpose of the backward pass.
# fmt: off
{rows}# fmt: on
"""

LINEAR, ELEMENT_WISE, BACKWARD = "auto_linear", "auto_element_wise", "auto_backward"
MAKERS = {LINEAR: "linear", BACKWARD: "transposed"}


def emit(functions: list[NativeFunction], derivatives: dict[str, Derivative], mark: str) -> str:
    operators = frozenset(f.schema.name for f in functions if not f.schema.is_out)
    known, used = helper_names(), set[str]()
    parts, rows = [], []
    for f in functions:
        derivative = derivatives.get(f.name)
        if derivative is None or not derivative.tangents:
            continue
        with located(derivative.where):
            if (word := derivative.tangents[0][1]) in MAKERS:
                rows.append(f"{MAKERS[word]}({f.name!r}, {_differentiable(f, derivative)!r})\n")
            else:
                text, called = _function(f, derivative, operators, known)
                parts.append(text)
                used |= called
    modules = helper_modules()
    helpers = "\n".join(f"from {module} import {name}" for module, name in sorted((modules[n], n) for n in used))
    return f"{HEADER.format(mark=mark, helpers=helpers)}\n{''.join(parts)}\n\n{ROWS.format(rows=''.join(rows))}"


def _differentiable(f: NativeFunction, derivative: Derivative) -> tuple[str, ...]:
    """The arguments that may have tangents, in the order of the schema."""
    named = {n.strip() for names, _ in derivative.formulas for n in names.split(",")}
    return tuple(a.name for a in f.schema.arguments if a.name in named)


def _function(
    f: NativeFunction, derivative: Derivative, operators: frozenset[str], helpers: frozenset[str]
) -> tuple[str, set[str]]:
    """The rule of one operator, and the functions of autograd/formulas/ that it calls."""
    arguments, results = _differentiable(f, derivative), result_names(f.schema)
    names = {a.name for a in f.schema.arguments} | {f"{a}_t" for a in arguments}
    used: set[str] = set()
    values = {}
    reads: set[str] = set()
    shorter: list[tuple[str, str]] = []
    for result, text in derivative.tangents:
        expression = _element_wise(f, derivative, arguments) if text == ELEMENT_WISE else text
        read = _Read(names | set(results), operators, helpers)
        tree = read.visit(ast.parse(expression, mode="eval"))
        values[tuple(n.strip() for n in result.split(","))] = ast.unparse(ast.fix_missing_locations(tree))
        if len(arguments) == 2 and len(results) == 1:
            shorter = _shorter(tree.body, [f"{a}_t" for a in arguments])
        used |= read.helpers
        reads |= read.names
    parameters = [python_name(a.name) for a in f.schema.arguments]
    parameters += [python_name(r) for r in results]
    parameters += [f"{a}_t" for a in arguments]
    old = tuple(a.name for a in f.schema.arguments if a.name in reads)
    lines = [
        f"\n\n@rule({f.name!r}, {arguments!r}, uses={old!r}{', lacks=True' if shorter else ''})\n",
        f"def {f.identifier}({', '.join(f'{p}: Any' for p in parameters)}) -> Any:\n",
        *(f"    if {missing} is None:\n        return {expression}\n" for missing, expression in shorter),
    ]
    if len(values) == 1:
        ((found, expression),) = values.items()
        if len(results) == len(found):
            return "".join((*lines, f"    return {expression}\n")), used
    computed = []
    for number, (found, expression) in enumerate(values.items()):
        lines.append(f"    {', '.join(f'{n}_t_{number}' for n in found)} = {expression}\n")
        computed += [(n, f"{n}_t_{number}") for n in found]
    told = dict(computed)
    return "".join((*lines, f"    return {', '.join(told.get(r, 'None') for r in results)}\n")), used


def _element_wise(f: NativeFunction, derivative: Derivative, arguments: tuple[str, ...]) -> str:
    """The tangent of an operator whose Jacobian is diagonal: the gradient of the conjugated tangent, conjugated."""
    if len(arguments) != 1:
        raise SchemaError(f"{f.name}: {ELEMENT_WISE} needs one argument with a gradient, and there are {arguments}")
    gradient = re.sub(r"\bgrad\b", f"conjugate({arguments[0]}_t)", derivative.formulas[0][1])
    return f"conjugate({gradient})"


def _shorter(tree: ast.expr, tangents: list[str]) -> list[tuple[str, str]]:
    """For each tangent the expression without it; none at all where it cannot be left out."""
    found = [(missing, _without(tree, missing, tangents)) for missing in tangents]
    whole = ast.unparse(tree)
    if any(expression is None for _, expression in found):
        return []
    texts = [
        (missing, ast.unparse(ast.fix_missing_locations(expression))) for missing, expression in found if expression
    ]
    return [] if any(text == whole for _, text in texts) else texts


class _CannotLeaveOut(Exception):
    """A tangent stands where zeros are needed."""


def _without(tree: ast.expr, missing: str, tangents: list[str]) -> ast.expr | None:
    """The expression where the tangent `missing` is zero; None where that needs zeros, or is zero altogether."""

    def names(node: ast.expr) -> set[str]:
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & set(tangents)

    def left(node: ast.expr) -> ast.expr | None:
        """What is left of a part; None if that is zero. It is linear in the tangents that it contains."""
        found = names(node)
        if missing not in found:
            return node
        if found == {missing}:
            return None
        match node:
            case ast.BinOp(a, ast.Add() | ast.Sub() as sign, b):
                a_left, b_left = left(a), left(b)
                if a_left is None and b_left is not None and isinstance(sign, ast.Sub):
                    return ast.UnaryOp(ast.USub(), b_left)
                if a_left is None or b_left is None:
                    return a_left or b_left
                return ast.BinOp(a_left, sign, b_left)
            case ast.BinOp(a, ast.Mult() | ast.Div() as sign, b) if not names(b):
                a_left = left(a)
                return None if a_left is None else ast.BinOp(a_left, sign, b)
            case ast.Call(ast.Name() | ast.Attribute(), [first, *others]) if not any(map(names, others)):
                first_left = left(first)
                return None if first_left is None else ast.Call(node.func, [first_left, *others], node.keywords)
            case ast.IfExp(condition, body, orelse) if not names(condition) and not names(orelse):
                body_left = left(body)
                return None if body_left is None else ast.IfExp(condition, body_left, orelse)
        raise _CannotLeaveOut

    try:
        return left(tree)
    except _CannotLeaveOut:
        return None


class _Read(ast.NodeTransformer):
    """Checks that every name is known, and notes those of arguments and helpers."""

    def __init__(self, known: set[str], operators: frozenset[str], helpers: frozenset[str]) -> None:
        self.known, self.operators, self.all_helpers = known, operators, helpers
        self.helpers: set[str] = set()
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if name in self.known:
            self.names.add(name)
            return ast.Name(python_name(name), ast.Load())
        if name in self.all_helpers:
            self.helpers.add(name)
        elif name in self.operators:
            return ast.Attribute(ast.Name("f", ast.Load()), python_name(name), ast.Load())
        elif name not in BUILTINS:
            raise SchemaError(f"the name {name!r} is neither an argument, a result, a helper nor an operator")
        return node
