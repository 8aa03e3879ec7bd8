"""How are the nodes and autograd kernels of `autograd/generated/` emitted?

Mirrors: tools/autograd/gen_autograd_functions.py (nodes), gen_variable_type.py (kernels)
Differs: a node and its kernel stand side by side in one file. Gradients of arguments that were broadcast are summed by
    the engine (validate_outputs), where PyTorch's formulas often do it by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.gen.emit_inplace_or_view import in_words
from glasstorch.operators.gen.formulas import MASK, Formula, helper_modules, helper_names, local_name, read_formulas
from glasstorch.operators.gen.model import OPERATORS, Derivative, NativeFunction, located, python_name, result_names

MAKERS = OPERATORS.parent / "autograd" / "in_place.py"

# Names of the makers of in-place kernels, by the positions of the arguments with gradients and whether one may be None.
KINDS = {
    ((0,), False): "alone",
    ((0, 1), False): "two",
    ((0, 1, 2), False): "three",
    ((0, 1, 2), True): "optional",
    ((0, 2), False): "third",
    ((0, 3), False): "fourth",
}

FACTS = {
    "_shape": "Sizes", "_geometry": "Geometry", "_numel": "Numel", "_ndim": "Dim",
    **dict.fromkeys(("_dtype", "_device", "_shapes", "_placement"), "Unseen"),
}  # fmt: skip

HEADER = '''"""The autograd node and kernels of every operator with derivative formulas. {mark}

Mirrors: torch/csrc/autograd/generated/VariableType_*.cpp, Functions_*.cpp
Differs: Python. An autograd kernel decides whether to record, saves what the formula will need, and redispatches.
"""

from __future__ import annotations

from typing import Any

{helpers}
from glasstorch.autograd.history import (
    gradient_edge,
    gradient_edges,
    refuse_complex,
    refuse_integers,
    set_histories,
    set_history,
    turn_history,
)
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.in_place import {makers}
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Dim, Geometry, Integers, Node, Numel, Size, Sizes, SizesOrNone, Unseen, pruning
from glasstorch.autograd.out_forms import register_out_forms
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated import functions as f
from glasstorch.operators.generated.registry import table

AUTOGRAD = KernelTable("Autograd")
'''

FOOTER = """
# In-place operators whose nodes save nothing, or the tensor before the write, or after it.
# fmt: off
{rows}# fmt: on

