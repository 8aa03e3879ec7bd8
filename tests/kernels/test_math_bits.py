"""Do conjugate and negative views behave as PyTorch's, whatever reads or writes them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Use = Callable[[Any, Any], Any]


def numbers(torch: Any) -> Any:
    """Four complex numbers of which no two parts are equal."""
    return torch.view_as_complex(torch.arange(1.0, 9.0).view(2, 2, 2))


def told(value: Any) -> Any:
    """A result as plain numbers, with the bits that it has."""
    if isinstance(value, tuple | list):
        return [told(v) for v in value]
    if not hasattr(value, "is_conj"):
        return value
    return value.resolve_conj().resolve_neg().tolist(), value.is_conj(), value.is_neg(), tuple(value.stride())


def test_a_conjugate_is_a_view_that_says_so(torch: Any) -> None:
    x = numbers(torch)
    conjugate = x.conj()
    assert (conjugate.is_conj(), torch.is_conj(conjugate), x.is_conj()) == (True, True, False)
    assert conjugate.data_ptr() == x.data_ptr()
    assert conjugate.tolist() == [[1 - 2j, 3 - 4j], [5 - 6j, 7 - 8j]]
    assert conjugate.conj().is_conj() is False
    assert conjugate[0, 0].item() == 1 - 2j
    assert torch.arange(3.0).conj().is_conj() is False


def test_the_imaginary_part_of_a_conjugate_is_negative_what_is_stored(torch: Any) -> None:
    x = numbers(torch)
    part = x.conj().imag
    assert (part.is_neg(), torch.is_neg(part), part.is_conj()) == (True, True, False)
    assert part.tolist() == [[-2, -4], [-6, -8]]
    part.mul_(10)
    assert x.imag.tolist() == [[20, 40], [60, 80]]
    x.real = torch.zeros(2, 2)
    assert x.real.tolist() == [[0, 0], [0, 0]]
    x.real, x.imag = 3, 2.5
    assert x.tolist() == [[3 + 2.5j] * 2] * 2


def test_the_functions_that_set_a_bit_have_pytorchs_names(torch: Any) -> None:
    assert torch._conj(numbers(torch)).is_conj()
    assert torch._neg_view(torch.ones(1)).is_neg()


@pytest.mark.parametrize("shape", [(2, 1, 3), (2, 1), (2, 0, 3), (1, 1, 1)])
def test_absolute_values_of_complex_numbers_lie_as_the_numbers_do(torch: Any, shape: tuple[int, ...]) -> None:
    x = torch.ones(shape, dtype=torch.complex64).transpose(0, 1)
    assert x.abs().stride() == x.stride()


READ: dict[str, Use] = {
    "add": lambda torch, x: x + 1,
    "add a tensor": lambda torch, x: x + x.conj(),
    "a chain": lambda torch, x: (x * 2 - x).sum(),
    "a matrix product": lambda torch, x: x @ x.conj(),
    "clone": lambda torch, x: x.clone(),
    "resolve": lambda torch, x: (x.resolve_conj(), x.resolve_neg()),
    "contiguous": lambda torch, x: (x.contiguous(), x.t().contiguous()),
    "views": lambda torch, x: (x.t(), x[0], x[:, 1:], x.reshape(4), x.t().reshape(4), x.unsqueeze(0)),
    "pieces": lambda torch, x: x.unbind(),
    "flatten": lambda torch, x: x.flatten(),
    "detach": lambda torch, x: x.detach(),
    "cat": lambda torch, x: torch.cat([x, x.conj()]),
    "stack": lambda torch, x: torch.stack([x, x.conj()]),
    "an index": lambda torch, x: x[torch.tensor([1, 0])],
    "a mask": lambda torch, x: x[torch.tensor([True, False])],
    "where": lambda torch, x: torch.where(torch.tensor([True, False]), x, 0),
    "to": lambda torch, x: (x.to(torch.complex128), x.to(torch.complex64)),
    "item": lambda torch, x: x[1, 1].item(),
    "tolist": lambda torch, x: x.tolist(),
    "its like": lambda torch, x: (torch.zeros_like(x), torch.full_like(x, 2j), x.new_ones(2)),
    "conj_physical": lambda torch, x: x.conj_physical(),
    "copies": lambda torch, x: (torch.t_copy(x), torch.expand_copy(x, (2, 2, 2)), torch.alias_copy(x)),
    "the negative": lambda torch, x: x._neg_view() * 2,
    "parts": lambda torch, x: (x.real, x.imag, x.real + x.imag),
    "neg": lambda torch, x: -x,
    "H": lambda torch, x: (x.H, x.mH, x.adjoint(), x.mT),
}
WRITTEN: dict[str, Use] = {
    "add_": lambda torch, x: x.add_(1j),
    "mul_ by itself": lambda torch, x: x.mul_(x),
    "fill_": lambda torch, x: x.fill_(3 + 4j),
    "zero_": lambda torch, x: x.zero_(),
    "copy_": lambda torch, x: x.copy_(torch.full((2, 2), 1 + 2j)),
    "copy_ of a conjugate": lambda torch, x: x.copy_(torch.full((2, 2), 1 + 2j).conj()),
    "copy_ of real numbers": lambda torch, x: x.copy_(torch.ones(2)),
    "copy_ to real numbers": lambda torch, x: torch.zeros(2, 2).copy_(x.imag),
    "an element": lambda torch, x: x.__setitem__((0, 1), 9j),
    "a row": lambda torch, x: x[1].mul_(2),
    "an index": lambda torch, x: x.index_put_((torch.tensor([0]),), torch.tensor([1j, 2j])),
    "out=": lambda torch, x: torch.mul(torch.ones(2, 2), 1j, out=x),
    "conj_physical_": lambda torch, x: x.conj_physical_(),
    "the imaginary part": lambda torch, x: x.imag.fill_(1),
}
BITS: dict[str, Callable[[Any], Any]] = {
    "conj": lambda x: x.conj(),
    "neg": lambda x: x._neg_view(),
    "both": lambda x: x.conj()._neg_view(),
    "conj of a part": lambda x: x[:, :1].expand(2, 2).clone().conj(),
    "transposed": lambda x: x.t().conj(),
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", READ)
def test_reading_gives_what_it_gives_in_pytorch(require: Callable[[str], Any], name: str, bits: str) -> None:
    found, expected = (told(READ[name](lib, BITS[bits](numbers(lib)))) for lib in map(require, ("glasstorch", "torch")))
    assert found == expected


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", WRITTEN)
def test_writing_leaves_what_it_leaves_in_pytorch(require: Callable[[str], Any], name: str, bits: str) -> None:
    after = []
    for library in map(require, ("glasstorch", "torch")):
        stored = numbers(library)
        x = BITS[bits](stored)
        result = WRITTEN[name](library, x)
        after.append((told(result), told(x), told(stored), stored._version))
    assert after[0] == after[1]


def test_an_out_that_is_a_conjugate_is_the_result_itself(torch: Any) -> None:
    out = numbers(torch).conj()
    assert torch.add(torch.ones(2, 2), 1j, out=out) is out
    assert (out.is_conj(), out.tolist()) == (True, [[1 + 1j] * 2] * 2)
    empty = torch.empty(0, dtype=torch.complex64).conj()
    assert torch.add(torch.ones(2), 1j, out=empty).tolist() == [1 + 1j] * 2


REFUSED: dict[str, tuple[Use, str]] = {
    "view_as_real": (lambda torch, x: torch.view_as_real(x), "doesn't work on unresolved conjugated tensors"),
    "another dtype": (lambda torch, x: x.view(torch.float32), "not supported for conjugate view tensors when"),
    "of a negative": (lambda torch, x: x.imag.view(torch.int32), "not supported for tensors with negative bit set"),
    "no imaginary part": (lambda torch, x: x.real.imag, "imag is not implemented for tensors with non-complex dtypes"),
    "as NumPy's": (lambda torch, x: x.numpy(), r"has conjugate bit set. Use tensor.resolve_conj\(\).numpy\(\) instead"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_the_stored_elements_is_refused_as_in_pytorch(torch: Any, name: str) -> None:
    use, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        use(torch, numbers(torch).conj())


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ConjBackward0", lambda torch, z: z.conj()),
        ("ConjPhysicalBackward0", lambda torch, z: z.conj_physical()),
        ("CloneBackward0", lambda torch, z: z.conj().resolve_conj()),
        ("SelectBackward0", lambda torch, z: z.conj().imag),
        ("ViewAsRealBackward0", lambda torch, z: torch.view_as_real(z)),
        ("NegViewBackward0", lambda torch, z: z._neg_view()),
    ],
)
def test_gradients_pass_through_the_bits(torch: Any, name: str, function: Use) -> None:
    pairs = torch.arange(1.0, 9.0).view(4, 2).requires_grad_()
    made = function(torch, torch.view_as_complex(pairs))
    assert made.grad_fn.name() == name
    parts = torch.view_as_real(made.resolve_conj()) if made.is_complex() else made
    weights = torch.arange(1.0, parts.numel() + 1).view(parts.shape)
    (parts * weights).sum().backward()
    sign = {"ConjBackward0": (1, -1), "ConjPhysicalBackward0": (1, -1), "CloneBackward0": (1, -1)}.get(name, (1, 1))
    if name == "SelectBackward0":
        assert pairs.grad.tolist() == [[0, -1], [0, -2], [0, -3], [0, -4]]
    else:
        sign = (-1, -1) if name == "NegViewBackward0" else sign
        assert pairs.grad.tolist() == [[sign[0] * (2 * i + 1), sign[1] * (2 * i + 2)] for i in range(4)]


def test_the_gradient_of_pairs_is_pairs(torch: Any) -> None:
    z = numbers(torch).requires_grad_()
    torch.view_as_real(z)[..., 1].sum().backward()
    assert z.grad.tolist() == [[1j, 1j], [1j, 1j]]


def test_a_backend_never_meets_the_bits() -> None:
    import glasstorch
    from glasstorch.dispatch.trace import trace

    x = numbers(glasstorch).conj()
    with trace() as recorded:
        glasstorch.exp(x)
    hops = [(hop.operator, hop.key.name, hop.depth) for hop in recorded]
    assert hops[0] == ("aten::exp", "AutogradCPU", 0) or hops[0] == ("aten::exp", "Conjugate", 0)
    assert ("aten::clone", "CPU") in [hop[:2] for hop in hops]
    assert hops[-1][:2] == ("aten::exp", "CPU")
