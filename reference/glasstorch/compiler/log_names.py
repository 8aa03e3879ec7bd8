"""What can a compilation print of its work, and of what kind is each?

Mirrors: torch/_logging/_registrations.py
Differs: "patterns" is a name that PyTorch does not have; "joint" is another name of "aot_joint_graph".

A log is a part of the compiler: it has a level, and prints what is at least as important. An artifact is one kind of
text, such as the code of a graph. A log with a level also prints its artifacts, but for those that are only on request.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple


class Artifact(NamedTuple):
    """One kind of text: what it is, the log that it belongs to and its level there, and whether it is on request."""

    about: str
    log: str
    level: int = logging.DEBUG
    on_request: bool = False


# The loggers of each log.
LOGS: Final = {
    "dynamo": ("glasstorch._dynamo", "glasstorch.fx.experimental.symbolic_shapes"),
    "dynamic": ("glasstorch.fx.experimental.symbolic_shapes",),
    "aot": ("glasstorch._functorch",),
    "inductor": ("glasstorch._inductor",),
    "torch": ("glasstorch",),
}
ARTIFACTS: Final = {
    "graph_breaks": Artifact("why a graph ended early, and at which line", "dynamo"),
    "guards": Artifact("what a graph depends on", "dynamo"),
    "recompiles": Artifact("which guard did not hold, where a function is compiled again", "dynamo"),
    "bytecode": Artifact("the bytecode of each function that is captured", "dynamo", on_request=True),
    "trace_source": Artifact("each line of the program as it is captured", "dynamo"),
    "trace_bytecode": Artifact("each instruction as it is captured, and the stack before it", "dynamo"),
    "graph": Artifact("each graph as a table", "dynamo"),
    "graph_code": Artifact("the Python code of each graph", "dynamo"),
    "graph_sizes": Artifact("the sizes of all tensors of each graph", "dynamo"),
    "aot_joint_graph": Artifact("the graph of a forward and a backward pass", "aot", logging.INFO),
    "aot_graphs": Artifact("the graphs that compilers get: forward and backward", "aot", logging.INFO),
    "patterns": Artifact("which parts of a graph were replaced by others, and which were not, and why", "inductor"),
    "post_grad_graphs": Artifact("each graph from which loops are made", "inductor", logging.INFO),
    "ir_pre_fusion": Artifact("the loops before any are joined", "inductor", on_request=True),
    "ir_post_fusion": Artifact("the loops that run as one", "inductor", on_request=True),
    "schedule": Artifact("in which order loops and operators run", "inductor", on_request=True),
    "fusion": Artifact("which loops are joined, and why others are not", "inductor", on_request=True),
    "output_code": Artifact("the code that runs a graph, and its kernels", "inductor", on_request=True),
    "kernel_code": Artifact("the kernels of a graph", "inductor", on_request=True),
    "perf_hints": Artifact("what keeps a graph from being faster", "inductor", on_request=True),
}
ALIASES: Final = {"joint": "aot_joint_graph"}
# What PyTorch can print, and there is nothing of here.
OF_PYTORCH: Final = frozenset((
    "annotation", "aot_graphs_effects", "async_compile", "auto_chunker", "autograd", "autotuning",
    "benchmarking", "c10d", "cache", "caching", "compiled_autograd", "compiled_autograd_verbose",
    "compute_dependencies", "cudagraph_static_inputs", "cudagraphs", "custom_format_test_artifact", "ddp",
    "ddp_graphs", "distributed", "dtensor", "export", "fake_tensor", "fsdp", "graph_code_verbose",
    "graph_region_expansion", "hierarchical_compile", "incremental", "inductor_metrics", "loop_ordering",
    "loop_tiling", "native_dsl", "node_runtime_estimation", "not_implemented", "onnx", "onnx_diagnostics",
    "overlap", "overlap_scheduling", "pp", "pre_grad_graphs", "recompiles_verbose", "side_effects", "sym_node",
    "trace_call", "trace_shape_events", "verbose_guards",
))  # fmt: skip


def names() -> list[str]:
    """All names that can be chosen."""
    return sorted(["all", *LOGS, *ARTIFACTS, *ALIASES])


def help_message(variable: str, *, all_of_them: bool) -> str:
    """How the names are chosen, and what each prints; those on request only if all are asked for."""
    lines = [
        f"{variable}=NAME,NAME,... chooses what a compilation prints to stderr. Examples:",
        f'  {variable}="+dynamo,aot"       logs: dynamo prints everything (DEBUG), aot what matters (INFO)',
        f'  {variable}="-dynamo"           only errors of dynamo',
        f'  {variable}="fusion,output_code"  these two artifacts',
        "", "logs", *(f"  {name}" for name in ["all", *LOGS]), "artifacts",
    ]  # fmt: skip
    for name, artifact in ARTIFACTS.items():
        if all_of_them or not artifact.on_request:
            lines.append(f"  {name:<18}{artifact.about} ({artifact.log})")
    if not all_of_them:
        lines.append(f'{variable}="+help" also lists those that are printed on request only')
    return "\n".join(lines)


def unknown_message(text: str, variable: str) -> str:
    """What is said of a choice that names something that does not exist."""
    left_out = [name for name in (part.strip().lstrip("+-") for part in text.split(",")) if name in OF_PYTORCH]
    also = f"\nPyTorch prints {', '.join(left_out)}; there is nothing of that in glasstorch." if left_out else ""
    return (
        f"Invalid log settings: {text}, must be a comma separated list of fully qualified module names, registered log "
        f'names or registered artifact names.\nFor more info on various settings, try {variable}="help"\n'
        f"Valid settings:\n{', '.join(names())}{also}"
    )