register_out_forms()
"""


def emit(functions: list[NativeFunction], derivatives: dict[str, Derivative], mark: str) -> str:
    parts: list[str] = []
    rows: list[str] = []
    used_helpers: set[str] = set()
    for text, formulas in emit_operators(functions, derivatives, helper_names()):
        part, in_place, row = text.partition("in_place(")
        parts.append(part)
        rows.append(in_place + row)
        for formula in formulas:
            used_helpers |= formula.helpers
    modules = helper_modules()
    by_module = sorted((modules[name], name) for name in used_helpers)
    helpers = "\n".join(f"from {module} import {name}" for module, name in by_module)
    header = HEADER.format(mark=mark, helpers=helpers, makers=", ".join(_makers()))
    tables = "".join(
        f"{f.table} = table({f.name!r})\n" for f in functions if f.name in derivatives and not f.schema.is_inplace
    )
    return f"{header}\n{tables}\n{''.join(parts)}\n{FOOTER.format(rows=''.join(rows))}"


def emit_operators(
    functions: list[NativeFunction],
    derivatives: dict[str, Derivative],
    helpers: frozenset[str],
    only: str | None = None,
) -> Iterator[tuple[str, list[Formula]]]:
    """Node and kernel of each operator with formulas, or of the one row `only` and its forms; and what they use."""
    operators = frozenset(f.schema.name for f in functions if not f.schema.is_out)
    names = node_names(functions, derivatives)
    for f in functions:
        derivative = derivatives.get(f.name) or derivatives.get(_functional_name(f))
        if derivative is None or f.schema.is_out or only not in (None, derivative.op):
            continue
        declared = f if f.name == derivative.op else next(g for g in functions if g.name == derivative.op)
        formulas = read_formulas(declared, derivative, operators, helpers)
        with located(derivative.where):
            yield _operator(f, derivative, formulas, names), formulas


def _functional_name(f: NativeFunction) -> str:
    """The operator that a form was generated from; of an in-place form declared by itself, the name without `_`."""
    if f.functional is None and f.schema.is_inplace:
        return replace(f, schema=replace(f.schema, name=f.schema.name.removesuffix("_"))).name
    return f.functional or ""


def node_names(functions: list[NativeFunction], derivatives: dict[str, Derivative]) -> dict[str, str]:
    """Operator -> `AddBackward0`: its name in camel case, and which of the name's rows in derivatives.yaml it is.

    Mirrors: create_op_prefix and uniquify in tools/autograd/load_derivatives.py
    """
    schemas = {f.name: f.schema for f in functions}
    rows: dict[str, int] = {}
    names: dict[str, str] = {}
    for op, derivative in derivatives.items():
        words = (word.title() for word in schemas[op].name.split("_"))
        prefix = ("".join(words) + "Backward").replace("ForwardBackward", "Backward")
        number = rows.get(prefix, 0)
        rows[prefix] = number + 1
        name = derivative.node or f"{prefix}{number}"
        if name in names.values():
            raise SchemaError(f"{derivative.where}: the node of {op} would be a second {name}; give it another 'node:'")
        names[op] = name
    return names


class _Plan:
    """The parts of one operator's node and kernel."""

    def __init__(self, f: NativeFunction, derivative: Derivative, formulas: list[Formula]) -> None:
        self.f, self.formulas = f, formulas
        self.arguments: list[Argument] = []  # the differentiable ones, in schema order
        wanted = [n for formula in formulas for n in formula.arguments]
        self.arguments = [a for a in f.schema.arguments if a.name in wanted]
        for a in self.arguments:
            if not a.type.is_tensor_like:
                raise SchemaError(f"{f.name}: '{a.name}' is {a.type}, only tensors have gradients")
        self.lists = [a for a in self.arguments if a.type.is_list]
        if self.lists and len(self.arguments) > 1:
            raise SchemaError(f"{f.name}: a list of tensors must be the only differentiable argument")
        self.tensors = list(dict.fromkeys(n for formula in formulas for n in formula.tensors))
        self.results = list(dict.fromkeys(n for formula in formulas for n in formula.results))
        self.constants = dict(c for formula in formulas for c in formula.constants)
        self.names = result_names(f.schema)
        self.refuses_complex = derivative.refuses_complex
        self.differentiable = [n for n in self.names if n not in derivative.not_differentiable]

    def index(self, name: str) -> int:
        return [a.name for a in self.arguments].index(name)


def _operator(f: NativeFunction, derivative: Derivative, formulas: list[Formula], names: dict[str, str]) -> str:
    plan = _Plan(f, derivative, formulas)
    name = names[derivative.op]
    node = _node(name, plan) if f.name == derivative.op else ""
    if not f.schema.is_inplace:
        return f"\n\n{node}{_kernel(name, plan)}"
    kernel = _inplace_kernel(name, plan)
    return f"\n\n{node}{kernel}" if node or kernel.startswith("@") else kernel


def _returns_list(plan: _Plan) -> bool:
    """Whether the one result is a list of tensors, each with a gradient of its own."""
    return plan.f.schema.returns[0].type.is_list


def _none_arrives(plan: _Plan) -> str:
    """The test whether all gradients are undefined of which a formula takes some, or all."""
    text = " ".join(formula.expression for formula in plan.formulas)
    if _returns_list(plan):
        return "all(grad is None for grad in grads)"
    if re.search(r"\bgrads\b(?!\[\d+\])", text):
        places = {plan.names.index(result) for result in plan.differentiable}
    else:
        places = {int(place) for place in re.findall(r"\bgrads\[(\d+)\]", text)}
    return " and ".join(f"grads[{place}] is None" for place in sorted(places))


