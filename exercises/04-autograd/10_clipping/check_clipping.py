"""Does the hook clip into a new tensor, and does each hook get what the hook before has left?"""

import gc
from typing import Any

import glasstorch as torch
from workbook.exercises.asking import Ask, Raises, expect

Tensor = torch.Tensor


def listed(grads: Any) -> list[Any]:
    """Gradients as numbers, None where there is none."""
    return [None if grad is None else grad.tolist() for grad in grads]


def retained(result: Tensor) -> list[float] | None:
    """The gradient that a result has retained, or None."""
    return None if result.grad is None else result.grad.tolist()


def halves() -> tuple[Tensor, Tensor]:
    """Two results of one node, each of two elements."""
    first, second = (torch.ones(4, requires_grad=True) * 1).split(2)
    return first, second


# ---- the hook ---------------------------------------------------------------------------------------------------


def test_a_long_gradient_is_scaled(ask: Ask) -> None:
    """a gradient of two rows after the hook"""
    for limit, wanted in ((1.0, [[0.6, 0.0], [0.0, 0.8]]), (2.5, [[1.5, 0.0], [0.0, 2.0]])):
        came = ask("clipping", limit)

        def scaled(hook: Any) -> list[list[float]]:
            rows = hook(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()
            return [[round(float(value), 5) for value in row] for row in rows]

        because = "the norm of all elements together is 5, and each element is multiplied by limit / 5"
        asked = f"the gradient [[3, 0], [0, 4]], clipped at {limit}"
        expect(came, wanted, read=scaled, asked=asked, because=because)


def test_a_short_gradient_stays(ask: Ask) -> None:
    """the gradient after the hook where nothing has to be clipped"""
    for values in ([0.3, 0.1], [3.0, 4.0], [0.0, 0.0]):
        came = ask("clipping", 5.0)

        def kept(hook: Any, values: list[float] = values) -> list[float]:
            grad = torch.tensor(values)
            returned = hook(grad)
            return (grad if returned is None else returned).tolist()

        because = "its norm is the limit or less; return None or the gradient, and do not divide by a norm of 0"
        asked = f"the gradient {values}, clipped at 5"
        expect(came, torch.tensor(values).tolist(), read=kept, asked=asked, because=because)


def test_no_gradient_stays_none(ask: Ask) -> None:
    """what the hook returns for None"""
    came = ask("clipping", 1.0)
    because = "None means that no gradient has arrived for this tensor, and the hook may not replace it by one"
    expect(came, None, read=lambda hook: hook(None), because=because)


def test_nobody_else_sees_it(ask: Ask) -> None:
    """the tensor that was passed to the hook, after the call"""
    came = ask("clipping", 1.0)

    def afterwards(hook: Any) -> list[float]:
        grad = torch.tensor([3.0, 4.0])
        hook(grad)
        return list(grad.tolist())

    because = "the same tensor may wait for another node, or belong to the caller of backward"
    expect(came, [3.0, 4.0], read=afterwards, because=because)


# ---- the engine's side --------------------------------------------------------------------------------------------


def test_hooks_run_in_order(ask: Ask) -> None:
    """the gradient after three hooks, one of which returns None"""
    result = torch.ones(2, requires_grad=True) * 1
    for hook in (lambda grad: grad + 1, lambda grad: None, lambda grad: grad * 10):
        result.register_hook(hook)
    came = ask("on_arrival", result.grad_fn.hooks, [torch.tensor([1.0, 2.0])])
    because = "each hook gets what the hook before has left, and a returned None leaves the gradient as it is"
    expect(came, [[20.0, 30.0]], read=listed, because=because)


def test_each_result_has_its_own_hooks(ask: Ask) -> None:
    """the gradients of two results, with a hook on the second and then one on the first"""
    first, second = halves()
    second.register_hook(lambda grad: grad * 2)
    first.register_hook(lambda grad: grad * 3)
    came = ask("on_arrival", first.grad_fn.hooks, [torch.ones(2), torch.ones(2)])
    because = "the number beside a hook says which result it belongs to"
    expect(came, [[3.0, 3.0], [2.0, 2.0]], read=listed, because=because)


def test_a_result_that_is_not_reached(ask: Ask) -> None:
    """what a hook gets if no gradient has arrived for its result"""
    first, second = halves()
    seen: list[Any] = []
    second.register_hook(seen.append)
    came = ask("on_arrival", first.grad_fn.hooks, [torch.ones(2), None])
    because = "the node runs for its other result, and this hook is called all the same, with None"
    expect(came, [None], read=lambda grads: seen, because=because)


def test_what_is_refused(ask: Ask) -> None:
    """the error for a hook that returns another size, another dtype, or no tensor"""
    for hook, accepted in (
        (lambda grad: grad.sum(), Raises(RuntimeError, "has changed the size of value")),
        (lambda grad: grad.double(), Raises(RuntimeError, "has changed the type of value")),
        (lambda grad: 0, Raises(TypeError, "expected Variable, but hook returned 'int'")),
    ):
        result = torch.ones(2, requires_grad=True) * 1
        result.register_hook(hook)
        came = ask("on_arrival", result.grad_fn.hooks, [torch.ones(2)])
        expect(came, accepted, because="the node expects the sizes, the dtype and the device of its result")


def test_a_hook_removes_itself(ask: Ask) -> None:
    """which hooks run, where the first removes itself and the one behind it"""
    result = torch.ones(2, requires_grad=True) * 1
    ran: list[str] = []
    handles: list[Any] = []

    def once(grad: Tensor) -> None:
        ran.append("first")
        for handle in handles:
            handle.remove()

    handles.append(result.register_hook(once))
    handles.append(result.register_hook(lambda grad: ran.append("second")))
    result.register_hook(lambda grad: ran.append("third"))
    came = ask("on_arrival", result.grad_fn.hooks, [torch.ones(2)])
    because = "this pass calls all hooks that were registered when it began, so do not walk a dict that changes"
    expect(came, ["first", "second", "third"], read=lambda grads: ran, because=because)


def test_a_retained_gradient(ask: Ask) -> None:
    """the retained gradient of a result with a hook, where retain_grad() was called before the hook was registered"""
    result = torch.ones(2, requires_grad=True) * 1
    result.retain_grad()
    result.register_hook(lambda grad: grad * 10)
    came = ask("on_arrival", result.grad_fn.hooks, [torch.tensor([1.0, 2.0])])
    because = "gradients are retained after all hooks of the tensors have run"
    expect(came, [10.0, 20.0], read=lambda grads: retained(result), because=because)


def test_a_retained_gradient_is_a_copy(ask: Ask) -> None:
    """the strides of the retained gradient, and the sum of the returned one after the retained one was set to 0"""
    result = torch.ones(2, 3, requires_grad=True) * 1
    result.retain_grad()
    came = ask("on_arrival", result.grad_fn.hooks, [torch.ones(3, 2).t()])

    def overwritten(grads: Any) -> Any:
        stride = result.grad.stride()
        result.grad.zero_()
        return stride, grads[0].sum().item()

    because = "`.grad` is a row-major copy whatever the layout of the gradient, and the user may write into it"
    expect(came, ((3, 1), 6.0), read=overwritten, because=because)


def test_retained_twice(ask: Ask) -> None:
    """the retained gradient after a second pass, and the tensor that the first pass had retained"""
    result = torch.ones(2, requires_grad=True) * 1
    result.retain_grad()
    ask("on_arrival", result.grad_fn.hooks, [torch.tensor([1.0, 2.0])])
    before = result.grad
    came = ask("on_arrival", result.grad_fn.hooks, [torch.tensor([5.0, 5.0])])
    because = "the second gradient is added, and the sum is a new tensor"
    expect(came, ([6.0, 7.0], [1.0, 2.0]), read=lambda grads: (retained(result), before.tolist()), because=because)


def test_nothing_to_retain(ask: Ask) -> None:
    """the retained gradients of two results, where no gradient has arrived for the second"""
    first, second = halves()
    first.retain_grad()
    second.retain_grad()
    came = ask("on_arrival", first.grad_fn.hooks, [torch.ones(2), None])
    because = "without a gradient there is nothing to retain, so the second `.grad` stays None"
    expect(came, ([1.0, 1.0], None), read=lambda grads: (retained(first), retained(second)), because=because)


def test_a_result_that_is_gone(ask: Ask) -> None:
    """the returned gradient, where the result that asked to retain it has been deleted"""
    result = torch.ones(2, requires_grad=True) * 1
    result.retain_grad()
    hooks = result.grad_fn.hooks
    del result
    gc.collect()
    came = ask("on_arrival", hooks, [torch.ones(2)])
    because = "the reference to its record is weak and returns None, so there is no `.grad` to fill"
    expect(came, [[1.0, 1.0]], read=listed, because=because)
