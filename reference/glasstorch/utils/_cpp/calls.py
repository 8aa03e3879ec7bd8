"""How is a closure of C++ run, how does C++ ask Python, and what becomes of what either throws?

Mirrors: torch/csrc/Exceptions.h (HANDLE_TH_ERRORS, python_error), torch/csrc/jit/runtime/operator.h
Differs: an exception of Python passes through C++ as a number, and is raised again as the same object.
"""

from __future__ import annotations

import builtins
import ctypes
import threading
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from glasstorch.utils._cpp.abi import ASK, RECEIVE, VERSION, Values, packed, unpacked

Service = Callable[..., Sequence[Any] | None]
SERVICES: Final[dict[str, Service]] = {}  # by the name that C++ asks for; each is told which library asks

RUN = (ctypes.c_int64, ctypes.c_void_p, Values, ctypes.c_int64, ctypes.c_void_p, RECEIVE)
START = (ctypes.c_int64, ctypes.c_int64, ASK, ctypes.c_void_p, RECEIVE)

_numbers = count(1)
_sinks: Final[dict[int, list[Any]]] = {}


class _Thread(threading.local):
    """The exceptions of Python that pass through C++ now, by number; kept until the outermost call returns."""

    def __init__(self) -> None:
        self.depth = 0
        self.raised: dict[int, BaseException] = {}


_thread = _Thread()


def service(function: Service) -> Service:
    """Let C++ ask for a function by its name; what it returns is the list of results."""
    SERVICES[function.__name__.removeprefix("_")] = function
    return function


def _received(sink: int, values: Any, length: int) -> None:
    _sinks[sink] += unpacked(values, length)


_receive: Final[Any] = RECEIVE(_received)


def _results(call: Callable[[int], int]) -> list[Any]:
    """The results of a call that is given the number of a sink; what C++ threw is raised."""
    sink = next(_numbers)
    received = _sinks[sink] = []
    _thread.depth += 1
    try:
        if call(sink):
            number, name, message = received
            raise _thread.raised.get(number) or getattr(builtins, name)(message)
        return received
    finally:
        del _sinks[sink]
        _thread.depth -= 1
        if not _thread.depth:
            _thread.raised.clear()


class CppLibrary:
    """A compiled library: its four functions, and what it asks; `path` is where it was loaded from."""

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        self.path = path
        self.modules: dict[str, int] = {}  # the closures that fill modules of Python, by name
        run = ctypes.cast(library.glasstorch_run, ctypes.c_void_p).value
        start = ctypes.cast(library.glasstorch_start, ctypes.c_void_p).value
        assert run is not None
        assert start is not None
        self._run = ctypes.CFUNCTYPE(*RUN)(run)
        self._run_locked = ctypes.PYFUNCTYPE(*RUN)(run)
        self._start = ctypes.CFUNCTYPE(*START)(start)
        self._drop = library.glasstorch_drop
        self._drop.argtypes, self._drop.restype = [ctypes.c_void_p], None
        self.stop = library.glasstorch_stop
        self.stop.restype = None
        self._ask = ASK(self._answer)  # kept: C++ has its address

    def start(self) -> None:
        """Run what the library registers."""
        _results(lambda sink: self._start(VERSION, self._ask, sink, _receive))

    def run(self, closure: int, values: Sequence[Any], locked: bool = False) -> list[Any]:
        """Run a closure; with `locked` no other thread of Python runs meanwhile, until C++ asks for something."""
        slots, _held = packed(values)
        function = self._run_locked if locked else self._run
        return _results(lambda sink: function(closure, slots, len(slots), sink, _receive))

    def drop(self, closure: int) -> None:
        """Delete a closure."""
        self._drop(closure)

    def _answer(self, name: bytes, arguments: Any, length: int, sink: int, receive: Any) -> int:
        try:
            results = SERVICES[name.decode()](self, *unpacked(arguments, length))
            if results:
                slots, _held = packed(results)
                receive(sink, slots, len(slots))
        except BaseException as error:  # noqa: BLE001  (it is raised again where C++ was called)
            number = next(_numbers)
            _thread.raised[number] = error
            slots, _held = packed([str(error)])
            receive(sink, slots, 1)
            return number
        return 0
