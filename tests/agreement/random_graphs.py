"""A random program with views, changes in place and several results, and what autograd has recorded of it.

The same seed gives the same program in both libraries: what is chosen next depends on numbers of the seed and on the
shapes of the tensors that there are.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

from tests.refusals import builtin

FAULTS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
STEPS = 12


class Program:
    """One run of a program in a library."""

    def __init__(self, library: Any, seed: int) -> None:
        self.library, self.random = library, random.Random(seed)
        self.tensors = [self.leaf((3, 4)), self.leaf((4,)), self.leaf((3, 4)), self.leaf((3, 4)).detach()]
        self.leaves = self.tensors[:3]
        self.refusals: list[tuple[str, str]] = []
        self.has_crashed = False

    def leaf(self, shape: tuple[int, ...]) -> Any:
        count = 1
        for size in shape:
            count *= size
        numbers = [round(self.random.uniform(0.2, 2.0), 3) for _ in range(count)]
        return self.library.tensor(numbers, dtype=self.library.float64).reshape(shape).requires_grad_()

    def run(self) -> Program:
        for _ in range(STEPS):
            self.step()
        return self

    def step(self) -> None:
        """One line of the program; what a library refuses changes nothing, but is noted."""
        kind = self.random.choices(list(KINDS), [KINDS[kind] for kind in KINDS])[0]
        operations = OPERATIONS[kind]
        name = self.random.choice(sorted(operations))
        mode = self.random.choices(["", "no_grad", "enable_grad"], [8, 1, 1])[0]
        operands = [self.pick() for _ in range(3)]
        state = self.random.getstate()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if mode:
                    with getattr(self.library, mode)():
                        made = operations[name](self, *operands)
                else:
                    made = operations[name](self, *operands)
        except FAULTS as error:
            self.has_crashed |= "INTERNAL ASSERT" in str(error)  # a fault of PyTorch's own
            self.refusals.append((name, builtin(type(error)).__name__))
            made = ()
        self.random.setstate(state)
        self.random.random()
        for one in made if isinstance(made, tuple | list) else [made]:
            if one is not None and one.numel() and one.ndim < 4:
                self.tensors.append(one)

    def pick(self) -> Any:
        return self.tensors[max(self.random.randrange(len(self.tensors)), self.random.randrange(len(self.tensors)))]

    def dim(self, tensor: Any) -> int:
        return self.random.randrange(-max(tensor.ndim, 1), max(tensor.ndim, 1))

    def below(self, size: int) -> int:
        return self.random.randrange(size)

    def number(self) -> float:
        return self.random.choice([0.5, 2, -1.5, 3.0])


Operation = Callable[[Program, Any, Any, Any], Any]
POINTWISE: dict[str, Operation] = {
    name: lambda p, x, y, z, name=name: getattr(x, name)()
    for name in ("sin", "cos", "exp", "tanh", "sigmoid", "neg", "abs", "sqrt", "relu", "log1p", "reciprocal", "square")
} | {
    "add": lambda p, x, y, z: x + y,
    "add_alpha": lambda p, x, y, z: p.library.add(x, y, alpha=2),
    "mul": lambda p, x, y, z: x * y,
    "sub": lambda p, x, y, z: x - y,
    "div": lambda p, x, y, z: x / y,
    "scaled": lambda p, x, y, z: x * p.number(),
    "shifted": lambda p, x, y, z: p.number() - x,
    "pow": lambda p, x, y, z: x**2,
    "pow_of": lambda p, x, y, z: x**y,
    "maximum": lambda p, x, y, z: p.library.maximum(x, y),
    "where": lambda p, x, y, z: p.library.where(x.detach() > 1, y, z),
    "clamp": lambda p, x, y, z: x.clamp(0.3, 1.5),
    "lerp": lambda p, x, y, z: p.library.lerp(x, y, 0.25),
    "addcmul": lambda p, x, y, z: p.library.addcmul(x, y, z, value=0.5),
    "masked_fill": lambda p, x, y, z: x.masked_fill(y.detach() > 1, 0.0),
    "clone": lambda p, x, y, z: x.clone(),
    "softplus": lambda p, x, y, z: p.library.nn.functional.softplus(x),
    "gelu": lambda p, x, y, z: p.library.nn.functional.gelu(x),
}
REDUCING: dict[str, Operation] = {
    "sum": lambda p, x, y, z: x.sum(),
    "sum_dim": lambda p, x, y, z: x.sum(p.dim(x), keepdim=bool(p.below(2))),
    "mean_dim": lambda p, x, y, z: x.mean(p.dim(x)),
    "amax": lambda p, x, y, z: x.amax(p.dim(x)),
    "logsumexp": lambda p, x, y, z: x.logsumexp(p.dim(x)),
    "softmax": lambda p, x, y, z: x.softmax(p.dim(x)),
    "log_softmax": lambda p, x, y, z: x.log_softmax(p.dim(x)),
    "cumsum": lambda p, x, y, z: x.cumsum(p.dim(x)),
    "prod_dim": lambda p, x, y, z: x.prod(p.dim(x)),
    "norm": lambda p, x, y, z: x.norm(),
    "var": lambda p, x, y, z: x.var(p.dim(x), correction=0),
    "mm": lambda p, x, y, z: x.mm(y.t()),
    "matmul": lambda p, x, y, z: x @ y,
    "addmm": lambda p, x, y, z: p.library.addmm(x, y, z),
    "linear": lambda p, x, y, z: p.library.nn.functional.linear(x, y),
    "cat": lambda p, x, y, z: p.library.cat([x, y], p.dim(x)),
    "stack": lambda p, x, y, z: p.library.stack([x, x, y]),
    "gather": lambda p, x, y, z: x.gather(p.dim(x), p.library.zeros([1] * x.ndim, dtype=p.library.int64)),
    "index_select": lambda p, x, y, z: x.index_select(0, p.library.tensor([0, 0])),
    "indexed": lambda p, x, y, z: x[p.library.tensor([0, 1, 0])],
    "masked": lambda p, x, y, z: x[x.detach() > 0.9],
    "flip": lambda p, x, y, z: x.flip(p.dim(x)),
    "roll": lambda p, x, y, z: x.roll(1, p.dim(x)),
    "tril": lambda p, x, y, z: x.tril(),
}
VIEWING: dict[str, Operation] = {
    "t": lambda p, x, y, z: x.t(),
    "transpose": lambda p, x, y, z: x.transpose(p.dim(x), p.dim(x)),
    "view": lambda p, x, y, z: x.view(-1),
    "view_two": lambda p, x, y, z: x.view(2, -1),
    "reshape": lambda p, x, y, z: x.reshape(-1, 2),
    "view_as": lambda p, x, y, z: x.view_as(x),
    "row": lambda p, x, y, z: x[0],
    "last": lambda p, x, y, z: x[..., -1],
    "slice": lambda p, x, y, z: x[1:],
    "stepped": lambda p, x, y, z: x[..., ::2],
    "select": lambda p, x, y, z: x.select(p.dim(x), 0),
    "narrow": lambda p, x, y, z: x.narrow(p.dim(x), 0, 2),
    "unsqueeze": lambda p, x, y, z: x.unsqueeze(p.dim(x)),
    "squeeze": lambda p, x, y, z: x.squeeze(),
    "expand": lambda p, x, y, z: x.expand(2, *x.shape),
    "diagonal": lambda p, x, y, z: x.diagonal(),
    "permute": lambda p, x, y, z: x.permute(*reversed(range(x.ndim))),
    "flatten": lambda p, x, y, z: x.flatten(),
    "unfold": lambda p, x, y, z: x.unfold(p.dim(x), 2, 2),
    "as_strided": lambda p, x, y, z: x.as_strided((2,), (1,)),
    "detach": lambda p, x, y, z: x.detach(),
    "squeeze_dim": lambda p, x, y, z: x.squeeze(p.dim(x)),
    "mT": lambda p, x, y, z: x.mT,
}
SEVERAL: dict[str, Operation] = {
    "split": lambda p, x, y, z: x.split(2),
    "split_sizes": lambda p, x, y, z: x.split([1, x.shape[0] - 1]),
    "chunk": lambda p, x, y, z: x.chunk(2, p.dim(x)),
    "unbind": lambda p, x, y, z: x.unbind(p.dim(x)),
    "max_dim": lambda p, x, y, z: x.max(p.dim(x))[0],
    "sort": lambda p, x, y, z: x.sort(stable=True, dim=p.dim(x))[0],
    "topk": lambda p, x, y, z: x.topk(2, p.dim(x))[0],
    "std_mean": lambda p, x, y, z: p.library.std_mean(x, p.dim(x), correction=0),
    "aminmax": lambda p, x, y, z: tuple(p.library.aminmax(x, dim=p.dim(x))),
    "meshgrid": lambda p, x, y, z: p.library.meshgrid(x, y, indexing="ij"),
    "broadcast": lambda p, x, y, z: p.library.broadcast_tensors(x, y),
}
CHANGING: dict[str, Operation] = {
    "add_": lambda p, x, y, z: x.add_(y),
    "mul_": lambda p, x, y, z: x.mul_(y),
    "mul_number": lambda p, x, y, z: x.mul_(p.number()),
    "sub_alpha": lambda p, x, y, z: x.sub_(y, alpha=0.5),
    "sin_": lambda p, x, y, z: x.sin_(),
    "tanh_": lambda p, x, y, z: x.tanh_(),
    "relu_": lambda p, x, y, z: x.relu_(),
    "exp_": lambda p, x, y, z: x.exp_(),
    "zero_": lambda p, x, y, z: x.zero_(),
    "fill_": lambda p, x, y, z: x.fill_(0.5),
    "copy_": lambda p, x, y, z: x.copy_(y),
    "clamp_": lambda p, x, y, z: x.clamp_(0.2, 1.5),
    "masked_fill_": lambda p, x, y, z: x.masked_fill_(y.detach() > 1, 0.25),
    "unsqueeze_": lambda p, x, y, z: x.unsqueeze_(0),
    "squeeze_": lambda p, x, y, z: x.squeeze_(),
    "t_": lambda p, x, y, z: x.t_(),
    "set_row": lambda p, x, y, z: x.__setitem__(0, p.number()),
    "set_row_to": lambda p, x, y, z: x.__setitem__(0, y),
    "set_slice": lambda p, x, y, z: x.__setitem__((..., slice(1, None)), y[..., :-1].clone()),
    "index_put_": lambda p, x, y, z: x.__setitem__(p.library.tensor([0]), p.number()),
    "index_add_": lambda p, x, y, z: x.index_add_(0, p.library.tensor([0]), y[:1].clone()),
    "detach_": lambda p, x, y, z: x.detach_(),
    "requires_grad_": lambda p, x, y, z: x.requires_grad_(),
    "retain_grad": lambda p, x, y, z: x.retain_grad(),
}
OPERATIONS = {
    "pointwise": POINTWISE, "reducing": REDUCING, "viewing": VIEWING, "several": SEVERAL, "changing": CHANGING,
}  # fmt: skip
KINDS = {"pointwise": 5, "reducing": 3, "viewing": 5, "several": 2, "changing": 5}


# What was recorded -----------------------------------------------------------------------------------------------


ATTRIBUTES = ("requires_grad", "is_leaf", "_version", "output_nr", "retains_grad")


def facts(program: Program) -> list[Any]:
    """What a program's tensors say of themselves, and the graph behind them."""
    numbers: dict[Any, int] = {}
    places = {id(tensor): i for i, tensor in reversed(list(enumerate(program.tensors)))}
    said: list[Any] = [program.refusals]
    for i, tensor in enumerate(program.tensors):
        base = places.get(id(tensor._base), "unlisted") if tensor._is_view() else None
        told = [
            attribute(tensor, name) for name in ("requires_grad", "is_leaf", "_version", "output_nr", "retains_grad")
        ]
        said.append((f"tensor {i}", tuple(tensor.shape), tuple(tensor.stride()), base, told))
        said += walk(attribute(tensor, "grad_fn"), numbers)
    return said


