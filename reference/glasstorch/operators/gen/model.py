"""What do the declaration files say?

Mirrors: torchgen/model.py (NativeFunction), torchgen/native_function_generation.py (autogen),
tools/autograd/load_derivatives.py
Differs: `shape:` names the operator's shape function and `doc:` its sentence of help, which PyTorch keeps elsewhere;
    `alias_of:` names the operator that a row is an alias of, where PyTorch writes a function that calls it;
    `form_tags:`, `python_function:` and `property:` hold facts that PyTorch's generators list by name.

Everything is a frozen value. Parsing a schema checks that it prints back as it was written, and every error names
the file and the line of the row that it comes from.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument, FunctionSchema, Return, Type
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.families import NAMES as FAMILIES
from glasstorch.operators.operator_row import AUTOCAST_DEVICES, CAST_POLICIES, PARTS_RECORDED

OPERATORS = Path(__file__).resolve().parents[1]
NATIVE_FUNCTIONS = OPERATORS / "native_functions.yaml"
DERIVATIVES = OPERATORS / "derivatives.yaml"

FUNCTION_KEYS = {
    *("func", "variants", "autogen", "inplace_variants", "dispatch", "alias_of", "python_module", "shape", "doc"),
    *("mirrors", "tags", "form_tags", "python_function", "property", "out", "autocast", "vmap", "inverse"),
}
COMPOSITE_KEYS = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    PARTS_RECORDED,
)
# How the library offers an operator under its name: a generated function, one written by hand, or none.
PYTHON_FUNCTIONS = ("generated", "by hand", "none")
# Who writes to out=, and what else is said of it.
OUT = re.compile(
    r"own kernel|passed on to (?P<form>\w+(\.\w+)?)|copied(, by hand)?|(passed on|composed)(, leaf)?, by hand"
    r"|composed(, cast)?(, leaf)?(, recorded)?"
)
# A form in `autogen`, where the parameters of an out= form may be named; and what stands between two forms.
FORM = re.compile(r"(?P<name>(?P<base>\w+)(\.(?P<overload>\w+))?)(\((?P<written>\w+(, \w+)*)\))?")
BETWEEN_FORMS = re.compile(r",(?![^(]*\))")
FUNCTION = re.compile(r"(\w+\.)+\w+")  # in a module, which may stand in a folder: `views.pieces.narrow`


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """One operator: its schema, how Python sees it, and its shape function."""

    schema: FunctionSchema
    variants: frozenset[str]  # of "function", "method"
    shape: str | None  # module.function in operators/shapes
    composite: tuple[str, str] | None  # (key, module.function in operators/composite) of a composite operator
    python_module: str | None  # `nn` where torch offers it in torch.nn.functional only
    doc: str
    mirrors: str
    where: str  # file:line
    functional: str | None  # of a generated in-place or out= form: the operator it was generated from
    alias_of: str | None = None  # the operator that this one is an alias of
    tags: tuple[Tag, ...] = ()  # of its form too: `inplace`, `out`
    python_function: str = "generated"  # one of PYTHON_FUNCTIONS
    attribute: str | None = None  # the attribute of a tensor that calls it
    is_assignable: bool = False  # whether that attribute may be assigned
    out: str | None = None  # of an out= form: who writes there, as OUT reads it
    has_twin: bool = False  # whether another operator has the identifier of this one after a `_`
    family: str = ""  # whose section its row stands in; of operators/families.py
    autocast: tuple[tuple[str, str], ...] = ()  # device and policy
    vmap: str | None = None  # module.function in func/rules
    inverse: str | None = None  # of a view: module.function in func

    @property
    def name(self) -> str:
        """`add.Tensor`"""
        return self.schema.qualified_name.removeprefix("aten::")

    @property
    def public_name(self) -> str:
        """What users write after `torch.`: `linalg.det` of `linalg_det`."""
        module = self.python_module
        return self.schema.name.replace("_", ".", 1) if module not in (None, "nn") else self.schema.name

    @property
    def is_inplace(self) -> bool:
        """Whether this is the in-place form that was generated for another operator."""
        return self.functional is not None and self.schema.name == self.functional.partition(".")[0] + "_"

    @property
    def is_composite_implicit(self) -> bool:
        """Whether autograd differentiates the operators it is composed of."""
        return self.composite is not None and self.composite[0] in ("CompositeImplicitAutograd", PARTS_RECORDED)

    @property
    def autograd_sees_parts(self) -> bool:
        """Whether autograd sees the operators that an out= form is made of, and not the form."""
        how, *words = str(self.out).split(", ")
        return how in ("passed on", "composed") and "leaf" not in words

    @property
    def identifier(self) -> str:
        """`add_Tensor`: the name of things that are generated for this overload."""
        return self.name.replace(".", "_")

    @property
    def table(self) -> str:
        """`_add_Tensor`: what generated code calls the operator's dispatch table."""
        return f"_{self.identifier}" + ("_table" if self.has_twin else "")


