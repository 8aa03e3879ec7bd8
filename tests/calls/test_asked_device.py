"""Does a mode of functions see the devices that a program names, as in PyTorch, and no others?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.device import device, make_device
from tests.calls.outcomes import outcome

Require = Callable[[str], Any]


def logging_mode(torch: Any, log: list[Any]) -> Any:
    """A mode that notes each call and lets it run."""

    class Log(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append((getattr(func, "__name__", "?"), [kind.__name__ for kind in types], repr(args), repr(kwargs)))
            return func(*args, **(kwargs or {}))

    return Log()


def asked(torch: Any, program: Callable[[Any], object]) -> list[Any]:
    """What a mode is told while a program runs, and what the program says."""
    log: list[Any] = []
    with logging_mode(torch, log):
        log.append(repr(program(torch)))
    return log


def nested(torch: Any) -> object:
    with logging_mode(torch, []):
        return torch.device("cpu")


def switched_off(torch: Any) -> object:
    with torch._C.DisableTorchFunction():
        return torch.device("cpu")


def block(torch: Any) -> object:
    with torch.device("cpu"):
        return torch.ones(2)


def default(torch: Any) -> object:
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    return None


def module_name(torch: Any) -> str:
    if hasattr(torch.get_device_module, "cache_clear"):  # PyTorch remembers what earlier tests have asked for
        torch.get_device_module.cache_clear()
    return str(torch.get_device_module("cpu").__name__.rpartition(".")[2])


NAMED = {
    "text": lambda torch: torch.device("cpu"),
    "index": lambda torch: torch.device("cuda", 1),
    "names": lambda torch: torch.device(type="cpu", index=0),
    "name": lambda torch: torch.device(device="cpu"),
    "device": lambda torch: torch.device(torch.device("meta")),
    "bytes": lambda torch: torch.device(b"cpu"),
    "its facts": lambda torch: (torch.device("cuda:3").type, torch.device("cuda:3").index),
    "two modes": nested,
    "switched off": switched_off,
    "block": block,
    "default": default,
    "get_default_device": lambda torch: torch.get_default_device(),
    "get_device_module": module_name,
    "context": lambda torch: torch.utils._device.DeviceContext("cpu").device,
}
NOT_NAMED = {
    "factory": lambda torch: torch.zeros(2, device="cpu"),
    "conversion": lambda torch: torch.zeros(2, device="cpu").to("cpu"),
    "generator": lambda torch: torch.Generator("cpu").device,
    "storage": lambda torch: torch.UntypedStorage(2, device="cpu").device,
    "tensor": lambda torch: torch.tensor([1.0], device="cpu"),
    "legacy": lambda torch: torch.is_storage(torch.UntypedStorage(2)),
    "count": lambda torch: torch.autocast("cpu").device,
}


@pytest.mark.parametrize("name", [*NAMED, *NOT_NAMED])
def test_a_mode_sees_the_devices_that_a_program_names(require: Require, name: str) -> None:
    program = (NAMED | NOT_NAMED)[name]
    assert asked(glasstorch, program) == asked(require("torch"), program)


@pytest.mark.parametrize("name", NAMED)
def test_a_mode_is_asked_about_each_named_device(name: str) -> None:
    calls = [entry for entry in asked(glasstorch, NAMED[name]) if entry[0] == "device"]
    assert bool(calls) == (name != "switched off")


@pytest.mark.parametrize(
    "arguments", [(), ("cpu", 1, 2), (1.5,), ("cpu", "1"), (None,), ("",), ("nowhere",), ("cpu:-1",), ("cuda:1", 2)]
)
def test_forms_are_refused_before_a_mode_is_asked_and_values_after_it(require: Require, arguments: Any) -> None:
    def told(torch: Any) -> object:
        log: list[Any] = []
        with logging_mode(torch, log), pytest.raises((TypeError, RuntimeError)):
            torch.device(*arguments)
        return [entry[0] for entry in log]

    assert told(glasstorch) == told(require("torch"))


def test_a_mode_answers_in_place_of_the_device_or_refuses(require: Require) -> None:
    def program(torch: Any) -> object:
        class Answer(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
            answer: Any = 3

            def __repr__(self) -> str:
                return "Answer()"

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return self.answer

        mode = Answer()
        with mode:
            assert torch.device("cpu") == 3
            mode.answer = NotImplemented
            torch.device("cpu")
        return None

    assert outcome(program, glasstorch) == outcome(program, require("torch"))


def test_without_a_mode_the_class_of_devices_is_as_it_was() -> None:
    with glasstorch.overrides.BaseTorchFunctionMode():
        assert device.__new__ is not make_device
    assert device.__new__ is make_device
    assert glasstorch.device("cpu") is glasstorch.device("cpu")
