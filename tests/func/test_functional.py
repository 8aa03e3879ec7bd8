"""Do functions of whole functions check what they are given and what comes back, each in the same words?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")

PRODUCTS = ["vjp", "jvp", "vhp", "hvp"]
NAMES = [*PRODUCTS, "jacobian", "hessian"]


@pytest.mark.parametrize("name", NAMES)
def test_inputs_and_outputs_are_tensors(torch: Any, name: str) -> None:
    function, x = getattr(torch.autograd.functional, name), torch.ones(2)
    for f, inputs, words in (
        (torch.sum, [x], rf"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the given"),
        (torch.sum, (x, 1), rf"The inputs given to {name} must be .* but the value at index 1 has type <class 'int'>"),
        (lambda x: 1, torch.ones(1), rf"The outputs of the user-provided function given to {name} must be"),
        (lambda x: [x], torch.ones(1), r"but the given outputs of the user-provided function has type <class 'list'>"),
    ):
        with pytest.raises(TypeError, match=words):
            function(f, inputs)


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_vector_has_the_sizes_of_what_it_is_multiplied_by(torch: Any, name: str) -> None:
    function, x = getattr(torch.autograd.functional, name), torch.ones(2)
    for v, words in (
        ([x], rf"The v given to {name} must be either a Tensor or a tuple of Tensors but the given v has type"),
        ((x, x), r"The given v should contain a single Tensor\."),
        (torch.ones(5), r"v has invalid size: should be torch\.Size"),
    ):
        with pytest.raises((TypeError, RuntimeError), match=words):
            function(torch.sum, x, v=v)
    if name != "vjp":
        with pytest.raises(RuntimeError, match=r"The vector v can only be None if the input to the user-provided"):
            function(torch.sum, x)
    with pytest.raises(RuntimeError, match=r"The vector v can only be None if the"):
        torch.autograd.functional.vjp(lambda x: x * 2, x)


@pytest.mark.parametrize("name", NAMES)
def test_in_strict_mode_an_output_depends_on_the_inputs(torch: Any, name: str) -> None:
    function, x, constant = getattr(torch.autograd.functional, name), torch.ones(1), torch.ones(1)
    given = {"v": x} if name in PRODUCTS else {}
    function(lambda x: constant, x, **given)
    with pytest.raises(RuntimeError, match=r"Output 0 of the user-provided function does not require gradients\."):
        function(lambda x: constant, x, strict=True, **given)


@pytest.mark.parametrize("name", ["vhp", "hvp", "hessian"])
def test_a_hessian_is_that_of_one_element(torch: Any, name: str) -> None:
    function, x = getattr(torch.autograd.functional, name), torch.ones(2)
    given = {"v": x} if name in PRODUCTS else {}
    with pytest.raises(RuntimeError, match=rf"returned by the function given to {name} should contain a single elem"):
        function(lambda x: x * 2, x, **given)
    with pytest.raises(RuntimeError, match=rf"The function given to {name} should return a single Tensor"):
        function(lambda x: (x.sum(), x.sum()), x, **given)
    with pytest.raises(RuntimeError, match=r"found that the jacobian of the user-provided function .* is independent"):
        function(lambda x: (3 * x).sum(), x, strict=True, **given)
