"""How are all modules of a package imported, so that they register their kernels?

Mirrors: the static initialisers of TORCH_LIBRARY_IMPL blocks (torch/library.h), which run when a library is loaded
Differs: importing a module registers its kernels.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def import_modules(package: str, aside: tuple[str, ...] = ()) -> None:
    """Import every module of a package and then of its folders, except packages in `aside`."""
    for module in sorted(iter_modules(import_module(package).__path__), key=lambda module: module.ispkg):
        name = f"{package}.{module.name}"
        if name not in aside:
            import_modules(name, aside) if module.ispkg else import_module(name)
