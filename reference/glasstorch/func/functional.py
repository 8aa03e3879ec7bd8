"""How are Jacobians, Hessians and products with them computed by backward passes alone?

Mirrors: torch/autograd/functional.py, which `glasstorch.autograd.functional` is the path of
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd import forward_ad
from glasstorch.autograd.graph import grad
from glasstorch.autograd.modes import enable_grad, is_grad_enabled, set_grad_enabled
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.func.transforms import basis
from glasstorch.func.transforms import grad as gradient_of
from glasstorch.func.vmap import vmap
from glasstorch.operators.generated import functions as f

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]
STRATEGIES = ("forward-mode", "reverse-mode")
ROWS = 64  # of a Jacobian, whose first gradients are made together
OUTPUTS = "outputs of the user-provided function"


def as_tensors(value: Any, name: str, function: str) -> tuple[bool, Tensors]:
    """Whether it is a tuple, and its tensors; TypeError for anything else."""
    several = isinstance(value, tuple)
    for i, one in enumerate(value if several else (value,)):
        if not isinstance(one, Tensor):
            which = f"value at index {i} has type {type(one)}" if several else f"given {name} has type {type(one)}"
            raise TypeError(
                f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the {which}."
            )
    return several, value if several else (value,)


def prepared(tensors: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """The inputs as the function is given them: views with a history, or leaves of their own."""
    return tuple(
        one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_(need_graph)
        for one in tensors
    )


def released(tree: Any, create_graph: bool) -> Any:
    """The results, without their history unless a graph was asked for."""
    if create_graph:
        return tree
    return tuple(released(one, create_graph) for one in tree) if isinstance(tree, tuple) else tree.detach()


def one_or_all(results: Any, several: bool) -> Any:
    """The only result, or all of them."""
    return results if several else results[0]


def gradients(
    outputs: Sequence[Any], inputs: Tensors, starts: Sequence[Any] | None, create_graph: bool, **more: Any
) -> Any:
    """As `grad`, of those outputs that have a history; None for an input that they do not depend on."""
    given = [None] * len(outputs) if starts is None else starts
    pairs = [(o, s) for o, s in zip(outputs, given, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [o for o, _ in pairs], inputs, [s for _, s in pairs], allow_unused=True, create_graph=create_graph, **more
    )


def check_v(v: Tensors, others: Tensors, several: bool) -> None:
    """RuntimeError unless there is a vector for each of the others, of its size."""
    if len(v) != len(others):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(others)} but got {len(v)}."
            if several
            else "The given v should contain a single Tensor."
        )
    for i, (one, other) in enumerate(zip(v, others, strict=True)):
        if one.size() != other.size():
            where = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{where}v has invalid size: should be {other.size()} but got {one.size()}.")


WITHOUT_HISTORY = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {} is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
    "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example).",
    "hessian": "The hessian of the user-provided function with respect to input {} is independent of the input. This "
    "is not allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian "
    "depends on the inputs.",
}
UNCONNECTED = {
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to replace forward mode "
    "AD.",
}


def check_history(tensors: Sequence[Any], kind: str, strict: bool) -> None:
    """In strict mode, RuntimeError for a tensor that depends on nothing."""
    if not strict:
        return
    for i, one in enumerate(tensors):
        if one is None:
            raise RuntimeError(UNCONNECTED["back"].format(i))
        if not one.requires_grad:
            raise RuntimeError(WITHOUT_HISTORY[kind].format(i))


def filled(grads: Sequence[Any], like: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """The gradients, zeros where there are none; in strict mode RuntimeError."""
    result = []
    for i, found in enumerate(grads):
        if found is None:
            if strict:
                raise RuntimeError(UNCONNECTED[stage].format(i))
            found = f.zeros_like(like[i])
        elif strict and create_graph and not found.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict "
                f"mode when create_graph=True."
            )
        result.append(found)
    return tuple(result)


def _vector(v: Any, others: Tensors, several: bool, function: str, create_graph: bool, missing: str) -> Tensors | None:
    """The given vectors, checked; None where a single element stands for itself."""
    if v is None:
        if len(others) != 1 or others[0].nelement() != 1:
            raise RuntimeError(missing)
        return None
    _, vectors = as_tensors(v, "v", function)
    vectors = prepared(vectors, create_graph, need_graph=False)
    check_v(vectors, others, several)
    return vectors


def _given(inputs: Any, function: str, create_graph: bool) -> tuple[bool, Tensors]:
    """Whether the inputs are a tuple, and those that the function is called with; TypeError for what is no tensor."""
    several, tensors = as_tensors(inputs, "inputs", function)
    return several, prepared(tensors, create_graph, need_graph=True)


def _returned(func: Callable[..., Any], inputs: Tensors, function: str, strict: bool) -> tuple[bool, Tensors]:
    """Whether the outputs are a tuple, and the outputs; in strict mode RuntimeError for one without a history."""
    several, outputs = as_tensors(func(*inputs), OUTPUTS, function)
    check_history(outputs, "outputs", strict)
    return several, outputs


NO_INPUT_VECTOR = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of `func`, and the product of the vector v with its Jacobian: of the inputs' sizes.

    With `create_graph` both can be differentiated. With `strict`, an output that does not depend on an input is an
    error instead of a product of zeros.
    """
    with enable_grad():
        several, inputs = _given(inputs, "vjp", create_graph)
        several_out, outputs = _returned(func, inputs, "vjp", strict)
        missing = (
            "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
        )
        vectors = _vector(v, outputs, several_out, "vjp", create_graph, missing)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = filled(gradients(outputs, inputs, vectors, create_graph), inputs, strict, create_graph, "back")
    return one_or_all(released(outputs, create_graph), several_out), one_or_all(released(found, create_graph), several)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The outputs of `func`, and the product of its Jacobian with the vector v: of the outputs' sizes.

    It takes two backward passes, as a gradient is linear in the gradient that it starts from; forward mode
    (`func.jvp`) needs one pass.
    """
    with enable_grad():
        several, inputs = _given(inputs, "jvp", create_graph)
        vectors = _vector(v, inputs, several, "jvp", create_graph, NO_INPUT_VECTOR)
        several_out, outputs = _returned(func, inputs, "jvp", strict)
        starts = tuple(f.zeros_like(one, requires_grad=True) for one in outputs)
        grad_inputs = gradients(outputs, inputs, starts, create_graph=True)
        check_history(grad_inputs, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(grad_inputs, starts, vectors, create_graph)
        found = filled(found, outputs, strict, create_graph, "back_trick")
    return (
        one_or_all(released(outputs, create_graph), several_out),
        one_or_all(released(found, create_graph), several_out),
    )


def _scalar(func: Callable[..., Any], inputs: Tensors, function: str, strict: bool) -> Tensor:
    """The only element that a function returns."""
    several, outputs = _returned(func, inputs, function, strict)
    if several:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return outputs[0]


class _OfScalar(NamedTuple):
    """What products with a Hessian begin with: the output, one element, its gradients, and the given vectors."""

    several: bool
    inputs: Tensors
    vectors: Tensors | None
    output: Tensor
    jacobian: Tensors


def _of_scalar(
    func: Callable[..., Any], inputs: Any, v: Any, function: str, create_graph: bool, strict: bool
) -> _OfScalar:
    """Check the inputs, the vectors and the output, and compute the gradients, which can be differentiated."""
    several, tensors = _given(inputs, function, create_graph)
    vectors = _vector(v, tensors, several, function, create_graph, NO_INPUT_VECTOR)
    output = _scalar(func, tensors, function, strict)
    jacobian = gradients((output,), tensors, None, create_graph=True)
    check_history(jacobian, "jacobian", strict)
    return _OfScalar(several, tensors, vectors, output, jacobian)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of `func`, one element, and the product of the vector v with its Hessian."""
    with enable_grad():
        several, inputs, vectors, output, jacobian = _of_scalar(func, inputs, v, "vhp", create_graph, strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(jacobian, inputs, vectors, create_graph)
        found = filled(found, inputs, strict, create_graph, "double_back")
    return released((output,), create_graph)[0], one_or_all(released(found, create_graph), several)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The output of `func`, one element, and the product of its Hessian with the vector v.

    The Hessian is symmetric, so that this is `vhp`, which needs one pass less.
    """
    with enable_grad():
        several, inputs, vectors, output, jacobian = _of_scalar(func, inputs, v, "hvp", create_graph, strict)
        starts = tuple(f.zeros_like(one, requires_grad=True) for one in inputs)
        twice = gradients(jacobian, inputs, starts, create_graph=True)
        check_history(jacobian, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(twice, starts, vectors, create_graph)
        found = filled(found, inputs, strict, create_graph, "double_back_trick")
    return released((output,), create_graph)[0], one_or_all(released(found, create_graph), several)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of each output with respect to each input: of the output's sizes, then the input's.

    A row at a time by a backward pass each; with `vectorize`, all at once by vmap. The strategy "forward-mode" computes
    a column at a time, and needs `vectorize`.
    """
    assert strategy in STRATEGIES, (
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
        'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
    )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _by_columns(func, inputs, strict, vectorize)
    with enable_grad():
        several, inputs = as_tensors(inputs, "inputs", "jacobian")
        inputs = prepared(inputs, create_graph, need_graph=True)
        several_out, outputs = as_tensors(func(*inputs), OUTPUTS, "jacobian")
        check_history(outputs, "outputs", strict)
        if vectorize:
            if strict:
                raise RuntimeError(
                    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                    "together. Please either set `strict=False` or `vectorize=False`."
                )
            found = _all_rows(outputs, inputs, create_graph)
        else:
            found = tuple(_rows(number, output, inputs, create_graph, strict) for number, output in enumerate(outputs))
    return _of_pairs(released(found, create_graph), several_out, several)


def _of_pairs(found: tuple[Tensors, ...], several_out: bool, several: bool) -> Any:
    """For each output and input a tensor, without the tuples around those that are one."""
    return one_or_all(tuple(one_or_all(row, several) for row in found), several_out)


def _rows(number: int, output: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of one output, by a backward pass for each element."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for root, start in _roots(output, create_graph):
        row = gradients((root,), inputs, start, create_graph, retain_graph=True)
        for place, (found, given) in enumerate(zip(row, inputs, strict=True)):
            if found is None and strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {place}. This is not "
                    f"allowed in strict mode."
                )
            if found is not None and strict and create_graph and not found.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {number}. This is not allowed "
                    f"in strict mode when create_graph=True."
                )
            columns[place].append(f.zeros_like(given) if found is None else found)
    return tuple(
        f.stack(column).view(output._shape + given._shape) for column, given in zip(columns, inputs, strict=True)
    )


