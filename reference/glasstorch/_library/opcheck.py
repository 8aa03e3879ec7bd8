"""Is everything that an operator needs registered, and does it agree with what the operator does?

Mirrors: torch/testing/_internal/optests/generate_tests.py (opcheck), autograd_registration.py, fake_tensor.py
Differs: `test_aot_dispatch_dynamic` compiles the call for the sizes of its arguments, as the static test does.
    An operator whose results have sizes that depend on elements fails `test_faketensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from glasstorch._library.custom_ops import CustomOpDef
from glasstorch._library.schema_check import SchemaCheckMode
from glasstorch._subclasses.errors import DynamicOutputShapeException
from glasstorch._subclasses.fake_utils import CrossRefFakeMode
from glasstorch.autograd.graph import grad
from glasstorch.autograd.unregistered import mode, set_mode
from glasstorch.calls.ops import OpOverloadPacket
from glasstorch.core.pytree import tree_any_only, tree_flatten, tree_leaves, tree_map_only, tree_unflatten
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.overload import OpOverload
from glasstorch.random import manual_seed
from glasstorch.testing.comparison import assert_close


class OpCheckError(Exception):
    """A test of `opcheck` has failed."""


def _is_meta(tensor: Any) -> bool:
    return bool(tensor.is_meta)


def _copied(values: Any) -> Any:
    """The same with copies of the tensors, which have the same strides and require grad where those do."""

    def copy(tensor: Any) -> Any:
        made = tensor.detach().clone()
        return made.requires_grad_() if tensor.requires_grad else made

    return tree_map_only(TensorImpl, copy, values)


# The tests ------------------------------------------------------------------------------------------------------------


def check_schema(operator: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The operator writes to the arguments that the schema says, and its results share memory as the schema says."""
    with SchemaCheckMode():
        operator(*args, **kwargs)


