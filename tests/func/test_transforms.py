"""Are functions differentiated at nested levels, and do transforms compose?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def test_grad_of_grad(torch: Any) -> None:
    F, x = torch.func, torch.tensor(2.0)
    assert F.grad(lambda x: x**3)(x).item() == 12
    assert F.grad(F.grad(lambda x: x**3))(x).item() == 12
    assert F.grad(F.grad(F.grad(lambda x: x**3)))(x).item() == 6


def test_grad_with_respect_to_trees_and_auxiliary_results(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    found, (value, aux) = torch.func.grad_and_value(lambda d, k: ((d["a"] ** 2).sum() * k, d["a"]), has_aux=True)(
        {"a": x}, 3
    )
    assert (found["a"].tolist(), value.item(), aux.tolist()) == ([6, 12], 15, [1, 2])
    both = torch.func.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, x + 1)
    assert [one.tolist() for one in both] == [[2, 3], [1, 2]]


def test_an_inner_level_leaves_the_outer_one_alone(torch: Any) -> None:
    def f(x: Any) -> Any:
        inner = torch.func.grad(lambda y: (x * y * y).sum())(x.detach())  # 2 x y: linear in x of the outer level
        return (inner * x).sum()

    assert torch.func.grad(f)(torch.tensor([3.0])).tolist() == [36.0]  # of 2 x c x, where c counts as constant


def test_vjp_and_jvp_agree_with_the_jacobian(torch: Any) -> None:
    F, x = torch.func, torch.tensor([1.0, 2.0])
    f = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, x[1]])  # noqa: E731
    jacobian = [[2, 1], [2, 0], [0, 1]]
    assert F.jacrev(f)(x).tolist() == F.jacfwd(f)(x).tolist() == jacobian
    value, pull = F.vjp(f, x)
    assert (value.tolist(), pull(torch.tensor([1.0, 1.0, 0.0]))[0].tolist()) == ([2, 1, 2], [4, 1])
    assert F.jvp(f, (x,), (torch.tensor([1.0, 1.0]),))[1].tolist() == [3, 2, 1]
    assert F.jacrev(f, chunk_size=2)(x).tolist() == jacobian


def test_hessians_by_every_pair_of_modes(torch: Any) -> None:
    F, x = torch.func, torch.tensor([1.0, 2.0])
    f = lambda x: (x[0] ** 2) * x[1]  # noqa: E731
    for outer in (F.jacfwd, F.jacrev):
        for inner in (F.jacfwd, F.jacrev):
            assert outer(inner(f))(x).tolist() == [[4, 2], [2, 0]]
    assert F.hessian(f)(x).tolist() == [[4, 2], [2, 0]]


def test_vmap_over_and_under_the_others(torch: Any) -> None:
    F, x = torch.func, torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    cube = lambda x: (x**3).sum()  # noqa: E731
    assert F.vmap(F.grad(cube))(x).tolist() == [[3, 12], [27, 48]]
    assert F.grad(lambda x: F.vmap(cube)(x).sum())(x).tolist() == [[3, 12], [27, 48]]
    assert F.vmap(F.hessian(cube))(x)[1].tolist() == [[18, 0], [0, 24]]
    assert F.vmap(F.vmap(F.grad(lambda x: x**3)))(x).tolist() == [[3, 12], [27, 48]]
    assert F.vmap(lambda t: F.jvp(cube, (x[0],), (t,))[1])(torch.eye(2)).tolist() == [3, 12]


def test_what_a_transform_made_can_be_differentiated_backward(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.func.vmap(torch.func.grad(lambda x: x**3))(x).sum().backward()
    assert x.grad.tolist() == [6, 12]


@pytest.mark.parametrize("norm", ["batch", "group", "layer"])
def test_gradients_of_a_network_for_each_sample_are_those_of_a_loop(torch: Any, norm: str) -> None:
    nn, F = torch.nn, torch.func
    torch.manual_seed(0)
    layers = {
        "batch": lambda: nn.BatchNorm2d(4, track_running_stats=False),
        "group": lambda: nn.GroupNorm(2, 4),
        "layer": lambda: nn.LayerNorm([4, 6, 6]),
    }
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), layers[norm](), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
    ).double()
    params = {name: value.detach() for name, value in model.named_parameters()}

    def loss(params: Any, x: Any, y: Any) -> Any:
        return nn.functional.cross_entropy(F.functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))

    x, y = torch.randn(5, 1, 8, 8, dtype=torch.float64), torch.randint(5, (5,))
    found = F.vmap(F.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    for i in range(5):
        one = F.grad(loss)(params, x[i], y[i])
        assert all(torch.allclose(found[name][i], one[name], atol=1e-12) for name in params)


def test_wrong_results_are_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    F, x = torch.func, torch.ones(3)
    assert "to return a scalar Tensor, got tensor with 1 dims" in refused(lambda: F.grad(lambda x: x)(x))
    assert "Expected f(*args) to return a Tensor, got <class 'int'>" in refused(lambda: F.grad(lambda x: 3)(x))
    assert "argnums must be int or Tuple[int, ...]" in refused(lambda: F.grad(torch.sum, argnums="a")(x))
    assert "to have the same python structure" in refused(lambda: F.jvp(torch.sin, (x,), (x, x)))
    assert "independent of the inputs" in refused(lambda: F.jvp(lambda y: x, (x,), (x,), strict=True))


def test_numbers_that_are_not_floats_are_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    F, x, whole = torch.func, torch.ones(3), torch.ones(3, dtype=torch.int64)
    outputs = (
        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype torch.int64"
    )
    words = [
        refused(lambda: F.vjp(lambda x: x.long(), x)),
        refused(lambda: F.vjp(lambda x: (x, x.long()), x)),
        refused(lambda: F.jacrev(lambda x: x.long())(x)),
    ]
    assert {one.replace("glasstorch", "torch") for one in words} == {outputs}
    for name, pair in (("primal", (whole, x)), ("tangent", (x, whole))):
        with pytest.raises(ValueError, match=f"Expected {name} to be floating point or complex, but got: .*int64"):
            F.jvp(lambda x: x * 2, (pair[0],), (pair[1],))
    for transformed in (F.grad(torch.sum), F.jacrev(lambda x: x * 2), lambda whole: F.vjp(lambda x: x * 2, whole)):
        assert "can require gradients" in refused(lambda transformed=transformed: transformed(whole))
    with pytest.raises(ValueError, match="Expected primal"):
        F.jacfwd(lambda x: x * 2)(whole)


def test_no_gradient_is_retained_inside_a_transform(torch: Any, refused: Callable[[Any], str]) -> None:
    def keep(x: Any) -> Any:
        (y := x * 2).retain_grad()
        return y.sum()

    words = refused(lambda: torch.func.grad(keep)(torch.ones(2)))
    assert words.startswith("You are attempting to call Tensor.retain_grad() inside of a function being transformed")
    assert "can't retain_grad on Tensor that has requires_grad=False" in refused(
        lambda: torch.func.vmap(keep)(torch.ones(2, 2))
    )


def test_what_is_transformed_may_not_require_grad_by_itself(torch: Any, refused: Callable[[Any], str]) -> None:
    x, functional = torch.ones(2), torch.autograd.functional
    for within in (
        lambda x: x.requires_grad_().sum(),
        lambda x: (torch.ones(2).requires_grad_() * x).sum(),
        lambda x: functional.jacobian(lambda y: y**2, x).sum(),
    ):
        for transform in (torch.func.grad, torch.func.vmap, torch.func.jacfwd):
            words = refused(lambda transform=transform, within=within: transform(within)(x))
            assert words.startswith("You are attempting to call Tensor.requires_grad_() (or perhaps using torch.aut")
    made = torch.func.grad(lambda x: (torch.ones(2, requires_grad=True) * x).sum())(x)
    assert made.tolist() == [1.0, 1.0], "a new tensor may"


def test_a_bool_counts_as_the_place_of_an_argument(torch: Any, refused: Callable[[Any], str]) -> None:
    x = torch.ones(2)
    assert "Got argnum=True, but only 1 positional inputs" in refused(lambda: torch.func.grad(torch.sum, True)(x))
    assert torch.func.grad(lambda x, y: (x * y).sum(), True)(x, x).tolist() == [1, 1]


def test_a_jacobian_of_many_rows_is_the_one_that_is_recorded(torch: Any) -> None:
    x = torch.arange(1.0, 6.0, dtype=torch.float64)
    rows = torch.arange(150.0, dtype=torch.float64).reshape(50, 3)

    def function(x: Any) -> Any:
        return rows * x[:3] * x[2:].flip(0)

    found = torch.autograd.functional.jacobian(function, x)
    recorded = torch.autograd.functional.jacobian(function, x, create_graph=True)
    assert found.shape == (50, 3, 5)
    assert found.tolist() == recorded.tolist()
    assert found[49, 1].tolist() == [0, 148 * 4, 0, 148 * 2, 0]


def test_places_are_unique_once_they_are_counted_from_the_front(torch: Any, refused: Callable[[Any], str]) -> None:
    two = torch.tensor(1.0), torch.tensor(2.0)
    assert refused(lambda: torch.func.grad(lambda x, y: x * y, argnums=(0, -2))(*two)) == (
        "argnums elements must be unique, got (0, 0)"
    )


def test_what_comes_beside_the_output_is_made_of_tensors(torch: Any, refused: Callable[[Any], str]) -> None:
    x = torch.tensor(1.0)
    for call in (
        lambda: torch.func.grad(lambda x: (x, 3), has_aux=True)(x),
        lambda: torch.func.vjp(lambda x: (x, 3), x, has_aux=True),
        lambda: torch.func.jvp(lambda x: (x, 3), (x,), (x,), has_aux=True),
    ):
        assert refused(call) == "Expected tensors, got unsupported type <class 'int'>"


def test_a_pull_takes_one_tree_of_cotangents(torch: Any, refused: Callable[[Any], str]) -> None:
    _, pull = torch.func.vjp(torch.sin, torch.tensor(1.0))
    assert "missing 1 required positional argument: 'cotangents'" in refused(pull)


@pytest.mark.parametrize("level", ["grad", "jvp"])
def test_a_captured_tensor_is_not_changed_in_place(torch: Any, refused: Callable[[Any], str], level: str) -> None:
    x, captured = torch.ones(2), torch.ones(2)
    mutations = {
        "aten::add_.Tensor": lambda x: captured.add_(x),
        "aten::copy_": lambda x: captured.__setitem__(0, x[0]),
        "aten::zero_": lambda x: captured.detach().zero_(),
        "aten::mul_.Tensor": lambda x: captured.view(2, 1)[0].mul_(x[0]),
    }
    for name, mutate in mutations.items():

        def function(x: Any) -> Any:
            mutate(x)  # noqa: B023
            return x.sum()

        message = refused(
            lambda: torch.func.grad(function)(x) if level == "grad" else torch.func.jvp(function, (x,), (x,))
        )
        assert message.startswith(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
            f"({name}) that would mutate a captured Tensor."
        )
    assert captured.tolist() == [1.0, 1.0]


def test_a_tensor_that_the_function_makes_may_be_changed_in_place(torch: Any) -> None:
    other = torch.full((2,), 3.0)

    def function(x: Any) -> Any:
        made = [torch.ones(2), torch.tensor([1.0, 1.0]), x.new_tensor([1.0, 1.0]), torch.as_tensor([1.0, 1.0])]
        copied = other * 1
        copied[0] = x[1]
        return sum((one.mul_(x) for one in made), copied).sum()

    assert torch.func.grad(function)(torch.ones(2)).tolist() == [4.0, 5.0]
    assert torch.func.jvp(function, (torch.ones(2),), (torch.ones(2),))[1].item() == 9.0
    inner = torch.func.grad(lambda x: torch.func.grad(function)(x * x).sum())
    assert inner(torch.ones(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["instance_norm", "batch_norm"])
def test_running_statistics_are_updated_once_inside_a_transform(torch: Any, name: str) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    options = {"training": True} if name == "batch_norm" else {}
    for transform in (torch.func.grad, lambda function: lambda x: torch.func.jvp(function, (x,), (x,))):
        mean, variance = torch.zeros(3), torch.ones(3)

        def total(x: Any, mean: Any = mean, variance: Any = variance) -> Any:
            return getattr(torch.nn.functional, name)(x, mean, variance, **options).sum()

        transform(total)(x)
        assert mean.tolist() == pytest.approx([0.75, 1.15, 1.55])
