"""How does a program become a graph, and how is a graph checked, changed and run?

Reading order: the graph: `types`, `ir`, `printer`, `parser`, `verify`; how one is made and run: `tracer`,
`interpreter`; how it is optimised: `side_effects`, `alias_analysis`, `constants`, `passes/` (what may be fused is in
`fuse_pointwise`), `codegen/` (how a fused group becomes NumPy or C++ code), `autodiff`, `differentiable_graph`,
`settings`, `log`, `executor` (which graph a call runs); what users call: `marks`, `_script`, `check_trace`, `_trace`,
`python_print`. How a program is saved: `serialization`, `archive_writer`; and loaded: `archived_object`,
`source_text`, `source_types`, `numbers` (what computes with sizes), `source_operators`, `source_nodes`,
`source_expressions`, `source_graph`, `archive_reader`.

Mirrors: torch/jit/__init__.py, torch/csrc/jit
Differs: graphs come from traces and from text; there is no compiler for Python source.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.jit._script import RecursiveScriptModule as RecursiveScriptModule
from glasstorch.jit._script import ScriptFunction as ScriptFunction
from glasstorch.jit._script import ScriptModule as ScriptModule
from glasstorch.jit._trace import TopLevelTracedModule as TopLevelTracedModule
from glasstorch.jit._trace import trace as trace
from glasstorch.jit.check_trace import TracingCheckError as TracingCheckError
from glasstorch.jit.executor import last_executed_optimized_graph as last_executed_optimized_graph
from glasstorch.jit.log import show_passes as show_passes
from glasstorch.jit.marks import Final as Final
from glasstorch.jit.marks import annotate as annotate
from glasstorch.jit.marks import export as export
from glasstorch.jit.marks import ignore as ignore
from glasstorch.jit.marks import is_scripting as is_scripting
from glasstorch.jit.marks import unused as unused
from glasstorch.jit.serialization import load as load
from glasstorch.jit.serialization import save as save
from glasstorch.jit.settings import fuser as fuser
from glasstorch.jit.settings import optimized_execution as optimized_execution
from glasstorch.jit.tracer import TracerWarning as TracerWarning
from glasstorch.jit.tracer import is_tracing as is_tracing
from glasstorch.serialization.zip_format import ArchiveError as ArchiveError

__getattr__ = _refuse_unknown_names(__name__)
