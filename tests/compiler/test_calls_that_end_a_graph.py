"""Do calls that change something of a tensor which is no element of it do so in a compiled function?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.compiler.alike import check


def out_is_resized(t: Any, compiled: Any) -> Any:
    def g(x: Any, out: Any) -> Any:
        t.add(x, 1, out=out)
        return out * 2

    f, found = compiled(g), []
    for sizes in ((0,), (3,)):
        out = t.empty(sizes)
        found += [f(t.ones(3), out), out, tuple(out.shape)]
    return found


def a_result_begins_to_require_grad(t: Any, compiled: Any) -> Any:
    def g(x: Any) -> Any:
        y = x.detach().requires_grad_()
        return y, (y * y).sum()

    y, z = compiled(g)(t.ones(3))
    z.backward()
    return [y, z, y.grad]


def an_argument_begins_to_require_grad(t: Any, compiled: Any) -> Any:
    x = t.ones(3)
    z = compiled(lambda x: (x.requires_grad_() * 2).sum())(x)
    z.backward()
    return [x, z, x.grad, compiled(lambda x: x.requires_grad_() * 3)(x)]


def a_leaf_is_made(t: Any, compiled: Any) -> Any:
    return compiled(lambda x: (x * t.ones(3, requires_grad=True)).sum())(t.ones(3))


def a_gradient_is_retained(t: Any, compiled: Any) -> Any:
    def g(x: Any) -> Any:
        y = x * 3
        y.retain_grad()
        return y, y * 2

    x = t.ones(2, requires_grad=True)
    y, z = compiled(g)(x)
    z.sum().backward()
    return [z, x.grad, y.grad]


def detached_in_place(t: Any, compiled: Any) -> Any:
    def g(x: Any, y: Any) -> Any:
        y.detach_()
        z = x * 2
        z.detach_()
        return z * x + y

    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True) * 1
    z = compiled(g)(x, y)
    z.sum().backward()
    return [z, x.grad, y]


def imaginary_part_of_a_conjugate(t: Any, compiled: Any) -> Any:
    f = compiled(lambda a: (a.conj().imag, a.conj().imag + 1, a.conj() * 2, a.imag + 1))
    return list(f(t.tensor([1 + 2j, 3 - 4j])))


def data_and_hooks(t: Any, compiled: Any) -> Any:
    seen = []

    def g(x: Any) -> Any:
        x.data.add_(1)
        y = x * 2
        y.register_hook(lambda grad: seen.append(grad) or grad * 10)
        return y * x.data

    x = t.ones(2, requires_grad=True)
    z = compiled(g)(x)
    z.sum().backward()
    return [z, x, x.grad, seen]


@pytest.mark.parametrize(
    "program",
    [out_is_resized, a_result_begins_to_require_grad, an_argument_begins_to_require_grad, a_leaf_is_made,
     a_gradient_is_retained, detached_in_place, imaginary_part_of_a_conjugate, data_and_hooks],
)  # fmt: skip
def test_they_do(require: Any, program: Any) -> None:
    check(require("torch"), program, ("aot_eager",), graphs=False)
