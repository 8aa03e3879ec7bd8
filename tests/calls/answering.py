# ruff: noqa: B018  # attributes are read for who hears of it
"""Programs that answer calls in place of the library, and tell who was asked about what, in which order."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

Program = Callable[[Any, list[Any]], None]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Enter a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def told(value: Any) -> Any:
    """A value as both libraries print it: of a tensor its class and elements, of a function its public name."""
    if isinstance(value, list | tuple):
        return [type(value).__name__.replace("torch.return_types.", ""), *map(told, value)]
    if isinstance(value, dict):
        return {key: told(v) for key, v in value.items()}
    if hasattr(value, "untyped_storage"):
        kind = type(value)
        base = next(c for c in kind.__mro__ if c.__name__ == "Tensor")
        plain = value.as_subclass(base)
        return kind.__name__, str(plain.dtype).rpartition(".")[2], "meta" if plain.is_meta else plain.tolist()
    return str(value).replace("glasstorch", "torch")


def name_of(torch: Any, function: Any) -> str:
    return torch.overrides.resolve_name(function) or function.__name__


def logging_class(torch: Any, log: list[Any], name: str = "Logging", base: Any = None) -> Any:
    """A subclass that tells each call, and lets it run."""

    def answer(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            log.append((cls.__name__, name_of(torch, func), [t.__name__ for t in types], told(args), told(kwargs)))
        return super(made, cls).__torch_function__(func, types, args, kwargs)

    made = type(name, (base or torch.Tensor,), {"__torch_function__": classmethod(answer)})
    return made


def logging_mode(torch: Any, log: list[Any], name: str = "mode") -> Any:
    """A mode that tells each call, and lets it run."""

    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with torch._C.DisableTorchFunction():
                log.append((name, name_of(torch, func), [t.__name__ for t in types], told(args), told(kwargs)))
            return func(*args, **(kwargs or {}))

    return Mode()


class Container:
    """No tensor, but it answers: it wraps the results of what it is passed to."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def bare(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(map(bare, value))
            return value.value if isinstance(value, Container) else value

        return cls(func(*map(bare, args), **{key: bare(value) for key, value in (kwargs or {}).items()}))


# Subclasses -----------------------------------------------------------------------------------------------------


@program
def a_subclass_keeps_its_type(torch: Any, log: list[Any]) -> None:
    kind = type("Kind", (torch.Tensor,), {})
    x = torch.arange(6.0).as_subclass(kind)
    log += [told(x + 1), told(1 + x), told(torch.add(x, 1)), told(x.view(2, 3).sum(0)), told(x.max()), told(x[1:3])]
    log += [told(x.view(2, 3).max(0)), told(torch.stack([x, x])), told(x.unbind()), told(torch.zeros_like(x))]
    log += [told(torch.ones(6) + x), told(torch.ones(6) * x), told(-x), told(x.T), told(x.data), told(x.detach())]
    log += [told(x.split(2)), told(torch.nn.functional.relu(x)), told(x.tolist()), told(x.shape), told(x.dtype)]


@program
def operators_of_python(torch: Any, log: list[Any]) -> None:
    x, plain = torch.arange(1, 4).as_subclass(logging_class(torch, log)), torch.arange(1, 4)
    for other in (x, plain, 2):
        x + other, x - other, x * other, x / other, x // other, x % other, x**other, x & other, x | other, x ^ other
        x << other, x >> other, x == other, x != other, x < other, x <= other, x > other, x >= other
    plain + x, plain - x, plain * x, plain / x, plain // x, plain % x, plain**x, plain & x, plain == x, plain < x
    1 + x, 1 - x, 2 * x, 2 / x, 2 // x, 2 % x, 2**x, 1 & x, 1 | x, 1 ^ x, 1 << x, 1 >> x, x == 1, x > 1
    -x, +x, abs(x), ~x


@program
def operators_in_place(torch: Any, log: list[Any]) -> None:
    x, plain = torch.arange(1, 4).as_subclass(logging_class(torch, log)), torch.arange(1, 4)
    kept = x
    x += 1
    x -= plain
    x *= 2
    x //= 2
    x %= 5
    x **= 2
    x &= 7
    x |= 1
    x ^= 2
    x <<= 1
    x >>= 1
    log += [x is kept, told(x)]
    plain += x
    log.append(type(plain).__name__)


