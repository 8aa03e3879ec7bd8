"""Is every declared operator computed, described without data, sampled, and differentiated where it writes?"""

from __future__ import annotations

from pathlib import Path

import pytest

from glasstorch.autograd.records_nothing import has_gradient
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.resolve import BACKEND_FALLBACK, MISSING, choose
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.cuda import register_kernels
from glasstorch.kernels.delegated import DELEGATED
from glasstorch.kernels.made_of_others import EVERYWHERE
from glasstorch.kernels.structured import SHAPES, shape_function
from glasstorch.operators.gen.model import NativeFunction, load_functions
from tests.agreement.samples import WITHOUT_CUDA
from tests.agreement.table import ROWS

FUNCTIONS = load_functions()
NAMES = {f.name: f for f in FUNCTIONS}
SAMPLED = {row.op for row in ROWS}
OF_OUTSIDE = {"_copy_from", "_copy_from_and_resize"}  # which only a device that a program brings has
OF_SPARSE = {f.name for f in FUNCTIONS if f.family == "sparse"}  # their operands are not in NumPy
# Nor are these: a class answers for most (tests/nested), and the others convert (tests/kernels/cpu/test_nested.py).
OF_NESTED = {f.name for f in FUNCTIONS if f.family == "nested"}

# Operators without a row, and who looks after them.
WITHOUT_ROW = {
    **dict.fromkeys(
        ["empty.memory_format", "empty_strided", "empty_permuted", "empty_like", "new_empty", "new_empty_strided"],
        "its elements are not initialised: tests/test_tensor.py looks at the rest",
    ),
    **dict.fromkeys(
        [
            "rand", "rand.generator", "rand_like", "rand_like.generator", "randn", "randn.generator", "randn_like",
            "randn_like.generator", "randint", "randint.generator", "randint.low", "randint.low_generator",
            "randint_like", "randint_like.generator", "randint_like.Tensor", "randint_like.Tensor_generator",
            "randint_like.low_dtype", "randint_like.low_generator_dtype", "randperm", "randperm.generator",
            "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor", "normal.float_float", "bernoulli",
            "bernoulli.p", "multinomial", "uniform_", "normal_", "log_normal_", "exponential_", "cauchy_",
            "geometric_", "random_.from", "random_.to", "random_", "bernoulli_.float", "bernoulli_.Tensor",
            "poisson", "binomial", "_standard_gamma", "_sample_dirichlet",
        ],
        "its numbers are random: the tests of the family random compare them with PyTorch's",
    ),
    **dict.fromkeys(
        ["_standard_gamma_grad", "_dirichlet_grad"],
        "is the derivative of a random number: tests/kernels/cpu/random/test_gradients.py",
    ),
    **dict.fromkeys(
        ["result_type.Tensor", "result_type.Scalar", "result_type.Scalar_Tensor", "result_type.Scalar_Scalar"],
        "answers with a dtype: tests/operators/shapes/test_promotion.py",
    ),
    **dict.fromkeys(
        [
            "ctc_loss.IntList", "ctc_loss.Tensor", "_ctc_loss", "_ctc_loss.Tensor", "_ctc_loss_backward",
            "_ctc_loss_backward.Tensor",
        ],
        "wants logarithms of shares, and has the gradient of those: tests/kernels/cpu/loss/test_sequences.py",
    ),
    **dict.fromkeys(OF_OUTSIDE, "is implemented by the devices of tests/utils/test_backend_registration.py"),
    "multilabel_margin_loss_backward": "wants marks that fit the targets: tests/kernels/cpu/loss/test_classes.py",
    "_batch_norm_impl_index": "gives a number that is no tensor: tests/kernels/cpu/test_normalization.py",
    "_weight_norm_interface_backward": "wants the norms of its weight: tests/kernels/cpu/test_normalization.py",
    "_batch_norm_with_update": "moves its arguments: tests/kernels/cpu/test_normalization.py",
    "meshgrid": "warns at its first call in a process: tests/operators/composite/joining/test_grids.py",
    "lift_fresh": "gives its argument itself: tests/test_python_dispatch.py",
    "resize_": "new elements are not initialised: tests/test_tensor.py",
    "_lazy_clone": "refuses NumPy's memory in PyTorch, which the samples are in: tests/kernels/test_copies.py",
    "resize_as_": "new elements are not initialised: tests/kernels/test_copies.py",
    **dict.fromkeys(
        [
            "set_", "set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor",
            "set_.source_Tensor_storage_offset", "is_set_to",
        ],
        "is about storages, of which NumPy has none: tests/kernels/test_copies.py",
    ),
    **dict.fromkeys(
        [
            "imag", "_conj", "_conj_copy", "_conj_physical", "view_as_real", "view_as_complex", "view_as_real_copy",
            "view_as_complex_copy",
        ],
        "has or makes complex numbers: tests/kernels/test_math_bits.py",
    ),
    **dict.fromkeys(["complex", "polar"], "makes complex numbers: tests/kernels/cpu/test_complex_numbers.py"),
    **dict.fromkeys(
        ["split_copy.Tensor_out", "split_with_sizes_copy.out", "unbind_copy.int_out"],
        "writes to a list of tensors: tests/kernels/out/test_copied.py",
    ),
    **dict.fromkeys(
        [
            "_linalg_eigh", "_linalg_solve_ex", "_linalg_svd", "linalg_cholesky", "linalg_cholesky_ex", "linalg_eig",
            "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh", "linalg_matrix_rank.atol_rtol_tensor",
            "linalg_matrix_rank.tol_tensor", "linalg_pinv.atol_rtol_tensor", "linalg_pinv.rcond_tensor",
            "linalg_qr", "linalg_svd",
        ],
        "wants a matrix of a kind, or its vectors have no sign of their own: tests/kernels/cpu/linalg/test_inverses.py",
    ),
    **dict.fromkeys(
        ["_lu_with_info", "cholesky", "lu_solve", "qr", "triangular_solve"],
        "warns at its first call in a process: tests/kernels/cpu/linalg/test_factors.py",
    ),
    **dict.fromkeys(
        ["frobenius_norm.dim", "nuclear_norm", "nuclear_norm.dim"],
        "warns at its first call in a process: tests/operators/composite/linalg/test_norms.py",
    ),
    "cholesky_inverse": "has the gradient of a triangle: tests/kernels/cpu/linalg/test_factors.py",
    "svd": "its vectors have no sign of their own: tests/kernels/cpu/linalg/test_factors.py",
    **dict.fromkeys(
        [
            "_fft_c2c", "_fft_c2r", "fft_fftn", "fft_hfft", "fft_hfft2", "fft_hfftn", "fft_ifft", "fft_ifftn",
            "fft_ihfft", "fft_irfftn",
        ],
        "has or makes complex numbers: tests/kernels/cpu/test_fft.py",
    ),
    **dict.fromkeys(
        ["_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"],
        "has a gradient that is refused: tests/kernels/cpu/test_unique.py",
    ),
    **dict.fromkeys(
        ["stft", "istft"],
        "takes complex numbers, or has a method that means another: tests/operators/composite/fft/test_spectrograms.py",
    ),
    **dict.fromkeys(
        [
            "_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors", "histogramdd",
            "histogramdd.TensorList_bins", "histogramdd.int_bins",
        ],
        "takes or gives a list of tensors: tests/kernels/cpu/test_statistics.py",
    ),
    **dict.fromkeys(
        ["native_group_norm_backward", "native_layer_norm_backward"],
        "takes the statistics of its input: tests/autograd/formulas/test_normalization.py",
    ),
    "_fused_sdp_choice": "answers with a number: tests/nn/functions/test_attention.py",
    "_scaled_dot_product_flash_attention_for_cpu_backward":
        "takes what the forward computed: tests/nn/functions/test_attention.py",
    **dict.fromkeys(
        ["_native_multi_head_attention", "_transformer_encoder_layer_fwd"],
        "has a gradient that is refused: tests/operators/composite/attention/test_layers.py",
    ),
    **dict.fromkeys(
        ["mkldnn_rnn_layer", "mkldnn_rnn_layer_backward"],
        "keeps what its gradient needs in a form of its own: tests/kernels/cpu/test_recurrent.py",
    ),
    **dict.fromkeys(
        [
            "lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data", "_pack_padded_sequence",
            "_pack_padded_sequence_backward", "_pad_packed_sequence",
        ],
        "takes lengths in falling order: tests/nn/test_packing.py",
    ),
    **dict.fromkeys(
        ["embedding_sparse_backward", "_embedding_bag_sparse_backward"],
        "has a sparse result: tests/optim/test_sparse_gradients.py",
    ),
    "_embedding_bag_backward": "takes what embedding_bag computed: tests/nn/functions/test_embedding.py",
    "special_zeta.other_scalar": "has a gradient that is refused: tests/kernels/cpu/special/test_functions.py",
    "tensor_split.tensor_indices_or_sections": "takes a tensor, NumPy a list: tests/kernels/test_views.py",
}  # fmt: skip


