"""Does an operator return on fake tensors what it returns on real ones, but for the elements?

Mirrors: torch/_subclasses/fake_utils.py (CrossRefFakeMode, MetadataMismatchError), torch/_prims_common/__init__.py
    (compare_tensor_meta)
Differs: one table says what is compared. Sizes are numbers: an operator whose results depend on elements is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch._subclasses.errors import UnsupportedFakeTensorException
from glasstorch._subclasses.fake_tensor import LIFT_FRESH, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.core.keys import DispatchKey
from glasstorch.core.layout import strided
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, MISSING, choose


class MetadataMismatchError(RuntimeError):
    """A result on fake tensors differs from that on real ones in more than its elements."""


# What is compared, in this order: the words of the error, and what a tensor has.
METADATA: Final[tuple[tuple[str, Callable[[Any], Any]], ...]] = (
    ("Shapes {} and {} are not equal!", lambda t: t.shape),
    ("Dtypes {} and {} are not equal!", lambda t: t.dtype),
    ("Devices {} and {} are not equal!", lambda t: t.device),
    ("Layouts {} and {} are not equal!", lambda t: t.layout),
    (" mismatched storage offset", lambda t: t.storage_offset()),  # PyTorch's words have the blank
    ("Conj mismatch! is_conj is set to {} and {}", lambda t: t.is_conj()),
    ("Neg mismatch! is_neg is set to {} and {}", lambda t: t.is_neg()),
)


class CrossRefFakeMode(TorchDispatchMode):
    """Runs each call of an operator on fake tensors too, and compares all but elements.

    `ignore_op_fn` leaves operators out. `only_check_ops_with_meta` leaves out those that have no kernel for the device
    meta; without it they raise UnsupportedOperatorException. `check_strides` and `check_aliasing` say whether strides
    are compared, and which results share memory with arguments and with each other. MetadataMismatchError names what
    differs.
    """

    def __init__(
        self,
        ignore_op_fn: Callable[[Operator], bool] | None = None,
        *,
        check_strides: bool = True,
        check_aliasing: bool = True,
        only_check_ops_with_meta: bool = True,
    ) -> None:
        super().__init__()
        self.ignore_op_fn = ignore_op_fn or (lambda func: False)
        self.check_strides = check_strides
        self.check_aliasing = check_aliasing
        self.only_check_ops_with_meta = only_check_ops_with_meta

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self._is_compared(func):
            return func(*args, **kwargs)
        try:
            with FakeTensorMode() as mode:
                given = tree_map(lambda x: mode.from_tensor(x) if isinstance(x, Tensor) else x, (tuple(args), kwargs))
                faked = func(*given[0], **given[1])
        except UnsupportedFakeTensorException:
            return func(*args, **kwargs)
        context = f"When comparing the output of {func} on FakeTensor and concrete Tensors, found"
        result = func(*args, **kwargs)
        self._compare(context, (result, (args, kwargs)), (faked, given))
        return result

    def _is_compared(self, func: Operator) -> bool:
        words = {*map(str, func.words)}
        if self.ignore_op_fn(func) or func.name in NOT_COMPARED or words & SIZES_UNKNOWN:
            return False
        return not self.only_check_ops_with_meta or choose(func, DispatchKey.Meta).rule not in (
            BACKEND_FALLBACK,
            MISSING,
        )

    def _compare(self, context: str, real: tuple[Any, Any], fake: tuple[Any, Any]) -> None:
        results, fakes = tree_leaves(real[0]), tree_leaves(fake[0])
        if len(results) != len(fakes):
            raise AssertionError(f"{context} mismatch in number of returns {len(fakes)} != {len(results)}")
        if self.check_aliasing:
            _compare_aliasing(context, real, fake)
        for place, (one, other) in enumerate(zip(results, fakes, strict=True)):
            if isinstance(one, Tensor) != isinstance(other, Tensor):
                raise AssertionError(f"{context} mismatched number of tensor outputs")
            if not isinstance(one, Tensor):
                continue
            which = "" if len(results) == 1 else f" for output[{place}]"
            if one.requires_grad != other.requires_grad:
                raise MetadataMismatchError(
                    f"{context} mismatched requires_grad-ness of outputs{which}. The result of the kernel itself "
                    f"{'requires' if one.requires_grad else 'does not require'} grad: its gradient is registered at "
                    f"another key than Autograd"
                )
            if difference := self._difference(one, other):
                raise MetadataMismatchError(f"{context} mismatched tensor metadata{which}: {difference}")

    def _difference(self, one: Tensor, other: Tensor) -> str:
        """What two tensors do not have in common but should, in words; empty if there is nothing."""
        for words, of in METADATA:
            if of(one) != of(other):
                return words.format(of(one), of(other))
        if self.check_strides and one.layout is strided and one.numel():
            strides = zip(one.stride(), other.stride(), one.shape, strict=True)
            for dim, (mine, yours, size) in enumerate(strides):
                if size > 1 and mine != yours:
                    return f"Stride mismatch! Strides are {one.stride()} and {other.stride()} (mismatched at {dim})!"
        return ""


# They take a tensor that is not fake, or replace a storage.
NOT_COMPARED: Final = (*(f"{LIFT_FRESH}{form}" for form in ("", "_copy")), "aten::set_.source_Storage_storage_offset")
SIZES_UNKNOWN: Final = frozenset(("dynamic_output_shape", "inplace_view", "data_dependent_output"))


def _compare_aliasing(context: str, real: tuple[Any, Any], fake: tuple[Any, Any]) -> None:
    for name, check in ALIASING.items():
        mine, yours = check(*fake), check(*real)
        if mine != yours:
            raise MetadataMismatchError(f"{context} mismatch in {name} check {mine} != {yours}")


def outputs_alias_inputs(outputs: Any, inputs: Any) -> bool:
    """Whether a result shares its memory with an argument."""
    return not _memories(outputs).isdisjoint(_memories(inputs))


def outputs_are_inputs(outputs: Any, inputs: Any) -> bool:
    """Whether a result is an argument."""
    given = {id(t) for t in _tensors(inputs)}
    return any(id(t) in given for t in _tensors(outputs))


def output_alias_each_other(outputs: Any) -> bool:
    """Whether two results share their memory."""
    memories = [m for t in _tensors(outputs) for m in _memories(t)]
    return len({*memories}) < len(memories)


ALIASING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "outputs_alias_inputs": outputs_alias_inputs,
    "outputs_are_inputs": outputs_are_inputs,
    "outputs_alias_each_other": lambda outputs, inputs: output_alias_each_other(outputs),
}


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _memories(tree: Any) -> set[int]:
    """The storages of all tensors, as numbers; sparse tensors have none."""
    return {id(t.untyped_storage()) for t in _tensors(tree) if t.layout is strided}
