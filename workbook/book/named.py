"""Which object has a dotted name?"""

from __future__ import annotations

import importlib


def named(name: str) -> object:
    """The object with a dotted name: the longest importable module, then attributes."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module is there and lacks something of its own
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                raise LookupError(f"there is no {name}: {module} has no {'.'.join(parts[count:])}")
            found = getattr(found, part)
        return found
    raise LookupError(f"there is no {name}: no module named {parts[0]}")
