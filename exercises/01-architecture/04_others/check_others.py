"""Are all references to the tensor and to its memory counted, except for the engine's own?"""

from typing import Any

import glasstorch as torch
from workbook.exercises.asking import Ask, expect


def asked(ask: Ask, buffer: list[Any], index: int, count: int, what: str, because: str) -> None:
    """Call the function for one gradient of a list."""
    expect(ask("other_references", buffer, index), count, asked=what, because=because)


def test_names_of_the_gradient(ask: Ask) -> None:
    """the references to a gradient that only the list holds, and to one with further names"""
    buffer = [torch.ones(3), torch.ones(3)]
    held: list[Any] = []
    for count in range(4):
        what = f"the references to a gradient, of which another list holds {count}"
        asked(ask, buffer, 1, count, what, "each place of a list that holds the tensor is one reference")
        held.append(buffer[1])


def test_holders_of_the_memory(ask: Ask) -> None:
    """the references to a gradient whose memory other tensors share"""
    buffer = [torch.ones(4)]
    memory = [buffer[0].untyped_storage()]
    asked(
        ask,
        buffer,
        0,
        1,
        "the references to a gradient whose storage has a name",
        "that name is a reference to the memory",
    )
    memory.clear()
    because = "the gradient itself holds its storage, and that reference does not count"
    asked(ask, buffer, 0, 0, "the references to the same gradient, when that name is gone", because)
    memory.append(buffer[0].detach())
    memory.append(memory[0].detach())
    because = "two more tensors hold the storage, and neither of them holds the gradient as its base"
    asked(ask, buffer, 0, 2, "the references to a gradient that was detached twice", because)
    memory[:] = [buffer[0][1:]]
    because = "the slice holds the storage, and it holds the gradient as its base"
    asked(ask, buffer, 0, 2, "the references to a gradient with a slice", because)


def test_what_was_never_asked_for(ask: Ask) -> None:
    """the references to a gradient whose storage object was never created"""
    buffer = [torch.ones(3) * 2]
    expect(ask("other_references", buffer, 0), 0, because="only the list holds it")
    because = "counting must not create a storage object; look at `_storage` instead of calling `untyped_storage()`"
    expect(buffer[0]._storage is None, True, asked="`_storage` of a new gradient is still None", because=because)


def test_arrays(ask: Ask) -> None:
    """the references to a gradient whose memory is or was visible to NumPy"""
    buffer = [torch.ones(3)]
    buffer[0].numpy()
    because = "a NumPy array may still use the memory, and the storage does not count arrays"
    asked(ask, buffer, 0, 1, "the references to a gradient after an array of it was created and deleted", because)
