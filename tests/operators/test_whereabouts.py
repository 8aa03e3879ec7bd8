"""Is an operator declared, computed and differentiated where we say that it is?"""

from __future__ import annotations

import re

import pytest

import glasstorch
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.library import Library
from glasstorch.dispatch.operator import Kernel, registry
from glasstorch.kernels import cuda
from glasstorch.operators.whereabouts import LIBRARY, Whereabouts, behind, forms_of, overloads_of, whereabouts

cuda.register_kernels()
OPERATORS = [operator for name, operator in registry.operators.items() if name.startswith("aten::")]


def of(name: str) -> Whereabouts:
    return whereabouts(registry.find(f"aten::{name}"))


def line(place: str) -> str:
    """The line of the library at `file:line`."""
    file, _, number = place.rpartition(":")
    return (LIBRARY / file).read_text(encoding="utf-8").splitlines()[int(number) - 1]


OF_OUTSIDE = {"_copy_from", "_copy_from_and_resize"}  # only devices from outside have kernels for these


def test_every_operator_has_a_declaration_that_names_it_and_a_kernel_in_a_file_that_says_what_it_mirrors() -> None:
    for operator in OPERATORS:
        told = whereabouts(operator)
        declared = (told.functional or told.name) + "("
        assert line(told.declared).startswith(f"- func: {declared}"), told.name
        # Nested tensors are asked themselves: nested/_internal/rules.py.
        assert told.kernels or told.shape or told.name in OF_OUTSIDE or operator.family == "nested", told.name
        assert told.mirrors, told.name
        for _, place in told.kernels:
            assert line(place).strip(), (told.name, place)


def test_a_kernel_made_by_a_loop_over_rows_is_found_at_its_row() -> None:
    (cpu,) = (place for key, place in of("exp").kernels if key == "CPU")
    assert '"exp' in line(cpu)
    assert dict(of("cumsum").kernels)["CPU"].startswith("kernels/cpu/scans.py:")


def test_a_composite_kernel_is_followed_to_the_operators_that_it_calls() -> None:
    solve = of("linalg_solve")
    assert (solve.kind, solve.calls) == ("CompositeImplicitAutograd", ("_linalg_solve_ex",))
    assert line(solve.kernels[0][1]).startswith("def solve(")
    assert dict(of("_linalg_solve_ex").kernels)["CPU"].startswith("kernels/cpu/linalg/inverses.py:")


def test_a_composite_is_followed_into_other_files_of_composites_but_not_into_pythons_own_functions() -> None:
    stft = of("stft.center")
    assert [(name, place.partition(":")[0]) for name, place in stft.helpers] == [
        ("continued", "operators/composite/fft/signal_borders.py")
    ]
    assert line(stft.helpers[0][1]).startswith("def continued(")
    assert {"unfold", "constant_pad_nd", "flip", "cat"} <= set(stft.calls)
    assert of("split.Tensor").calls == ()  # it calls Python's `range`
    assert of("softmax.int").helpers == ()


def test_kernels_that_record_are_told_with_what_made_them() -> None:
    multiplied = of("mul_.Tensor")
    recording = {key: line(place) for key, place in multiplied.recording}
    assert recording["Autograd"].startswith('@in_place_saving(AUTOGRAD, "mul_.Tensor"')
    assert recording["ADInplaceOrView"].startswith('row("mul_.Tensor", writes_first_of_two')
    made = {key: maker.partition(", ") for key, maker in multiplied.makers}
    for key in ("CPU", "CUDA", "Autograd", "ADInplaceOrView"):
        name, _, place = made[key]
        assert line(place).startswith(f"def {name}("), key
    assert (made["Autograd"][0], made["ADInplaceOrView"][0]) == ("two_of_two", "writes_first_of_two")
    assert of("transpose.int").recording[1][0] == "ADInplaceOrView"
    [(key, where)] = of("argmax").recording
    assert (key, line(where)) == (
        "Autograd",
        "def records_nothing(operator: Operator, keys: int, *arguments: Any) -> Any:",
    )
    assert "CPU" not in dict(of("index_put").makers)  # a function of its own


@pytest.mark.parametrize(
    ("name", "text", "calls"),
    [
        ("special_expit", "def alias(keys: int, *arguments: Any) -> Any:", ("sigmoid",)),
        ("clip", "def alias(keys: int, *arguments: Any) -> Any:", ("clamp",)),
        ("diagonal_copy", 'diagonal_copy = _copy_of("diagonal")', ("diagonal", "clone")),
        ("hann_window", '"hann_window": np.hanning,', ("to",)),
    ],
)
def test_a_composite_kernel_that_a_function_made_is_found_at_its_row(
    name: str, text: str, calls: tuple[str, ...]
) -> None:
    told = of(name)
    assert line(told.kernels[0][1]).strip() == text
    assert set(told.calls) == set(calls)