@dataclass(frozen=True, slots=True)
class Derivative:
    """The formulas of one operator: one for each differentiable argument."""

    op: str
    formulas: tuple[tuple[str, str], ...]  # argument name(s), formula
    not_differentiable: tuple[str, ...]  # results that carry no gradient, by name
    where: str
    node: str | None = None  # the node's name, where PyTorch counts rows that are not here
    refuses_complex: bool = False  # whether the formulas are for real results only
    tangents: tuple[tuple[str, str], ...] = ()  # result name(s), formula of the tangent


def python_name(name: str) -> str:
    """A name that Python allows for a function or parameter: `from` becomes `from_`."""
    return name + "_" if keyword.iskeyword(name) else name


if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeLoader
else:
    from yaml import CSafeLoader as SafeLoader  # three times faster


class LineLoader(SafeLoader):
    """Remembers on which line each mapping starts."""


def _mapping(loader: LineLoader, node: yaml.MappingNode) -> dict[str, Any]:
    seen: dict[str, Any] = {"__line__": node.start_mark.line + 1}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node)
        if key in seen:
            raise SchemaError(f"line {key_node.start_mark.line + 1}: the key {key!r} stands twice in one row")
        seen[key] = loader.construct_object(value_node, deep=True)
    return seen


LineLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put file:line in front of any SchemaError raised inside."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None


def load_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a yaml file, each with its `__line__`."""
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), LineLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise SchemaError(f"{path.name}:{line}: not valid yaml: {getattr(error, 'problem', error)}") from None
    except SchemaError as error:
        raise SchemaError(f"{path.name}: {error}") from None
    if not isinstance(rows or [], list) or not all(isinstance(row, dict) for row in rows or []):
        raise SchemaError(f"{path.name}: expected a list of rows, each beginning with '- ' and a key; got {rows!r:.80}")
    return rows or []


def sections(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a yaml file that declare something, each with the family whose section it stands in.

    `- family: pointwise` begins a section; a family has one at most, and they are in the order of their table.
    """
    family = ""
    for row in load_rows(path):
        if "family" not in row:
            yield family, row
            continue
        with located(f"{path.name}:{row['__line__']}"):
            name = row["family"]
            if name not in FAMILIES or set(row) != {"family", "__line__"}:
                raise SchemaError(
                    f"a section begins with 'family:' alone and one of {', '.join(FAMILIES)}; got "
                    f"{ {key: value for key, value in row.items() if key != '__line__'} }"
                )
            if family and FAMILIES.index(name) <= FAMILIES.index(family):
                raise SchemaError(
                    f"the section of {name} stands behind that of {family}; expected one section for each family, in "
                    f"the order of operators/families.py"
                )
        family = name