def attribute(tensor: Any, name: str) -> Any:
    """An attribute, or what PyTorch says where a change in place was not allowed and nothing can be asked."""
    try:
        return getattr(tensor, name)
    except RuntimeError as error:
        return str(error)[:60]


def walk(root: Any, numbers: dict[Any, int]) -> list[Any]:
    """The nodes behind a root that have no number yet: their names, edges, and what they saved."""
    if root is None or isinstance(root, str):
        return [root]
    said: list[Any] = [("root", numbers.get(root, len(numbers)))]
    waiting = [] if root in numbers else [root]
    numbers.setdefault(root, len(numbers))
    while waiting:
        node = waiting.pop()
        edges = []
        for following, place in node.next_functions:
            if following is not None and following not in numbers:
                numbers[following] = len(numbers)
                waiting.append(following)
            edges.append(None if following is None else (numbers[following], place))
        said.append((numbers[node], type(node).__name__, node.name(), edges, saved(node)))
    return said


def saved(node: Any) -> list[Any]:
    """The attributes of what a node has saved, and their values."""
    said = []
    for name in sorted(attribute for attribute in dir(node) if attribute.startswith("_saved_")):
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            value = str(error).splitlines()[0][:80]
        said.append((name, plain(value)))
    return said


def plain(value: Any) -> Any:
    """A saved value in the words that both libraries share."""
    if hasattr(value, "grad_fn"):
        return ("tensor", tuple(value.shape), str(value.dtype).rpartition(".")[2], plain(value.detach().tolist()))
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return (
        value if isinstance(value, int | float | str | bool | type(None)) else str(value).replace("glasstorch", "torch")
    )


def first_difference(ours: Any, theirs: Any) -> tuple[Any, Any] | None:
    """The first parts of two accounts that differ; numbers may, by a rounding."""
    if isinstance(ours, float) and isinstance(theirs, float):
        same = math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12) or (ours != ours and theirs != theirs)
        return None if same else (ours, theirs)
    if type(ours) is not type(theirs) or not isinstance(ours, list | tuple) or len(ours) != len(theirs):
        return None if ours == theirs else (ours, theirs)
    return next((found for pair in zip(ours, theirs, strict=True) if (found := first_difference(*pair))), None)


def gradients(program: Program) -> list[Any]:
    """The gradients of the leaves, and those that were kept; the class of what backward refuses."""
    ends = [t for t in program.tensors if attribute(t, "grad_fn") is not None][-4:]
    said: list[Any] = []
    for end in ends:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                end.sum().backward(retain_graph=True)
        except FAULTS as error:
            said.append(("refused", str(error).splitlines()[0][:60]))
    kept = [t for t in program.tensors if attribute(t, "is_leaf") is True or attribute(t, "retains_grad") is True]
    for tensor in kept:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said.append(None if tensor.grad is None else plain(tensor.grad))
    return said