def _node(name: str, plan: _Plan) -> str:
    lines = [f"\nclass {name}(Node):\n"]
    lists = {a.name for a in plan.f.schema.arguments if a.type.is_list}
    lines += [
        f"    saved_{n}: {'list[SavedVariable | None]' if n in lists else 'SavedVariable'} | None\n"
        for n in (*plan.tensors, *plan.results)
    ]
    lines += [f"    {local_name(c)}: {_told_as(c, plan)}\n" for c in plan.constants]
    lines.append("\n")
    lines.append("    def apply(self, grads: Gradients) -> Gradients:\n")
    multiple = len(plan.names) > 1 or _returns_list(plan)
    uses_grads = any("grads" in formula.expression for formula in plan.formulas)
    if multiple and uses_grads:
        lines.append(f"        if {_none_arrives(plan)}:\n            return (None,) * len(self.next_edges)\n")
    else:
        arriving = f"grads[{plan.names.index(plan.differentiable[0]) if multiple else 0}]"
        if any(re.search(r"\bgrad\b", formula.expression) for formula in plan.formulas):
            arriving = f"(grad := {arriving})"
        lines.append(f"        if {arriving} is None:\n            return (None,) * len(self.next_edges)\n")
    if plan.lists:
        formula = plan.formulas[0]
        lines += _unpack(formula, plan, "        ")
        lines.append(f"        return tuple({formula.expression})\n")
    else:
        if len(plan.arguments) > 1:
            lines.append("        edges = self.wanted_edges() if pruning.passes else self.next_edges\n")
            # As in PyTorch, a result that was changed in place is noticed whether or not its values are needed.
            lines += [f"        {n} = self.unpack(self.saved_{n})\n" for n in plan.results]
        targets = [f"grad_{a.name}" for a in plan.arguments]
        if len(targets) > 1:
            lines += [f"        {t}: Any = None\n" for t in targets]
        for formula in plan.formulas:
            names = ", ".join(f"grad_{n}" for n in formula.arguments)
            indent = "        "
            if len(plan.arguments) > 1:
                test = " or ".join(f"edges[{plan.index(n)}]" for n in formula.arguments)
                lines.append(f"        if {test}:\n")
                indent += "    "
            lines += _unpack(formula, plan, indent, hoisted=plan.results if len(plan.arguments) > 1 else ())
            if re.search(rf"\b{MASK}\b", formula.expression):
                wanted = ", ".join(f"bool(edges[{plan.index(n)}])" for n in formula.arguments)
                lines.append(f"{indent}{MASK} = [{wanted}]\n")
            lines.append(f"{indent}{names} = {formula.expression}\n")
        lines.append(f"        return {_tuple(targets)}\n")
    lines.append("\n    def release_variables(self) -> None:\n")
    saved = [f"saved_{n}" for n in (*plan.tensors, *plan.results)]
    if saved:
        lines.append("        self.released = True\n")
        lines.append(f"        {' = '.join(f'self.{s}' for s in saved)} = None\n\n\n")
    else:
        lines[-1] = "\n\n"
    return "".join(lines)


def _told_as(constant: str, plan: _Plan) -> str:
    """The annotation of a fact that a node keeps: how `autograd/node.py` shows it."""
    types = {a.name: str(a.type) for a in plan.f.schema.arguments}
    if constant in types:
        return "Integers" if re.match(r"(Sym)?[iI]nt\b", types[constant]) else "Any"
    for ending, kind in FACTS.items():
        if constant.endswith(ending):
            owner = types.get(constant.removesuffix(ending), "")
            return "SizesOrNone" if kind == "Sizes" and owner.endswith("?") else kind
    return "Size" if re.search(r"_size_(minus_)?\d$", constant) else "Any"


def _unpack(formula: Formula, plan: _Plan, indent: str, hoisted: Collection[str] = ()) -> list[str]:
    lists = {a.name for a in plan.f.schema.arguments if a.type.is_list}
    lines = []
    for n in (*formula.tensors, *formula.results):
        if n in hoisted:
            continue
        if n in lists:
            lines.append(f"{indent}{n} = self.unpack_list(self.saved_{n})\n")
        else:
            lines.append(f"{indent}{local_name(n)} = self.unpack(self.saved_{n})\n")
    lines += [f"{indent}{local_name(c)} = self.{local_name(c)}\n" for c, _ in formula.constants]
    return lines