def load_functions(path: Path = NATIVE_FUNCTIONS) -> list[NativeFunction]:
    """All operators, the generated in-place and out= forms right after what they were made from."""
    functions: list[NativeFunction] = []
    seen: dict[str, str] = {}
    for family, row in sections(path):
        where = f"{path.name}:{row['__line__']}"
        with located(where):
            for function in _functions_of(row, where):
                if function.name in seen:
                    raise SchemaError(f"{function.name} is declared twice; the first is at {seen[function.name]}")
                seen[function.name] = where
                functions.append(replace(function, family=family))
    by_name = {f.name: f for f in functions}
    forms = {(f.functional, f.is_inplace): f.name for f in functions if f.functional is not None}
    taken = {named for f in functions for named in (f.schema.name, f.identifier)}
    for f in functions:
        target = OUT.fullmatch(f.out or "own kernel")
        if target is not None and target["form"] is not None and target["form"] not in by_name:
            raise SchemaError(f"{f.where}: {f.name} is passed on to {target['form']}, which is not declared")
    functions = [replace(f, has_twin=f"_{f.identifier}" in taken) for f in functions]
    return [f if f.alias_of is None else _alias(f, by_name, forms) for f in functions]


def _functions_of(row: dict[str, Any], where: str) -> Iterator[NativeFunction]:
    unknown = set(row) - FUNCTION_KEYS - {"__line__"}
    if "func" not in row or unknown:
        raise SchemaError(
            f"a row has 'func' and may have {sorted(FUNCTION_KEYS - {'func'})}; got {sorted(set(row) - {'__line__'})}"
        )
    for key, value in row.items():
        if key not in ("dispatch", "form_tags", "__line__") and not isinstance(value, str):
            raise SchemaError(f"'{key}': expected text, got {value!r}")
    schema = FunctionSchema.parse(row["func"])
    variants = frozenset(v.strip() for v in row.get("variants", "function").split(","))
    if not variants <= {"function", "method"}:
        raise SchemaError(
            f"variants of {schema.qualified_name}: expected 'function', 'method' or both, got {row['variants']!r}"
        )
    inplace_variants = frozenset(v.strip() for v in row.get("inplace_variants", "").split(",") if v.strip())
    if not inplace_variants <= variants:
        raise SchemaError(
            f"inplace_variants of {schema.qualified_name}: expected some of its variants, {sorted(variants)}, "
            f"got {row['inplace_variants']!r}"
        )
    original = row.get("alias_of")
    if original is not None and not {"dispatch", "shape", "doc"}.isdisjoint(row):
        raise SchemaError(
            f"{schema.name} is {original} under another name: it has no dispatch, shape or doc of its own"
        )
    attribute, _, assignable = row.get("property", "").partition(", ")
    if assignable not in ("", "assignable") or (assignable and not attribute):
        raise SchemaError(
            f"property of {schema.name}: expected an attribute's name, or that and ', assignable', got "
            f"{row['property']!r}"
        )
    python_function = row.get("python_function", PYTHON_FUNCTIONS[0])
    if python_function not in PYTHON_FUNCTIONS:
        raise SchemaError(
            f"python_function of {schema.name}: expected one of {', '.join(PYTHON_FUNCTIONS)}, got {python_function!r}"
        )
    tags = _tags(row["tags"]) if "tags" in row else ()
    out = row.get("out", "own kernel")
    if not OUT.fullmatch(out):
        raise SchemaError(
            f"out of {schema.name}: expected 'own kernel', 'passed on to FORM', 'copied', 'composed' (with 'cast', "
            f"'leaf', 'recorded'), or 'passed on', 'copied' or 'composed' (with 'leaf') and 'by hand'; got {out!r}"
        )
    function = NativeFunction(
        schema,
        variants,
        row.get("shape"),
        _composite(row.get("dispatch")),
        row.get("python_module"),
        " ".join(row.get("doc", "").split()),
        row.get("mirrors", ""),
        where,
        None,
        original,
        _with_form(tags, schema),
        python_function,
        attribute or None,
        bool(assignable),
        out if schema.is_out else None,
        autocast=_autocast(row["autocast"]) if "autocast" in row else (),
        vmap=_function("vmap", "func/rules", row.get("vmap")),
        inverse=_function("inverse", "func", row.get("inverse")),
    )
    yield function
    has_out = schema.is_out
    form_tags = _form_tags(row.get("form_tags"))
    for name in (n.strip() for n in BETWEEN_FORMS.split(row.get("autogen", "")) if n.strip()):
        if not (form := FORM.fullmatch(name)):
            raise SchemaError(f"autogen: expected names such as add_.Tensor or add.out(out), got {name!r}")
        name, base, overload = form["name"], form["base"], form["overload"] or ""
        written = tuple(n.strip() for n in (form["written"] or "").split(",") if n.strip())
        if base == schema.name + "_":
            derived = inplace_schema(schema, base, overload)
            seen_as = inplace_variants or variants & {"method"} or variants
        elif base == schema.name:
            derived, seen_as = out_schema(schema, overload, written), variants & {"function"}
        else:
            raise SchemaError(f"autogen of {function.name}: {name!r} is neither {schema.name}_ nor an overload of it")
        yield replace(
            function,
            schema=derived,
            variants=frozenset(seen_as),
            composite=None,
            functional=function.name,
            tags=_with_form(_inherited(tags, form_tags.pop(name, None)), derived),
            out=out if derived.is_out else None,
            autocast=(),
            vmap=None if derived.is_out else function.vmap,
            inverse=None,
        )
        has_out |= derived.is_out
    if "out" in row and not has_out:
        raise SchemaError(f"out of {schema.name}: it has no out= form")
    if form_tags:
        raise SchemaError(f"form_tags: {next(iter(form_tags))} is not a form that {function.name} generates")


