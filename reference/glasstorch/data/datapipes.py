"""What are data pipes, which older programs build their datasets of?

Mirrors: torch/utils/data/datapipes/datapipe.py, torch/utils/data/datapipes/_hook_iterator.py,
    torch/utils/data/datapipes/_decorator.py (functional_datapipe)
Differs: only the base classes, for pipes that a program defines itself; PyTorch has given up its own pipes. Data frames
    are not traced, and loaders neither seed nor shard pipes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar, cast

from glasstorch.data.dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]

T_co = TypeVar("T_co", covariant=True)


class DataChunk(list[Any]):
    """A list of samples that belong together, as a pipe that makes batches yields them."""

    def __init__(self, items: Iterable[Any]) -> None:
        super().__init__(items)
        self.items = list(self)

    def as_str(self, indent: str = "") -> str:
        """The samples in brackets."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The samples as they were given."""
        yield from self.items


class _Pipe:
    """What both kinds of pipes have: functions that make another pipe of one, called like methods."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, name: str) -> Any:
        if name not in self.functions:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")
        return functools.partial(self.functions[name], self)

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Let `pipe.name(...)` call a function with the pipe as its first argument."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False
    ) -> None:
        """Let `pipe.name(...)` make a pipe of a class from a pipe. The name must be new."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register

    def __repr__(self) -> str:
        return type(self).__qualname__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


class IterDataPipe(_Pipe, IterableDataset[T_co]):
    """A stream of samples. A subclass defines `__iter__`, and `reset` if it has a state to begin again with.

    Only the iterator that was made last is valid.
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _passes = 0  # how many iterators were made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__iter__" in vars(cls):
            cls.__iter__ = _counted(cls.__iter__)  # type: ignore[method-assign]

    def __iter__(self) -> Iterator[T_co]:
        return cast("Iterator[T_co]", self)  # a subclass that has no `__iter__` has `__next__`

    def reset(self) -> None:
        """Begin again; called whenever an iterator is made. Does nothing unless a subclass says what."""


def _counted(begin: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """An `__iter__` whose iterators become invalid when another one is made."""

    @functools.wraps(begin)
    def __iter__(self: Any) -> Iterator[Any]:
        self._passes += 1
        self.reset()
        return _samples(self, begin(self), self._passes)

    return __iter__


def _samples(pipe: IterDataPipe[Any], samples: Iterator[Any], number: int) -> Iterator[Any]:
    while True:
        if pipe._passes != number:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from the same "
                f"IterDataPipe: {pipe!r}\nThis may be caused multiple references to the same IterDataPipe. We "
                f"recommend using `.fork()` if that is necessary."
            )
        try:
            sample = next(samples)
        except StopIteration:
            return
        yield sample


class DFIterDataPipe(IterDataPipe[Any]):
    """A stream of data frames."""

    def _is_dfpipe(self) -> bool:
        return True


class MapDataPipe(_Pipe, Dataset[T_co]):
    """Samples by index. A subclass defines `__getitem__`, and `__len__` as for other datasets."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class functional_datapipe:
    """A decorator of a class of pipes: `pipe.name(...)` makes one of another pipe."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        kind = getattr(cls, "cls", cls)  # what `non_deterministic` has decorated
        if not isinstance(kind, type) or not issubclass(kind, IterDataPipe | MapDataPipe):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
        kind.register_datapipe_as_function(self.name, cls)
        return cls