def _tuple(names: list[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _signature(f: NativeFunction) -> tuple[str, str]:
    names = [python_name(a.name) for a in f.schema.arguments]
    return ", ".join(f"{n}: Any" for n in names), ", ".join(names)


def _edges(plan: _Plan) -> tuple[list[str], str]:
    """Lines that find the gradient edges, and the test that there is none."""
    if plan.lists:
        name = plan.lists[0].name
        return [f"    edges = gradient_edges({name})\n"], "not any(edges)"
    several = len(plan.arguments) > 1  # else the kernel has asked already whether the tensor has a record
    lines = []
    for a in plan.arguments:
        asked = f"None if {a.name}._autograd_meta is None else " if several and not a.type.is_optional else ""
        lines.append(f"    edge_{a.name} = {asked}gradient_edge({a.name})\n")
    return lines, " and ".join(f"edge_{a.name} is None" for a in plan.arguments)


def _save(plan: _Plan, inplace: bool) -> list[str]:
    """Lines that save what the formulas of the required gradients use."""
    lines = []
    types = {a.name: a.type for a in plan.f.schema.arguments}
    for n in plan.tensors:
        users = [a for formula in plan.formulas if n in formula.tensors for a in formula.arguments]
        if plan.lists:
            test = ""
        else:
            wanted = dict.fromkeys(users)
            test = "" if len(wanted) == len(plan.arguments) else " or ".join(f"edge_{u}" for u in wanted)
        source = f"{n}.clone()" if inplace and n == "self" else n
        if types[n].is_list:
            value = f"[None if t is None else SavedVariable(t) for t in {n}]"
        elif types[n].is_optional:
            value = f"None if {n} is None else SavedVariable({n})"
        else:
            value = f"SavedVariable({source})"
        value_or_none = f"{value} if {test} else None" if test else value
        lines.append(f"    node.saved_{n} = {value_or_none}\n")
    for name, expression in plan.constants.items():
        owner = _owner(expression)
        if owner not in plan.names:
            lines.append(f"    node.{local_name(name)} = {expression}\n")
        elif inplace:  # the tensor that is written to keeps its shape and dtype
            lines.append(f"    node.{name} = {expression.replace(owner + '.', 'self.')}\n")
    return lines


def _owner(expression: str) -> str:
    """Whose fact an expression saves: `self` of `self._shape`."""
    return expression.lstrip("([").partition(".")[0]


def _save_results(plan: _Plan, source: dict[str, str]) -> list[str]:
    lines = []
    for n in plan.results:  # one without a gradient has no history, which would have to be left out
        producer = f", node, {plan.names.index(n)}" if len(plan.names) == 1 or n in plan.differentiable else ""
        lines.append(f"    node.saved_{n} = SavedVariable({source[n]}{producer})\n")
    for name, expression in plan.constants.items():
        owner = _owner(expression)
        if owner in plan.names:
            value = expression.replace(owner + ".", source[owner] + ".")
            lines.append(f"    node.{name} = {value}\n")
    return lines


def _kernel(node: str, plan: _Plan) -> str:
    f = plan.f
    declared, passed = _signature(f)
    lines = [f"@AUTOGRAD.impl({f.name!r})\n", f"def {f.identifier}(keys: int, {declared}) -> Any:\n"]
    lines.append("    below = keys & BELOW_AUTOGRAD\n")
    call = f"{f.table}[below](below, {passed})"
    if not plan.lists:
        simple = " and ".join(
            (
                f"({a.name} is None or {a.name}._autograd_meta is None)"
                if a.type.is_optional
                else f"{a.name}._autograd_meta is None"
            )
            for a in plan.arguments
        )
        test = f"({simple})" if len(plan.arguments) > 1 else simple
        lines.append(f"    if {test} or not grad_mode.get():\n        return {call}\n")
    else:
        lines.append(f"    if not grad_mode.get():\n        return {call}\n")
    edge_lines, none = _edges(plan)
    lines += edge_lines
    lines.append(f"    if {none}:\n        return {call}\n")
    edges = "edges" if plan.lists else _tuple([f"edge_{a.name}" for a in plan.arguments])
    lines.append(f"    node = {node}({edges})\n")
    lines += _save(plan, inplace=False)
    if len(plan.names) == 1:
        lines.append(f"    result = {call}\n")
        source = {"result": "result"}
        lines += _save_results(plan, source)
        lines += _refuse_complex(plan, "result")
        lines += _refuse_integers(plan)
        history = "set_histories" if _returns_list(plan) else "set_history"
        lines.append(f"    {history}(result, node)\n    return result\n")
    else:
        lines.append(f"    results = {call}\n")
        source = {n: f"results[{i}]" for i, n in enumerate(plan.names)}
        lines += _save_results(plan, source)
        lines += _refuse_complex(plan, "results[0]")
        marked = _tuple([source[n] if n in plan.differentiable else "None" for n in plan.names])
        lines.append(f"    set_histories({marked}, node)\n    return results\n")
    return "".join(lines)


def _refuse_complex(plan: _Plan, result: str) -> list[str]:
    """The line that refuses a fresh result; in place PyTorch refuses nothing."""
    name = plan.f.schema.name.removeprefix("aten::").partition(".")[0]
    return [f"    refuse_complex({result}, {name!r})\n"] if plan.refuses_complex else []


def _refuse_integers(plan: _Plan) -> list[str]:
    """The line that refuses an integer result of an operator with a `dtype` argument; a conversion is allowed one."""
    schema = plan.f.schema
    is_told = any(a.name == "dtype" and a.type.base == "ScalarType" for a in schema.arguments)
    return ["    refuse_integers(result)\n"] if is_told and Tag.conversion not in plan.f.tags else []


def _inplace_kernel(node: str, plan: _Plan) -> str:
    """A row, or the function that saves what the node needs below one: the kernel is made by autograd/in_place.py."""
    f = plan.f
    if Tag.inplace_view in f.tags and any(_owner(expression) in plan.names for expression in plan.constants.values()):
        raise SchemaError(f"{f.name} changes the shape of its result, of which a formula therefore can save no facts")
    told = [f'"{f.name}"', node, _inplace_maker(plan)]
    save = _save(plan, inplace=True)
    alone = save == ["    node.saved_self = SavedVariable(self.clone())\n"]
    told += ["save=old_self"] if alone else []
    told += ["keep=new_self"] if plan.results else []
    told += ["history=turn_history"] if Tag.inplace_view in f.tags else []
    told += ["real_or_complex=True"] if Tag.no_integer_history in f.tags else []
    row = f"(AUTOGRAD, {', '.join(told)})\n"
    if alone or not save:
        return f"in_place{row}"
    declared, _ = _signature(f)
    edges = [f"edge_{a.name}" for a in plan.arguments]
    used = "".join(save)
    taken = [edge if re.search(rf"\b{edge}\b", used) else "_" for edge in edges]
    if set(taken) != {"_"}:
        save.insert(0, f"    {', '.join(taken)} = node.next_edges\n")
    return f"@in_place_saving{row}def {f.identifier}(node: Any, {declared}) -> None:\n{''.join(save)}"


def _inplace_maker(plan: _Plan) -> str:
    """`alone_of_one`: what makes the kernel of an in-place operator, by which of how many arguments have gradients."""
    arguments = plan.f.schema.arguments
    positions = tuple(arguments.index(a) for a in plan.arguments)
    many = in_words(len(arguments))
    kind = KINDS.get((positions, any(a.type.is_optional for a in plan.arguments)))
    maker, makers = f"{kind}_of_{many}", _makers()
    if maker not in makers:
        concerned = " and ".join(
            f"{a.type} {a.name} (number {position})" for a, position in zip(plan.arguments, positions, strict=True)
        )
        raise SchemaError(
            f"{plan.f.name} has gradients for {concerned} of {many}: {MAKERS.name} has no maker for these; "
            f"it has {', '.join(makers)}, which {Path(__file__).name} chooses by KINDS"
        )
    return maker


@cache
def _makers() -> tuple[str, ...]:
    """The functions of autograd/in_place.py, read without importing it (it lies above this layer)."""
    return tuple(re.findall(r"^def (\w+)", MAKERS.read_text(encoding="utf-8"), re.MULTILINE))