def test_a_shape_function_is_found_where_it_gets_its_name() -> None:
    for operator in OPERATORS:
        place = whereabouts(operator).shape
        assert place is None or re.match(r"def \w+\(|\w+(, \w+)*( =|: )", line(place)), operator.name
    for name in ("cummin", "cumprod", "floor", "maximum"):  # of several that are assigned at once
        assert re.search(rf"\b{name}\b", line(of(name).shape or "")), name


def test_an_operator_that_stops_backward_says_so() -> None:
    refusing = of("linalg_ldl_solve")
    assert refusing.refuses
    assert refusing.derivative is not None
    assert line(refusing.derivative) == "- op: linalg_ldl_solve"
    assert not of("exp").refuses
    assert of("detach_copy").refuses
    assert (of("detach_copy.out").refuses, of("detach_copy.out").derivative) == (False, None)
    assert not of("argmax").refuses


def test_a_derivative_is_told_with_the_formulas_of_its_row_and_shared_by_its_forms() -> None:
    exp = of("exp")
    assert exp.derivative is not None
    assert line(exp.derivative) == "- op: exp"
    assert exp.formulas == (("self", "grad * conjugate(result)"),)
    assert of("exp_").formulas == exp.formulas
    assert of("zeros").derivative is None
    assert of("index_put_").formulas == of("index_put").formulas != ()  # declared by itself
    assert of("add_.Tensor").formulas == of("add.Tensor").formulas


def test_every_operator_whose_gradient_is_recorded_has_a_derivative() -> None:
    recording = [o for o in OPERATORS for kernel in o.kernels.get(DispatchKey.Autograd, ()) if is_generated(kernel)]
    assert len(recording) > 300
    assert [o.qualified_overload for o in recording if whereabouts(o).derivative is None] == []
    assert of("index_put_").formulas == of("index_put").formulas != ()


def is_generated(kernel: Kernel) -> bool:
    return kernel.where.startswith("autograd/generated/autograd_kernels.py")


def test_every_row_of_derivatives_belongs_to_an_operator() -> None:
    rows = re.findall(r"^- op: (\S+)$", (LIBRARY / "operators" / "derivatives.yaml").read_text("utf-8"), re.MULTILINE)
    with_formulas = {o.qualified_overload for o in OPERATORS if whereabouts(o).derivative}
    assert set(rows) <= with_formulas


def test_forms_are_listed_with_what_they_are_made_from() -> None:
    assert forms_of("exp") == ["exp_", "exp.out"]
    assert of("exp_").functional == "exp"


@pytest.mark.parametrize(
    "name",
    [
        *("torch.linalg.solve", "linalg.solve", "linalg_solve"),
        *(
            "aten::linalg_solve",
            "aten.linalg_solve",
            "aten.linalg_solve.default",
            "torch.ops.aten.linalg_solve.default",
        ),
    ],
)
def test_an_operator_is_found_under_each_of_its_names(name: str) -> None:
    assert [operator.name for operator in overloads_of(name)][:1] == ["aten::linalg_solve"]


def test_a_name_with_an_overload_means_that_one_alone_and_an_unknown_name_none() -> None:
    assert [operator.name for operator in overloads_of("add.Tensor")] == ["aten::add.Tensor"]
    assert [operator.name for operator in overloads_of("Tensor.add_")] == ["aten::add_.Tensor", "aten::add_.Scalar"]
    assert overloads_of("torch.nothing") == []


def test_a_prefix_is_taken_off_the_front_alone() -> None:
    for name in ("F.relu", "nn.functional.relu", "torch.nn.functional.relu", "Tensor.relu", "torch.Tensor.relu"):
        assert [operator.name for operator in overloads_of(name)] == ["aten::relu"], name
    assert overloads_of("torch.torch.relu") == []


def test_operators_of_python_and_attributes_are_followed_to_the_operator_behind_them() -> None:
    Tensor = glasstorch.Tensor
    operators = map(behind, (Tensor.__add__, Tensor.__radd__, Tensor.__iadd__, Tensor.__neg__, Tensor.T, Tensor.real))
    assert list(operators) == ["add", "add", "add_", "neg", "numpy_T", "real"]
    assert behind(Tensor.__len__) is None
    assert behind(glasstorch.float32) is None


def test_a_kernel_of_a_users_own_is_told_as_registered() -> None:
    with Library("aten", "IMPL") as library:
        library.impl("exp", lambda self: self, "CPU", allow_override=True)
        assert dict(of("exp").kernels)["CPU"].startswith(__file__)
