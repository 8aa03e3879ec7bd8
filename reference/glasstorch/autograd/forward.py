"""How do tangents travel along with a computation?

Mirrors: the parts of torch/csrc/autograd/generated/VariableType_*.cpp that compute forward gradients
Differs: a hop of its own, in front of the autograd kernel: Note [Tangents].

# Note [Tangents]
In forward mode a tensor carries a tangent: the derivative of its value along one direction of the inputs. PyTorch's
autograd kernels ask at each call whether an argument has one. Here the question costs nothing outside of a
`dual_level`: inside one, the included keys contain the mark DUAL, as those of a profile contain RECORDED, and such a
set finds the entry that is made here. Where an autograd kernel is next, the entry lets it compute the result, and then
applies the operator's rule; a kernel above it, or one that is composed of other operators, runs as always, and the
operators that it calls find their own entries.

A rule's own computations are not followed at the level of the call; levels of `func` outside of it follow them. The
graph records them, so that tangents can be differentiated backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.forward_table import RULES, Rule
from glasstorch.autograd.graph import grad
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.records_nothing import NOTHING_RECORDED
from glasstorch.autograd.records_parts import PARTS_RECORDED
from glasstorch.autograd.tangents import keep, set_tangent, tangent_of
from glasstorch.core import hooks
from glasstorch.core.dtype import FLOATING
from glasstorch.core.keys import DUAL, WRAPPED, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys, compute_keys
from glasstorch.dispatch.operator import Boxed, Operator, keys_of, registry, tensors_of
from glasstorch.dispatch.resolve import AUTOGRAD_KEYS, MATH_KERNEL, resolve
from glasstorch.operators.generated import functions as f
from glasstorch.operators.generated.registry import OPERATORS

MADE_FOR_ALL = (NOTHING_RECORDED, PARTS_RECORDED)
_functional = {row.name: row.functional for row in OPERATORS if row.functional}


def forward(operator: Operator, keys: int) -> Boxed:
    """The table's entry for calls with the mark: see Note [Tangents]."""
    rest = keys & ~DUAL
    resolution = resolve(operator, rest)
    entry = resolution.entry if registry.wrap is None else registry.wrap(operator, resolution)
    choice = resolution.choice
    if choice.key not in AUTOGRAD_KEYS or choice.rule == MATH_KERNEL or choice.kernel in MADE_FOR_ALL:
        return entry
    name = operator.qualified_overload
    found = RULES.get(name) or RULES.get(functional_name(name))
    has_formula = operator.has_kernel_for(DispatchKey.Autograd)

    def with_tangents(keys: int, *arguments: Any) -> Any:
        if all(tangent_of(tensor) is None for tensor in tensors_of(arguments)):
            return entry(rest, *arguments)
        if found is not None:
            return Call(operator, found, arguments).run(entry, rest)
        if has_formula:
            raise not_implemented(name)
        return entry(rest, *arguments)

    return with_tangents


def functional_name(name: str) -> str:
    """`add.Tensor` of `add_.Tensor` and of `add.out`: the operator whose rule its forms share."""
    base, dot, overload = name.partition(".")
    return _functional.get(name) or f"{base.removesuffix('_')}{dot}{overload}"


def not_implemented(name: str) -> NotImplementedError:
    """PyTorch's words for an operator without a rule."""
    return NotImplementedError(
        f"Trying to use forward AD with {name.partition('.')[0]} that does not support it because it has not been "
        f"implemented yet."
    )


def no_forward_gradient(form: str) -> NotImplementedError:
    """PyTorch's words for a result with a tangent that is to be written to out=."""
    return NotImplementedError(
        f"Trying to use forward AD with {form.partition('.')[0]}_out that does not support it because it is an out= "
        f"function"
    )


