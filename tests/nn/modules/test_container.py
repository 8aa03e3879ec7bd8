"""Do the containers behave like the list and the dictionary they stand for?"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn
from tests.nn.side_by_side import assert_same
from tests.refusals import same_refusal


def layers(count: int) -> list[nn.Linear]:
    return [nn.Linear(2, 2) for _ in range(count)]


def test_sequential_applies_its_modules_in_order() -> None:
    first, second = layers(2)
    x = torch.rand(3, 2)
    assert nn.Sequential(first, nn.ReLU(), second)(x).tolist() == second(nn.ReLU()(first(x))).tolist()
    assert nn.Sequential()(x) is x


def test_sequential_takes_names() -> None:
    net = nn.Sequential(OrderedDict([("input", nn.Linear(2, 3)), ("output", nn.Linear(3, 1))]))
    assert list(net.state_dict()) == ["input.weight", "input.bias", "output.weight", "output.bias"]
    assert net[0] is net.input
    assert repr(net[:1]) == "Sequential(\n  (input): Linear(in_features=2, out_features=3, bias=True)\n)"


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_numbered_containers_are_lists(kind: type) -> None:
    a, b, c, d = layers(4)
    held = kind(a, b) if kind is nn.Sequential else kind([a, b])
    assert len(held) == 2
    assert list(held) == [a, b]
    assert held[-1] is b
    held.append(c)
    held.insert(1, d)
    assert list(held) == [a, d, b, c]
    assert type(held[1:3]) is kind
    assert list(held[1:3]) == [d, b]
    held[0] = c
    assert held[0] is c
    del held[1]
    assert [name for name, _ in held.named_parameters()][::2] == ["0.weight", "1.weight"]  # c comes once
    assert held.pop(0) is c
    assert list(held) == [b, c]
    held.extend([a, d])
    held += nn.Sequential(nn.ReLU())
    assert len(held) == 5
    del held[1:]
    assert list(held) == [b]
    assert sum(1 for _ in held.parameters()) == 2


@pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])
def test_places_that_do_not_exist_are_refused(kind: type) -> None:
    held = kind()
    for use in (lambda: held[0], lambda: held.pop(-1), lambda: held.insert(2, nn.ReLU())):
        with pytest.raises(IndexError, match="out of range"):
            use()


def test_sequentials_and_lists_are_added() -> None:
    a, b, c, d = layers(4)
    assert list(nn.Sequential(a, b) + nn.Sequential(c)) == [a, b, c]
    assert list(nn.ModuleList([a]) + [b, c, d]) == [a, b, c, d]
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        nn.Sequential(a) + [b]
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        nn.Sequential(a).__iadd__([b])
    with pytest.raises(TypeError, match="should be called with an iterable"):
        nn.ModuleList().extend(1)  # type: ignore[arg-type]


def test_a_list_prints_runs_of_equal_modules_as_one() -> None:
    held = nn.ModuleList([*layers(3), nn.ReLU(), nn.Sequential(nn.ReLU())])
    assert repr(held) == (
        "ModuleList(\n"
        "  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)\n"
        "  (3): ReLU()\n"
        "  (4): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_dict_is_a_dictionary() -> None:
    a, b, c = layers(3)
    held = nn.ModuleDict({"a": a, "b": b})
    assert list(held) == ["a", "b"]
    assert held["a"] is a
    assert "b" in held
    held["c"] = c
    assert dict(held.items()) == {"a": a, "b": b, "c": c}
    assert list(held.keys()) == ["a", "b", "c"]
    assert list(held.values()) == [a, b, c]
    assert held.pop("a") is a
    del held["b"]
    held.update([("d", a)])
    held.update(nn.ModuleDict({"e": b}))
    assert list(held) == ["c", "d", "e"]
    assert len(list(held.parameters())) == 6
    held.clear()
    assert len(held) == 0
    with pytest.raises(TypeError, match="should be called with an iterable of key/value pairs"):
        held.update(1)  # type: ignore[arg-type]


# ---- the same programs with PyTorch -----------------------------------------------------------------------


def multiplied(torch: Any) -> Any:
    layer = torch.nn.Linear(1, 1)
    held = torch.nn.Sequential(layer, torch.nn.Tanh())
    twice, thrice = held * 2, 3 * held
    held *= 2
    return len(twice), len(thrice), len(held), twice[2] is layer, list(held.state_dict())


def multiplied_by_nothing(torch: Any) -> Any:
    return torch.nn.Sequential() * 0


def a_deprecated_container(torch: Any) -> Any:
    return repr(torch.nn.Container(a=torch.nn.Tanh()))


def a_list_of_parameters(torch: Any) -> Any:
    held = torch.nn.ParameterList([torch.ones(2), torch.nn.Parameter(torch.zeros(1))])
    held.append("a word")
    held += [torch.ones(2, 3, dtype=torch.float64)]
    held[0] = torch.zeros(4)
    kinds = [type(value).__name__ for value in held]
    return repr(held), len(held), kinds, repr(held[1:3]), [name for name, _ in held.named_parameters()], held[-2]


def a_list_that_is_called(torch: Any) -> Any:
    torch.nn.ParameterList()()


def a_tensor_for_a_list(torch: Any) -> Any:
    torch.nn.ParameterList(torch.ones(2))


def a_dictionary_of_parameters(torch: Any) -> Any:
    held = torch.nn.ParameterDict({"b": torch.ones(2), "a": torch.zeros(1)})
    held.update([("c", 3), ["d", torch.ones(1, 1)]])
    joined = held | torch.nn.ParameterDict({"e": torch.ones(5)})
    held |= joined
    log = [repr(held), list(held), list(reversed(held)), "c" in held, len(held), held.setdefault("f"), held.get("g", 7)]
    log += [held.pop("c"), held.popitem()[0], list(held.fromkeys(["x", "y"], 1).items()), list(held.copy().keys())]
    del held["a"]
    log += [[name for name, _ in held.named_parameters()]]
    held.clear()
    return [*log, len(held)]


def a_key_that_is_no_string(torch: Any) -> Any:
    torch.nn.ParameterDict()[3]


def a_pair_of_three(torch: Any) -> Any:
    torch.nn.ParameterDict([("a", 1, 2)])


def unflattened(torch: Any) -> Any:
    layer = torch.nn.Unflatten(1, (2, 3))
    return repr(layer), tuple(layer(torch.ones(4, 6)).shape)


def unflattened_into_words(torch: Any) -> Any:
    torch.nn.Unflatten(1, ("a", 3))


PROGRAMS = [
    multiplied, multiplied_by_nothing, a_deprecated_container, a_list_of_parameters, a_list_that_is_called,
    a_tensor_for_a_list, a_dictionary_of_parameters, a_pair_of_three, unflattened, unflattened_into_words,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_keys_are_strings(require: Callable[[str], Any]) -> None:
    assert_same(a_key_that_is_no_string, require("torch"), words=False)


REFUSED: list[Callable[[Any], Any]] = [
    lambda torch: torch.nn.Sequential(torch.nn.ReLU())[1],
    lambda torch: torch.nn.ModuleList()[-1],
    lambda torch: torch.nn.ParameterList([torch.ones(2)])[3],
    lambda torch: torch.nn.Module()(1),
    lambda torch: torch.nn.Linear(1, 1).train("no"),
    lambda torch: torch.nn.Linear(1, 1).requires_grad_("no"),
    lambda torch: torch.nn.ModuleDict([3]),
    lambda torch: torch.nn.ModuleDict([("a", torch.nn.Tanh(), 3)]),
    lambda torch: torch.nn.ParameterDict([("a", 1, 2)]),
    lambda torch: torch.nn.Sequential(torch.nn.Tanh()) + 3,
    lambda torch: torch.nn.ParameterDict()(),
    lambda torch: torch.nn.ParameterDict()(3),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_in_pytorchs_words(number: int, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[number])
