"""Is each tensor yielded once, with its first name, and is no reserved name yielded?"""

import random
from collections.abc import Callable, Iterable
from typing import Any

import glasstorch as torch
from glasstorch import nn
from workbook.exercises.answer_file import Refused, error_refusal
from workbook.exercises.asking import Ask, Came, expect


def parameters(module: nn.Module) -> Iterable[tuple[str, Any]]:
    """The members that `named_parameters` gets."""
    return module._parameters.items()


def buffers(module: nn.Module) -> Iterable[tuple[str, Any]]:
    """The members that `named_buffers` gets."""
    return module._buffers.items()


class Part(nn.Module):
    """A module with parameters and children of these names; a name that ends in a dash is reserved only."""

    def __init__(self, own: str, **children: nn.Module) -> None:
        super().__init__()
        for name in own.split():
            if name.endswith("-"):
                self.register_parameter(name[:-1], None)
            else:
                self.register_parameter(name, nn.Parameter(torch.zeros(2)))
                self.register_buffer(f"b{name}", torch.zeros(2))
        for name, child in children.items():
            self.add_module(name, child)

    def __repr__(self) -> str:
        tensors = ", ".join(name for name, one in self._parameters.items() if one is not None)
        held = ", ".join(f"{name}={child!r}" for name, child in self._modules.items())
        return f"Part({tensors}{'; ' * bool(tensors and held)}{held})"


def drawn(seed: str, depth: int = 3) -> Part:
    """A module of several levels."""
    draw = random.Random(seed)
    own = " ".join(f"{name}{'-' * (draw.random() < 0.3)}" for name in draw.sample("pqrs", draw.randint(0, 3)))
    below = {name: drawn(f"{seed}{name}", depth - 1) for name in draw.sample("abc", draw.randint(1, 2)) if depth}
    return Part(own, **below)


def names_in(part: nn.Module, kind: str, path: str = "") -> list[str]:
    """The names in a tree in which nothing is shared."""
    own = [f"{path}{name}" for name, one in getattr(part, kind).items() if one is not None]
    return own + [name for key, child in part._modules.items() for name in names_in(child, kind, f"{path}{key}.")]


def asked(ask: Ask, module: nn.Module, get: Callable[..., Any] = parameters, **options: Any) -> tuple[Came, list[str]]:
    """The outcome, and the names in it."""
    came = ask("named_members", module, get, **options)
    if came.error is not None:
        raise Refused(error_refusal(came.error, came.path, call=came.call))
    try:
        return came, [name for name, _ in came.value]
    except Exception as error:  # noqa: BLE001 (whatever the reader's walk raises)
        raise Refused(error_refusal(error, came.path, call=came.call)) from None


def judge(ask: Ask, module: nn.Module, accepted: list[str], because: str, **options: Any) -> None:
    """Call the function, and judge the names of the members."""
    came, names = asked(ask, module, **options)
    expect(came, accepted, read=lambda _: names, because=because)


def test_names_of_a_tree(ask: Ask) -> None:
    """the names in a tree of modules in which nothing is shared"""
    because = "parents come first, a name has the path and a dot before it, and None is not a member"
    for part in (Part("p"), Part("p q-"), Part("p", a=Part("q r")), *(drawn(f"07.1 {i}") for i in range(12))):
        for get, kind in ((parameters, "_parameters"), (buffers, "_buffers")):
            judge(ask, part, names_in(part, kind), because, get=get)


def test_a_prefix(ask: Ask) -> None:
    """the names with a prefix"""
    part = Part("p", a=Part("q"))
    because = "the prefix is the path of the module itself, and recurse=False leaves out the modules below it"
    judge(ask, part, ["net.p", "net.a.q"], because, prefix="net")
    judge(ask, part, ["net.p"], because, prefix="net", recurse=False)


def test_what_is_shared(ask: Ask) -> None:
    """the names in a tree in which a tensor or a module is in several places"""
    tied = Part("p q", a=Part("r"), b=Part("s"))
    tied.a.t = tied.p
    tied.b.r = tied.a.r
    because = "a tensor is yielded once, with the first of its names"
    judge(ask, tied, ["p", "q", "a.r", "b.s"], because)
    because = "with remove_duplicate=False all names are yielded, also of modules that are in several places"
    tied.c = tied.a
    every = ["p", "q", "a.r", "a.t", "b.s", "b.r", "c.r", "c.t"]
    judge(ask, tied, every, because, remove_duplicate=False)


def test_two_tensors_are_two(ask: Ask) -> None:
    """the names of two tensors with the same values, or with the same memory"""
    part = Part("p")
    part.same_memory = nn.Parameter(part.p.detach())
    part.a = Part("same_values")
    judge(ask, part, ["p", "same_memory", "a.same_values"], "they are different tensors, and an optimizer updates each")


def test_what_comes_with_a_name(ask: Ask) -> None:
    """the tensor that is yielded with each name"""
    part = Part("p q", a=Part("r"))
    came = ask("named_members", part, parameters)
    expect(came, True, read=lambda pairs: all(part.get_parameter(name) is one for name, one in pairs),
           because="an optimizer holds the tensor itself, and a copy would not be trained")  # fmt: skip
