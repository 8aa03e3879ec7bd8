"""Does a derivative agree with finite differences?

Mirrors: torch/autograd/gradcheck.py
Differs: a function of sparse tensors is checked as one of strided leaves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.checking import analytical, numerical
from glasstorch.autograd.checking.batched import check_batched, check_batched_forward
from glasstorch.autograd.checking.comparison import Settings, Subject
from glasstorch.autograd.checking.complex_parts import check_backward, check_forward
from glasstorch.autograd.checking.sparse_inputs import check_no_sparse, is_sparse, of_leaves
from glasstorch.autograd.checking.undefined import check_undefined_backward, check_zeros
from glasstorch.autograd.checking.values import GradcheckError as GradcheckError
from glasstorch.autograd.checking.values import as_tuple, check_inputs, checked, differentiable, requires_grad
from glasstorch.autograd.graph import grad
from glasstorch.core.dtype import FLOATING, float64
from glasstorch.operators.generated.functions import empty, view_as_real

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` with central differences at the inputs that require grad.

    Every element of the Jacobians is compared, or with `fast_mode` one number of each, its product with a vector on
    either side. That takes a few calls of `func` for an input, however large it is. Each gradient is computed twice,
    and must be the same within `nondet_tol`. Undefined gradients must count as zeros. In addition are checked, where
    asked: forward mode (`check_forward_ad`), batches of gradients under vmap, and the gradients' dtypes. Inputs should
    be of float64 or complex128, or differences are mostly noise; there is a warning of others.

    Returns True, or raises GradcheckError (returns False with `raise_exception=False`).
    """
    for needs, message in (
        (
            check_forward_ad or check_backward_ad,
            "Expected at least one of check_forward_ad or check_backward_ad to be True",
        ),
        (
            check_backward_ad or not check_batched_grad,
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            check_forward_ad or not check_batched_forward_grad,
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
    ):
        if not needs:
            raise AssertionError(message)
    settings = Settings(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        inputs = as_tuple(inputs)
        if any(is_sparse(value) for value in inputs):
            func, inputs = of_leaves(func, inputs, bool(masked))
        check_inputs(inputs)
        results = func(*inputs)
        check_no_sparse(as_tuple(results))
        subject = Subject(func, inputs, as_tuple(results), differentiable(results))
        if check_backward_ad:
            check_backward(subject, settings)
        if check_forward_ad:
            check_forward(subject, settings, check_undefined_grad)
        if check_batched_forward_grad:
            check_batched_forward(func, inputs)
        if check_backward_ad:
            if check_batched_grad:
                for i, output in enumerate(subject.outputs):
                    check_batched(inputs, output, i)
            check_zeros(subject.outputs, inputs, masked)
            if check_undefined_grad:
                check_undefined_backward(func, subject.outputs, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives with finite differences of the first, as `gradcheck` does.

    The first derivatives are a function of the inputs and of `grad_outputs`, by default random numbers between -1
    and 1 (with `gen_non_contig_grad_outputs` every other element of a larger tensor). They are differentiated backward
    (`check_rev_over_rev`) and forward (`check_fwd_over_rev`).
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, asked in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if asked and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        outputs = differentiable(func(*inputs))
        given = tuple(_random_like(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        given = as_tuple(grad_outputs)
    arguments = (*inputs, *given)
    recorded = [requires_grad(value) for value in arguments]

    def first_derivatives(*values: Any) -> Any:
        # Forward mode passes duals of detached values, which are differentiated backward all the same.
        values = tuple(v.requires_grad_() if needs else v for v, needs in zip(values, recorded, strict=True))
        wanted = [v for v, needs in zip(values[: len(inputs)], recorded, strict=False) if needs]
        outputs = differentiable(func(*values[: len(inputs)]))
        found = grad(outputs, wanted, values[len(inputs) :], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_derivatives,
        arguments,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        masked=masked,
    )


def _random_like(output: Tensor, spread: bool) -> Tensor:
    """Numbers between -1 and 1 in the shape of an output; spread over every other element, if asked."""
    shape = list(output.shape)
    spread = spread and output.numel() > 1
    if spread:
        shape[-1] *= 2
    dtype = output.dtype if output.dtype.category >= FLOATING else float64
    made = empty(shape, dtype=dtype, device=output.device)
    (view_as_real(made) if made.is_complex() else made).uniform_(-1, 1)
    return (made[..., 1::2] if spread else made).requires_grad_()


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Deprecated: the Jacobian of the first output of `fn(inputs)` by differences, for each tensor of `target`."""
    _warn_deprecated("get_numerical_jacobian")
    _refuse_grad_out("get_numerical_jacobian", grad_out)
    found = numerical.jacobians(lambda *values: fn(values), inputs, None, target, eps)
    return tuple(of_outputs[0] for of_outputs in found)


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """The Jacobian of each output by differences, with respect to one input."""
    moved = inputs[input_idx] if input is None else input
    if not moved.requires_grad:
        raise AssertionError("Expected input to have requires_grad=True")
    return numerical.jacobian(fn, moved, inputs, outputs, eps, is_forward_ad)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Deprecated: the Jacobian of an output by autograd, for each input that requires grad.

    And whether it is the same when computed again, and whether the gradients' sizes and dtypes are the inputs'.
    """
    _warn_deprecated("get_analytical_jacobian")
    _refuse_grad_out("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    wanted = checked(inputs)
    first, types_fit, sizes_fit = analytical.stacked(analytical.rows(wanted, output), wanted, output.numel())
    second, _, _ = analytical.stacked(analytical.rows(wanted, output), wanted, output.numel())
    # The order of the last two is PyTorch's, whose helper returns sizes where the caller reads types.
    return tuple(first), analytical.agree(first, second, nondet_tol), types_fit, sizes_fit


def _warn_deprecated(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be "
        "a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def _refuse_grad_out(name: str, grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")
