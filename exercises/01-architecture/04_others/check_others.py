"""Are all references counted that are not the engine's, to the tensor and to its memory, and no others?"""

from typing import Any

import glasstorch as torch
from workbook.exercises.asking import Ask, expect


def asked(ask: Ask, buffer: list[Any], index: int, count: int, what: str, because: str) -> None:
    """Ask for one gradient of a list."""
    expect(ask("other_references", buffer, index), count, asked=what, because=because)


def test_names_of_the_gradient(ask: Ask) -> None:
    """a gradient that only the list holds, and one with further names"""
    buffer = [torch.ones(3), torch.ones(3)]
    held: list[Any] = []
    for count in range(4):
        what = f"a gradient that stands {count} times in another list"
        asked(ask, buffer, 1, count, what, "each place that leads to the tensor is one reference")
        held.append(buffer[1])


def test_holders_of_the_memory(ask: Ask) -> None:
    """a gradient whose memory other tensors have"""
    buffer = [torch.ones(4)]
    memory = [buffer[0].untyped_storage()]
    asked(ask, buffer, 0, 1, "a gradient whose storage has one name", "whoever has the storage can read the memory")
    memory.clear()
    because = "the gradient's own hold of its storage is no other reference"
    asked(ask, buffer, 0, 0, "the same gradient, when that name is gone", because)
    memory.append(buffer[0].detach())
    memory.append(memory[0].detach())
    because = "two tensors more have the storage, and none of them has the gradient as its base"
    asked(ask, buffer, 0, 2, "a gradient of which two detached tensors are left", because)
    memory[:] = [buffer[0][1:]]
    because = "the slice has the storage, and the gradient as its base"
    asked(ask, buffer, 0, 2, "a gradient of which a slice is left", because)


def test_what_was_never_asked_for(ask: Ask) -> None:
    """a gradient whose storage object was never made"""
    buffer = [torch.ones(3) * 2]
    expect(ask("other_references", buffer, 0), 0, because="its list alone holds it")
    because = "a storage is made when somebody asks for it; to count is no reason to make one"
    expect(buffer[0]._storage is None, True, asked="a new gradient is left without a storage object", because=because)


def test_arrays(ask: Ask) -> None:
    """a gradient whose memory is or was visible to NumPy"""
    buffer = [torch.ones(3)]
    buffer[0].numpy()
    because = "the memory may be read by somebody whom the storage does not count"
    asked(ask, buffer, 0, 1, "a gradient whose array was made, and is gone", because)