def check_autograd_registration(operator: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The results require grad only where a kernel at an autograd key sees to it."""
    given = tree_leaves((args, kwargs))
    if not any(isinstance(one, TensorImpl) and one.requires_grad for one in given):
        return
    kinds = {one.device.type for one in given if isinstance(one, TensorImpl)}
    if not kinds <= {"cpu", "cuda", "xpu"}:
        raise NotImplementedError(f"autograd_registration_check: NYI devices other than CPU/CUDA/XPU, got {kinds}")
    backend = "CUDA" if "cuda" in kinds else "CPU" if "cpu" in kinds else "XPU"
    if any(operator.has_kernel_for(key) for key in (f"Autograd{backend}", "Autograd", "CompositeImplicitAutograd")):
        return
    with _fallback_mode("nothing"):
        results = operator(*args, **kwargs)
    inputs = {id(one) for one in given}
    if tree_any_only(TensorImpl, lambda tensor: tensor.requires_grad and id(tensor) not in inputs, results):
        raise AssertionError(
            f"{operator.name}: at least one output of this operator has requires_grad=True but the operator does not "
            f"have an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). Its kernel for "
            f"{backend} is recorded as if it were a function of other operators, or applies an autograd.Function, and "
            f"may give wrong gradients silently. Register the gradient with torch.library.register_autograd, or the "
            f"kernel for CompositeImplicitAutograd."
        )


@contextmanager
def _fallback_mode(wanted: str) -> Iterator[None]:
    before = mode()
    set_mode(wanted)
    try:
        yield
    finally:
        set_mode(before)


def check_fake(operator: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """There is a fake kernel, and its results are like the operator's in all but their elements."""
    try:
        with CrossRefFakeMode(lambda func: bool(func.family), only_check_ops_with_meta=False):
            operator(*args, **kwargs)
    except DynamicOutputShapeException as error:
        raise NotImplementedError(
            f"{operator}: the sizes of a result depend on elements: get_ctx().new_dynamic_size() makes a symbol, and "
            f"opcheck compares with fake tensors whose sizes are numbers"
        ) from error


def check_compiled(operator: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A call that is compiled with its gradients gives what a call gives, and so do its gradients."""
    from glasstorch.compiler.aot import aot_function
    from glasstorch.compiler.boxed import make_boxed_compiler
    from glasstorch.compiler.min_cut import min_cut_rematerialization_partition

    leaves, spec = tree_flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, TensorImpl)]

    def of_tensors(given: Sequence[Any]) -> Any:
        values = dict(zip(places, given, strict=True))
        positional, named = tree_unflatten([values.get(i, leaf) for i, leaf in enumerate(leaves)], spec)
        return operator(*positional, **named)

    boxed = make_boxed_compiler(lambda module, inputs: module)
    compiled = aot_function(of_tensors, boxed, boxed, min_cut_rematerialization_partition)
    given = [leaves[i] for i in places]
    found, wanted = _with_gradients(compiled, _copied(given)), _with_gradients(of_tensors, _copied(given))
    for what, one, other in zip(("output", "gradients"), found, wanted, strict=True):
        try:
            assert_close(one, other, equal_nan=True)
        except AssertionError as error:
            raise AssertionError(
                f"{'Outputs' if what == 'output' else 'Gradients'} of the operator are different in eager-mode PyTorch "
                f"vs AOTDispatcher tracing. This means the operator will have incorrect {what} underneath "
                f"torch.compile. {error}"
            ) from None


def _with_gradients(function: Callable[..., Any], given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The tensors that a function gives, and those of its arguments that it wrote to; and the gradients of the rest."""
    manual_seed(42)
    found: list[Any] = [one for one in tree_leaves(function(given)) if isinstance(one, TensorImpl)]
    wanted = [one for one in given if one.requires_grad and one.is_leaf]
    sums = [one.sum().abs() for one in found if one.requires_grad]
    gradients = grad(sums, wanted, allow_unused=True) if wanted and sums else []
    return [one.detach() for one in (*found, *given)], [one for one in gradients if one is not None]


ALL_TEST_UTILS: Final[dict[str, Callable[[OpOverload, tuple[Any, ...], dict[str, Any]], None]]] = {
    "test_schema": check_schema,
    "test_autograd_registration": check_autograd_registration,
    "test_faketensor": check_fake,
    "test_aot_dispatch_static": check_compiled,
    "test_aot_dispatch_dynamic": check_compiled,
}
DEFAULT_TEST_UTILS: Final = tuple(name for name in ALL_TEST_UTILS if name != "test_aot_dispatch_static")


def opcheck(
    op: OpOverload | OpOverloadPacket | CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = DEFAULT_TEST_UTILS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Test whether an operator is registered as it should be, with a call's arguments: what each test came to.

    A test that passes is "SUCCESS"; the first that fails raises an OpCheckError, or with `raise_exception=False` is in
    the result with its exception.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck(op, ...): if you specify one of rtol/atol, you must specify both")
    operator = _operator_of(op)
    if test_utils == "ALL":
        test_utils = tuple(ALL_TEST_UTILS)
    elif isinstance(test_utils, str):
        test_utils = (test_utils,)
    if not isinstance(test_utils, tuple | list) or not set(test_utils) <= set(ALL_TEST_UTILS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {tuple(ALL_TEST_UTILS)} "
            f"but it was not"
        )
    results: dict[str, Any] = {}
    for name in test_utils:
        try:
            if not tree_any_only(TensorImpl, _is_meta, (args, kwargs or {})):
                ALL_TEST_UTILS[name](operator, *_copied((args, kwargs or {})))
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results


def _operator_of(op: Any) -> OpOverload:
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverloadPacket):
        overloads = op.op_overloads()
        if len(overloads) != 1:
            raise RuntimeError(
                f"opcheck can only test operators without overloads. Got the following overloads for "
                f"{op._qualified_op_name}: {op._overload_names}"
            )
        op = overloads[0]
    if not isinstance(op, OpOverload):
        raise ValueError(
            f"opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, got "
            f"{type(op)}"
        )
    return op
