"""Is any tree of objects the same after it was saved by one library and loaded by the other?"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.serialization.exchange import facts, saved, sharing

TREES = 300
AT_A_TIME = 30
OLD = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
    *("complex64", "complex128", "complex64"),
)
DTYPES = (*OLD, "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2")


class Tree:
    """Grows the same random tree for either library from the same seed."""

    def __init__(self, library: Any, seed: int, dtypes: tuple[str, ...]) -> None:
        self.library = library
        self.dtypes = dtypes
        self.chance = random.Random(seed)
        self.tensors: list[Any] = []

    def grown(self, depth: int = 0) -> Any:
        """An object: a container while the tree is not deep, or a leaf."""
        kinds: Any = self.containers() if depth < 4 else []
        if depth:
            kinds += [self.leaf, self.tensor, self.tensor]
        kind = self.chance.choice(kinds)
        return kind(depth) if kind in self.containers() else kind()

    def containers(self) -> list[Callable[[int], Any]]:
        """What holds objects."""
        return [self.list, self.tuple, self.dict, self.ordered_dict]

    def children(self, depth: int) -> list[Any]:
        """A few objects, some of them more than once."""
        made = [self.grown(depth + 1) for _ in range(self.chance.randrange(1 if depth else 3, 5))]
        return made + made[: self.chance.randrange(2)]

    def list(self, depth: int) -> Any:
        """A list."""
        return self.children(depth)

    def tuple(self, depth: int) -> Any:
        """A tuple."""
        return tuple(self.children(depth))

    def dict(self, depth: int) -> Any:
        """A dict."""
        return {self.key(number): child for number, child in enumerate(self.children(depth))}

    def ordered_dict(self, depth: int) -> Any:
        """An ordered dict, perhaps with an attribute, as a `state_dict` has."""
        made = OrderedDict(self.dict(depth))
        if self.chance.random() < 0.3:
            made._metadata = {"version": 1}  # type: ignore[attr-defined]
        return made

    def key(self, number: int) -> Any:
        """A key of a dict."""
        return self.chance.choice([f"name.{number}", number, (number, "pair"), number + 0.5, True])

    def leaf(self) -> Any:
        """An object without parts."""
        chance, library = self.chance, self.library
        makers: list[Callable[[], Any]] = [
            lambda: chance.randrange(-(1 << chance.choice([4, 20, 40, 90])), 1 << 40),
            lambda: chance.uniform(-1e6, 1e6),
            lambda: complex(chance.random(), chance.random()),
            lambda: chance.choice([None, True, False, float("inf"), ""]),
            lambda: "".join(chance.choices("aé漢😀\n'", k=chance.randrange(20))),
            lambda: chance.randbytes(chance.randrange(1, 300)),
            lambda: bytearray(chance.randbytes(chance.randrange(1, 10))),
            lambda: {chance.randrange(10), "x", (1, 2)},
            lambda: Counter(chance.choices("abc", k=5)),
            lambda: getattr(library, chance.choice(self.dtypes)),
            lambda: library.device(chance.choice(["cpu", "meta", "cuda:0", "cuda"])),
            lambda: library.Size([chance.randrange(9)] * chance.randrange(3)),
        ]
        return chance.choice(makers)()

    def tensor(self) -> Any:
        """A tensor of its own, or one that shares the storage of an earlier one."""
        if not self.tensors or self.chance.random() < 0.5:
            sizes = [self.chance.choice([0, 1, 2, 3, 5]) for _ in range(self.chance.randrange(4))]
            dtype = self.chance.choice(self.dtypes)
            count = 1
            for size in sizes:
                count *= size
            numbers = [self.chance.randrange(2 if dtype == "bool" else 100) for _ in range(count)]
            made = self.library.tensor(numbers).to(getattr(self.library, dtype)).reshape(sizes)
            made = made.clone()  # also where nothing was converted
        else:
            made = self.view(self.chance.choice(self.tensors))
        made = self.decorated(made)
        self.tensors.append(made)
        return made

    def view(self, base: Any) -> Any:
        """A view of a tensor, or the tensor itself."""
        base = base.detach()
        views: list[Callable[[], Any]] = [
            lambda: base.flatten() if base.is_contiguous() else base,
            lambda: base.t() if base.dim() == 2 else base,
            lambda: base[1:] if base.dim() and base.shape[0] > 1 else base,
            lambda: base[..., ::2] if base.dim() else base,
            lambda: base.unsqueeze(0).expand(3, *base.shape),
            *[lambda: base.conj() if base.is_complex() else base] * 2,
            lambda: base.movedim(0, -1) if base.dim() else base,
        ]
        return self.chance.choice(views)()

    def decorated(self, made: Any) -> Any:
        """A tensor that perhaps requires grad, is a parameter or has an attribute."""
        chance, floating = self.chance.random(), made.is_floating_point() and "float8" not in str(made.dtype)
        if chance < 0.1 and floating:
            return made.detach().requires_grad_()
        if chance < 0.2:
            return self.library.nn.Parameter(made, requires_grad=floating)
        if chance < 0.25:
            made = made.detach()
            made.note = ["an attribute", chance]
        return made


@pytest.mark.parametrize("first", range(0, TREES, AT_A_TIME))
def test_a_tree_is_the_same_in_the_other_library(require: Callable[[str], Any], first: int) -> None:
    torch = require("torch")
    for seed in range(first, first + AT_A_TIME):
        old = seed % 5 == 0  # the format in which torch loads no tensors of the newer dtypes
        ours, torchs = (Tree(library, seed, OLD if old else DTYPES).grown() for library in (glasstorch, torch))
        assert facts(ours) == facts(torchs), f"seed {seed}: the two trees differ before they are saved"
        options = {"_use_new_zipfile_serialization": not old}
        for way, loaded, expected in (
            ("ours in torch", torch.load(saved(glasstorch, ours, **options)), torchs),
            ("torch's in ours", glasstorch.load(saved(torch, torchs, **options)), ours),
            ("ours", glasstorch.load(saved(glasstorch, ours, **options)), ours),
        ):
            assert facts(loaded) == facts(expected), f"seed {seed}: {way}"
            assert sharing(loaded) == sharing(expected), f"seed {seed}: {way}"


def test_the_trees_hold_what_they_should() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(TREES):
        tree = Tree(glasstorch, seed, DTYPES)
        tree.grown()
        for tensor in tree.tensors:
            kinds[type(tensor).__name__] += 1
            kinds["shared"] += sum(other.data_ptr() == tensor.data_ptr() for other in tree.tensors) > 1
            kinds["requires grad"] += tensor.requires_grad
            kinds["not row-major"] += not tensor.is_contiguous()
            kinds["conjugate"] += tensor.is_conj()
            kinds["expanded"] += 0 in tensor.stride()
    for kind in ("Tensor", "Parameter", "shared", "requires grad", "not row-major", "conjugate", "expanded"):
        assert kinds[kind] >= 20, kinds