def has_kernel(name: str, key: str) -> bool:
    """Whether a call with a tensor on that backend finds a kernel; where that calls the out= form, one of that form."""
    operator = registry.find(f"aten::{name}")
    choice = choose(operator, DispatchKey[key])
    if choice.kernel is not None and choice.kernel.table is DELEGATED:
        functional = next(f.functional or f.name for f in FUNCTIONS if f.name == name)
        forms = [f.name for f in FUNCTIONS if f.functional == functional]
        return any(has_kernel(form, key) for form in forms if registry.find(f"aten::{form}").schema.is_out)
    # What is made of others for every backend calls operators that the device may lack; a device needs its own.
    made_of_others = choice.kernel is not None and choice.kernel.table is EVERYWHERE
    return choice.rule not in (MISSING, BACKEND_FALLBACK) and not made_of_others


@pytest.mark.parametrize("key", ["CPU", "CUDA", "Meta"])
def test_every_operator_has_a_kernel(key: str) -> None:
    register_kernels()  # those of CUDA too, which needs no device
    lacking = {name for name in NAMES if not has_kernel(name, key)}
    lacking -= OF_SPARSE | OF_NESTED | OF_OUTSIDE  # kernels of sparse tensors are under keys of their own
    listed = WITHOUT_CUDA if key == "CUDA" else frozenset()
    assert listed <= lacking, sorted(listed - lacking)
    of_listed = {f.name for f in FUNCTIONS if f.functional in listed}  # forms without a kernel of their own
    assert lacking <= listed | of_listed, sorted(lacking - listed - of_listed)


