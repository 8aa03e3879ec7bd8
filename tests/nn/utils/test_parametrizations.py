"""Are orthogonal matrices, weights of a given norm and of spectral norm 1 those of PyTorch?"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same

WITHIN = 2e-5  # LAPACK's sums are not in one order everywhere


def library(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.parametrizations")


def parametrize(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.parametrize")


def numbers(torch: Any, *shape: int, start: int = 1) -> Any:
    """Numbers that differ, between -1 and 1."""
    count = torch.empty(shape).numel()
    return (torch.arange(start, start + count) ** 2).double().sin().float().view(shape)


def holder(torch: Any, *shape: int, complex: bool = False) -> Any:
    """A module with a weight of these sizes."""
    module = torch.nn.Module()
    weight = numbers(torch, *shape)
    module.weight = torch.nn.Parameter(torch.complex(weight, numbers(torch, *shape, start=50)) if complex else weight)
    return module


def listed(tensor: Any) -> Any:
    """The numbers of a tensor, of a complex one in pairs."""
    tensor = tensor.detach()
    return [
        str(tensor.dtype)[-9:],
        list(tensor.shape),
        (torch_real(tensor) if tensor.is_complex() else tensor).tolist(),
    ]


def torch_real(tensor: Any) -> Any:
    return importlib.import_module(type(tensor).__module__.partition(".")[0]).view_as_real(tensor.resolve_conj())


# Orthogonal matrices ----------------------------------------------------------------------------------------------

MAPS = ("matrix_exp", "cayley", "householder", None)
SHAPES = ((3, 3), (4, 2), (2, 4), (2, 3, 3), (2, 4, 2), (5, 1), (1, 1))


def orthogonal(torch: Any, *shape: int, complex: bool = False, **options: Any) -> Any:
    torch.manual_seed(0)
    return library(torch).orthogonal(holder(torch, *shape, complex=complex), **options)


def maps_of_shapes(torch: Any, **options: Any) -> Any:
    found = []
    for shape in SHAPES:
        for name in MAPS:
            module = orthogonal(torch, *shape, orthogonal_map=name, **options)
            product = module.weight.mT @ module.weight if shape[-2] >= shape[-1] else module.weight @ module.weight.mT
            distance = (product - torch.eye(min(shape[-2:]))).abs().max().item()
            found.append((listed(module.weight), distance < 1e-5))
    return found


def maps_without_a_base(torch: Any) -> Any:
    return maps_of_shapes(torch, use_trivialization=False)


def of_complex_matrices(torch: Any) -> Any:
    modules = [
        orthogonal(torch, *shape, complex=True, orthogonal_map=name)
        for shape in ((3, 3), (4, 2), (2, 4))
        for name in ("matrix_exp", "cayley", None)
    ]
    return [listed(module.weight) for module in modules]


def originals_and_bases(torch: Any) -> Any:
    found = []
    for shape in SHAPES:
        module = orthogonal(torch, *shape)
        held = module.parametrizations.weight
        found.append((repr(module), listed(held.original), listed(held[0].base), list(module.state_dict())))
    return found


def moved_originals(torch: Any) -> Any:
    """The maps away from where they start."""
    found = []
    for shape in SHAPES:
        for name in MAPS:
            for base in (False, True):
                if not base and (name in ("matrix_exp", "cayley") or (name is None and shape[-1] == shape[-2])):
                    continue
                module = orthogonal(torch, *shape, orthogonal_map=name, use_trivialization=base)
                with torch.no_grad():
                    module.parametrizations.weight.original.add_(
                        numbers(torch, *shape).triu(1) + numbers(torch, *shape).tril(-1)
                    )
                found.append(listed(module.weight))
    return found


def gradients_of_maps(torch: Any) -> Any:
    found = []
    for shape in SHAPES:
        for name in MAPS:
            module = orthogonal(torch, *shape, orthogonal_map=name)
            (module.weight * numbers(torch, *shape, start=9)).sum().backward()
            found.append(listed(module.parametrizations.weight.original.grad))
    return found


def an_orthogonal_matrix_stays(torch: Any) -> Any:
    module = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    return listed(library(torch).orthogonal(module).weight), repr(module)


def assigned(torch: Any) -> Any:
    found = []
    for shape in SHAPES:
        for name in MAPS:
            module = orthogonal(torch, *shape, orthogonal_map=name)
            module.weight = numbers(torch, *shape, start=20)
            found.append((listed(module.weight), listed(module.parametrizations.weight.original)))
    return found


def assigned_without_a_base(torch: Any) -> Any:
    found = []
    for shape in SHAPES:
        module = orthogonal(torch, *shape, orthogonal_map="householder", use_trivialization=False)
        module.weight = module.weight.detach().clone()
        found.append((listed(module.weight), listed(module.parametrizations.weight.original)))
    return found


def assigned_to_an_exponential_without_a_base(torch: Any) -> Any:
    module = orthogonal(torch, 3, 3, orthogonal_map="matrix_exp", use_trivialization=False)
    module.weight = module.weight


def assigned_another_shape(torch: Any) -> Any:
    orthogonal(torch, 3, 3).weight = torch.eye(2)


def householder_of_complex_matrices(torch: Any) -> Any:
    orthogonal(torch, 3, 3, complex=True, orthogonal_map="householder")


def an_unknown_map(torch: Any) -> Any:
    orthogonal(torch, 3, 3, orthogonal_map="exp")


def of_a_vector(torch: Any) -> Any:
    orthogonal(torch, 3)


def of_no_tensor(torch: Any) -> Any:
    library(torch).orthogonal(torch.nn.Linear(2, 2), "other")


def of_a_bias_that_is_none(torch: Any) -> Any:
    library(torch).orthogonal(torch.nn.Linear(2, 2, bias=False), "bias")


def of_integers(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("weight", torch.eye(3, dtype=torch.int64))
    library(torch).orthogonal(module)


def chained_maps(torch: Any) -> Any:
    module = orthogonal(torch, 3, 3)
    library(torch).orthogonal(module, orthogonal_map="cayley")
    return repr(module), listed(module.weight)


def trained_on_the_group(torch: Any) -> Any:
    found = []
    for name in MAPS:
        module = orthogonal(torch, 4, 2, orthogonal_map=name)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (module.weight - numbers(torch, 4, 2, start=30)).square().sum().backward()
            optimizer.step()
        found.append(listed(module.weight))
    return found


def copied_and_removed(torch: Any) -> Any:
    module = orthogonal(torch, 4, 2)
    copied = copy.deepcopy(module)
    parametrize(torch).remove_parametrizations(module, "weight")
    return listed(module.weight), listed(copied.parametrizations.weight[0].base), list(module.state_dict())


def loaded_with_its_base(torch: Any) -> Any:
    torch.manual_seed(1)
    module, other = orthogonal(torch, 4, 2), library(torch).orthogonal(holder(torch, 4, 2))
    other.load_state_dict(module.state_dict())
    return listed(other.weight), listed(other.parametrizations.weight[0].base)


def doubles(torch: Any) -> Any:
    torch.manual_seed(0)
    module = holder(torch, 4, 2).double()
    library(torch).orthogonal(module)
    return listed(module.weight), listed(module.float().weight)


# The norms of weights ---------------------------------------------------------------------------------------------


def norms(torch: Any, *shape: int, **options: Any) -> Any:
    return library(torch).weight_norm(holder(torch, *shape), **options)


def lengths_and_directions(torch: Any) -> Any:
    found = []
    for shape in ((3, 4), (2, 3, 4), (5,)):
        for dim in (*range(-1, len(shape)), None):
            module = norms(torch, *shape, dim=dim)
            held = module.parametrizations.weight
            with torch.no_grad():
                held.original0.mul_(2)
            found.append((repr(module), listed(held.original0), listed(held.original1), listed(module.weight)))
    return found


def gradients_of_lengths(torch: Any) -> Any:
    found = []
    for dim in (0, 1, 2, None):
        module = norms(torch, 2, 3, 4, dim=dim)
        (module.weight * numbers(torch, 2, 3, 4, start=9)).sum().backward()
        found += [listed(p.grad) for p in module.parameters()]
    return found


def lengths_in_a_layer(torch: Any) -> Any:
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(numbers(torch, 2, 3))
        layer.bias.zero_()
    library(torch).weight_norm(layer)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()
    return repr(layer), listed(layer.weight), list(layer.state_dict()), [n for n, _ in layer.named_parameters()]


def lengths_assigned(torch: Any) -> Any:
    module = norms(torch, 3, 4)
    module.weight = numbers(torch, 3, 4, start=40)
    return listed(module.weight), [listed(p) for p in module.parameters()]


def lengths_loaded_from_before(torch: Any) -> Any:
    """What the older weight_norm saved."""
    layer = library(torch).weight_norm(torch.nn.Linear(3, 2))
    saved = {"weight_g": torch.ones(2, 1), "weight_v": numbers(torch, 2, 3), "bias": torch.zeros(2)}
    outcome = str(layer.load_state_dict(saved))
    return outcome, listed(layer.weight), list(saved)


def lengths_loaded_in_a_network(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.ReLU(), library(torch).weight_norm(torch.nn.Linear(3, 2)))
    saved = {"1.weight_g": torch.ones(2, 1), "1.weight_v": numbers(torch, 2, 3), "1.bias": torch.zeros(2)}
    return str(net.load_state_dict(saved)), listed(net[1].weight)


def lengths_loaded_in_part(torch: Any) -> Any:
    layer = library(torch).weight_norm(torch.nn.Linear(3, 2))
    layer.load_state_dict({"weight_g": torch.ones(2, 1), "bias": torch.zeros(2)})


def lengths_of_another_name(torch: Any) -> Any:
    layer = library(torch).weight_norm(torch.nn.LSTM(2, 2), "weight_hh_l0")
    outputs = layer(torch.ones(1, 1, 2))[0]
    outputs.sum().backward()
    return list(layer.state_dict()), list(layer.parametrizations.weight_hh_l0.original0.shape)


def lengths_of_no_tensor(torch: Any) -> Any:
    library(torch).weight_norm(torch.nn.Linear(2, 2), "other")


def lengths_along_no_dimension(torch: Any) -> Any:
    norms(torch, 3, 4, dim=2)


def lengths_twice(torch: Any) -> Any:
    norms(torch, 3, 4, dim=0)
    module = norms(torch, 3, 4, dim=0)
    library(torch).weight_norm(module, dim=1)
    return repr(module), module.parametrizations.weight.unsafe


def lengths_removed(torch: Any) -> Any:
    module = norms(torch, 3, 4)
    parametrize(torch).remove_parametrizations(module, "weight")
    return listed(module.weight), list(module.state_dict()), type(module.weight).__name__


def lengths_of_integers(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("weight", torch.ones(2, 2, dtype=torch.int64))
    library(torch).weight_norm(module)


def lengths_of_half_precision(torch: Any) -> Any:
    found = []
    for dtype in (torch.float16, torch.bfloat16):
        module = holder(torch, 3, 4).to(dtype)
        library(torch).weight_norm(module)
        found.append([str(p.dtype) for p in (*module.parameters(), module.weight)])
    return found


# Spectral norms ---------------------------------------------------------------------------------------------------


def spectral(torch: Any, *shape: int, **options: Any) -> Any:
    torch.manual_seed(0)
    return library(torch).spectral_norm(holder(torch, *shape), **options)


def estimates(torch: Any) -> Any:
    found = []
    for shape in ((3, 4), (4, 3), (2, 3, 4), (3, 2, 2, 2), (1, 5)):
        for dim in (None, 0, 1, -1):
            module = spectral(torch, *shape, dim=dim)
            buffers = [listed(b) for _, b in module.named_buffers()]
            found.append((repr(module), buffers, listed(module.weight), listed(module.parametrizations.weight[0]._u)))
    return found


def estimates_in_evaluation(torch: Any) -> Any:
    module = spectral(torch, 3, 4).eval()
    before = listed(module.parametrizations.weight[0]._u)
    return listed(module.weight), listed(module.weight), before == listed(module.parametrizations.weight[0]._u)


def estimates_of_a_vector(torch: Any) -> Any:
    module = spectral(torch, 5)
    module.weight.sum().backward()
    return listed(module.weight), list(module.state_dict()), listed(module.parametrizations.weight.original.grad)


def estimates_of_a_vector_of_zeros(torch: Any) -> Any:
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.zeros(3))
    return listed(library(torch).spectral_norm(module, eps=1e-3).weight)


def gradients_of_estimates(torch: Any) -> Any:
    module = spectral(torch, 3, 4)
    first, second = module.weight, module.weight  # the second reading moves the vectors
    (first * numbers(torch, 3, 4, start=9)).sum().backward()
    (second * numbers(torch, 3, 4, start=9)).sum().backward()
    return listed(module.parametrizations.weight.original.grad)


def several_iterations(torch: Any) -> Any:
    module = spectral(torch, 4, 3, n_power_iterations=5)
    largest = torch.linalg.matrix_norm(module.weight, 2).item()
    return listed(module.weight), round(largest, 3)


def of_transposed_convolutions(torch: Any) -> Any:
    found = []
    for dims in (1, 2, 3):
        for name in (f"Conv{dims}d", f"ConvTranspose{dims}d"):
            torch.manual_seed(0)
            layer = getattr(torch.nn, name)(2, 3, 2)
            library(torch).spectral_norm(layer)
            x = torch.ones(1, 2, *(3,) * dims)
            found.append((layer.parametrizations.weight[0].dim, listed(layer(x)), repr(layer)))
    return found


def of_complex_weights(torch: Any) -> Any:
    module = holder(torch, 3, 3, complex=True)
    torch.manual_seed(0)
    library(torch).spectral_norm(module)
    return listed(module.weight)


def a_dimension_that_is_not_there(torch: Any) -> Any:
    spectral(torch, 3, 4, dim=2)


def a_dimension_before_the_first(torch: Any) -> Any:
    spectral(torch, 3, 4, dim=-3)


def no_iterations(torch: Any) -> Any:
    spectral(torch, 3, 4, n_power_iterations=0)


def spectral_of_no_tensor(torch: Any) -> Any:
    library(torch).spectral_norm(torch.nn.Linear(2, 2), "other")


def spectral_of_integers(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("weight", torch.eye(3, dtype=torch.int64))
    library(torch).spectral_norm(module)


def estimates_saved_and_loaded(torch: Any) -> Any:
    module, other = spectral(torch, 3, 4), library(torch).spectral_norm(holder(torch, 3, 4))
    outcome = str(other.load_state_dict(module.state_dict()))
    return outcome, list(module.state_dict()), listed(other.eval().weight)


def estimates_assigned(torch: Any) -> Any:
    module = spectral(torch, 3, 4)
    module.weight = numbers(torch, 3, 4, start=40)
    return listed(module.parametrizations.weight.original), listed(module.weight)


def estimates_removed(torch: Any) -> Any:
    found = []
    for training in (True, False):
        module = spectral(torch, 3, 4).train(training)
        parametrize(torch).remove_parametrizations(module, "weight")
        found.append((listed(module.weight), list(module.state_dict())))
    return found


def estimates_kept(torch: Any) -> Any:
    module = spectral(torch, 3, 4)
    with parametrize(torch).cached():
        return module.weight is module.weight, listed(module.weight)


def estimates_in_training(torch: Any) -> Any:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        library(torch).spectral_norm(torch.nn.Linear(3, 4)), torch.nn.ReLU(), torch.nn.Linear(4, 1)
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(numbers(torch, 5, 3)).square().sum().backward()
        optimizer.step()
    return listed(net[0].weight), [n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()]


def with_an_orthogonal_one(torch: Any) -> Any:
    module = orthogonal(torch, 3, 3)
    library(torch).spectral_norm(module)
    return repr(module), listed(module.weight)


def called_with_other_originals(torch: Any) -> Any:
    layer = library(torch).weight_norm(torch.nn.Linear(3, 2))
    values = {
        "parametrizations.weight.original0": torch.ones(2, 1),
        "parametrizations.weight.original1": numbers(torch, 2, 3),
        "bias": torch.zeros(2),
    }
    call = torch.nn.utils.stateless._functional_call
    return listed(call(layer, values, torch.ones(1, 3), strict=True))


PROGRAMS = [
    maps_of_shapes, maps_without_a_base, of_complex_matrices, originals_and_bases, moved_originals, gradients_of_maps,
    an_orthogonal_matrix_stays, assigned, assigned_without_a_base, assigned_to_an_exponential_without_a_base,
    assigned_another_shape, householder_of_complex_matrices, an_unknown_map, of_a_vector, of_no_tensor,
    of_a_bias_that_is_none, of_integers, chained_maps, trained_on_the_group, copied_and_removed, loaded_with_its_base,
    doubles,
    lengths_and_directions, gradients_of_lengths, lengths_in_a_layer, lengths_assigned, lengths_loaded_from_before,
    lengths_loaded_in_a_network, lengths_loaded_in_part, lengths_of_another_name, lengths_of_no_tensor,
    lengths_along_no_dimension, lengths_twice, lengths_removed, lengths_of_integers, lengths_of_half_precision,
    estimates, estimates_in_evaluation, estimates_of_a_vector, estimates_of_a_vector_of_zeros, gradients_of_estimates,
    several_iterations, of_transposed_convolutions, of_complex_weights, a_dimension_that_is_not_there,
    a_dimension_before_the_first, no_iterations, spectral_of_no_tensor, spectral_of_integers,
    estimates_saved_and_loaded, estimates_assigned, estimates_removed, estimates_kept, estimates_in_training,
    with_an_orthogonal_one, called_with_other_originals,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    in_other_words = program in (of_integers, spectral_of_integers)  # ours also name what would be accepted
    assert_same(program, require("torch"), words=not in_other_words, within=WITHIN)
