"""Does a module find, move, save and print what belongs to it?"""

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import glasstorch as torch
from glasstorch import nn


class Scale(nn.Module):
    """One parameter, one buffer that is saved and one that is not."""

    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.ones(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("cache", torch.zeros(size), persistent=False)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input * self.factor

    def extra_repr(self) -> str:
        return f"size={len(self.factor)}"


class Pair(nn.Module):
    """Two children and a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Scale()
        self.second = nn.Linear(2, 3)
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(input)) + self.bias


# ---- walking ----------------------------------------------------------------------------------------------


def test_names_lead_through_the_children_parents_first() -> None:
    pair = Pair()
    assert [name for name, _ in pair.named_parameters()] == [
        "bias", "first.factor", "second.weight", "second.bias",
    ]  # fmt: skip
    assert [name for name, _ in pair.named_buffers()] == ["first.count", "first.cache"]
    assert [name for name, _ in pair.named_modules()] == ["", "first", "second"]
    assert [name for name, _ in pair.named_children()] == ["first", "second"]
    assert [name for name, _ in pair.named_parameters(prefix="net", recurse=False)] == ["net.bias"]
    assert list(pair.children()) == [pair.first, pair.second]
    assert list(pair.modules()) == [pair, pair.first, pair.second]
    assert next(pair.buffers()) is pair.first.count


def test_what_is_shared_comes_once() -> None:
    layer = nn.Linear(2, 2)
    net = nn.Sequential(layer, nn.ReLU(), layer)
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias"]
    assert [name for name, _ in net.named_modules()] == ["", "0", "1"]
    assert [n for n, _ in net.named_parameters(remove_duplicate=False)] == [
        "0.weight", "0.bias", "2.weight", "2.bias",
    ]  # fmt: skip
    tied = nn.Module()
    tied.a = nn.Parameter(torch.ones(1))
    tied.b = tied.a
    assert [name for name, _ in tied.named_parameters()] == ["a"]


def test_dotted_names_find_parameters_buffers_and_modules() -> None:
    pair = Pair()
    assert pair.get_submodule("") is pair
    assert pair.get_submodule("second") is pair.second
    assert pair.get_parameter("second.weight") is pair.second.weight
    assert pair.get_buffer("first.count") is pair.first.count
    with pytest.raises(AttributeError, match="Pair has no attribute `third`"):
        pair.get_submodule("third.weight")
    with pytest.raises(AttributeError, match=r"`weight` is not an nn.Module"):
        pair.get_submodule("second.weight")
    with pytest.raises(AttributeError, match=r"`forward` is not an nn.Parameter"):
        pair.get_parameter("second.forward")
    with pytest.raises(AttributeError, match="is not a buffer"):
        pair.get_buffer("second.weight")


# ---- attributes -------------------------------------------------------------------------------------------


def test_an_attribute_is_what_was_assigned_last() -> None:
    module = nn.Module()
    module.x = 1
    module.x = nn.Parameter(torch.ones(1))
    assert "x" not in module.__dict__
    assert [name for name, _ in module.named_parameters()] == ["x"]
    module.x = None  # keeps the name
    assert module.x is None
    assert list(module.parameters()) == []
    del module.x
    module.x = nn.ReLU()
    assert [name for name, _ in module.named_children()] == ["x"]
    module.x = nn.Parameter(torch.ones(1))
    assert list(module.children()) == []
    del module.x
    assert not hasattr(module, "x")
    with pytest.raises(AttributeError, match="x"):
        del module.x


def test_a_buffer_takes_tensors_and_stays_a_buffer() -> None:
    scale = Scale()
    scale.count = torch.ones((), dtype=torch.int64)
    assert [name for name, _ in scale.named_buffers()] == ["count", "cache"]
    scale.count = None
    assert [name for name, _ in scale.named_buffers()] == ["cache"]
    del scale.cache
    assert not hasattr(scale, "cache")


@pytest.mark.parametrize(
    ("assign", "words"),
    [
        (lambda m: setattr(m, "bias", torch.ones(3)), r"as parameter 'bias' \(torch.nn.Parameter or None expected\)"),
        (lambda m: setattr(m, "first", 1), r"cannot assign 'int' as child module 'first' \(torch.nn.Module or None"),
        (lambda m: setattr(m.first, "count", 1), r"cannot assign 'int' as buffer 'count' \(.*torch.Tensor or None"),
        (lambda m: m.register_parameter("w", torch.ones(1)), r"object to parameter 'w' \(torch.nn.Parameter or None"),
        (lambda m: m.register_buffer("w", [1.0]), r"cannot assign 'list' object to buffer 'w'"),
        (lambda m: m.add_module("w", torch.ones(1)), "is not a Module subclass"),
        (lambda m: m.register_parameter(1, None), "parameter name should be a string. Got int"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(assign: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        assign(Pair())


@pytest.mark.parametrize("register", ["register_parameter", "register_buffer", "add_module"])
def test_names_that_cannot_be_attributes_or_are_taken_are_refused(register: str) -> None:
    pair = Pair()
    for name, words in (("a.b", "t contain"), ("", "t be empty"), ("forward", "already exists")):
        with pytest.raises(KeyError, match=words):
            getattr(pair, register)(name, None)


def test_a_computed_tensor_cannot_be_a_parameter() -> None:
    computed = nn.Parameter(torch.ones(2))
    view = torch.Tensor.as_subclass(computed * 2, nn.Parameter)
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        nn.Module().register_parameter("w", view)


def test_forgetting_super_init_is_said() -> None:
    class Forgetful(nn.Module):
        def __init__(self, value: Any) -> None:
            self.member = value

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Forgetful(nn.Parameter(torch.ones(1)))
    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Forgetful(nn.ReLU())


def test_missing_attributes_and_forward_are_named() -> None:
    with pytest.raises(AttributeError, match="'Pair' object has no attribute 'third'"):
        _ = Pair().third
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_dir_lists_what_can_be_typed() -> None:
    assert {"bias", "first", "second", "forward"} <= set(dir(Pair()))
    assert "0" not in dir(nn.Sequential(nn.ReLU()))


# ---- changing all of it -----------------------------------------------------------------------------------


def test_train_eval_and_requires_grad_reach_every_child() -> None:
    pair = Pair()
    assert pair.training
    assert pair.eval() is pair
    assert not any(m.training for m in pair.modules())
    assert pair.train().first.training
    with pytest.raises(ValueError, match="expected to be boolean"):
        pair.train("yes")  # type: ignore[arg-type]
    assert pair.requires_grad_(False) is pair
    assert not any(p.requires_grad for p in pair.parameters())


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    Pair().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Scale", "Linear", "Pair"]


def test_a_module_of_complex_numbers_stays_one_unless_told() -> None:
    layer = nn.Linear(2, 3)
    with pytest.warns(UserWarning, match="Complex modules are a new feature"):
        layer.to(torch.complex64)
    assert layer.weight.dtype is torch.complex64
    assert layer.double().weight.dtype is torch.complex64
    assert layer(torch.ones(1, 2, dtype=torch.complex64)).dtype is torch.complex64
    with pytest.raises(TypeError, match=r"only accepts floating point or complex dtypes, but got .*torch\.int8"):
        layer.to(torch.int8)


def test_a_change_of_dtype_keeps_the_parameters_and_spares_integers() -> None:
    pair = Pair()
    weight = pair.second.weight
    pair(torch.ones(1, 2)).sum().backward()
    assert pair.double() is pair
    assert pair.second.weight is weight
    assert weight.dtype == torch.float64
    assert weight.grad.dtype == torch.float64
    assert weight.requires_grad
    assert pair.first.cache.dtype == torch.float64
    assert pair.first.count.dtype == torch.int64
    assert pair(torch.ones(1, 2, dtype=torch.float64)).dtype == torch.float64
    for change, dtype in (("float", torch.float32), ("half", torch.float16), ("bfloat16", torch.bfloat16)):
        assert getattr(pair, change)().second.weight.dtype == dtype
    assert pair.to("cpu", torch.float64).second.weight.dtype == torch.float64
    assert pair.to(dtype=torch.float32).second.weight.dtype == torch.float32
    assert pair.to(torch.ones(1, dtype=torch.float64)).second.weight.dtype == torch.float64
    assert pair.type(torch.float32).cpu().first.count.dtype == torch.float32
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        pair.to(torch.int64)


def test_a_module_on_meta_has_sizes_and_no_data() -> None:
    layer = nn.Linear(3, 2, device="meta")
    assert layer.weight.is_meta
    assert layer(torch.ones(5, 3, device="meta")).shape == (5, 2)
    assert nn.Linear(3, 2).to("meta").weight.is_meta


def test_zero_grad_forgets_or_clears() -> None:
    pair = Pair()
    pair(torch.ones(1, 2)).sum().backward()
    pair.zero_grad(set_to_none=False)
    assert all((p.grad == 0).all() for p in pair.parameters())
    pair.zero_grad()
    assert all(p.grad is None for p in pair.parameters())


# ---- hooks ------------------------------------------------------------------------------------------------


def test_hooks_run_around_forward_in_order_and_can_replace() -> None:
    order: list[str] = []
    scale = Scale()
    first = scale.register_forward_pre_hook(lambda m, args: order.append("pre 1"))
    scale.register_forward_pre_hook(lambda m, args: (order.append("pre 0"), args[0] + 1)[1], prepend=True)
    scale.register_forward_hook(lambda m, args, out: (order.append("post 1"), out * 10)[1])
    scale.register_forward_hook(lambda m, args, out: order.append("post 2"))
    assert scale(torch.ones(2)).tolist() == [20, 20]
    assert order == ["pre 0", "pre 1", "post 1", "post 2"]
    first.remove()
    first.remove()
    order.clear()
    scale(torch.ones(2))
    assert order == ["pre 0", "post 1", "post 2"]


def test_hooks_see_keyword_arguments_when_they_ask_for_them() -> None:
    class Power(nn.Module):
        def forward(self, input: torch.Tensor, exponent: int = 1) -> torch.Tensor:
            return input**exponent

    power = Power()
    seen: list[Any] = []
    with power.register_forward_pre_hook(lambda m, args, kwargs: (args, {"exponent": 3}), with_kwargs=True):
        power.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True)
        assert power(torch.full((1,), 2.0), exponent=2).item() == 8
    assert power(torch.full((1,), 2.0), exponent=2).item() == 4
    assert seen == [{"exponent": 3}, {"exponent": 2}]
    power.register_forward_pre_hook(lambda m, args, kwargs: 1, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\)"):
        power(torch.ones(1))


# ---- saving and loading -----------------------------------------------------------------------------------


def test_state_dict_has_parameters_and_persistent_buffers_sharing_storage() -> None:
    pair = Pair()
    state = pair.state_dict()
    assert list(state) == ["bias", "first.factor", "first.count", "second.weight", "second.bias"]
    assert not state["bias"].requires_grad
    assert state["bias"].data_ptr() == pair.bias.data_ptr()
    assert pair.state_dict(keep_vars=True)["bias"] is pair.bias
    assert list(pair.first.state_dict(prefix="x.")) == ["x.factor", "x.count"]


def test_values_are_copied_into_the_parameters() -> None:
    source, target = Pair(), Pair()
    weight = target.second.weight
    with torch.no_grad():
        source.second.weight.fill_(7)
    assert repr(target.load_state_dict(source.state_dict())) == "<All keys matched successfully>"
    assert target.second.weight is weight
    assert (weight == 7).all()
    assert weight.data_ptr() != source.second.weight.data_ptr()


def test_assign_takes_the_tensors_themselves() -> None:
    target = nn.Linear(2, 2, device="meta")
    weight = torch.ones(2, 2)
    target.load_state_dict({"weight": weight, "bias": torch.zeros(2)}, assign=True)
    assert target.weight.data_ptr() == weight.data_ptr()
    assert isinstance(target.weight, nn.Parameter)
    assert target(torch.ones(2)).tolist() == [2, 2]


def test_what_does_not_match_is_listed() -> None:
    pair = Pair()
    state: Any = OrderedDict(pair.state_dict())
    del state["bias"]
    state["extra"] = torch.ones(1)
    state["second.weight"] = torch.ones(2, 2)
    state["second.bias"] = [0.0]
    with pytest.raises(RuntimeError) as caught:
        pair.load_state_dict(state)
    text = str(caught.value)
    assert text.startswith('Error(s) in loading state_dict for Pair:\n\tMissing key(s) in state_dict: "bias". ')
    assert '\tUnexpected key(s) in state_dict: "extra". ' in text
    assert (
        "\tsize mismatch for second.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2])." in text
    )
    assert 'While copying the parameter named "second.bias", expected torch.Tensor' in text
    del state["second.weight"], state["second.bias"]
    result = pair.load_state_dict(state, strict=False)
    assert result.missing_keys == ["bias", "second.weight", "second.bias"]
    assert result.unexpected_keys == ["extra"]
    assert "missing_keys=['bias'" in repr(result)
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got"):
        pair.load_state_dict([1])  # type: ignore[arg-type]


def test_a_module_can_be_copied_and_pickled() -> None:
    pair = Pair()
    for twin in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert [n for n, _ in twin.named_parameters()] == [n for n, _ in pair.named_parameters()]
        assert isinstance(twin.second.weight, nn.Parameter)
        assert twin.second.weight.tolist() == pair.second.weight.tolist()
        assert twin.second.weight.data_ptr() != pair.second.weight.data_ptr()


# ---- printing ---------------------------------------------------------------------------------------------


def test_printing_nests_and_indents() -> None:
    assert repr(nn.Module()) == "Module()"
    assert repr(Scale()) == "Scale(size=2)"
    assert repr(nn.Sequential(Pair(), nn.ReLU())) == (
        "Sequential(\n"
        "  (0): Pair(\n"
        "    (first): Scale(size=2)\n"
        "    (second): Linear(in_features=2, out_features=3, bias=True)\n"
        "  )\n"
        "  (1): ReLU()\n"
        ")"
    )

    class Described(Pair):
        def extra_repr(self) -> str:
            return "one\ntwo"

    assert repr(Described()).startswith("Described(\n  one\n  two\n  (first): Scale(size=2)\n")


def test_a_parameter_says_what_it_contains() -> None:
    assert repr(nn.Parameter(torch.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.Parameter(torch.ones(1), requires_grad=False)) == "Parameter containing:\ntensor([1.])"


# ---- parameters -------------------------------------------------------------------------------------------


def test_a_parameter_is_a_leaf_on_the_same_storage() -> None:
    data = torch.zeros(2)
    parameter = nn.Parameter(data)
    assert parameter.is_leaf
    assert parameter.requires_grad
    assert not data.requires_grad
    data.fill_(3)
    assert parameter.tolist() == [3, 3]
    assert nn.Parameter().shape == (0,)
    assert type(parameter * 2) is torch.Tensor
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(torch.zeros(2, dtype=torch.int64))
