"""Is the batch right along whichever dimension its examples lie, with as many calls for two examples as for twenty?"""

import itertools
import random
from typing import Any

import glasstorch as torch
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.func.batching import Batch
from glasstorch.func.wrapped import batched, wrapping
from workbook.exercises.asking import Ask, Came, expect

SIZES = (4, 3, 5)

draw = random.Random("04.13")


def stacked(examples: list[torch.Tensor], bdim: int, batch: Batch) -> torch.Tensor:
    """A batch as a rule receives it, with its examples along some dimension of the value."""
    return batched(torch.stack(examples, bdim), bdim, batch)


def positions(most: int, count: int = 2) -> torch.Tensor:
    """Some positions below `most`."""
    return torch.tensor([draw.randrange(most) for _ in range(count)])


def cases(dim: int, shared: str, examples: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The tensors and the indices of the examples; only one, if they share it."""
    numbers = torch.arange(60.0 * examples).view(examples, *SIZES)
    tensors = [numbers[0]] if shared == "self" else list(numbers.unbind())
    count = 1 if shared == "index" else examples
    return tensors, [positions(SIZES[dim]) for _ in range(count)]


def selected(
    ask: Ask, dim: int, shared: str, examples: int = 3, bdims: tuple[int, int] = (0, 0)
) -> tuple[Came, torch.Tensor]:
    """The outcome of the rule for a batch, and the result of a loop over the examples."""
    batch = Batch(examples)
    tensors, indices = cases(dim, shared, examples)
    tensor = tensors[0] if shared == "self" else stacked(tensors, bdims[0], batch)
    index = indices[0] if shared == "index" else stacked(indices, bdims[1], batch)
    came = ask("index_select", batch, torch.ops.aten.index_select.default, [tensor, dim, index])
    several = [(tensors * examples)[:examples], (indices * examples)[:examples]]
    return came, torch.stack([torch.index_select(x, dim, i) for x, i in zip(*several, strict=True)])


def value_of(result: Any) -> Any:
    """The value of a batched tensor with its examples in front; a sentence for any other result."""
    if not isinstance(result, torch.Tensor) or "FuncTorchBatched" not in str(torch._C._dispatch_keys(result)):
        return "not a batched tensor"
    inside = wrapping(result)
    return inside.value.movedim(inside.bdim, 0).tolist()


def test_the_three_cases(ask: Ask) -> None:
    """the batch of three examples, for each dimension and each place of the examples"""
    for shared, dim, bdims in itertools.product(("index", "self", ""), (0, 1, 2, -1, -3), ((0, 0), (2, 1))):
        came, accepted = selected(ask, dim, shared, bdims=bdims)
        which = f"all share {shared}" if shared else "nothing is shared"
        asked = (
            f"three examples of sizes {SIZES}, dim={dim}; {which}; the examples are along dimension {bdims[0]} of the "
            f"tensor's value and {bdims[1]} of the index's"
        )
        because = "dim counts the dimensions of one example, and the result hides the dimension of the examples again"
        expect(came, accepted.tolist(), read=value_of, asked=asked, because=because)


class Calls(TorchDispatchMode):
    """Counts the operators that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def test_there_is_no_loop(ask: Ask) -> None:
    """the number of operators that the rule calls for two examples and for twenty"""
    for shared in ("index", "self", ""):
        counts = []
        for examples in (2, 20):
            batch = Batch(examples)
            tensors, indices = cases(1, shared, examples)
            tensor = tensors[0] if shared == "self" else stacked(tensors, 0, batch)
            index = indices[0] if shared == "index" else stacked(indices, 0, batch)
            with Calls() as calls:
                ask("index_select", batch, torch.ops.aten.index_select.default, [tensor, 1, index])
            counts.append(calls.count)
        asked = f"the number of operators that the rule calls for twenty examples; for two it is {counts[0]}"
        because = "a rule passes the whole batch to a few operators; without a rule vmap already loops"
        expect(counts[1], counts[0], asked=asked, because=because)