def _roots(output: Tensor, create_graph: bool) -> Iterator[tuple[Tensor, Tensors | None]]:
    """For each element of an output, where its backward pass begins, and the gradient that it begins with.

    It begins at the element, with 1. Where the pass is not recorded, it may as well begin at the output, with a
    gradient of 0 but for that element, and has no node of the element on its way.
    """
    if create_graph or output.dtype.is_complex:  # of a complex output there is no gradient to begin with
        flat = output.reshape(-1)
        for i in range(output.nelement()):
            yield flat[i], None
        return
    elements = output.nelement()
    for first in range(0, elements, ROWS):
        starts = f.zeros((min(ROWS, elements - first), elements), dtype=output.dtype, device=output.device)
        starts.diagonal(first).fill_(1)
        for start in starts.view(len(starts), *output._shape).unbind(0):
            yield output, (start,)


def _all_rows(outputs: Tensors, inputs: Tensors, create_graph: bool) -> tuple[Tensors, ...]:
    """The Jacobians of all outputs, by one backward pass of a batch of gradients."""
    found = gradients(outputs, inputs, basis(outputs), create_graph, is_grads_batched=True)
    sizes = [output.nelement() for output in outputs]
    by_input = [
        (given.new_zeros((sum(sizes), *given._shape)) if rows is None else rows).split(sizes, 0)
        for rows, given in zip(found, inputs, strict=True)
    ]
    return tuple(
        tuple(parts[i].reshape(output._shape + given._shape) for parts, given in zip(by_input, inputs, strict=True))
        for i, output in enumerate(outputs)
    )


