"""How does a process that a program starts import glasstorch as torch, as the program does?

Mirrors: nothing; PyTorch's processes import PyTorch
Differs: `multiprocessing` sends a new process a dictionary that says how to prepare itself, before it imports the
    program. In a program that runs as PyTorch's, the dictionary holds an object too that, as it is read, puts
    glasstorch in torch's place. A forked process has it there already.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import ModuleType
from typing import Any

IN_THE_CHILD = Path(__file__).with_name("_spawned_child.py")


class TakesPlaceOnArrival:
    """An object that runs _spawned_child.py when it is unpickled: by its path, for glasstorch may not be found yet."""

    def __reduce__(self) -> tuple[Any, ...]:
        return runpy.run_path, (str(IN_THE_CHILD),)


def install_in_children(spawn: ModuleType) -> None:
    """Change `multiprocessing.spawn`, in this process, so that a new process begins with glasstorch as torch."""
    prepared = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = {"torch": TakesPlaceOnArrival(), **prepared(name)}
        if name == "ignore":  # a fork server, which is told a part of it only: its children import the program
            data = {key: value for key, value in data.items() if not key.startswith("init_main_from")}
        return data

    spawn.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]
