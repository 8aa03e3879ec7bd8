"""How does a mode of functions see that a program names a device?

Mirrors: torch/csrc/Device.cpp (THPDevice_pynew)
Differs: PyTorch looks for a mode in each call. Here the class of devices asks only while a mode is on, and the library
    makes its own devices with `device_from`, which never asks: in PyTorch that is code in C++.
"""

from __future__ import annotations

from typing import Any

from glasstorch.calls.call_site import is_spread
from glasstorch.calls.overloaded import UNASKED, ask, on_modes
from glasstorch.core.device import check_form, device, device_from, make_device


def _asking(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """The answer of a mode to `torch.device(...)`, of arguments that fit one of its forms; else the device."""
    check_form(args, kwargs)
    answer = ask(device, "torch.device", args, kwargs or ({} if is_spread(_asking) else None))
    return device_from(*args, **kwargs) if answer is UNASKED else answer


def _let_devices_ask(asks: bool) -> None:
    device.__new__ = _asking if asks else make_device  # type: ignore[method-assign]


on_modes(_let_devices_ask)