def _tags(text: str) -> tuple[Tag, ...]:
    """The tags that a row lists."""
    words = [word.strip() for word in text.split(",")]
    unknown = [word for word in words if word not in Tag.__members__]
    if unknown:
        raise SchemaError(f"tags: {unknown[0]!r} is not a tag; there are {', '.join(Tag.__members__)}")
    if {Tag.inplace.name, Tag.out.name}.intersection(words):
        raise SchemaError("tags: 'inplace' and 'out' follow from the schema")
    if len(set(words)) < len(words):
        raise SchemaError(f"tags: one stands twice in {text!r}")
    return tuple(Tag[word] for word in words)


def _autocast(text: str) -> tuple[tuple[str, str], ...]:
    """The policy on each device: of `cpu fp32, cuda promote`, ("cpu", "fp32") and ("cuda", "promote")."""
    pairs = [tuple(part.split()) for part in text.split(",")]
    devices = [pair[0] for pair in pairs if len(pair) == 2 and pair[1] in CAST_POLICIES]
    if len(devices) < len(pairs) or devices != [device for device in AUTOCAST_DEVICES if device in devices]:
        raise SchemaError(
            f"autocast: expected some of {', '.join(AUTOCAST_DEVICES)}, in this order, each with one of "
            f"{', '.join(CAST_POLICIES)}; got {text!r}"
        )
    return tuple((device, policy) for device, policy in pairs)


def _function(key: str, folder: str, text: str | None) -> str | None:
    """The module and the function that a key names."""
    if text is not None and not FUNCTION.fullmatch(text):
        raise SchemaError(f"{key}: expected a module.function of {folder}, got {text!r}")
    return text


def _form_tags(rows: Any) -> dict[str, tuple[Tag, ...]]:
    """Form -> its own tags, apart from those of ours that it inherits; `none` stands for no tag."""
    if rows is None:
        return {}
    if not isinstance(rows, dict) or not all(isinstance(value, str | int) for value in rows.values()):
        raise SchemaError(f"form_tags: expected a form's name and its tags in each line, got {rows!r}")
    return {form: () if words == "none" else _tags(words) for form, words in rows.items() if form != "__line__"}


def _inherited(tags: tuple[Tag, ...], own: tuple[Tag, ...] | None) -> tuple[Tag, ...]:
    """The tags of a generated form: those of its operator except `core`, unless the row lists others.

    Those of ours are inherited either way, but not `strided_only`: it is said of a kernel.
    """
    theirs = tuple(tag for tag in tags if tag is not Tag.core and not tag.ours) if own is None else own
    return (*theirs, *(tag for tag in tags if tag.ours and tag is not Tag.strided_only))


