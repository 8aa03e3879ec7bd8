"""Are the private names there that public programs import, and do they do what PyTorch's do?"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import pytest

NAMES = {
    "_C": "_fft _get_tracing_state _jit_set_profiling_executor _linalg _log_api_usage_once _nn _special "
    "_VariableFunctions",
    "_VF": "lstm gru_cell",
    "_tensor_str": "PRINT_OPTS _str get_printoptions printoptions set_printoptions",
    "_utils": "ExceptionWrapper _element_size _flatten_dense_tensors _rebuild_parameter _rebuild_tensor_v2 "
    "_take_tensors _unflatten_dense_tensors",
    "accelerator.memory": "empty_cache max_memory_allocated memory_allocated memory_stats",
    "amp.grad_scaler": "OptState _refresh_per_optimizer_state",
    "autograd.function": "Function FunctionCtx once_differentiable",
    "backends.cuda": "sdp_kernel",
    "cuda": "_lazy_init",
    "distributions.utils": "_standard_normal _sum_rightmost broadcast_all lazy_property",
    "hub": "_get_torch_home get_dir",
    "jit": "Final",
    "nn.common_types": "_size_1_t _size_2_t _size_any_t",
    "nn.functional": "_Reduction",
    "nn.init": "_calculate_correct_fan _calculate_fan_in_and_fan_out _no_grad_trunc_normal_ _no_grad_uniform_",
    "nn.modules.batchnorm": "_BatchNorm _NormBase",
    "nn.modules.conv": "_ConvNd _ConvTransposeNd",
    "nn.modules.dropout": "_DropoutNd",
    "nn.modules.instancenorm": "_InstanceNorm",
    "nn.modules.linear": "NonDynamicallyQuantizableLinear",
    "nn.modules.loss": "_Loss _WeightedLoss",
    "nn.modules.module": "_IncompatibleKeys _global_forward_hooks",
    "nn.modules.padding": "_ConstantPadNd _ReflectionPadNd",
    "nn.modules.pooling": "_AdaptiveAvgPoolNd _AvgPoolNd _MaxPoolNd",
    "nn.modules.transformer": "_get_activation_fn _get_clones",
    "nn.modules.utils": "_ntuple _pair _quadruple _reverse_repeat_tuple _single _triple",
    "onnx": "OperatorExportTypes TensorProtoDataType TrainingMode is_in_onnx_export",
    "optim.lr_scheduler": "LRScheduler _LRScheduler",
    "optim.optimizer": "Optimizer required _use_grad_for_differentiable",
    "overrides": "handle_torch_function has_torch_function has_torch_function_unary",
    "random": "default_generator fork_rng",
    "serialization": "add_safe_globals default_restore_location",
    "storage": "TypedStorage UntypedStorage _StorageBase _load_from_bytes",
    "utils._pytree": "SUPPORTED_NODES TreeSpec tree_flatten tree_map tree_unflatten",
    "utils.data._utils.collate": "default_collate default_convert",
    "utils.data.dataloader": "_BaseDataLoaderIter _MultiProcessingDataLoaderIter default_collate",
    "utils.hooks": "BackwardHook RemovableHandle",
}


@pytest.mark.parametrize("path", NAMES)
def test_private_names_that_programs_import_are_there(torch: Any, path: str) -> None:
    module = import_module(f"{torch.__name__}.{path}")
    for name in NAMES[path].split():
        assert hasattr(module, name), name


@pytest.mark.parametrize("path", ["_six", "_utils._accumulate"])
def test_private_names_that_pytorch_has_removed_are_not_there(torch: Any, path: str) -> None:
    module, _, name = path.rpartition(".")
    assert not hasattr(import_module(f"{torch.__name__}.{module}".rstrip(".")), name)


# Tensors in one buffer ----------------------------------------------------------------------------------------------


def test_tensors_are_joined_in_a_buffer_and_are_views_of_it(torch: Any) -> None:
    tensors = [torch.ones(2, 3), torch.arange(4.0), torch.ones(3, 2).t()]
    flat = torch._utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [1.0] * 6 + [0.0, 1.0, 2.0, 3.0] + [1.0] * 6
    back = torch._utils._unflatten_dense_tensors(flat, tensors)
    assert isinstance(back, tuple)
    assert all(map(torch.equal, back, tensors))
    back[1].zero_()
    assert flat[6:10].tolist() == [0.0] * 4
    alone = torch._utils._flatten_dense_tensors(tensors[1:2])
    assert alone.data_ptr() == tensors[1].data_ptr()
    with pytest.raises(ValueError, match="expected a non-empty list of Tensors"):
        torch._utils._flatten_dense_tensors([])
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        torch._utils._unflatten_dense_tensors(flat[:8], tensors)


def test_tensors_are_taken_in_groups_of_one_dtype_and_a_limited_size(torch: Any) -> None:
    floats, integers = [torch.zeros(n) for n in (1, 2, 9, 1, 1)], [torch.zeros(2, dtype=torch.int64)]
    taken = list(torch._utils._take_tensors([*floats[:2], *integers, *floats[2:]], 12))
    assert [[(len(t), t.dtype) for t in group] for group in taken] == [
        [(1, torch.float32), (2, torch.float32)],
        [(9, torch.float32)],
        [(1, torch.float32), (1, torch.float32)],
        [(2, torch.int64)],
    ]
    assert [torch._utils._element_size(d) for d in (torch.bool, torch.bfloat16, torch.complex64)] == [1, 2, 8]
    with pytest.raises(RuntimeError, match=r"expected torch\.dtype, but got <class 'int'>"):
        torch._utils._element_size(4)


# What else they do --------------------------------------------------------------------------------------------------


def test_operators_are_found_where_old_programs_call_them(torch: Any) -> None:
    x = torch.tensor([0.0, 1.0])
    assert torch.equal(torch._C._nn.gelu(x), torch.nn.functional.gelu(x))
    assert torch.equal(torch._C._VariableFunctions.add(x, x), 2 * x)
    assert torch.equal(torch._C._fft.fft_fft(x), torch.fft.fft(x))
    assert torch.equal(torch._C._special.special_expm1(x), torch.expm1(x))
    assert torch.equal(torch._VF.relu(x), x)


def test_settings_of_the_executor_give_back_what_was_set(torch: Any) -> None:
    for set_it in (torch._C._jit_set_profiling_executor, torch._C._jit_set_profiling_mode):
        before = set_it(False)
        assert set_it(before) is False
        assert before is True


def test_a_trace_has_a_state_while_it_is_recorded(torch: Any) -> None:
    seen = []

    def double(x: Any) -> Any:
        seen.append(torch._C._get_tracing_state() is not None)
        return 2 * x

    assert torch._C._get_tracing_state() is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.trace(double, (torch.ones(1),), check_trace=False)
    assert seen == [True]
    assert torch._C._get_tracing_state() is None


def test_old_settings_of_attention_hold_in_their_block(torch: Any) -> None:
    cuda = torch.backends.cuda
    with pytest.warns(FutureWarning, match=r"torch.backends.cuda.sdp_kernel\(\)` is deprecated"):
        block = cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False)
    with block:
        allowed = [cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled()]
        assert [*allowed, cuda.cudnn_sdp_enabled()] == [False, True, False, True]
    assert cuda.flash_sdp_enabled()


def test_settings_of_an_export_have_numbers(torch: Any) -> None:
    onnx = import_module(f"{torch.__name__}.onnx")
    for kind, name, number, equal in (
        (onnx.TrainingMode, "TRAINING", 2, False),
        (onnx.OperatorExportTypes, "ONNX_FALLTHROUGH", 3, False),
        (onnx.TensorProtoDataType, "FLOAT8E5M2FNUZ", 20, True),
    ):
        member = getattr(kind, name)
        assert (int(member), member == number, member == kind(number)) == (number, equal, True)
        assert (member.name, str(member), repr(member)) == (
            name,
            f"{kind.__name__}.{name}",
            f"<{kind.__name__}.{name}: {number}>",
        )
        assert len(kind.__members__) == number + 1


def test_storages_are_told_by_their_base(torch: Any) -> None:
    base = torch.storage._StorageBase
    assert isinstance(torch.ones(1).untyped_storage(), base)
    assert not issubclass(torch.storage.TypedStorage, base)


def test_layers_are_cloned_and_activations_found_by_name(torch: Any) -> None:
    transformer = torch.nn.modules.transformer
    assert transformer._get_activation_fn("relu") is torch.nn.functional.relu
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        transformer._get_activation_fn("tanh")
    clones = transformer._get_clones(torch.nn.Linear(1, 1), 2)
    assert isinstance(clones, torch.nn.ModuleList)
    assert clones[0].weight is not clones[1].weight


def test_the_options_of_printing_are_read(torch: Any) -> None:
    module = torch._tensor_str
    with module.printoptions(precision=2):
        assert module.PRINT_OPTS.precision == 2
        assert module._str(torch.tensor(0.12345)) == "tensor(0.12)"
    assert module.get_printoptions()["precision"] == module.PRINT_OPTS.precision == 4


def test_tensors_are_flattened_into_a_copy_and_back_into_views(torch: Any) -> None:
    module = import_module(f"{torch.__name__}._utils")
    tensors = [torch.arange(6.0).reshape(2, 3).t(), torch.tensor(7.0), torch.empty(0, 2), torch.ones(1, 2)]
    flat = module._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 3, 1, 4, 2, 5, 7, 1, 1]
    flat.mul_(2)
    assert tensors[1].item() == 7.0
    parts = module._unflatten_dense_tensors(flat, tensors)
    assert [tuple(part.shape) for part in parts] == [(3, 2), (), (0, 2), (1, 2)]
    assert parts[0].tolist() == [[0, 6], [2, 8], [4, 10]]
    parts[3].zero_()
    assert flat.tolist()[-2:] == [0, 0]
