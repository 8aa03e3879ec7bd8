"""Programs whose modes and subclasses tell in which order they are asked, for what, with which arguments.

`python -m tests.dispatch.dispatch_programs` runs each on PyTorch and writes what it told to `dispatch_programs.txt`.
Left out of what is told: the options `device` and `pin_memory`, which PyTorch's Python functions add where nobody
gave them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_suffix(".txt")
Program = Callable[["Kit"], None]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


class Kit:
    """One library, and what a program has told so far."""

    def __init__(self, library: Any) -> None:
        self.t = library
        self.python_dispatch = importlib.import_module(f"{library.__name__}.utils._python_dispatch")
        self.map = importlib.import_module(f"{library.__name__}.utils._pytree").tree_map
        self.told: list[str] = []
        self.Log, self.Wrapper, self.Twin = _log(self), _wrapper(self), _twin(self)

    def say(self, *words: Any) -> None:
        self.told.append(" ".join(map(self.text, words)))

    def saw(self, who: str, func: Any, types: Any, args: Any, kwargs: Any) -> None:
        options = {k: v for k, v in (kwargs or {}).items() if k not in ("device", "pin_memory")}
        self.say(f"{who}:", str(func), f"({', '.join(kind.__name__ for kind in types)})", list(args), options)

    def text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, self.t.Tensor):
            return f"{type(value).__name__}{list(value.shape)}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{k}={self.text(v)}' for k, v in value.items())}}}"
        return str(value)

    def tries(self, call: Callable[[], Any]) -> None:
        """Say what a call gives, or which error it raises."""
        try:
            self.say("gives", call())
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            self.say("raises", type(error).__name__, str(error).partition(" object at ")[0])


def told_by(name: str, library: Any) -> list[str]:
    kit = Kit(library)
    PROGRAMS[name](kit)
    return kit.told


def recorded() -> dict[str, list[str]]:
    parts = RECORD.read_text(encoding="utf-8").split("## ")[1:]
    return {name: rest.splitlines() for name, _, rest in (part.partition("\n") for part in parts)}


def _log(kit: Kit) -> Any:
    class Log(kit.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __init__(self, name: str = "mode") -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kit.saw(self.name, func, types, args, kwargs)
            return func(*args, **kwargs or {})

    return Log


def _wrapper(kit: Kit) -> Any:
    """A class that wraps one tensor and tells what it is asked."""

    class Wrapper(kit.t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = kit.t._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, inner: Any, requires_grad: bool = False) -> Any:
            return kit.t.Tensor._make_wrapper_subclass(
                cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
                device=inner.device, requires_grad=requires_grad,
            )  # fmt: skip

        def __init__(self, inner: Any, requires_grad: bool = False) -> None:
            self.inner = inner

        def __repr__(self) -> str:
            return f"{type(self).__name__}({self.inner.tolist()})"

        def __tensor_flatten__(self) -> Any:
            return ["inner"], None

        @classmethod
        def __tensor_unflatten__(cls, parts: Any, context: Any, size: Any, stride: Any) -> Any:
            return cls(parts["inner"])

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kit.saw(cls.__name__, func, types, args, kwargs)
            inside = kit.map(lambda a: a.inner if isinstance(a, Wrapper) else a, (args, kwargs or {}))
            result = func(*inside[0], **inside[1])
            return kit.map(lambda a: cls(a) if isinstance(a, kit.t.Tensor) else a, result)

    return Wrapper


def _twin(kit: Kit) -> Any:
    """A class that wraps two tensors, on which it runs each operator, and that sees to aliases."""

    class Twin(kit.t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = kit.t._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, a: Any, b: Any, requires_grad: bool = False) -> Any:
            return kit.t.Tensor._make_wrapper_subclass(
                cls, a.shape, strides=a.stride(), storage_offset=a.storage_offset(), dtype=a.dtype, device=a.device,
                requires_grad=requires_grad,
            )  # fmt: skip

        def __init__(self, a: Any, b: Any, requires_grad: bool = False) -> None:
            self.a, self.b = a, b

        def __repr__(self) -> str:
            return f"Twin({self.a.tolist()}, {self.b.tolist()})"

        def __tensor_flatten__(self) -> Any:
            return ["a", "b"], "twin"

        @staticmethod
        def __tensor_unflatten__(parts: Any, context: Any, size: Any, stride: Any) -> Any:
            return Twin(parts["a"], parts["b"])

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kit.saw("Twin", func, types, args, kwargs)
            results = []
            for part in ("a", "b"):
                inside = kit.map(lambda x: getattr(x, part) if isinstance(x, Twin) else x, (args, kwargs or {}))  # noqa: B023
                results.append(func(*inside[0], **inside[1]))
            first, second = results
            if isinstance(first, kit.t.Tensor):
                result: Any = Twin(first, second)
            elif isinstance(first, list | tuple):
                result = type(first)(
                    [Twin(x, y) if isinstance(x, kit.t.Tensor) else x for x, y in zip(first, second, strict=True)]
                )
            else:
                result = first
            return kit.python_dispatch.return_and_correct_aliasing(func, args, kwargs or {}, result)

    return Twin


# Modes --------------------------------------------------------------------------------------------------------------


@program
def a_mode_sees_each_operator_once(k: Kit) -> None:
    x = k.t.ones(2, 3)
    with k.Log():
        y = x * 2 + 1
        y.sum(0, keepdim=True)
        y.t().reshape(-1)
        k.t.cat([x, y])
    k.say(y.tolist())


@program
def numbers_stay_numbers(k: Kit) -> None:
    x = k.t.ones(2)
    with k.Log():
        x + 3
        3 - x
        x * 2.5
        x / 2
        x**2
        2**x
        x.gt(0)
        x.add(1, alpha=2)
        x.clamp(0, 1)


@program
def factories_are_seen(k: Kit) -> None:
    with k.Log():
        k.t.zeros(2, 3)
        k.t.ones((2,), dtype=k.t.float64)
        k.t.full((2, 2), 3.0)
        k.t.arange(4)
        k.t.arange(1, 7, 2)
        k.t.linspace(0, 1, 3)
        k.t.eye(2)
        k.t.empty(0)
        k.t.tensor([1.0, 2.0])
        k.t.randperm(3)


@program
def factories_like_another(k: Kit) -> None:
    x = k.t.ones(2, 3)
    with k.Log():
        k.t.zeros_like(x)
        k.t.ones_like(x, dtype=k.t.int64)
        k.t.full_like(x, 2)
        x.new_zeros(2)
        x.new_full((2,), 7.0)
        x.new_empty((1, 2))
        x.new_ones(3)


@program
def a_mode_in_a_mode(k: Kit) -> None:
    x = k.t.ones(2)
    with k.Log("outer"), k.Log("inner"):
        x + x
        k.t.zeros(1)


@program
def three_modes_and_what_they_call(k: Kit) -> None:
    class Doubles(k.Log):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return super().__torch_dispatch__(func, types, args, kwargs) * 2

    with k.Log("outer"), Doubles("middle"), k.Log("inner"):
        k.say((k.t.ones(2) + 1).tolist())


@program
def a_mode_entered_again_inside_itself(k: Kit) -> None:
    class Again(k.Log):  # type: ignore[misc,name-defined]
        depth = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw(f"depth {self.depth}", func, types, args, kwargs)
            self.depth += 1
            if self.depth < 3:
                with self:
                    return func(*args, **kwargs or {})
            return func(*args, **kwargs or {})

    with Again():
        k.t.ones(2) * 3


@program
def the_stack_is_seen_and_changed(k: Kit) -> None:
    d = k.python_dispatch
    a, b = k.Log("a"), k.Log("b")
    with a, b:
        k.say([mode.name for mode in d._get_current_dispatch_mode_stack()], d._get_current_dispatch_mode().name)
        k.say(k.t._C._len_torch_dispatch_stack(), k.t._C._get_dispatch_stack_at(0).name)
        with d._pop_mode_temporarily() as popped:
            k.say(popped.name)
            k.t.ones(1)
        with d._disable_current_modes() as off:
            k.say([mode.name for mode in off], d._get_current_dispatch_mode())
            k.t.ones(1)
        k.t.ones(1)
    k.say(d._get_current_dispatch_mode(), k.t._C._len_torch_dispatch_stack())


@program
def what_modes_say_of_themselves(k: Kit) -> None:
    d = k.python_dispatch

    class Infra(d.TorchDispatchMode):  # type: ignore[misc,name-defined]
        @classmethod
        def is_infra_mode(cls) -> bool:
            return True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **kwargs or {})

    def ask() -> None:
        k.say(
            d.is_in_torch_dispatch_mode(), d.is_in_torch_dispatch_mode(include_infra_modes=False),
            d.is_in_any_mode_without_ignore_compile_internals(), d.any_torch_dispatch_mode_on_stack(),
        )  # fmt: skip

    ask()
    with Infra():
        ask()
        with k.Log():
            ask()
    k.say(Infra.ignore_compile_internals(), k.Log.ignore_compile_internals(), k.Log.supports_higher_order_operators)
    with d.BaseTorchDispatchMode():
        k.say((k.t.ones(1) + 1).tolist())


@program
def a_mode_that_answers_itself(k: Kit) -> None:
    class Zero(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.say(str(func))
            return k.t.zeros(3)

    with Zero():
        k.say((k.t.ones(2) * 5).tolist())


@program
def a_mode_that_refuses_everything(k: Kit) -> None:
    class Refuses(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("refuses", func, types, args, kwargs)
            return NotImplemented

    x = k.t.ones(2)
    with Refuses():
        k.tries(lambda: k.t.exp(x))
        k.tries(lambda: k.t.zeros(2))
    with k.Log("outer"), Refuses():
        k.tries(lambda: k.t.exp(x))


@program
def a_mode_that_fails_leaves_the_stack_as_it_was(k: Kit) -> None:
    class Fails(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise KeyError(str(func))

    with k.Log():
        k.tries(lambda: _inside(Fails(), lambda: k.t.ones(2)))
        k.say(k.t._C._len_torch_dispatch_stack())
        k.t.ones(1)


def _inside(context: Any, call: Callable[[], Any]) -> Any:
    with context:
        return call()


@program
def wrong_answers_are_refused(k: Kit) -> None:
    class Answers(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return 7

    x = k.t.ones(2)
    with Answers():
        k.tries(lambda: k.t.exp(x))
        k.tries(lambda: k.t.add(x, x))


@program
def autograd_runs_above_a_mode(k: Kit) -> None:
    x = k.t.ones(3, requires_grad=True)
    with k.Log():
        y = (x * x).sum()
        k.say(type(y.grad_fn).__name__)
        y.backward()
    k.say(x.grad.tolist())


@program
def saved_results_are_detached(k: Kit) -> None:
    x = k.t.ones(3, requires_grad=True)
    with k.Log():
        y = k.t.exp(x)
        z = k.t.sigmoid(y)
        z.sum().backward()
        x.detach()
        x.data  # noqa: B018


@program
def no_grad_and_inference_under_a_mode(k: Kit) -> None:
    x = k.t.ones(2, requires_grad=True)
    with k.Log():
        with k.t.no_grad():
            k.say((x * 2).requires_grad)
        with k.t.inference_mode():
            k.t.nn.functional.linear(k.t.ones(1, 2), k.t.ones(3, 2))
        k.t.nn.functional.linear(k.t.ones(1, 2), k.t.ones(3, 2), k.t.ones(3))


@program
def a_small_network_under_a_mode(k: Kit) -> None:
    k.t.manual_seed(0)
    net = k.t.nn.Sequential(k.t.nn.Linear(3, 2, bias=False), k.t.nn.Tanh())
    x, target = k.t.ones(2, 3), k.t.zeros(2, 2)
    with k.Log():
        k.t.nn.functional.mse_loss(net(x), target).backward()


@program
def in_place_and_views_under_a_mode(k: Kit) -> None:
    x = k.t.zeros(2, 3)
    with k.Log():
        x[0].add_(1)
        x[:, 1:].fill_(5)
        x.t_()
        x.view(3, 2).mul_(2)
        k.t.add(x, x, out=x)
    k.say(x.tolist(), x._version)


@program
def values_leave_through_one_operator(k: Kit) -> None:
    x = k.t.tensor([3.0])
    with k.Log():
        k.say(x.item(), float(x), bool(x > 2), int(x))
        if x.sum():
            k.say("true")


@program
def indices_under_a_mode(k: Kit) -> None:
    x = k.t.arange(6.0).view(2, 3)
    with k.Log():
        x[1]
        x[:, 0]
        x[..., None]
        x[k.t.tensor([1, 0])]
        x[x > 2]
        x[0, 1] = 4.0


@program
def conversions_under_a_mode(k: Kit) -> None:
    x = k.t.ones(2)
    with k.Log():
        x.double()
        x.to(k.t.int64)
        x.float()
        x.to("cpu", k.t.float16)
        x.clone()
        x.contiguous()


@program
def several_results_under_a_mode(k: Kit) -> None:
    x = k.t.tensor([[3.0, 1.0], [2.0, 4.0]])
    with k.Log():
        k.say(k.t.max(x, 0)[1].tolist())
        k.say([part.tolist() for part in k.t.split(x, 1)])
        k.say(k.t.sort(x)[0].tolist())
        k.say([part.tolist() for part in x.unbind()])


@program
def names_of_results_stay_with_functions(k: Kit) -> None:
    x = k.t.tensor([[3.0, 1.0], [2.0, 4.0]])

    class Kinds(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **kwargs or {})
            k.say(str(func), type(result).__name__)
            return result

    with Kinds():
        k.say(k.t.max(x, 0).values.tolist(), x.sort().indices.tolist(), k.t.linalg.qr(x).Q.shape)
        k.say(type(k.t.split(x, 1)).__name__, type(x.unbind()).__name__, type(k.t.max(x, 0)).__name__)
    k.say(k.t.max(k.Wrapper(x), 0).values.inner.tolist(), type(k.t.ops.aten.max.dim(x, 0)).__name__)
    k.say(type(k.t.ops.aten.split.Tensor(x, 1)).__name__, type(k.t.ops.aten.unbind.int(x)).__name__)


# Subclasses ---------------------------------------------------------------------------------------------------------


@program
def a_wrapper_is_asked_for_each_operator(k: Kit) -> None:
    x = k.Wrapper(k.t.ones(2, 3))
    y = (x + 1) * x
    k.say(y.inner.tolist(), k.t._C._dispatch_keys(y))
    k.t.cat([x, k.t.zeros(2, 3)]).sum(1)
    k.t.matmul(x, k.t.ones(3, 2))


@program
def a_subclass_that_shares_memory(k: Kit) -> None:
    class Seen(k.t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = k.t._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("Seen", func, types, args, kwargs)
            return super().__torch_dispatch__(func, types, args, kwargs)

    plain = k.t.arange(4.0)
    x = k.t.Tensor._make_subclass(Seen, plain)
    k.say(k.t._C._dispatch_keys(x), x.data_ptr() == plain.data_ptr())
    y = x * 2
    k.say(y, y.tolist())
    x.add_(1)
    k.say(plain.tolist(), x.view(2, 2), k.t._C._dispatch_keys(x.view(2, 2)))
    z = plain.as_subclass(Seen)
    k.say(z, z + x)


@program
def the_keys_come_with_the_class(k: Kit) -> None:
    class Plain(k.t.Tensor):  # type: ignore[misc,name-defined]
        pass

    class Off(k.Wrapper):  # type: ignore[misc,name-defined]
        __torch_dispatch__ = k.t._C._disabled_torch_dispatch_impl

    x = k.t.ones(2)
    for kind in (Plain, Off, k.Wrapper):
        k.say(k.t._C._dispatch_keys(k.t.Tensor._make_subclass(kind, x)))
    k.say(k.t.Tensor.__torch_dispatch__ is k.t._C._disabled_torch_dispatch_impl)


@program
def what_cannot_be_made_is_refused(k: Kit) -> None:
    class Plain(k.t.Tensor):  # type: ignore[misc,name-defined]
        pass

    make, wrap = k.t.Tensor._make_subclass, k.t.Tensor._make_wrapper_subclass
    k.tries(lambda: wrap(Plain, (2,)))
    k.tries(lambda: wrap(k.t.Tensor, (2,)))
    k.tries(lambda: wrap(int, (2,)))
    k.tries(lambda: make(int, k.t.ones(2)))
    k.tries(lambda: make(Plain, k.t.ones(2, dtype=k.t.int64), True))
    k.tries(lambda: make(Plain, k.t.ones(2), True).requires_grad)


@program
def a_wrapper_has_facts_and_no_bytes(k: Kit) -> None:
    wrap = k.t.Tensor._make_wrapper_subclass
    x = wrap(k.Wrapper, (2, 3), strides=(1, 2), storage_offset=4, dtype=k.t.float64, requires_grad=True)
    k.say(list(x.shape), x.stride(), x.storage_offset(), x.dtype, x.device, x.requires_grad, x.is_leaf, x.layout)
    k.say(x.untyped_storage().nbytes(), x.is_contiguous(), x.numel(), x.dim(), k.Wrapper(k.t.ones(2)).data_ptr())
    k.say(wrap(k.Wrapper, (2,)).dtype, wrap(k.Wrapper, (2,), device="meta").is_meta)
    k.say(wrap(k.Wrapper, (1, 2, 3, 4), memory_format=k.t.channels_last).stride())
    k.say(wrap(k.Wrapper, (2,), storage_size=100).untyped_storage().nbytes())
    k.tries(lambda: k.Wrapper(k.t.ones(2)).numpy())
    k.tries(lambda: k.Wrapper(k.t.ones(2)).tolist())
    k.tries(lambda: k.Wrapper(k.t.ones(2)).untyped_storage().data_ptr())


@program
def a_subclass_before_its_base(k: Kit) -> None:
    class Derived(k.Wrapper):  # type: ignore[misc,name-defined]
        pass

    a, b = k.Wrapper(k.t.ones(2)), Derived(k.t.ones(2))
    k.say(a + b)
    k.say(b + a)
    k.say(k.t.cat([a, a, b]))


@program
def from_left_to_right_between_strangers(k: Kit) -> None:
    def maker(name: str) -> Any:
        class Refuses(k.Wrapper):  # type: ignore[misc,name-defined]
            @classmethod
            def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                k.saw(name, func, types, args, kwargs)
                return NotImplemented

        Refuses.__name__ = Refuses.__qualname__ = name
        return Refuses

    A, B = maker("A"), maker("B")
    a, b, x = A(k.t.ones(2)), B(k.t.ones(2)), k.Wrapper(k.t.ones(2))
    k.say(k.t.add(a, x))
    k.say(k.t.add(x, b))
    k.t.where(k.t.ones(2) > 0, b, x)
    k.say(k.t.cat([x, b, a]))


@program
def all_refuse(k: Kit) -> None:
    class Refuses(k.Wrapper):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("refuses", func, types, args, kwargs)
            return NotImplemented

    x = Refuses(k.t.ones(2))
    try:
        k.t.exp(x)
    except TypeError as error:
        k.say(str(error).replace(str(Refuses), "Refuses"))


@program
def a_mode_before_a_subclass(k: Kit) -> None:
    x = k.Wrapper(k.t.ones(2))
    with k.Log("outer"), k.Log("inner"):
        x + 1
        k.t.exp(k.t.ones(1))


@program
def a_mode_refuses_and_the_subclass_answers(k: Kit) -> None:
    class Refuses(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("mode", func, types, args, kwargs)
            return NotImplemented if types else func(*args, **kwargs or {})

    x = k.Wrapper(k.t.ones(2))
    with Refuses():
        k.say(k.t.exp(x))


@program
def a_mode_that_wraps_what_is_made(k: Kit) -> None:
    class Wraps(k.python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **kwargs or {})
            return result if isinstance(result, k.Wrapper) else k.Wrapper(result)

    with Wraps():
        x = k.t.ones(2)
        y = k.t.zeros(2) + x
    k.say(x, y, y * 2)


@program
def dispatch_switched_off(k: Kit) -> None:
    x = k.t.Tensor._make_subclass(k.Wrapper, k.t.ones(2))
    with k.t._C._DisableTorchDispatch():
        k.say((x + 1).tolist())
        with k.Log():
            k.say((x * 3).tolist())


@program
def a_wrapper_trains(k: Kit) -> None:
    w = k.Wrapper(k.t.ones(3), requires_grad=True)
    loss = (w * w).sum()
    k.say(type(loss.grad_fn).__name__, loss.requires_grad, loss.inner.requires_grad)
    loss.backward()
    k.say(w.grad, w.grad.inner.tolist())
    loss = (w * w).sum()
    loss.backward()
    k.say(w.grad.inner.tolist())


@program
def gradients_with_respect_to_a_wrapper(k: Kit) -> None:
    w = k.Wrapper(k.t.ones(2), requires_grad=True)
    y = k.t.exp(w)
    (g,) = k.t.autograd.grad(y.sum(), w)
    k.say(g, g.inner.shape)


@program
def plain_leaves_under_a_wrapper(k: Kit) -> None:
    p = k.t.ones(2, requires_grad=True)
    w = k.Wrapper(k.t.ones(2))
    y = (p * w).sum()
    k.say(y.requires_grad)
    y.backward()
    k.say(p.grad)


@program
def a_parameter_of_a_wrapper_class(k: Kit) -> None:
    p = k.t.nn.Parameter(k.Wrapper(k.t.ones(2)))
    k.say(type(p).__name__, isinstance(p, k.t.nn.Parameter), p.requires_grad, p.is_leaf)
    module = k.t.nn.Module()
    module.weight = p
    k.say([name for name, _ in module.named_parameters()])


@program
def an_optimizer_steps_a_wrapper(k: Kit) -> None:
    p = k.t.nn.Parameter(k.Wrapper(k.t.ones(2)))
    optimizer = k.t.optim.SGD([p], lr=0.5, foreach=False)
    (p * 3).sum().backward()
    k.say(p.grad)
    optimizer.step()
    k.say(p.inner.tolist())


@program
def views_of_a_wrapper(k: Kit) -> None:
    x = k.Wrapper(k.t.arange(6.0).view(2, 3))
    y = x.t()
    k.say(y._base is x, y._is_view(), y.stride(), x[0]._base is x)
    k.say(x.view(-1), x.reshape(3, 2), x.expand(2, 2, 3).shape, x.unsqueeze(0).squeeze(0)._base is x)
    k.say([v._base is x for v in x.unbind()])


@program
def in_place_on_a_wrapper(k: Kit) -> None:
    x = k.Wrapper(k.t.zeros(2, 2))
    before = x._version
    y = x.add_(1)
    k.say(y is x, x._version - before, x)
    x[0].mul_(5)
    k.say(x, x._version - before)
    x.copy_(k.t.ones(2, 2))
    x.zero_()
    k.say(x)


@program
def two_inner_tensors(k: Kit) -> None:
    x = k.Twin(k.t.ones(2), k.t.zeros(2))
    k.say(repr(x + 1), repr(x * x))
    k.say(repr(k.t.cat([x, x])))
    k.say([repr(part) for part in k.t.split(k.Twin(k.t.ones(4), k.t.zeros(4)), 2)])


@program
def aliases_of_two_inner_tensors(k: Kit) -> None:
    x = k.Twin(k.t.ones(2, 3), k.t.zeros(2, 3))
    y = x.t()
    k.say(y.untyped_storage()._cdata == x.untyped_storage()._cdata if hasattr(x.untyped_storage(), "_cdata") else True)
    k.say(x.add_(2) is x, repr(x))
    k.say(repr(x.view(6)), x.mul_(2) is x)


@program
def a_view_changed_in_place(k: Kit) -> None:
    x = k.Twin(k.t.ones(2, 3), k.t.zeros(2, 3))
    x.t_()
    k.say(list(x.shape), x.stride(), list(x.a.shape))
    x.unsqueeze_(0)
    k.say(list(x.shape), x.stride(), list(x.b.shape))


@program
def twins_train(k: Kit) -> None:
    x = k.Twin(k.t.ones(2), k.t.full((2,), 2.0), requires_grad=True)
    (x * x).sum().backward()
    k.say(repr(x.grad))


@program
def taken_apart_and_put_together(k: Kit) -> None:
    d = k.python_dispatch
    x = k.Twin(k.t.ones(2), k.t.zeros(2))
    k.say(d.is_traceable_wrapper_subclass(x), d.is_traceable_wrapper_subclass(k.t.ones(1)))
    k.say(d.is_traceable_wrapper_subclass_type(k.Twin), d.is_traceable_wrapper_subclass_type(k.t.Tensor))
    k.say(repr(d.transform_subclass(x, lambda name, inner: inner + (1 if name == "a" else 2))))
    k.tries(lambda: d.transform_subclass(x, lambda name, inner: k.t.ones(5)))


@program
def what_schemas_say_of_aliases(k: Kit) -> None:
    aten = k.t.ops.aten
    for func in (
        aten.add.Tensor,
        aten.add_.Tensor,
        aten.add.out,
        aten.view.default,
        aten.t_.default,
        aten.split.Tensor,
    ):
        info = k.python_dispatch.get_alias_info(func)
        k.say([[sorted(a.alias_set), a.is_write, a.name] for a in info.args])
        k.say(info.outs_write_aliases, info.is_inplace_view_op, info.read_only_alias_match_indexes)
    x = k.t.ones(2)
    decomposed = k.python_dispatch.autograd_would_have_decomposed
    k.say(decomposed(aten.add.Tensor, [x]), decomposed(aten.matmul.default, [x]))


@program
def a_masked_tensor(k: Kit) -> None:
    aten = k.t.ops.aten

    class Masked(k.t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = k.t._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, data: Any, mask: Any) -> Any:
            return k.t.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)

        def __init__(self, data: Any, mask: Any) -> None:
            self.values, self.mask = data, mask

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("Masked", func, types, args, kwargs)
            if func in (aten.add.Tensor, aten.mul.Tensor):
                a, b = args
                return Masked(func(a.values, b.values), a.mask & b.mask)
            if func is aten.sum.default:
                (a,) = args
                return k.t.where(a.mask, a.values, k.t.zeros(())).sum()
            return NotImplemented

    a = Masked(k.t.tensor([1.0, 2.0, 3.0]), k.t.tensor([True, False, True]))
    b = Masked(k.t.tensor([1.0, 1.0, 1.0]), k.t.tensor([True, True, False]))
    c = a + b * a
    k.say(c.values.tolist(), c.mask.tolist(), c.sum().item())


@program
def a_quantised_weight(k: Kit) -> None:
    aten = k.t.ops.aten

    class Int8(k.t.Tensor):  # type: ignore[misc,name-defined]
        __torch_function__ = k.t._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls: Any, stored: Any, scale: Any) -> Any:
            return k.t.Tensor._make_wrapper_subclass(cls, stored.shape, dtype=scale.dtype)

        def __init__(self, stored: Any, scale: Any) -> None:
            self.stored, self.scale = stored, scale

        def real(self) -> Any:
            return self.stored.to(self.scale.dtype) * self.scale

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            k.saw("Int8", func, types, args, kwargs)
            if func in (aten.detach.default, aten.t.default):
                return Int8(func(args[0].stored), args[0].scale)
            return func(*k.map(lambda a: a.real() if isinstance(a, Int8) else a, args), **kwargs or {})

    stored, scale = k.t.tensor([[1, -2], [3, 4]], dtype=k.t.int8), k.t.tensor(0.5)
    layer = k.t.nn.Linear(2, 2, bias=False)
    layer.weight = k.t.nn.Parameter(Int8(stored, scale), requires_grad=False)
    x = k.t.tensor([[1.0, 2.0]], requires_grad=True)
    y = layer(x)
    k.say(y.tolist())
    y.sum().backward()
    k.say(x.grad.tolist())


@program
def new_tensors_of_a_wrapper(k: Kit) -> None:
    x = k.Wrapper(k.t.ones(2, 3))
    k.say(k.t.zeros_like(x), x.new_zeros(1), k.t.empty_like(x).shape, x.clone(), x.double().dtype)
    k.say(len(x), [row.inner.tolist() for row in x])


@program
def values_of_a_wrapper(k: Kit) -> None:
    x = k.Wrapper(k.t.tensor([2.0]))
    k.say(x.item(), bool(x), float(x))
    k.say(k.t.equal(x, x), k.t.allclose(x, x))


@program
def composites_of_a_wrapper(k: Kit) -> None:
    x = k.Wrapper(k.t.ones(2, 3))
    f = k.t.nn.functional
    k.say(f.linear(x, k.t.ones(4, 3)), f.relu(x), f.softmax(x, 1).shape, f.layer_norm(x, (3,)).shape)


@program
def out_arguments_of_a_wrapper(k: Kit) -> None:
    x, out = k.Wrapper(k.t.ones(2)), k.Wrapper(k.t.zeros(2))
    k.say(k.t.add(x, x, out=out) is out, out)
    k.say(k.t.exp(x, out=out) is out)


@program
def errors_inside_a_handler_come_out(k: Kit) -> None:
    class Fails(k.Wrapper):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError(f"not {func}")

    x = Fails(k.t.ones(2))
    k.tries(lambda: k.t.exp(x))
    k.tries(lambda: x.view(1, 2))
    k.say((k.t.ones(1) + 1).tolist())


@program
def infrastructure_stands_outside(k: Kit) -> None:
    keys = k.t._C._TorchDispatchModeKey

    class Proxy(k.Log):  # type: ignore[misc,name-defined]
        _mode_key = keys.PROXY

    class Functional(k.Log):  # type: ignore[misc,name-defined]
        _mode_key = keys.FUNCTIONAL

    with k.Log("user"), Functional("functional"), Proxy("proxy"):
        k.t.ones(2) + 1
        k.say([m.name for m in k.python_dispatch._get_current_dispatch_mode_stack()])
        k.tries(lambda: _inside(Proxy("again"), lambda: None))
        k.say(k.t._C._get_dispatch_mode(keys.PROXY).name, k.t._C._get_dispatch_mode(keys.FAKE))
        k.say(k.t._C._unset_dispatch_mode(keys.PROXY).name)
        k.t.zeros(1)
        k.t._C._push_on_torch_dispatch_stack(Proxy("back"))


def _write_record() -> None:
    import torch  # type: ignore[import-not-found,unused-ignore]

    text = []
    for name in PROGRAMS:
        told = told_by(name, torch)
        text.append("\n".join([f"## {name}", *(line for part in told for line in part.splitlines())]) + "\n")
    RECORD.write_text("".join(text), encoding="utf-8")


if __name__ == "__main__":
    importlib.import_module("tests.dispatch.dispatch_programs")._write_record()  # under this name, which classes print
