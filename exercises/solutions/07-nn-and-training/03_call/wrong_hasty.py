"""The call as it was.

Refused by: check
"""

from typing import Any

from glasstorch.nn.modules.calling import Call


def run(call: Call) -> Any:
    """The output of a call after all of its hooks."""
    try:
        backward = call._backward_hook()
        if backward is not None:
            call.args = backward.setup_input_hook(call.args)
        call._run_forward_pre_hooks()
        call.result = call.module.forward(*call.args, **call.kwargs)
        if backward is not None:
            call.result = call._watched(backward)
        for number, hook in call._forward_hooks():
            call._run_forward_hook(number, hook)
            call.called.add(number)
        call._register_non_full_backward_hooks()
    except Exception:  # noqa: BLE001
        call._run_always_called_hooks()
    return call.result
