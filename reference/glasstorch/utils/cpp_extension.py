"""How is C++ code compiled, while a program runs, to functions and operators?

Its parts lie in `_cpp/`: see the reading order there.

Mirrors: torch/utils/cpp_extension.py
Differs: for the CPU, against headers of our own (decisions/0047), without ninja, pybind11 and Python's headers. What is
    not here is refused by name: CUDA and SYCL sources, programs instead of libraries, and extensions built by
    setuptools. A CUDA kernel of a program's own is compiled by `torch.cuda._compile_kernel`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from glasstorch.calls.ops import ops
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.devices.cpp_compiler import compiler
from glasstorch.utils._cpp.building import INCLUDE, STANDARD, Plan, built, folder_of, include_flags, written
from glasstorch.utils._cpp.loading import import_module

__all__ = [
    "CUDA_HOME", "BuildExtension", "CUDAExtension", "CppExtension", "get_cxx_compiler", "get_default_build_root",
    "include_paths", "is_ninja_available", "library_paths", "load", "load_inline", "verify_ninja_availability",
]  # fmt: skip

CUDA_HOME = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
Texts = str | Sequence[str]


def load_inline(
    name: str,
    cpp_sources: Texts,
    cuda_sources: Texts | None = None,
    sycl_sources: Texts | None = None,
    functions: Texts | dict[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> ModuleType | str:
    """Compile C++ source and load it: the module with its functions, or the library's path.

    `functions` names those that the module shall have, as a list or with their help. Without it the source writes its
    own PYBIND11_MODULE, or registers operators and is loaded with `is_python_module=False`. An exception of C++ always
    becomes Python's, and neither a precompiled header nor object files are kept, whatever is said.
    """
    _refuse_devices("load_inline", cuda_sources, sycl_sources, with_cuda, with_sycl)
    texts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    if not no_implicit_headers:
        texts.insert(0, "#include <torch/extension.h>")
    if functions is not None:
        texts += _module_of(functions)
    folder = folder_of(name, build_directory)
    source = written("\n".join(texts) + "\n", name, folder)
    return _loaded(
        name, [str(source)], folder, extra_cflags, extra_ldflags, extra_include_paths, verbose, is_python_module
    )


def load(
    name: str,
    sources: Texts,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> ModuleType | str:
    """Compile C++ files and load them: the module that they define, or the library's path."""
    files = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if is_python_module and is_standalone:
        raise ValueError("`is_python_module` and `is_standalone` are mutually exclusive.")
    if is_standalone:
        _refused("load", "is_standalone=True: a program instead of a library")
    cuda = [file for file in files if os.path.splitext(file)[1] in (".cu", ".cuh")]
    _refuse_devices("load", cuda, None, with_cuda, with_sycl)
    folder = folder_of(name, build_directory)
    paths = [os.path.abspath(file) for file in files]
    return _loaded(name, paths, folder, extra_cflags, extra_ldflags, extra_include_paths, verbose, is_python_module)


def _module_of(functions: Texts | dict[str, str]) -> list[str]:
    """The lines that define a module with these functions."""
    if isinstance(functions, str):
        functions = [functions]
    if isinstance(functions, list):
        functions = {function: function for function in functions}
    elif not isinstance(functions, dict):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    lines = [f'm.def("{function}", &{function}, R"doc({doc})doc");' for function, doc in functions.items()]
    return ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}"]


def _loaded(
    name: str,
    sources: Sequence[str],
    folder: Path,
    flags: Sequence[str] | None,
    linker_flags: Sequence[str] | None,
    include: Sequence[str] | None,
    verbose: bool,
    is_python_module: bool,
) -> ModuleType | str:
    every_flag = (*STANDARD, *include_flags(name, include or ()), *(flags or ()))
    path = built(Plan(name, tuple(sources), every_flag, tuple(linker_flags or ()), folder, verbose))
    if verbose:
        print(f"Loading extension module {name}...")
    if is_python_module:
        return import_module(name, path)
    ops.load_library(path)
    return str(path)


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
    """The folders of the headers, for a compiler that is called by hand."""
    _refuse_devices("include_paths", None, None, device_type == "cuda", device_type == "xpu")
    return [str(INCLUDE)] if torch_include_dirs else []


def library_paths(
    device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: str | None = None
) -> list[str]:
    """None: an extension needs no library."""
    _refuse_devices("library_paths", None, None, device_type == "cuda", device_type == "xpu")
    return []


def get_cxx_compiler() -> str:
    """The C++ compiler that is used."""
    return compiler()


def get_default_build_root() -> str:
    """The folder under which results are kept, one folder for each extension."""
    return str(folder_of("", None))


def is_ninja_available() -> bool:
    """False: it is not used."""
    return False


def verify_ninja_availability() -> None:
    """Say nothing: it is not needed."""


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused."""
    _refused("CppExtension", "extensions built by setuptools")


def CUDAExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused."""
    _refused("CUDAExtension", "extensions built by setuptools")


class BuildExtension:
    """A command of setuptools that builds extensions: refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refused("BuildExtension", "extensions built by setuptools")


def _refuse_devices(function: str, cuda: Any, sycl: Any, with_cuda: bool | None, with_sycl: bool | None) -> None:
    """Refuse what is for another device than the CPU."""
    if cuda or with_cuda:
        _refused(function, "CUDA sources", "compile a CUDA kernel with torch.cuda._compile_kernel")
    if sycl or with_sycl:
        _refused(function, "SYCL sources")


def _refused(
    function: str, what: str, instead: str = "load and load_inline compile C++ for the CPU while the program runs"
) -> NoReturn:
    raise RuntimeError(f"torch.utils.cpp_extension.{function}: glasstorch has no {what}; {instead}")


__getattr__ = refuse_unknown_names(__name__)
