"""Visits module after module, and remembers by their identity the tensors that were already yielded."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from glasstorch.nn import Module


def named_members(
    module: Module,
    get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
    prefix: str = "",
    recurse: bool = True,
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Any]]:
    """The members of a module and of those below it, each with its name."""
    met = set[int]()
    walk = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, module)]
    for path, holder in walk:
        for name, member in get_members_fn(holder):
            if member is None or id(member) in met:
                continue
            if remove_duplicate:
                met.add(id(member))
            yield f"{path}.{name}" if path else name, member