def test_the_list_of_operators_without_a_kernel_for_cuda_is_sorted() -> None:
    path = Path(__file__).with_name("without_cuda.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))


def test_every_operator_has_a_row_or_a_reason() -> None:
    own = {f.name for f in FUNCTIONS if f.functional is None}
    # Lists of tensors are compared on PyTorch's own samples: tests/operators/composite/test_foreach.py, and fused steps
    # in tests/kernels/cpu/test_foreach.py.
    lists = {f.name for f in FUNCTIONS if f.family == "foreach"}
    assert own - SAMPLED == set(WITHOUT_ROW) | lists | ((OF_SPARSE | OF_NESTED) & own)
    assert not SAMPLED - own


def test_no_row_stands_twice() -> None:
    assert len(SAMPLED) == len(ROWS)


def test_every_form_is_one_that_the_rows_reach() -> None:
    """The in-place and out= forms are checked through the row of the operator that they were made from."""
    forms = [f for f in FUNCTIONS if f.functional is not None]
    assert {f.name for f in forms if f.functional not in SAMPLED} <= {
        f.name for f in forms if f.functional in WITHOUT_ROW or f.functional in OF_SPARSE
    }


def test_every_shape_function_exists_and_every_operator_with_forms_has_one() -> None:
    for name in SHAPES:
        assert callable(shape_function(name)), name
    computed = [
        f
        for f in FUNCTIONS
        if f.functional is not None and f.functional not in OF_SPARSE and NAMES[f.functional].composite is None
    ]
    assert {f.name for f in computed if f.functional not in SHAPES} == {
        "empty.out", "arange.start_out", "nonzero.out", "randperm.generator_out",
    }  # fmt: skip


def test_every_in_place_operator_that_is_not_made_of_others_has_a_derivative() -> None:
    # Fused steps of optimizers have none in PyTorch either.
    changing = [
        f
        for f in FUNCTIONS
        if f.schema.is_inplace and not f.is_composite_implicit and f.family not in ("foreach", "sparse")
    ]
    without_gradient = {row.op for row in ROWS if not row.differentiable}
    lacking = {f.name for f in changing if not has_gradient(registry.find(f"aten::{f.name}"))}
    assert {name for name in lacking if NAMES[name].functional not in without_gradient} == set()


def test_every_view_and_every_write_passes_through_its_own_key() -> None:
    """An ADInplaceOrView kernel counts who writes and records who views; composites leave that to their parts."""
    concerned = [f for f in FUNCTIONS if f.schema.is_inplace or f.schema.is_out or f.schema.is_view]
    for f in concerned:
        operator = registry.find(f"aten::{f.name}")
        passes_by = operator.has_kernel_for("CompositeImplicitAutograd") or Tag.no_view in f.tags or counts_nothing(f)
        assert operator.has_kernel_for("ADInplaceOrView") != passes_by, f.name
        assert not (operator.has_kernel_for("ADInplaceOrView") and f.is_composite_implicit), f.name


def counts_nothing(f: NativeFunction) -> bool:
    """Whether PyTorch leaves the counting to the parts, if any: tests/dispatch/test_tables.py compares."""
    return not f.schema.returns or (Tag.generated in f.tags and NAMES[str(f.functional)].is_composite_implicit)


def test_every_differentiable_row_meets_an_autograd_kernel() -> None:
    for row in ROWS:
        operator = registry.find(f"aten::{row.op}")
        made_of_others = operator.has_kernel_for("CompositeImplicitAutograd")
        assert (has_gradient(operator) or made_of_others) or not row.differentiable, row.op


def test_only_known_operators_run_without_a_tensor() -> None:
    """A factory reaches its device through BackendSelect: nothing else may have a kernel there."""
    selected = {name for name in NAMES if registry.find(f"aten::{name}").has_kernel_for("BackendSelect")}
    of_parts = {"_sparse_coo_tensor_with_dims_and_tensors"}  # its tensors are strided, and what it makes is not
    assert selected - of_parts == {f.name for f in FUNCTIONS if f.schema.is_factory and not _has_tensor(f)}


def _has_tensor(f: NativeFunction) -> bool:
    return any(a.type.is_tensor_like for a in f.schema.arguments)