def _by_columns(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """The Jacobians in forward mode, all columns by vmap; in lists, as PyTorch returns them here."""
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    several, inputs = as_tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    shapes: list[Any] = []
    plural = False

    def push(*tangents: Tensor) -> Tensors:
        nonlocal plural
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(one, t.view_as(one)) for one, t in zip(inputs, tangents, strict=True)]
            plural, outputs = as_tensors(func(*duals), "outputs", "jacobian")
            pairs = [forward_ad.unpack_dual(one) for one in outputs]
            shapes[:] = [primal._shape for primal, _ in pairs]
            return tuple(f.zeros_like(primal) if tangent is None else tangent for primal, tangent in pairs)

    changes = vmap(push)(*basis(inputs))
    sizes = [one.nelement() for one in inputs]
    found = [
        [
            part.movedim(0, -1).reshape(tuple(shape) + given._shape)
            for part, given in zip(columns.split(sizes, 0), inputs, strict=True)
        ]
        for columns, shape in zip(changes, shapes, strict=True)
    ]
    return one_or_all(found if several else tuple(row[0] for row in found), plural)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of `func`, which returns one element: the Jacobian of its gradients."""
    several, inputs = as_tensors(inputs, "inputs", "hessian")
    assert outer_jacobian_strategy in STRATEGIES, 'Expected strategy to be either "forward-mode" or "reverse-mode".'

    def gradient(*given: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":  # inside vmap and duals, where a graph has a level of its own
            places = tuple(range(len(given)))
            return gradient_of(lambda *more: _scalar(func, more, "hessian", strict).squeeze(), places)(*given)
        found = jacobian(lambda *more: _scalar(func, more, "hessian", strict).squeeze(), given, create_graph=True)
        check_history(found, "jacobian", strict)
        return found

    found = jacobian(
        gradient,
        inputs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return found if several else found[0][0]


__getattr__ = _refuse_unknown_names(__name__)
