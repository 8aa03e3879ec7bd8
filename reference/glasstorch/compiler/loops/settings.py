"""Which settings does the library's own compiler have?

Mirrors: torch/_inductor/config.py
Differs: those of PyTorch's settings that something here stands for. A value that would ask for what is not there is
    refused. Random numbers are always those of eager mode, and a graph's machine code is all that is cached.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.compiler.setting_table import Setting, Settings

TUNING: Final = "kernels are written by rule, and none are tried against each other"
ARGUMENTS: Final = "parameters stay arguments of a graph"
CUDA: Final = "there are no graphs of CUDA"
ALWAYS: Final = "this is always done"
OWN: Final = "kernels are called from Python"
NOT_KEPT: Final = "graphs are not kept between processes, only their machine code"
TABLE: Final = {
    "cpp.threads": Setting(-1),  # of kernels; -1 for torch.get_num_threads()
    "pattern_matcher": Setting(True),
    "size_asserts": Setting(True),  # the sizes and strides of inputs are checked
    "fx_graph_cache": Setting(True),  # False: the machine code is compiled again
    "force_disable_caches": Setting(False),  # True: likewise
    "pre_grad_custom_pass": Setting(None),  # functions of a graph
    "joint_custom_pre_pass": Setting(None),
    "joint_custom_post_pass": Setting(None),
    "post_grad_custom_pre_pass": Setting(None),
    "post_grad_custom_post_pass": Setting(None),
    "max_autotune": Setting(False, (False,), TUNING),
    "max_autotune_gemm": Setting(False, (False,), TUNING),
    "max_autotune_pointwise": Setting(False, (False,), TUNING),
    "coordinate_descent_tuning": Setting(False, (False,), TUNING),
    "freezing": Setting(False, (False,), ARGUMENTS),
    "cpp_wrapper": Setting(False, (False,), OWN),
    "triton.cudagraphs": Setting(False, (False,), CUDA),
    "fallback_random": Setting(True, (True,), "random numbers are those of eager mode"),
    "implicit_fallbacks": Setting(True, (True,), "what has no loops is an operator of the library"),
    "epilogue_fusion": Setting(True, (True,), ALWAYS),
    "allow_buffer_reuse": Setting(True, (True,), ALWAYS),
    "keep_output_stride": Setting(True, (True,), ALWAYS),
    "use_pre_grad_passes": Setting(True, (True,), ALWAYS),
    "use_joint_graph_passes": Setting(True, (True,), ALWAYS),
    "use_post_grad_passes": Setting(True, (True,), ALWAYS),
    "use_dce": Setting(True, (True,), ALWAYS),
    "fallback_by_default": Setting(False, (False,), "loops are made wherever they can be"),
    "selective_decompose": Setting(False, (False,), "the same operators are decomposed everywhere"),
    "reorder_for_peak_memory": Setting(False, (False,), "loops run in the order of the graph"),
    "compile_threads": Setting(1, (1,), "kernels are compiled one after the other"),
    "fx_graph_remote_cache": Setting(False, (False, None), NOT_KEPT),
}

settings: Final = Settings("torch._inductor.config", TABLE)


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """Options of `torch.compile` as settings. RuntimeError for one that does not exist, or of another class."""
    found = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        if name not in TABLE:
            raise RuntimeError(f"Unexpected optimization option {key}, known options are {list(TABLE)}")
        wanted = settings.get_type(name)
        if wanted is not type(None) and not isinstance(value, wanted):
            raise RuntimeError(f"Unexpected type of attr {key}, got {type(value).__name__} should be {wanted.__name__}")
        settings.refuse(name, value)
        found[name] = value
    return found