@program
def matrices(torch: Any, log: list[Any]) -> None:
    x, plain = torch.ones(2, 2).as_subclass(logging_class(torch, log)), torch.ones(2, 2)
    x @ x, x @ plain, plain @ x, torch.matmul(x, plain), torch.linalg.inv(x + torch.eye(2)), x.t(), x.mT


@program
def python_asks_a_tensor(torch: Any, log: list[Any]) -> None:
    x = torch.arange(3).as_subclass(logging_class(torch, log))
    log += [bool(x[1]), int(x[1]), float(x[2]), len(x), 1 in x, list(x) and 3, repr(x), f"{x[1]}", [1, 2, 3][x[1]]]
    reversed(x)
    log.append(hash(x) == hash(x))


@program
def attributes(torch: Any, log: list[Any]) -> None:
    x = torch.arange(3.0).as_subclass(logging_class(torch, log))
    x.requires_grad = True
    log += [x.shape, x.dtype, x.device, x.requires_grad, x.is_leaf, x.grad, x.grad_fn, x.ndim, x.layout, x.itemsize]
    x.grad = None
    x.data, x.T, x.real, x.names if hasattr(torch, "never") else None
    x.data = torch.ones(3)
    log.append(told(x.detach()))


@program
def facts(torch: Any, log: list[Any]) -> None:
    x = torch.arange(3.0).as_subclass(logging_class(torch, log))
    x.size(), x.size(0), x.dim(), x.numel(), x.stride(), x.is_contiguous(), x.element_size(), x.storage_offset()
    x.is_floating_point(), x.is_complex(), x.data_ptr(), x.untyped_storage(), x.item if False else x.tolist()
    torch.is_floating_point(x), torch.is_complex(x), torch.numel(x), torch.is_tensor(x), x.get_device(), x.type()


@program
def indices(torch: Any, log: list[Any]) -> None:
    kind = logging_class(torch, log)
    x, plain = torch.arange(6).view(2, 3).as_subclass(kind), torch.arange(6).view(2, 3)
    rows = torch.tensor([0, 1]).as_subclass(kind)
    log += [told(x[0]), told(x[0, 1]), told(x[:, 1]), told(x[...]), told(x[None]), told(x[rows]), told(plain[rows])]
    log += [told(plain[[rows[0], rows[1]]]), told(x[x > 2])]
    x[0, 0] = 9
    plain[0] = rows.sum()
    plain[rows] = 1
    log += [told(x), told(plain)]


@program
def arguments_as_they_were_given(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2, 2).as_subclass(logging_class(torch, log))
    torch.add(x, x), torch.add(x, other=x), torch.add(x, x, alpha=1), torch.add(input=x, other=x), x.add(x, alpha=2)
    torch.softmax(x, 1), torch.softmax(x, dim=1), torch.softmax(x, dim=1, dtype=torch.float64), x.softmax(-1)
    torch.sum(x), torch.sum(x, 0), torch.sum(x, dim=0, keepdim=False), x.sum(dim=(0, 1)), x.mean(axis=0)
    torch.cat([x, x], dim=0), torch.cat((x, x), 1), torch.stack([x, x]), torch.where(x > 0, x, 0.0), x.view(4)
    x.view((4,)), x.view(-1, 2), x.transpose(0, 1), torch.transpose(x, dim0=0, dim1=1), x.expand(2, 2), x.unbind(0)
    torch.clamp(x, min=0.5), x.clamp(0.5, None), torch.topk(x, 1, largest=True), x.flatten(), x.flatten(0, -1)


@program
def arguments_that_arrive_as_a_tuple(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2, 2).as_subclass(logging_class(torch, log))
    args: tuple[Any, ...] = (x, 1)
    torch.softmax(*args), torch.transpose(*args, 0)
    list(map(torch.neg, [x]))


@program
def results_are_written_to_a_given_tensor(torch: Any, log: list[Any]) -> None:
    x, plain = torch.zeros(2).as_subclass(logging_class(torch, log)), torch.ones(2)
    log += [torch.add(plain, plain, out=x) is x, told(x), type(torch.add(x, x, out=plain)).__name__]


