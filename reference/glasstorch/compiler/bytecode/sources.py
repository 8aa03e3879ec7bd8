"""Where does a value that a function uses come from?

Mirrors: torch/_dynamo/source.py
Differs: a source is the Python expression that fetches the value, over `L`, the function's arguments, and `G`, its
    globals.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

NOT_ALPHANUMERIC: Final = re.compile("[^a-zA-Z0-9]+")


class Source(NamedTuple):
    """An expression that fetches a value again when the function is called again.

    >>> Source.local("x").item(0).attribute("weight")
    Source(expression="L['x'][0].weight")
    """

    expression: str

    @classmethod
    def local(cls, name: str) -> Source:
        """An argument of the function."""
        return cls(f"L[{name!r}]")

    @classmethod
    def of_global(cls, name: str) -> Source:
        """A global name of the function's module."""
        return cls(f"G[{name!r}]")

    def attribute(self, name: str) -> Source:
        """An attribute of what this source fetches."""
        return Source(f"{self.expression}.{name}")

    def item(self, key: Any) -> Source:
        """An item of what this source fetches."""
        return Source(f"{self.expression}[{key!r}]")

    def cell(self, number: int) -> Source:
        """The cell of a variable that the function that this source fetches has from an outer one."""
        return Source(f"{self.expression}.__closure__[{number}]")

    @property
    def name(self) -> str:
        """The name of the graph's input.

        >>> Source("L['m']._modules['l']._parameters['weight']").name
        'L_m_modules_l_parameters_weight_'
        """
        return NOT_ALPHANUMERIC.sub("_", self.expression)

    def __repr__(self) -> str:
        return f'Source(expression="{self.expression}")'
