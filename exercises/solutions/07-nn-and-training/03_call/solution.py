"""Watches input and output once no hook can replace them, records a hook before it runs, and raises the error again."""

from typing import Any

from glasstorch.nn.modules.calling import Call


def run(call: Call) -> Any:
    """The output of a call after all of its hooks."""
    try:
        call._run_forward_pre_hooks()
        backward = call._backward_hook()
        if backward is not None:
            call.args = backward.setup_input_hook(call.args)
        call.result = call.module.forward(*call.args, **call.kwargs)
        for number, hook in call._forward_hooks():
            call.called.add(number)
            call._run_forward_hook(number, hook)
        if backward is not None:
            call.result = call._watched(backward)
        call._register_non_full_backward_hooks()
    except Exception:
        call._run_always_called_hooks()
        raise
    return call.result