@program
def methods_in_place(torch: Any, log: list[Any]) -> None:
    x = torch.zeros(2).as_subclass(logging_class(torch, log))
    log += [x.add_(1) is x, x.zero_() is x, x.fill_(3) is x, x.copy_(torch.ones(2)) is x, x.requires_grad_() is x]


@program
def methods_with_one_form(torch: Any, log: list[Any]) -> None:
    x = torch.arange(4.0).as_subclass(logging_class(torch, log))
    x.norm(), x.norm(2), x.norm(p=1, dim=0), x.unique(), x.unique(return_counts=True), x.is_shared()
    x.register_hook if False else x.dim_order()
    torch.norm(x), torch.norm(x, dim=0), torch.unique(x), torch.split(x, 2), torch.einsum("i,i->", x, x)


@program
def functions_of_layers(torch: Any, log: list[Any]) -> None:
    x, F = torch.ones(2, 4).as_subclass(logging_class(torch, log)), torch.nn.functional
    (
        F.relu(x),
        F.relu(x, inplace=False),
        F.gelu(x),
        F.softmax(x, dim=1),
        F.dropout(x, 0.0),
        F.linear(x, torch.ones(3, 4)),
    )
    F.layer_norm(x, (4,)), F.mse_loss(x, x), F.cross_entropy(x, torch.tensor([0, 1])), F.elu(x), F.pad(x, (1, 1))
    F.normalize(x), F.embedding(torch.tensor([0]), x), F.hardtanh(x), F.leaky_relu(x, 0.1), F.glu(x), F.silu(x)
    (
        F.max_pool1d(x, 2),
        F.avg_pool1d(x, 2),
        F.interpolate(x[None], 2),
        F.conv1d(x[None], torch.ones(1, 2, 1)),
        F.softplus(x),
    )


@program
def other_namespaces(torch: Any, log: list[Any]) -> None:
    x = torch.eye(2).as_subclass(logging_class(torch, log))
    torch.linalg.det(x), torch.linalg.norm(x), torch.fft.fft(x), torch.special.expit(x), torch.nn.init.uniform_(x)


@program
def operators_under_their_own_names(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log))
    log += [told(torch.ops.aten.add(x, x)), told(torch.ops.aten.neg(x))]


@program
def functions_that_do_not_ask(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log))
    log += [type(torch.as_tensor(x)).__name__, torch.is_tensor(x), torch.typename(1), isinstance(x, torch.Tensor)]
    log += [type(x.as_subclass(torch.Tensor)).__name__, torch.result_type(torch.ones(1), 1)]


@program
def a_gradient(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log)).requires_grad_()
    loss = (x * x).sum()
    loss.backward()
    log += [type(x.grad).__name__, x.grad.tolist()]


@program
def a_graph_of_plain_tensors_that_saved_a_subclass(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log))
    w = torch.full((2,), 3.0, requires_grad=True)
    with torch._C.DisableTorchFunctionSubclass():
        loss = (w * x).sum().as_subclass(torch.Tensor)
    loss.backward()
    log += [told(w.grad)]


@program
def a_hook_is_asked_again(torch: Any, log: list[Any]) -> None:
    kind = logging_class(torch, log)
    w = torch.full((2,), 3.0, requires_grad=True)
    w.register_hook(lambda grad: (grad.as_subclass(kind) * 2).as_subclass(torch.Tensor))
    (w * w).sum().backward()
    log += [told(w.grad)]


@program
def copies(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log))
    try:
        copy.deepcopy(x)
    except RuntimeError as error:
        log.append(str(error))
    x.clone(), x.contiguous(), copy.copy(torch.ones(1))

    class Whole(torch.Tensor):  # type: ignore[misc]
        def new_empty(self, *size: Any, **options: Any) -> Any:
            return torch.empty(*size, **options).as_subclass(Whole)

    whole = torch.ones(2).as_subclass(Whole)
    whole.note = "kept"
    copied = copy.deepcopy(whole)
    log += [told(copied), copied.note, copied.data_ptr() != whole.data_ptr()]


