"""What does a derivative formula use, which the forward pass must save?

Mirrors: saved_variables in tools/autograd/load_derivatives.py
Differs: formulas are Python expressions and are read with `ast`, not with regular expressions.

Names in scope of a formula: `grad` (or `grads[i]`), `grad_input_mask`, every argument of the operator, `result` (or
the results' names), the public functions of `autograd/formulas/`, and the functions of
`operators/generated/functions.py`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.operators.gen.model import (
    OPERATORS,
    Derivative,
    NativeFunction,
    located,
    python_name,
    result_names,
)

FORMULAS = OPERATORS.parent / "autograd" / "formulas"

# Facts about a tensor that are saved by themselves: asking for one does not keep the tensor alive.
FACTS = {
    "shape": "{}._shape",
    "dtype": "{}.dtype",
    "ndim": "{}.ndim",
    "device": "{}.device",
    "geometry": "({0}._shape, {0}.strides() if edge_{0} is not None else (), {0}._offset)",
    "placement": "({0}._shape, {0}.strides(), {0}._offset)",  # the same: PyTorch's TensorGeometry, which has no getter
}
METHODS = ("size", "numel")  # called as `self.size(0)`: what they return is saved as well
MASK = "grad_input_mask"
BUILTINS = frozenset(("len", "tuple", "list", "None", "True", "False", "float", "int", "range"))


@dataclass(frozen=True, slots=True)
class Formula:
    """One line of a derivative: for which arguments, the rewritten expression, and what it uses."""

    arguments: tuple[str, ...]
    expression: str
    tensors: tuple[str, ...]  # arguments saved as tensors
    results: tuple[str, ...]  # results saved as tensors
    constants: tuple[tuple[str, str], ...]  # (attribute name, expression evaluated in the forward pass)
    helpers: frozenset[str]  # functions of autograd/formulas/ that it calls


def local_name(argument: str) -> str:
    """The name of an argument inside a node, where `self` is the node."""
    return "self_" if argument == "self" else python_name(argument)


def helper_modules() -> dict[str, str]:
    """The public functions of autograd/formulas/, each with its module: read without importing (they lie above)."""
    found: dict[str, str] = {}
    for path in sorted(FORMULAS.rglob("*.py")):
        module = ".".join(path.relative_to(OPERATORS.parents[1]).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            name = node.name if isinstance(node, ast.FunctionDef) else "_"
            if not name.startswith("_") and found.setdefault(name, module) != module:
                raise SchemaError(f"formulas may call {name}(), which {found[name]} and {module} define")
    return found


def helper_names() -> frozenset[str]:
    """The public functions of autograd/formulas/."""
    return frozenset(helper_modules())


def read_formulas(
    function: NativeFunction, derivative: Derivative, operators: frozenset[str], helpers: frozenset[str]
) -> list[Formula]:
    """The formulas of one operator, checked: every name must be known."""
    with located(derivative.where):
        arguments, results = [a.name for a in function.schema.arguments], result_names(function.schema)
        for kind, names, reserved in (
            ("an argument", arguments, {"grad", "grads", *results}),
            ("a result", results, {"grad", "grads"}),
        ):
            for name in names:
                if name in reserved:
                    raise SchemaError(
                        f"{function.name} has {kind} {name!r}, which in a formula is something else: give it another "
                        f"name, such as {name + '_output'!r}"
                    )
        return [
            _read(function.schema, tuple(n.strip() for n in names.split(",")), text, operators, helpers)
            for names, text in derivative.formulas
        ]


class _Rewrite(ast.NodeTransformer):
    def __init__(self, schema: FunctionSchema, operators: frozenset[str], helpers: frozenset[str]) -> None:
        self.arguments = {a.name: a for a in schema.arguments}
        self.result_names = result_names(schema)
        self.operators, self.helpers = operators, helpers
        self.tensors: list[str] = []
        self.results: list[str] = []
        self.constants: dict[str, str] = {}
        self.used_helpers: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.attr in FACTS:
            owner = node.value.id
            if owner in self.arguments or owner in self.result_names:
                name = f"{owner}_{node.attr}"
                fact = FACTS[node.attr].format(owner)
                absent = owner in self.arguments and self.arguments[owner].type.is_optional
                self.constants[name] = f"None if {owner} is None else {fact}" if absent else fact
                return ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "shapes_of" and isinstance(node.args[0], ast.Name):
            owner = node.args[0].id
            self.constants[f"{owner}_shapes"] = f"[t._shape for t in {owner}]"
            return ast.Name(f"{owner}_shapes", ast.Load())
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            owner, method = node.func.value.id, node.func.attr
            if method in METHODS and (owner in self.arguments or owner in self.result_names):
                given = ", ".join(map(ast.unparse, node.args))
                name = f"{owner}_{method}_{given}".rstrip("_").replace("-", "minus_")
                self.constants[name] = f"{python_name(owner)}.{method}({given})"
                return ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if name in self.arguments:
            if self.arguments[name].type.is_tensor_like:
                self._once(self.tensors, name)
            else:
                self.constants[name] = python_name(name)
            return ast.Name(local_name(name), ast.Load())
        if name in self.result_names:
            self._once(self.results, name)
        elif name in self.helpers:
            self.used_helpers.add(name)
        elif name in self.operators:
            return ast.Attribute(ast.Name("f", ast.Load()), python_name(name), ast.Load())
        elif name not in ("grad", "grads", MASK) and name not in BUILTINS:
            raise SchemaError(f"the name {name!r} is neither an argument, a result, a helper nor an operator")
        return node

    @staticmethod
    def _once(names: list[str], name: str) -> None:
        if name not in names:
            names.append(name)


def _read(
    schema: FunctionSchema,
    arguments: tuple[str, ...],
    text: str,
    operators: frozenset[str],
    helpers: frozenset[str],
) -> Formula:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise SchemaError(f"the formula {text!r} of {schema.name} is not an expression: {error.msg}") from None
    rewrite = _Rewrite(schema, operators, helpers)
    expression = ast.unparse(ast.fix_missing_locations(rewrite.visit(tree)))
    return Formula(
        arguments,
        expression,
        tuple(rewrite.tensors),
        tuple(rewrite.results),
        tuple(sorted(rewrite.constants.items())),
        frozenset(rewrite.used_helpers),
    )
