"""How is Python code captured, at PyTorch's own path?

Reading order: `config` (its settings), `exc` (its errors), `source` (where a value comes from), `utils` (what is
counted), `decorators` and `eval_frame` (what a program calls), `testing` and `test_case` (for tests), `comptime`.

Mirrors: torch/_dynamo/__init__.py
Differs: the code is in compiler/. What is captured, and what is not yet, is in compiler/bytecode.
"""

from typing import Any

from glasstorch._dynamo import config as config
from glasstorch._dynamo import decorators as decorators
from glasstorch._dynamo import eval_frame as eval_frame
from glasstorch._dynamo import exc as exc
from glasstorch._dynamo import utils as utils
from glasstorch.compiler.backends import list_backends as list_backends
from glasstorch.compiler.backends import lookup_backend as lookup_backend
from glasstorch.compiler.backends import register_backend as register_backend
from glasstorch.compiler.bytecode.instructions import is_understood as _is_understood
from glasstorch.compiler.bytecode.unsupported import TorchDynamoException as TorchDynamoException
from glasstorch.compiler.bytecode.unsupported import Unsupported as Unsupported
from glasstorch.compiler.captured import reset as reset
from glasstorch.compiler.explain import explain as explain
from glasstorch.compiler.marks import allow_in_graph as allow_in_graph
from glasstorch.compiler.marks import assume_constant_result as assume_constant_result
from glasstorch.compiler.marks import disable as disable
from glasstorch.compiler.marks import disallow_in_graph as disallow_in_graph
from glasstorch.compiler.marks import graph_break as graph_break
from glasstorch.compiler.marks import skip_frame as skip_frame
from glasstorch.compiler.optimize import optimize as optimize
from glasstorch.compiler.optimize import optimize_assert as optimize_assert
from glasstorch.compiler.optimized_module import OptimizedModule as OptimizedModule
from glasstorch.compiler.shapes import mark_dynamic as mark_dynamic
from glasstorch.compiler.shapes import mark_static as mark_static
from glasstorch.compiler.shapes import maybe_mark_dynamic as maybe_mark_dynamic
from glasstorch.compiler.stance import is_dynamo_compiling as is_dynamo_compiling
from glasstorch.compiler.stance import set_stance as set_stance
from glasstorch.compiler.static_addresses import mark_static_address as mark_static_address
from glasstorch.compiler.substitutes import substitute_in_graph as substitute_in_graph
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

is_compiling = is_dynamo_compiling


def is_dynamo_supported() -> bool:
    """Whether this Python's bytecode can be captured."""
    return _is_understood()


def export(*args: Any, **kwargs: Any) -> Any:
    """A function as one graph with its guards: refused."""
    raise NotImplementedError(
        "torch._dynamo.export: glasstorch does not export programs; torch.compile(fullgraph=True) with a backend of "
        "your own gets the whole graph"
    )


__getattr__ = _refuse_unknown_names(__name__)