@program
def parameters_are_not_asked(torch: Any, log: list[Any]) -> None:
    class Own(torch.nn.Parameter):  # type: ignore[misc]
        pass

    p = Own(torch.ones(2))
    log += [type(p).__name__, type(p * 2).__name__, type(p.data).__name__, torch.overrides.has_torch_function((p,))]
    log += [torch.nn.Parameter.__torch_function__ is torch._C._disabled_torch_function_impl]
    log += [torch._C._disabled_torch_function_impl(torch.add, (), (torch.ones(1), 1)).tolist()]


@program
def a_subclass_that_answers_no_more(torch: Any, log: list[Any]) -> None:
    kind = logging_class(torch, log)

    class Quiet(kind):  # type: ignore[misc, valid-type]
        __torch_function__ = torch._C._disabled_torch_function_impl

    x = torch.ones(2).as_subclass(Quiet)
    log += [type(x + 1).__name__, type(torch.add(x, x)).__name__, type(x.sum()).__name__, x.shape, told(x[0])]


@program
def the_method_is_set_later(torch: Any, log: list[Any]) -> None:
    class Late(torch.Tensor):  # type: ignore[misc]
        __torch_function__ = torch._C._disabled_torch_function_impl

    x = torch.ones(2).as_subclass(Late)
    log.append(type(x + 1).__name__)
    Late.__torch_function__ = classmethod(lambda cls, func, *call: ("answered", name_of(torch, func)))
    log += [x + 1, torch.add(x, 1), x.sum(), x.shape]


