"""How is a function written that packs its inputs or its results?

Mirrors: torch/fx/graph.py (_PyTreeCodeGen, _BoxedCodeGen)

A graph has a flat list of inputs and one output. A function that was traced with containers takes them apart first and
puts its results together at the end; a boxed function takes one list, and empties it, so that the inputs can be freed
as soon as they have been used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch.core.pytree import arg_tree_leaves, tree_unflatten
from glasstorch.core.pytree_spec import TreeSpec
from glasstorch.fx._codegen import INDENT, CodeGen, lines_of
from glasstorch.fx.node import Argument


class _PyTreeInfo(NamedTuple):
    """How arguments are taken apart and results put together."""

    orig_args: list[str]  # the names of the function's parameters
    in_spec: TreeSpec
    out_spec: TreeSpec | None


class _BoxedCodeGen(CodeGen):
    """Writes a function that takes a list of its arguments, and clears it."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """A head with the one parameter `args_list`, and lines that give its items their names."""
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        names = [text.split(":")[0].split("=")[0].strip() for text in free_vars if text != "self"]
        if names:
            taken = [f"{name} = next(args_iter)" for name in names]
            head += "".join(
                f"\n{INDENT}{line}" for line in ["args_iter = iter(args_list)", *taken, "args_list.clear()"]
            )
        return head


class _PyTreeCodeGen(CodeGen):
    """Writes a function whose parameters are containers, and whose result may be one."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of all arguments."""
        return arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        """The results, put together."""
        if self.pytree_info.out_spec is None:
            return out
        return tree_unflatten(out if isinstance(out, list | tuple) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """A head with the parameters of the traced function, and a line that takes them apart."""
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def([*names], maybe_return_annotation, expanded_def=expanded_def)
        return head + self.gen_var_bindings(names, free_vars, expanded_def) if free_vars else head

    def gen_var_bindings(self, fn_args: list[str], free_vars: list[str], expanded_def: bool) -> str:
        """The line that takes the parameters apart; annotations of the parts, which it cannot have, stand above it."""
        spec = self.pytree_info.in_spec
        packed = f"[{', '.join(fn_args)}], self._in_spec"
        if _has_keywords(spec):
            count = spec.child(0).num_children
            positional = self.pytree_info.orig_args[:count]
            by_name = zip(spec.child(1).context, self.pytree_info.orig_args[count:], strict=False)
            keywords = ", ".join(f"'{key}':{value}" for key, value in by_name)
            packed = f"([{', '.join(positional)}], {{{keywords}}}), self._in_spec"
        plain = [text.split(":")[0].split("#")[0] for text in free_vars]
        taken = f"\n{INDENT}{', '.join(plain)}, = fx_pytree.tree_flatten_spec({packed})"
        return self._annotations(free_vars, expanded_def) + taken

    def _annotations(self, free_vars: list[str], expanded_def: bool) -> str:
        annotated = [text for text in free_vars if ":" in text]
        if not annotated:
            return ""
        if expanded_def:
            return "".join(f"\n{INDENT}{text}" for text in annotated)
        return f"\n{INDENT}" + "".join(f"{text}; " for text in annotated) + "\n"

    def generate_output(
        self,
        output_args: Argument,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """A return statement that puts the results together."""
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        written = repr if repr_fn is None else repr_fn
        packing = "return pytree.tree_unflatten("
        if descs is None or not isinstance(output_args, list | tuple):
            return f"{packing}{written(output_args)}, self._out_spec)"
        return f"{lines_of(output_args, descs, packing, written)}, self._out_spec)"


def _has_keywords(spec: TreeSpec) -> bool:
    """Whether a specification is that of a pair of positional and keyword arguments."""
    return spec.type is tuple and spec.num_children == 2 and spec.child(0).type is tuple and spec.child(1).type is dict
