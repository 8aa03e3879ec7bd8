"""Can what PyTorch programs import and mostly do not use be imported, and is its use refused by name?"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import glasstorch


def test_programs_that_ask_outside_of_a_capture_are_told_so(torch: Any) -> None:
    compiler = torch.compiler
    assert (compiler.is_compiling(), compiler.is_dynamo_compiling(), compiler.is_exporting()) == (False, False, False)

    @compiler.disable
    def double(x: Any) -> Any:
        return 2 * x

    @compiler.disable(recursive=False)
    def triple(x: Any) -> Any:
        return 3 * x

    assert (double(2), triple(2)) == (4, 6)
    assert compiler.reset() is None


@pytest.mark.parametrize("name", ["torch.export", "torch.cond", "torch.cuda.graphs"])
def test_what_a_compiler_lacks_is_refused_by_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"PyTorch 2.13 has {name}, glasstorch does not; "):
        eval(name, {"torch": glasstorch})


def test_marks_for_a_compiler_return_the_function() -> None:
    assert glasstorch.compiler.cudagraph_mark_step_begin() is None

    def f(x: Any) -> Any:
        return x

    assert glasstorch.compiler.allow_in_graph(f) is f
    assert glasstorch.compiler.allow_in_graph([f]) == [f]
    assert glasstorch.compiler.assume_constant_result(f) is f
    with pytest.raises(AssertionError):
        glasstorch.compiler.allow_in_graph(3)


def test_there_are_no_groups_of_processes(torch: Any) -> None:
    distributed = torch.distributed
    assert distributed.is_available() in (True, False)
    assert (distributed.is_available() and distributed.is_initialized()) is False
    assert glasstorch.distributed.is_available() is False
    assert glasstorch.distributed.is_initialized() is False
    with pytest.raises(AttributeError, match=r"PyTorch 2.13 has torch.distributed.new_group, glasstorch"):
        _ = glasstorch.distributed.new_group
    with pytest.raises(RuntimeError, match="init_process_group: glasstorch has no groups of processes"):
        glasstorch.distributed.init_process_group("gloo", rank=0, world_size=1)


@pytest.mark.parametrize(
    "name", ["all_gather", "all_reduce", "barrier", "broadcast", "get_rank", "get_world_size", "reduce"]
)
def test_functions_of_a_group_refuse_to_run_without_one(torch: Any, name: str) -> None:
    x = torch.ones(1)
    given = {"all_gather": ([x], x), "all_reduce": (x,), "broadcast": (x, 0), "reduce": (x, 0)}.get(name, ())
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        getattr(torch.distributed, name)(*given)


def test_a_group_that_was_not_begun_cannot_be_ended() -> None:
    with pytest.raises(
        ValueError, match=r"torch\.distributed\.destroy_process_group: Default process group has not been"
    ):
        glasstorch.distributed.destroy_process_group()


def test_onnx_is_imported_and_refuses_to_export() -> None:
    onnx = import_module("glasstorch.onnx")
    assert onnx.is_in_onnx_export() is False
    with pytest.raises(onnx.OnnxExporterError, match="cannot export Linear to ONNX; save its state_dict"):
        onnx.export(glasstorch.nn.Linear(1, 1), (glasstorch.ones(1),), "model.onnx")


def test_hub_knows_its_folder_and_downloads_nothing(
    torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable, value in (("TORCH_HOME", None), ("XDG_CACHE_HOME", str(tmp_path / "cache"))):
        monkeypatch.delenv(variable, raising=False) if value is None else monkeypatch.setenv(variable, value)
    hub = import_module(f"{torch.__name__}.hub")
    assert hub.get_dir() == str(tmp_path / "cache" / "torch" / "hub")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    assert hub.get_dir() == str(tmp_path / "home" / "hub")
    monkeypatch.setattr(hub, "_hub_dir" if torch is not glasstorch else "_Folder", getattr(
        hub, "_hub_dir" if torch is not glasstorch else "_Folder"))  # fmt: skip
    if torch is glasstorch:
        monkeypatch.setattr(hub._Folder, "path", None)
    hub.set_dir(str(tmp_path))
    assert hub.get_dir() == str(tmp_path)


def test_hub_loads_a_model_from_a_folder(torch: Any, tmp_path: Path) -> None:
    hub = import_module(f"{torch.__name__}.hub")
    (tmp_path / "parts_of_a_tiny_model.py").write_text("WIDTH = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\nfrom parts_of_a_tiny_model import WIDTH\n"
        "def tiny(depth, *, bias=True):\n    return WIDTH, depth, bias\n"
    )
    before = list(sys.path)
    assert hub.load(str(tmp_path), "tiny", 2, source="local", trust_repo=True, bias=False) == (3, 2, False)
    for call, kind, message in (
        (lambda: hub.load(str(tmp_path), "huge", source="local"), RuntimeError, "Cannot find callable huge in hubconf"),
        (lambda: hub.load(str(tmp_path), 3, source="local"), ValueError, "Invalid input: model should be a string"),
        (lambda: hub.load(str(tmp_path), "tiny", source="disk"), ValueError, 'Unknown source: "disk". Allowed values:'),
        (lambda: hub.load(str(tmp_path / "none"), "tiny", source="local"), FileNotFoundError, "hubconf.py"),
    ):
        with pytest.raises(kind, match=message):
            call()
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package', 'numpy']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        hub.load(str(tmp_path), "tiny", source="local")
    assert sys.path == before


def test_hub_refuses_what_it_would_download() -> None:
    hub = glasstorch.hub
    for call in (
        lambda: hub.load("pytorch/vision", "resnet18"),
        lambda: hub.list("pytorch/vision"),
        lambda: hub.help("pytorch/vision", "resnet18"),
        lambda: hub.download_url_to_file("https://example.org/x.pth", "x.pth"),
        lambda: hub.load_state_dict_from_url("https://example.org/no-such-file.pth"),
        lambda: import_module("glasstorch.utils.model_zoo").load_url("https://example.org/no-such-file.pth"),
    ):
        with pytest.raises(RuntimeError, match="glasstorch downloads nothing"):
            call()


def test_a_library_of_operators_cannot_be_loaded(torch: Any) -> None:
    before = set(torch.ops.loaded_libraries)
    with pytest.raises(OSError, match=r"Could not load this library: /no/such\.so"):
        torch.ops.load_library("/no/such.so")
    assert "load_library" not in dir(torch.ops) or torch is not glasstorch
    assert torch.ops.loaded_libraries == before


def test_a_variable_is_a_tensor(torch: Any) -> None:
    from_autograd = import_module(f"{torch.__name__}.autograd").Variable
    x = torch.ones(2)
    variable = from_autograd(x, requires_grad=True)
    assert type(variable) is torch.Tensor
    assert isinstance(x, from_autograd)
    assert not isinstance(3, from_autograd)
    assert (variable.requires_grad, x.requires_grad) == (True, False)
    assert variable.data_ptr() == x.data_ptr()
    (variable * 2).sum().backward()
    assert variable.grad.tolist() == [2, 2]
    assert import_module(f"{torch.__name__}.autograd.variable").Variable is from_autograd
    with pytest.raises(TypeError):
        from_autograd([1.0])
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        from_autograd(x, volatile=True)
    old = import_module(f"{torch.__name__}").autograd.variable
    assert old.Variable is from_autograd
    with pytest.raises(RuntimeError, match=r"torch\.autograd\.variable\(\.\.\.\) is deprecated"):
        old(x)


def test_sizes_have_no_symbols_and_their_functions_compute(torch: Any) -> None:
    assert not isinstance(torch.ones(3).shape[0], torch.SymInt)
    assert (torch.sym_int(2.7), torch.sym_int(-2.7), torch.sym_float(3), torch.sym_not(False)) == (2, -2, 3.0, True)
    assert (torch.sym_max(2, 3), torch.sym_min(2, 3), torch.sym_max(2, 1.0)) == (3, 2, 2.0)
    assert isinstance(torch.sym_max(2, 1.0), float)
    assert (torch.sym_sum([1, 2, 3]), torch.sym_ite(True, 1, 2)) == (6, 1)
    assert type(torch.sym_int(2.7)) is int


def test_an_assertion_is_a_function(torch: Any) -> None:
    assert torch._assert(torch.ones(1) == 1, "not one") is None
    with pytest.raises(AssertionError, match="expected a batch"):
        torch._assert(torch.ones(2).dim() == 4, "expected a batch")


@pytest.mark.parametrize("name", ["SymInt", "SymFloat", "SymBool"])
def test_a_symbol_cannot_be_made(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(glasstorch, name)(3)


def test_overrides_tell_tensors_from_others(torch: Any) -> None:
    overrides = import_module(f"{torch.__name__}.overrides")

    class Answers:
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
            return "answered"

    assert (overrides.is_tensor_like(torch.ones(1)), overrides.is_tensor_like(Answers())) == (True, True)
    assert overrides.is_tensor_like([1]) is False
    assert overrides.has_torch_function_unary(Answers()) is True
    assert overrides.has_torch_function_unary(3) is False
    assert overrides.has_torch_function_variadic(3, Answers()) is True
    assert overrides.is_tensor_method_or_property(torch.Tensor.add) is True
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__) is True
    assert overrides.is_tensor_method_or_property(torch.add) is False

    @overrides.wrap_torch_function(lambda x: (x,))
    def double(x: Any) -> Any:
        return 2 * x

    assert (double(2), double(Answers())) == (4, "answered")


def test_types_are_pytorchs_names(torch: Any) -> None:
    types = import_module(f"{torch.__name__}.types")
    for name in ("Device", "FileLike", "Number", "Storage"):
        assert hasattr(types, name)
    assert isinstance(3, types.Number)
    assert isinstance("cpu", types.Device)


def test_hooks_have_a_handle_and_a_mark(torch: Any) -> None:
    hooks = import_module(f"{torch.__name__}.utils.hooks")
    x = torch.ones(2, requires_grad=True)
    plain, marked = (lambda grad: grad), hooks.unserializable_hook(lambda grad: grad)
    handle = x.register_hook(plain)
    x.register_hook(marked)
    with pytest.warns(UserWarning, match="will not be serialized"):
        hooks.warn_if_has_hooks(x)
    handle.remove()
    hooks.warn_if_has_hooks(x)  # warnings are errors: the marked hook gives none
    linear = torch.nn.Linear(1, 1)
    assert isinstance(linear.register_forward_hook(lambda *_: None), hooks.RemovableHandle)


def test_other_utilities_are_imported_and_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cpp_extension", "mobile_optimizer"):
        import_module(f"glasstorch.utils.{name}")
    utils = glasstorch.utils
    for call in (
        lambda: utils.cpp_extension.load("a", ["a.cu"]),
        lambda: utils.cpp_extension.load_inline("a", "int f();", cuda_sources="int g();"),
        lambda: utils.cpp_extension.CppExtension("a", ["a.cpp"]),
        lambda: utils.cpp_extension.CUDAExtension("a", ["a.cu"]),
        lambda: utils.cpp_extension.BuildExtension(),
    ):
        with pytest.raises(RuntimeError, match=r"torch\.utils\.cpp_extension\.\w+: glasstorch has no "):
            call()
    with pytest.raises(RuntimeError, match="makes no programs for phones"):
        utils.mobile_optimizer.optimize_for_mobile(None)
    utils.collect_env.main()
    printed = capsys.readouterr().out
    assert f"glasstorch {glasstorch.version.glasstorch}" in printed
    assert "  - numpy " in printed


def test_the_configuration_is_told(torch: Any) -> None:
    config = import_module(f"{torch.__name__}.__config__")
    assert isinstance(config.show(), str)
    assert f"get_num_threads() : {torch.get_num_threads()}" in config.parallel_info()
    assert torch.__config__.show() == config.show()
    if torch is glasstorch:
        assert "NumPy" in config.show()


def test_internals_that_programs_name_are_there(torch: Any) -> None:
    assert isinstance(torch.ones(1), torch._C.TensorBase)
    assert torch._C._log_api_usage_once("a program") is None
    assert torch._C.Generator is torch.Generator
    assert torch._C.Size is torch.Size