@program
def what_a_subclass_overrides_itself(torch: Any, log: list[Any]) -> None:
    class Mixed:
        def __mul__(self, other: Any) -> Any:
            log.append("Mixed.__mul__")
            return super().__mul__(other)  # type: ignore[misc]

    class Own(Mixed, torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(name_of(torch, func))
            return super().__torch_function__(func, types, args, kwargs)

        def __init_subclass__(cls) -> None:  # which does not call super
            log.append("init_subclass")

        def __add__(self, other: Any) -> Any:
            log.append("Own.__add__")
            return super().__add__(other)

        @property
        def shape(self) -> Any:
            return "its own"

        def sum(self) -> str:
            return "its own"

    class Below(Own):
        pass

    x = torch.ones(2).as_subclass(Below)
    log += [told(x + 1), told(x * 2), x.shape, x.sum(), told(torch.sum(x)), told(1 + x)]


# Who is asked, and in which order -------------------------------------------------------------------------------


@program
def a_subclass_is_asked_before_its_base(torch: Any, log: list[Any]) -> None:
    base = logging_class(torch, log, "Base")
    derived = logging_class(torch, log, "Derived", base)
    b, d = torch.ones(2).as_subclass(base), torch.ones(2).as_subclass(derived)
    log += [
        type(b + d).__name__,
        type(d + b).__name__,
        type(torch.add(b, d)).__name__,
        type(torch.stack([b, d])).__name__,
    ]


@program
def two_families_do_not_mix(torch: Any, log: list[Any]) -> None:
    left, right = logging_class(torch, log, "Left"), logging_class(torch, log, "Right")
    x, y = torch.ones(2).as_subclass(left), torch.ones(2).as_subclass(right)
    for call in (lambda: x + y, lambda: torch.add(x, y), lambda: torch.nn.functional.mse_loss(x, y)):
        try:
            call()
        except TypeError as error:
            log.append(str(error).partition("\n\nFor more")[0].replace("tests.calls.answering", "here"))


@program
def nobody_answers(torch: Any, log: list[Any]) -> None:
    class Silent:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(("asked", name_of(torch, func), [t.__name__ for t in types]))
            return NotImplemented

    Silent.__qualname__, F = "Silent", torch.nn.functional
    for call in (
        lambda: torch.add(torch.ones(1), Silent()), lambda: torch.ones(1) + Silent(),
        lambda: torch.ones(1).add(Silent()),
        lambda: F.relu(Silent()), lambda: torch.stack([torch.ones(1), Silent()]), lambda: torch.ones(1) == Silent(),
        lambda: torch.split(Silent(), 1), lambda: torch.sum(Silent(), dim=0),
    ):  # fmt: skip
        try:
            log.append(told(call()))
        except TypeError as error:
            log.append(str(error).partition("\n\nFor more")[0].replace("glasstorch", "torch"))


@program
def one_says_not_implemented_and_the_next_answers(torch: Any, log: list[Any]) -> None:
    class First:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(("first", [t.__name__ for t in types]))
            return NotImplemented

    class Second:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(("second", [t.__name__ for t in types], sorted(kwargs or {})))
            return "answered"

    class Third(First):
        pass

    log += [torch.add(First(), Second()), torch.mul(Second(), First()), torch.cat([First(), Second(), Third()], dim=0)]
    log += [torch.where(First(), Third(), Second()), torch.add(torch.ones(1), First(), out=Second())]


@program
def containers_that_are_no_tensors(torch: Any, log: list[Any]) -> None:
    c = Container(torch.arange(4.0))
    log += [told(torch.add(c, 1).value), told(torch.ones(4).mul(c).value), told(torch.stack([c, c]).value)]
    log += [told(torch.sum(c).value), told(torch.nn.functional.relu(c).value), told((torch.ones(4) + c).value)]
    log += [told(torch.matmul(c, c).value), told(torch.max(c, 0).value), told(torch.linalg.norm(c).value)]
    log += [torch.overrides.is_tensor_like(c), torch.overrides.is_tensor_like(1), told(torch.einsum("i->", c).value)]
    log += [told(torch.nn.functional.linear(c, torch.ones(2, 4)).value), told(torch.zeros_like(c).value)]


@program
def a_plain_method(torch: Any, log: list[Any]) -> None:
    class Plain:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "answered", name_of(torch, func)

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log += [torch.add(Plain(), 1), torch.nn.functional.relu(Plain())]


@program
def an_error_in_an_answer(torch: Any, log: list[Any]) -> None:
    class Fails(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError(f"no {name_of(torch, func)} here")

    x = torch.ones(2).as_subclass(Fails)
    for call in (lambda: x + 1, lambda: torch.add(x, 1), lambda: x.shape, lambda: len(x), lambda: x[0]):
        try:
            call()
        except ValueError as error:
            log.append(str(error))


@program
def switched_off(torch: Any, log: list[Any]) -> None:
    x, mode = torch.ones(2).as_subclass(logging_class(torch, log)), logging_mode(torch, log)
    with torch._C.DisableTorchFunctionSubclass():
        log += [type(x + 1).__name__, type(torch.add(x, x)).__name__, torch._C._is_torch_function_enabled()]
        with mode:
            torch.add(x, 1)
    with torch._C.DisableTorchFunction(), mode:
        log += [type(x + 1).__name__, type(torch.add(x, x)).__name__, torch._C._is_torch_function_mode_enabled()]
    log.append(torch._C._is_torch_function_enabled())
    torch.neg(x)


# Modes ----------------------------------------------------------------------------------------------------------


@program
def a_mode_hears_of_plain_tensors(torch: Any, log: list[Any]) -> None:
    x = torch.arange(4.0)
    with logging_mode(torch, log):
        x + 1, 1 + x, x - x, 1 - x, x * x, x / 2, x @ x, x == x, -x, x**2, x // 2
        torch.add(x, 1), x.add(1), x.sum(), x.sum(dim=0), torch.sum(x, dim=0), x.view(2, 2), x.max(0)
        x.shape, x.dtype, x.device, x.grad, x.requires_grad, x.T, x.data, x.ndim, x.is_leaf
        x.size(), x.size(0), x.dim(), x.numel(), len(x), list(x), x[0], x[1:], x[[0, 1]], 1.0 in x
        bool(x[0]), float(x[0]), x[0].item(), x.tolist(), repr(x), hash(x), x.norm(), x.float(), x.to(torch.float64)
        x[0] = 2.0
        x.add_(1), torch.stack([x, x]), torch.cat([x, x]), torch.einsum("i,i->", x, x), torch.split(x, 2)
    x + 1, x.shape


@program
def a_mode_hears_of_factories(torch: Any, log: list[Any]) -> None:
    with logging_mode(torch, log):
        torch.zeros(2), torch.ones(2, 3), torch.full((2,), 1.0), torch.arange(3), torch.eye(2), torch.linspace(0, 1, 3)
        (
            torch.tensor([1.0]),
            torch.tensor(1, dtype=torch.float64),
            torch.as_tensor([1]),
            torch.zeros(2, dtype=torch.int64),
        )
        torch.asarray([1.0]), torch.scalar_tensor(1.0), torch.tril_indices(2, 2), torch.zeros_like(torch.ones(1))


@program
def a_mode_hears_of_functions_of_layers(torch: Any, log: list[Any]) -> None:
    x, F = torch.ones(2, 4), torch.nn.functional
    layer = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
    with torch.no_grad():
        layer[0].weight.fill_(1.0), layer[0].bias.fill_(0.5)
    with logging_mode(torch, log):
        F.relu(x), F.softmax(x, dim=1), F.linear(x, x), F.mse_loss(x, x), F.gelu(x), F.layer_norm(x, (4,)), layer(x)


@program
def modes_nest(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2)
    with logging_mode(torch, log, "outer"), logging_mode(torch, log, "inner"):
        log.append(torch._C._len_torch_function_stack())
        torch.add(x, 1), x + 1, x.shape, x.size(0), x[0], torch.nn.functional.relu(x), torch.ones(1)
    log.append(torch._C._len_torch_function_stack())


@program
def a_mode_within_its_own_answer(torch: Any, log: list[Any]) -> None:
    class Deep(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        depth = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append((self.depth, name_of(torch, func)))
            if self.depth < 2:
                self.depth += 1
                with self:
                    torch.neg(torch.ones(1))
                self.depth -= 1
            return func(*args, **(kwargs or {}))

    with Deep():
        torch.abs(torch.ones(1))


@program
def a_mode_is_asked_before_a_subclass(torch: Any, log: list[Any]) -> None:
    x = torch.ones(2).as_subclass(logging_class(torch, log))
    with logging_mode(torch, log):
        x + 1, torch.add(x, 1), x.shape, x.sum(), torch.stack([x, torch.ones(2)]), torch.nn.functional.relu(x), x[0]


@program
def a_mode_that_does_not_know(torch: Any, log: list[Any]) -> None:
    class Unsure(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(("unsure", func.__name__))
            return NotImplemented

        def __repr__(self) -> str:
            return "Unsure()"

    x, plain = torch.ones(2).as_subclass(type("Kind", (torch.Tensor,), {})), torch.ones(2)
    with Unsure():
        for call in (lambda: torch.add(x, 1), lambda: torch.zeros(2), lambda: torch.stack([x, plain])):
            try:
                log.append(type(call()).__name__)
            except TypeError as error:
                log.append(str(error).partition("\n\nFor more")[0])


@program
def a_mode_changes_arguments_and_results(torch: Any, log: list[Any]) -> None:
    class Doubles(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.add or func is torch.Tensor.mul else result

    x = torch.arange(3.0)
    with Doubles():
        made = [torch.add(x, 1), x * 3, x + 1, torch.mul(x, 3)]
    log += [told(m) for m in made]


@program
def an_error_leaves_a_mode(torch: Any, log: list[Any]) -> None:
    mode = logging_mode(torch, log)
    try:
        with mode:
            torch.ones(2) + torch.ones(3)
    except RuntimeError:
        log.append(torch._C._len_torch_function_stack())
    torch.ones(2) + 1


@program
def the_stack_can_be_looked_at(torch: Any, log: list[Any]) -> None:
    overrides = torch.overrides
    outer, inner = overrides.BaseTorchFunctionMode(), overrides.BaseTorchFunctionMode()
    log += [overrides._get_current_function_mode(), overrides._get_current_function_mode_stack()]
    with outer, inner:
        log += [overrides._get_current_function_mode() is inner, len(overrides._get_current_function_mode_stack())]
        log += [torch._C._get_function_stack_at(0) is outer, told(torch.ones(1) + 1)]
        with overrides._pop_mode_temporarily() as popped:
            log += [popped is inner, overrides._get_current_function_mode() is outer]
        log.append(overrides._get_current_function_mode() is inner)


@program
def functions_keep_their_identity_under_a_mode(torch: Any, log: list[Any]) -> None:
    before = [torch.Tensor.size, torch.Tensor.__getitem__, torch.Tensor.add, torch.add, torch.nn.functional.relu]
    properties = [torch.Tensor.shape.__get__, torch.Tensor.grad.__get__, torch.Tensor.dtype.__get__]
    seen: list[Any] = []

    class Keeps(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Keeps():
        x.size(), x[0], x.add(1), torch.add(x, 1), torch.nn.functional.relu(x), x.shape, x.grad, x.dtype
    found = [f for f in seen if f in before]
    log += [len(found) >= 5, [any(f == g for f in seen) for g in properties]]


@program
def a_device_context(torch: Any, log: list[Any]) -> None:
    devices = import_module(f"{torch.__name__}.utils._device")
    on_cpu = devices.DeviceContext("cpu")
    with devices.DeviceContext("meta"):
        log += [torch.ones(2).device.type, torch.tensor([1.0]).device.type, torch.ones(2, device="cpu").device.type]
        log += [torch.zeros_like(torch.ones(1, device="cpu")).device.type, torch.as_tensor([1]).device.type]
        with logging_mode(torch, log), on_cpu:
            log.append(torch.ones(2).device.type)
        log.append(torch.ones(2).device.type)
    with torch.device("meta"):
        log.append(torch.get_default_device().type)
    log += [devices.set_device("meta")(lambda: torch.ones(1).device.type)(), torch.ones(1).device.type]


@program
def default_devices_are_modes(torch: Any, log: list[Any]) -> None:
    stack = torch.overrides._get_current_function_mode_stack
    meta, cpu = torch.device("meta"), torch.device("cpu")

    def kinds() -> list[str]:
        return [type(mode).__name__ for mode in stack()]

    mode = logging_mode(torch, log)
    with mode, meta:
        torch.ones(1)
        log.append(kinds())
        torch.add(torch.ones(1, device="meta"), 1)
    with meta, mode:
        log += [torch.ones(1).device.type, kinds(), torch._C._len_torch_function_stack()]
        with cpu:
            log += [torch.ones(1).device.type, kinds()]
        log += [torch.tensor([1.0]).device.type, [str(one.device) for one in stack() if hasattr(one, "device")]]
    log.append((kinds(), torch.ones(1).device.type))
    with mode:
        torch.set_default_device("meta")
        try:
            log += [kinds(), torch.ones(1).device.type, str(torch.utils._device.CURRENT_DEVICE)]
            torch.set_default_device("cpu")
            log += [kinds(), torch.ones(1).device.type]
        finally:
            torch.set_default_device(None)
    log.append((kinds(), str(torch.utils._device.CURRENT_DEVICE), torch._C._is_torch_function_mode_enabled()))


# The helpers of torch.overrides ---------------------------------------------------------------------------------


@program
def helpers(torch: Any, log: list[Any]) -> None:
    overrides, Tensor = torch.overrides, torch.Tensor
    x = torch.ones(1).as_subclass(logging_class(torch, log))
    log += [overrides.has_torch_function((1, x)), overrides.has_torch_function((1, torch.ones(1)))]
    log += [overrides.has_torch_function_unary(x), overrides.has_torch_function_variadic(1, 2)]
    log += [overrides.is_tensor_method_or_property(f) for f in (Tensor.add, torch.add, Tensor.shape.__get__, print)]
    names = [torch.add, Tensor.add, Tensor.shape.__get__, torch.nn.functional.relu, torch.einsum, torch.tensor, print]
    log += [overrides.resolve_name(f) for f in names]
    ignored, testing = overrides.get_ignored_functions(), overrides.get_testing_overrides()
    log += [f in ignored for f in (Tensor.as_subclass, torch.add, torch.zeros, torch.tensor, Tensor.__iter__)]
    log += [
        testing[torch.add](1, 2),
        testing[Tensor.add](1, 2),
        torch.tensor in testing,
        torch.nn.functional.relu in testing,
    ]
    log += [Tensor.grad.__get__ in overrides.get_default_nowrap_functions()]


@program
def a_function_of_the_program(torch: Any, log: list[Any]) -> None:
    @torch.overrides.wrap_torch_function(lambda a, b=None: (a, b))
    def double(a: Any, b: Any = None) -> Any:
        return a * 2

    class Here:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func is double, [t.__name__ for t in types], sorted(kwargs or {})

    log += [double(3), double(Here()), double(1, b=Here()), told(double(torch.ones(1)))]
    with logging_mode(torch, log):
        double(torch.ones(1))


@program
def one_level_is_skipped(torch: Any, log: list[Any]) -> None:
    def outer(a: Any) -> Any:
        if torch.overrides.has_torch_function((a,)):
            return torch.overrides.handle_torch_function(outer, (a,), a)
        return torch.neg(a)

    class Skips(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(func.__name__)
            return torch.overrides.redispatch_function(func, types, args, kwargs)

    outer(torch.ones(1).as_subclass(Skips))


@program
def pickles(torch: Any, log: list[Any]) -> None:
    x = torch.nn.Parameter(torch.ones(2))
    log += [told(pickle.loads(pickle.dumps(x)).detach()), type(pickle.loads(pickle.dumps(x))).__name__]


# Operators by themselves, and functions of autograd ---------------------------------------------------------------


@program
def overloads_are_called_by_themselves(torch: Any, log: list[Any]) -> None:
    aten, x = torch.ops.aten, torch.ones(2)
    s = x.as_subclass(logging_class(torch, log))
    made = [aten.add.Tensor(s, s), aten.add.Tensor(x, s, alpha=2), aten.add.Tensor(x, other=s)]
    made.append(aten.cat.default([x, s]))
    made += [aten.sum.dim_IntList(s, [0]), aten.detach.default(s), aten.add.out(x, s, out=x), aten.mul_.Tensor(s, 2)]
    made += [aten.index.Tensor(x, [torch.tensor([0]).as_subclass(type(s))]), *aten.max.dim(s, 0)]
    with torch._C.DisableTorchFunctionSubclass():
        made.append(aten.add.Tensor(s, s))
        log += [type(one).__name__ for one in made]


@program
def a_mode_hears_of_overloads(torch: Any, log: list[Any]) -> None:
    aten, x = torch.ops.aten, torch.ones(2)
    with logging_mode(torch, log, "outer"), logging_mode(torch, log, "inner"):
        aten.add.Tensor(x, x)
        aten.ones.default([2])
        aten.sum(x)


@program
def an_overload_nobody_answers_for(torch: Any, log: list[Any]) -> None:
    class Mute(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    try:
        torch.ops.aten.add.Tensor(torch.ones(1).as_subclass(Mute), torch.ones(1))
    except TypeError as error:
        log.append(str(error).split(";")[1].splitlines()[:3])


@program
def gradients_are_asked_for(torch: Any, log: list[Any]) -> None:
    kind = logging_class(torch, log)
    x = torch.ones(2, requires_grad=True)
    s = x.as_subclass(kind)
    log.append(told(torch.autograd.grad((s * 2).sum(), s)))
    log.append(told(torch.autograd.grad([(x * 2).sum()], {"b": x}, allow_unused=True)))
    torch.autograd.backward((s * 3).sum())
    torch.autograd.backward([(x * 3).sum(), (s * 3).sum()], inputs=[x], retain_graph=True)
    (s * 3).sum().backward()
    with logging_mode(torch, log):
        torch.autograd.grad((x * 2).sum(), x, materialize_grads=True)
        torch.autograd.backward((x * 2).sum(), inputs=x)
        (x * 2).sum().backward()
    log.append(told(x.grad))


@program
def gradients_of_what_is_no_tensor(torch: Any, log: list[Any]) -> None:
    class Told:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = [[type(one).__name__ for one in arg] for arg in args]
            log.append((func.__name__, [t.__name__ for t in types], given, sorted(kwargs or {})))
            return (1,) * len(args[-1])

    x = torch.ones(2, requires_grad=True)
    log.append(torch.autograd.grad(Told(), x))
    log.append(torch.autograd.grad([x.sum(), Told()], {"a": Told()}))
    torch.autograd.backward(x.sum(), inputs=[Told()])


@program
def a_mode_of_dispatch_hears_of_what_runs(torch: Any, log: list[Any]) -> None:
    modes: Any = import_module(f"{torch.__name__}.utils._python_dispatch")

    class Dispatch(modes.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    s = x.as_subclass(logging_class(torch, log))
    with Dispatch():
        log.append(type(x.as_subclass(type(s))).__name__)
        log.append([type(s + 1).__name__, type(torch.ops.aten.sum.default(s)).__name__])
    with logging_mode(torch, log), Dispatch():
        torch.ops.aten.add.Tensor(x, 1)
    with Dispatch(), logging_mode(torch, log):
        x * 2