def _with_form(tags: tuple[Tag, ...], schema: FunctionSchema) -> tuple[Tag, ...]:
    """The tags, and that of the kind of schema, in the order of the vocabulary."""
    kinds = {Tag.inplace: schema.is_inplace, Tag.out: schema.is_out}
    return tuple(tag for tag in Tag if tag in tags or kinds.get(tag, False))


def _alias(
    function: NativeFunction, by_name: dict[str, NativeFunction], forms: dict[tuple[str, bool], str]
) -> NativeFunction:
    """An operator whose kernel calls another with the same arguments. See operators/composite/aliases.py.

    It takes and gives what its original does; names of parameters, what may be left out and what must be named may
    differ. The in-place and the out= form of an alias are aliases of its original's.
    """
    named = str(function.alias_of)
    wanted = named if function.functional is None else forms.get((named, function.is_inplace), "")
    original = by_name.get(wanted)
    with located(function.where):
        if named not in by_name or by_name[named].alias_of is not None:
            raise SchemaError(f"{function.name}: expected alias_of to name an operator with a kernel, got {named}")
        if original is None:
            raise SchemaError(f"{function.name} is a form of an alias; {named} has no form of that kind")
        own, others = (
            ([a.type for a in f.schema.arguments], [r.type for r in f.schema.returns]) for f in (function, original)
        )
        if own != others:
            raise SchemaError(f"{function.name} is an alias and takes and gives other types: {original.schema}")
    return replace(
        function,
        composite=("CompositeImplicitAutograd", "aliases.same_as"),
        doc=f"`{original.public_name}` under another name. {original.doc}".strip(),
        alias_of=wanted,
    )


def _composite(dispatch: Any) -> tuple[str, str] | None:
    if dispatch is None:
        return None
    rows = [row for row in dispatch.items() if row[0] != "__line__"] if isinstance(dispatch, dict) else []
    if len(rows) != 1 or rows[0][0] not in COMPOSITE_KEYS or not FUNCTION.fullmatch(str(rows[0][1])):
        raise SchemaError(
            f"dispatch: expected one of {', '.join(COMPOSITE_KEYS)} with a module.function of "
            f"operators/composite, got {dict(rows)}"
        )
    return rows[0]


def inplace_schema(schema: FunctionSchema, name: str, overload: str) -> FunctionSchema:
    """`add(Tensor self, ...) -> Tensor` as `add_(Tensor(a!) self, ...) -> Tensor(a!)`."""
    written = Type("Tensor", "a!", ())
    first = schema.arguments[0] if schema.arguments else None
    if first is None or first.type != Type("Tensor", None, ()):
        raise SchemaError(
            f"{name}: an in-place form needs a Tensor as first argument, {schema.name} has {str(first or 'none')!r}"
        )
    arguments = (replace(first, type=written), *schema.arguments[1:])
    return FunctionSchema(None, name, overload, arguments, (Return(written, None),))


def out_schema(schema: FunctionSchema, overload: str, names: tuple[str, ...] = ()) -> FunctionSchema:
    """`add(...) -> Tensor` as `add.out(..., *, Tensor(a!) out) -> Tensor(a!)`; several results have their names.

    `names`, if given, are those of the parameters that are written to; where they are the names of the results, only
    the parameters have them. As in PyTorch, a factory's out= form drops dtype, layout, device and pin_memory: the out
    tensor has them.
    """
    if names and len(names) != len(schema.returns):
        raise SchemaError(f"{schema.name}.{overload}: {len(schema.returns)} results are written to {', '.join(names)}")
    unnamed = len(schema.returns) == 1 or names == tuple(result.name for result in schema.returns)
    names = names or tuple(
        "out" if len(schema.returns) == 1 else (result.name or f"out{i}") for i, result in enumerate(schema.returns)
    )
    outs, returns = [], []
    for i, (result, name) in enumerate(zip(schema.returns, names, strict=True)):
        written = Type("Tensor", f"{'abcdefgh'[i]}!", ())
        outs.append(Argument(written, name, None, True))
        returns.append(Return(written, None if unnamed else result.name))
    options = ("dtype", "layout", "device", "pin_memory") if schema.is_factory else ()
    kept = tuple(a for a in schema.arguments if a.name not in options)
    return FunctionSchema(None, schema.name, overload, (*kept, *outs), tuple(returns))


