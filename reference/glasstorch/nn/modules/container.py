"""How do modules contain other modules?

Mirrors: torch/nn/modules/container.py
Differs: Sequential and ModuleList share one base; no ParameterList and ParameterDict.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import Any, Self, overload

from glasstorch.nn.modules.module import Module, typename


class _Numbered(Module):
    """Children named "0", "1", "2" ..., reached like the items of a list."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        children = list(self._modules.values())
        if isinstance(index, slice):
            del children[index]
        else:
            self._name_at(index)  # refuses an index that is out of range
            del children[operator.index(index)]
        self._renumber(children)

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        """A container of the same class with these of the children."""
        raise NotImplementedError

    def _renumber(self, children: Iterable[Module | None]) -> None:
        self._modules.clear()
        self._modules.update((str(i), child) for i, child in enumerate(children))

    def _name_at(self, index: int) -> str:
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range: {type(self).__name__} has {len(self)} modules")
        return list(self._modules)[position]

    def append(self, module: Module) -> Self:
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before the one at `index`; returns the container."""
        if not isinstance(module, Module):
            raise TypeError(f"module should be of type Module, got {typename(module)}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}; {type(self).__name__} has {len(self)} modules")
        children = list(self._modules.values())
        children.insert(index, module)
        self._renumber(children)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; returns the container."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {typename(modules)}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and return it."""
        taken = self[key]
        del self[key]
        return taken

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class Sequential(_Numbered):
    """Modules in a row: the output of each is the input of the next.

    >>> Sequential(Module(), Module())
    Sequential(
      (0): Module()
      (1): Module()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = list(args[0].items())
        else:
            named = [(str(i), module) for i, module in enumerate(args)]
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """The output of the last module."""
        for module in self:
            input = module(input)
        return input

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        return type(self)(OrderedDict(items))

    def __add__(self, other: Iterable[Module]) -> Sequential:
        return Sequential(*self, *self._same(other))

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(self._same(other))

    def _same(self, other: Iterable[Module]) -> Iterable[Module]:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {typename(other)} is given.")
        return other


class ModuleList(_Numbered):
    """A list of modules, registered as children of the module that holds the list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _of(self, items: list[tuple[str, Module | None]]) -> Self:
        return type(self)(child for _, child in items if child is not None)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        # Consecutive children with the same text become one line: "(0-2): 3 x Linear(...)".
        lines = []
        for text, run in groupby(enumerate(self), key=lambda pair: repr(pair[1])):
            indices = [i for i, _ in run]
            label = f"({indices[0]}): " if len(indices) == 1 else f"({indices[0]}-{indices[-1]}): {len(indices)} x "
            lines.append("\n  " + (label + text).replace("\n", "\n  "))
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"


class ModuleDict(Module):
    """A dictionary of modules, registered as children of the module that holds the dictionary."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add the modules of a mapping, or of name and module pairs; a module of the same name is replaced."""
        if isinstance(modules, ModuleDict):
            pairs: Any = modules.items()
        elif isinstance(modules, Mapping):
            pairs = modules.items()
        elif isinstance(modules, Iterable):
            pairs = modules
        else:
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {typename(modules)}"
            )
        for name, module in pairs:
            self[name] = module
