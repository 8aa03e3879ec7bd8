"""Do groups, state and errors of an optimizer behave as PyTorch's?"""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn, optim
from tests.refusals import same_refusal


def parameters(count: int) -> list[torch.Tensor]:
    return [nn.Parameter(torch.ones(2)) for _ in range(count)]


def stepped(optimizer: Any) -> Any:
    """The optimizer after one step along gradients of one."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return optimizer


def test_a_group_has_the_defaults_that_it_does_not_override() -> None:
    a, b, c = parameters(3)
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1, momentum=0.9)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0]
    assert [group["momentum"] for group in optimizer.param_groups] == [0.9, 0.9]
    optimizer.add_param_group({"params": [c], "momentum": 0})
    stepped(optimizer)
    assert [round(p[0].item(), 6) for p in (a, b, c)] == [0.9, 0.0, 0.9]


@pytest.mark.parametrize("form", [{"foreach": False}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam])
def test_what_is_remembered_stays_when_gradients_are_cleared_in_place(kind: Any, form: dict[str, bool]) -> None:
    (p,) = parameters(1)
    optimizer = stepped(kind([p], lr=0.1, **form, **({"momentum": 0.9} if kind is optim.SGD else {})))
    remembered = {name: value.clone() for name, value in optimizer.state[p].items()}
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is not None
    assert p.grad.tolist() == [0, 0]
    assert remembered
    assert all(torch.equal(value, optimizer.state[p][name]) for name, value in remembered.items())


def test_parameters_without_a_gradient_are_left_alone() -> None:
    a, b = parameters(2)
    optimizer = optim.Adam([a, b], lr=0.5)
    a.grad = torch.ones(2)
    optimizer.step()
    assert a.tolist() != [1, 1]
    assert b.tolist() == [1, 1]
    assert b not in optimizer.state


def test_gradients_are_forgotten_or_cleared() -> None:
    (a,) = parameters(1)
    optimizer = optim.SGD([a], lr=0.1)
    a.grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert a.grad is None
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is None


def test_step_records_nothing_and_raises_the_version_counter() -> None:
    (a,) = parameters(1)
    optimizer = optim.Adam([a], lr=0.1)
    before = a._version
    stepped(optimizer)
    assert a.is_leaf
    assert a.requires_grad
    assert a._version > before
    assert not optimizer.state[a]["exp_avg"].requires_grad


def test_a_closure_computes_the_loss_with_gradients_recorded() -> None:
    (a,) = parameters(1)
    optimizer = optim.SGD([a], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2
    assert a.tolist() == [0.5, 0.5]


def test_state_dict_numbers_the_parameters_in_the_order_of_the_groups() -> None:
    a, b, c = parameters(3)
    optimizer = stepped(optim.SGD([{"params": [a, b]}, {"params": [c], "lr": 2.0}], lr=0.1, momentum=0.9))
    saved = optimizer.state_dict()
    assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [2]]
    assert [group["lr"] for group in saved["param_groups"]] == [0.1, 2.0]
    assert all(list(group)[-1] == "params" for group in saved["param_groups"])
    assert saved["state"][2]["momentum_buffer"] is optimizer.state[c]["momentum_buffer"]


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam])
def test_training_continues_from_a_state_dict(kind: Any) -> None:
    options = {"lr": 0.1, "momentum": 0.9} if kind is optim.SGD else {"lr": 0.1, "amsgrad": True}
    (straight,), (first,) = parameters(1), parameters(1)
    whole = stepped(stepped(stepped(kind([straight], **options))))
    part = stepped(kind([first], **options))
    (second,) = parameters(1)
    with torch.no_grad():
        second.copy_(first)
    resumed = kind([second], lr=7.0)
    resumed.load_state_dict(copy.deepcopy(part.state_dict()))
    stepped(stepped(resumed))
    assert second.tolist() == straight.tolist()
    assert whole.param_groups[0]["lr"] == resumed.param_groups[0]["lr"]


def test_a_loaded_state_takes_the_parameter_s_dtype_except_for_the_step() -> None:
    single = stepped(optim.Adam(parameters(1)))
    double = nn.Parameter(torch.ones(2, dtype=torch.float64))
    other = optim.Adam([double])
    other.load_state_dict(single.state_dict())
    assert other.state[double]["exp_avg"].dtype == torch.float64
    assert other.state[double]["step"].dtype == torch.float32


def test_an_optimizer_can_be_copied_and_pickled() -> None:
    for twin in (copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        optimizer = stepped(optim.SGD(parameters(1), lr=0.1, momentum=0.9))
        again = twin(optimizer)
        (parameter,) = again.param_groups[0]["params"]
        assert again.state[parameter]["momentum_buffer"].tolist() == [1, 1]
        stepped(again)
        stepped(optimizer)
        assert parameter.tolist() == optimizer.param_groups[0]["params"][0].tolist()


def test_names_travel_with_the_parameters() -> None:
    net = nn.Linear(2, 2)
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"][0] is net.weight


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: optim.SGD([]), ValueError, "empty parameter list"),
        (lambda: optim.SGD(torch.ones(1)), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda: optim.SGD([1]), TypeError, "can only optimize Tensors, but one of the params is int"),
        (lambda: optim.SGD([{"params": set(parameters(1))}]), TypeError, "organized in ordered collections"),
        (lambda: optim.SGD([parameters(1)[0] * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: optim.SGD(parameters(1), lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD(parameters(1), lr=torch.ones(2)), ValueError, "Tensor lr must be 1-element"),
        (lambda: optim.SGD(parameters(1), momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda: optim.SGD(parameters(1), weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda: optim.SGD(parameters(1), nesterov=True), ValueError, "Nesterov momentum requires a momentum"),
        (lambda: optim.Adam(parameters(1), lr=-1.0), ValueError, r"Invalid learning rate: -1\.0"),
        (lambda: optim.Adam(parameters(1), eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda: optim.Adam(parameters(1), betas=(1.0, 0.9)), ValueError, r"beta parameter at index 0: 1\.0"),
        (lambda: optim.Adam(parameters(1), betas=(0.9, -0.1)), ValueError, r"beta parameter at index 1: -0\.1"),
        (lambda: optim.Adam(parameters(1), weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
    ],
)
def test_what_cannot_be_optimized_is_refused(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_groups_may_not_share_parameters() -> None:
    (a,) = parameters(1)
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optim.SGD([{"params": [a]}, {"params": [a]}])
    with pytest.warns(UserWarning, match="contains a parameter group with duplicate parameters"):
        optim.SGD([a, a])
    optimizer = optim.SGD([a])
    with pytest.raises(TypeError, match="param_group must be a dict"):
        optimizer.add_param_group([a])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"with/without names. Some param names are missing"):
        optim.SGD([("a", a), *parameters(1)])
    with pytest.raises(ValueError, match="cannot add param group with names to the optimizer"):
        optimizer.add_param_group({"params": [("b", *parameters(1))]})


def test_states_that_do_not_fit_are_refused() -> None:
    saved = optim.SGD([{"params": parameters(1)}, {"params": parameters(2)}]).state_dict()
    with pytest.raises(ValueError, match="a different number of parameter groups"):
        optim.SGD(parameters(3)).load_state_dict(saved)
    with pytest.raises(ValueError, match="that doesn't match the size of optimizer's group"):
        optim.SGD([{"params": parameters(1)}, {"params": parameters(1)}]).load_state_dict(saved)


def weights(torch: Any, *sizes: int) -> list[Any]:
    return [torch.nn.Parameter(torch.ones(size)) for size in sizes]


REFUSED: list[Callable[[Any], Any]] = [
    lambda torch: torch.optim.SGD(*weights(torch, 2)),
    lambda torch: torch.optim.SGD(3),
    lambda torch: torch.optim.SGD(["a"]),
    lambda torch: torch.optim.SGD([None]),
    lambda torch: torch.optim.SGD([2 * weights(torch, 2)[0]]),
    lambda torch: torch.optim.SGD([{"params": set(weights(torch, 2))}]),
    lambda torch: torch.optim.SGD(weights(torch, 2), torch.ones(2)),
    lambda torch: torch.optim.Adam(weights(torch, 2), betas=(0.9,)),
    lambda torch: torch.optim.SGD(weights(torch, 2, 3)).load_state_dict(grouped(torch).state_dict()),
    lambda torch: grouped(torch).load_state_dict(
        torch.optim.SGD([{"params": weights(torch, 2)}, {"params": weights(torch, 2)}]).state_dict()
    ),
]


def grouped(torch: Any) -> Any:
    return torch.optim.SGD([{"params": weights(torch, 2)}, {"params": weights(torch, 2, 3)}])


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_in_pytorchs_words(number: int, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[number])


def test_an_optimizer_of_one_s_own_says_which_options_it_needs() -> None:
    from glasstorch.optim.optimizer import required

    class Sign(optim.Optimizer):
        def __init__(self, params: Any, **options: Any) -> None:
            super().__init__(params, {"lr": required, **options})

    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Sign(parameters(1))
    with pytest.raises(NotImplementedError):
        Sign(parameters(1), lr=1).step()


def test_printing_lists_the_options_of_each_group() -> None:
    a, b = parameters(2)
    assert repr(optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)) == (
        "SGD (\n"
        "Parameter Group 0\n"
        "    dampening: 0\n"
        "    differentiable: False\n"
        "    foreach: None\n"
        "    fused: None\n"
        "    lr: 0.1\n"
        "    maximize: False\n"
        "    momentum: 0\n"
        "    nesterov: False\n"
        "    weight_decay: 0\n"
        "\n"
        "Parameter Group 1\n"
        "    dampening: 0\n"
        "    differentiable: False\n"
        "    foreach: None\n"
        "    fused: None\n"
        "    lr: 1.0\n"
        "    maximize: False\n"
        "    momentum: 0\n"
        "    nesterov: False\n"
        "    weight_decay: 0\n"
        ")"
    )


@pytest.mark.parametrize("options", [{"max_iter": 1}, {"max_iter": 3}, {"line_search_fn": "strong_wolfe"}])
def test_the_keys_of_a_state_are_in_pytorchs_order(require: Any, options: dict[str, Any]) -> None:
    keys = []
    for lib in (require("glasstorch"), require("torch")):
        p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
        optimizer = lib.optim.LBFGS([p], lr=0.1, **options)

        def loss(p: Any = p, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            found = (p**4).sum()
            found.backward()
            return found

        found = []
        for _ in range(3):
            optimizer.step(loss)
            found.append(list(optimizer.state_dict()["state"][0]))
        keys.append(found)
    assert keys[0] == keys[1]