def result_names(schema: FunctionSchema) -> tuple[str, ...]:
    """The names of the results in formulas: `result`, or the names in the schema."""
    if len(schema.returns) == 1:
        return ("result",)
    return tuple(r.name or f"result{i}" for i, r in enumerate(schema.returns))


# Values in place of formulas: the derivative, or that of a backward operator, is not implemented.
NOT_IMPLEMENTED = ("derivative", "second derivative")


def load_derivatives(functions: list[NativeFunction], path: Path = DERIVATIVES) -> dict[str, Derivative]:
    """Operator name -> its formulas; a formula for an argument that does not exist is refused."""
    return {op: row for op, row in _derivative_rows(functions, path).items() if isinstance(row, Derivative)}


def load_not_implemented(functions: list[NativeFunction], path: Path = DERIVATIVES) -> dict[str, str]:
    """Name of an operator without an implemented derivative -> one of NOT_IMPLEMENTED."""
    return {op: row for op, row in _derivative_rows(functions, path).items() if isinstance(row, str)}


def _derivative_rows(functions: list[NativeFunction], path: Path) -> dict[str, Derivative | str]:
    """Operator name -> its row."""
    by_name = {f.name: f for f in functions}
    rows: dict[str, Derivative | str] = {}
    locations: dict[str, str] = {}
    for family, row in sections(path):
        where = f"{path.name}:{row.pop('__line__')}"
        with located(where):
            op = row.pop("op", None)
            if op not in by_name:
                raise SchemaError(f"'op: {op}' is not declared in {NATIVE_FUNCTIONS.name}")
            if op in rows:
                raise SchemaError(f"{op} has formulas already, at {locations[op]}")
            if family != by_name[op].family:
                raise SchemaError(
                    f"{op} stands in the section of {family or 'no family'}; it is declared in that of "
                    f"{by_name[op].family or 'no family'}"
                )
            locations[op] = where
            missing = row.pop("not_implemented", None)
            rows[op] = _derivative(by_name[op], row, where) if missing is None else _refusal(op, missing, row)
    return rows


def _refusal(op: str, kind: Any, others: dict[str, Any]) -> str:
    if others:
        raise SchemaError(f"{op} is not implemented and has no {next(iter(others))!r} besides")
    if kind not in NOT_IMPLEMENTED:
        raise SchemaError(f"not_implemented of {op}: expected one of {', '.join(NOT_IMPLEMENTED)}, got {kind!r}")
    return str(kind)


def _derivative(function: NativeFunction, row: dict[str, Any], where: str) -> Derivative:
    op, schema = function.name, function.schema
    not_differentiable = tuple(n.strip() for n in str(row.pop("not_differentiable", "")).split(",") if n.strip())
    node = row.pop("node", None)
    of_complex = row.pop("complex", None)
    if of_complex not in (None, "refused"):
        raise SchemaError(f"complex of {op}: expected 'refused', or no such line, got {of_complex!r}")
    unknown = [n for n in not_differentiable if n not in result_names(schema)]
    if unknown:
        raise SchemaError(f"{op} has no result {unknown[0]!r}; it has {', '.join(result_names(schema))}")
    names, results = {a.name for a in schema.arguments}, ("result", *result_names(schema))
    tangents = tuple((k, str(row.pop(k))) for k in list(row) if k.partition(",")[0].strip() in results)
    for key, known in [(k, names) for k in row] + [(k, set(results)) for k, _ in tangents]:
        missing = [n for n in (part.strip() for part in key.split(",")) if n not in known]
        if missing:
            raise SchemaError(f"{op} has no argument {missing[0]!r}; it is {schema}")
    formulas = tuple((k, str(v)) for k, v in row.items())
    return Derivative(op, formulas, not_differentiable, where, node, of_complex == "refused", tangents)
