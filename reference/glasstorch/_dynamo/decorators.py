"""How does a program mark what is captured, at PyTorch's own path?

Mirrors: torch/_dynamo/decorators.py
Differs: the code is in compiler/.
"""

from glasstorch.compiler.marks import allow_in_graph as allow_in_graph
from glasstorch.compiler.marks import assume_constant_result as assume_constant_result
from glasstorch.compiler.marks import disable as disable
from glasstorch.compiler.marks import disallow_in_graph as disallow_in_graph
from glasstorch.compiler.marks import graph_break as graph_break
from glasstorch.compiler.marks import skip_frame as skip_frame
from glasstorch.compiler.shapes import mark_dynamic as mark_dynamic
from glasstorch.compiler.shapes import mark_static as mark_static
from glasstorch.compiler.shapes import maybe_mark_dynamic as maybe_mark_dynamic
from glasstorch.compiler.stance import set_stance as set_stance
from glasstorch.compiler.static_addresses import mark_static_address as mark_static_address
from glasstorch.compiler.substitutes import substitute_in_graph as substitute_in_graph
from glasstorch.core.unknown_names import refuse_unknown_names

__getattr__ = refuse_unknown_names(__name__)