class Call:
    """One call of an operator whose arguments have tangents."""

    def __init__(self, operator: Operator, rule: Rule, arguments: Sequence[Any]) -> None:
        self.operator, self.rule, self.arguments = operator, rule, arguments
        self.places = [i for i, a in enumerate(operator.schema.arguments) if a.name in rule.arguments]
        self.tangents = [self.tangents_at(i) for i in self.places]

    def tangents_at(self, place: int) -> Any:
        """The tangent of an argument, None or zeros where it has none; of a list, those of its tensors."""
        value = self.arguments[place]
        if self.rule.lacks:
            return tangent_of(value)
        if value is None or isinstance(value, TensorImpl):
            return value if value is None else self.tangent_or_zeros(value)
        return [self.tangent_or_zeros(tensor) for tensor in value]

    @staticmethod
    def tangent_or_zeros(tensor: Any) -> Tensor:
        found = tangent_of(tensor)
        return f.zeros_like(tensor.detach()) if found is None else found

    def run(self, entry: Boxed, keys: int) -> Any:
        """The result, with its tangent."""
        schema = self.operator.schema
        if schema.is_out:
            raise no_forward_gradient(self.operator.qualified_overload)
        included, allowed = active_keys.get()
        token = active_keys.set((included & ~DUAL, allowed))
        try:
            return self.in_place(entry, keys) if schema.is_inplace else self.out_of_place(entry, keys)
        finally:
            active_keys.reset(token)

    def out_of_place(self, entry: Boxed, keys: int) -> Any:
        result = entry(keys, *self.arguments)
        results = result if isinstance(result, tuple | list) else (result,)
        function = self.rule.function
        if self.rule.transposed:
            tangents = self.transpose(entry, keys)
            tangents = tangents if isinstance(result, tuple | list) else tangents[0]
        elif function is None:
            tangents = self.of_tangents(self.operator)
        elif len(self.operator.schema.returns) > 1:
            tangents = function(*self.arguments, *result, *self.tangents)
        else:
            tangents = function(*self.arguments, result, *self.tangents)
        for one, tangent in zip(results, tangents if isinstance(result, tuple | list) else (tangents,), strict=True):
            if tangent is not None:
                tangent = tangent.clone() if any(tangent is own for own in self.tangents) else tangent
                set_tangent(one, self.like(one, tangent))
        self.hand_to_node(results)
        return result

    def in_place(self, entry: Boxed, keys: int) -> Any:
        changed = self.arguments[0]
        arguments = list(self.arguments)
        if "self" in self.rule.uses:
            arguments[0] = changed.clone()
        function, old = self.rule.function, tangent_of(changed)
        if self.rule.transposed:
            functional = registry.find(f"aten::{functional_name(self.operator.qualified_overload)}").table[keys]
            (tangent,) = self.transpose(functional, keys)
            tangent = f.zeros_like(changed.detach()) if tangent is None else tangent
            result = entry(keys, *self.arguments)
            set_tangent(changed, tangent, in_place=True)
            self.hand_to_node([changed])
            return result
        tangent = old
        if function is None and old is None:
            tangent = self.of_tangents(registry.find(f"aten::{functional_name(self.operator.qualified_overload)}"))
        result = entry(keys, *self.arguments)
        if function is not None:
            # The rule may save the old tangent, which is about to be written to.
            tangents = [one if old is None or one is not old else old.clone() for one in self.tangents]
            tangent = self.like(changed, function(*arguments, changed, *tangents))
        elif old is not None:
            self.of_tangents(self.operator)
        assert tangent is not None
        set_tangent(changed, tangent, in_place=True)
        self.hand_to_node([changed])
        return result

    def like(self, result: Tensor, tangent: Tensor) -> Tensor:
        """A tangent of the result's size and dtype, which one lacks that does not depend on all arguments."""
        if not self.rule.lacks:
            return tangent
        tangent = tangent if tangent.dtype is result.dtype else tangent.to(result.dtype)
        return tangent if tangent._shape == result._shape else tangent.expand(result._shape)

    def of_tangents(self, operator: Operator) -> Any:
        """A linear operator, of the tangents in place of the tensors."""
        arguments = list(self.arguments)
        for place, tangent in zip(self.places, self.tangents, strict=True):
            arguments[place] = tangent
        return operator.redispatch(compute_keys(keys_of(arguments)), *arguments)

    def transpose(self, entry: Boxed, keys: int) -> list[Any]:
        """The tangents of the results, from the backward pass.

        The gradients of the arguments are linear in those of the results, `starts`. So we want the gradient
        of `<gradients(starts), tangents>` with respect to `starts`.
        """
        recorded = grad_mode.get()
        token = grad_mode.set(True)
        try:
            arguments, sources, tangents = self.with_sources()
            made = entry(keys, *arguments)
            results = made if isinstance(made, tuple | list) else (made,)
            outputs = [one for one in results if one is not None and one.requires_grad]
            if not outputs or not sources:
                return [None] * len(results)
            starts = [hooks.required(f.zeros_like(one.detach())) for one in outputs]
            gradients = grad(outputs, sources, starts, create_graph=True, allow_unused=True)
            pairs = [(g, t) for g, t in zip(gradients, tangents, strict=True) if g is not None and g.requires_grad]
            if not pairs:
                return [None] * len(results)
            products, along = zip(*pairs, strict=True)
            found = grad(products, starts, along, create_graph=recorded, allow_unused=True)
        finally:
            grad_mode.reset(token)
        by_output = {id(one): tangent for one, tangent in zip(outputs, found, strict=True)}
        return [by_output.get(id(one)) for one in results]

    def with_sources(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The arguments, with tensors that gradients can be asked for; those of them with a tangent; the tangents.

        The others are copies: the operator may write to them, as to running statistics, which it has done once.
        """
        arguments: list[Any] = list(self.arguments)
        for place, value in enumerate(arguments):
            if isinstance(value, Tensor) and place not in self.places:
                arguments[place] = f.clone(value)
        sources: list[Any] = []
        tangents: list[Any] = []
        for place in self.places:
            value = arguments[place]
            if value is None or (isinstance(value, TensorImpl) and tangent_of(value) is None):
                continue
            several = isinstance(value, list | tuple)
            sought = [_sought(one) for one in (value if several else [value])]
            arguments[place] = sought if several else sought[0]
            for one, own in zip(sought, value if several else [value], strict=True):
                if (tangent := tangent_of(own)) is not None:
                    sources.append(one)
                    tangents.append(tangent)
        return arguments, sources, tangents

    def hand_to_node(self, results: Sequence[Any]) -> None:
        """Give the results that a node has saved, which it keeps without their history, their tangents too."""
        for result in results:
            meta = None if result is None else result._autograd_meta
            if meta is None or meta.grad_fn is None or meta.tangent is None:
                continue
            node: Node = meta.grad_fn
            for slot in type(node).__annotations__:
                saved: Any = getattr(node, slot, None) if slot.startswith("saved_") else None
                if getattr(saved, "output_nr", -1) == meta.output_nr:
                    keep(saved.own_meta(), meta.tangent)


def _sought(tensor: Any) -> Any:
    """The tensor, or where it has no history a leaf of the same elements, whose gradient can be asked for."""
    if tensor.requires_grad or tensor.dtype.category < FLOATING:
        return tensor.view_as(tensor)
    if tensor.key_set & WRAPPED and hooks.transform_hooks is not None:
        own: Tensor = hooks.transform_hooks.without_history(tensor)
        return hooks.required(own)
    return hooks.required(tensor.detach())


registry.forward = forward
