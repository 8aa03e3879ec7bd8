"""How long does a statement take, and how do several compare?

Reading order: `utils/`.

Mirrors: torch/utils/benchmark/__init__.py
Differs: statements are Python; those in C++, instruction counts by valgrind and sparse tensors are refused by name.

    timer = Timer("x.exp()", globals={"x": x}, num_threads=1)   # as timeit.Timer, with a warm-up and fixed threads
    measured = timer.blocked_autorange()                        # many blocks of runs; `measured.median` in seconds
    Compare([measured, ...]).print()                            # a table of all of them
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.utils.benchmark.utils.callgrind import CallgrindStats as CallgrindStats
from glasstorch.utils.benchmark.utils.callgrind import CopyIfCallgrind as CopyIfCallgrind
from glasstorch.utils.benchmark.utils.callgrind import FunctionCount as FunctionCount
from glasstorch.utils.benchmark.utils.callgrind import FunctionCounts as FunctionCounts
from glasstorch.utils.benchmark.utils.common import Measurement as Measurement
from glasstorch.utils.benchmark.utils.common import TaskSpec as TaskSpec
from glasstorch.utils.benchmark.utils.common import ordered_unique as ordered_unique
from glasstorch.utils.benchmark.utils.common import select_unit as select_unit
from glasstorch.utils.benchmark.utils.common import set_torch_threads as set_torch_threads
from glasstorch.utils.benchmark.utils.common import trim_sigfig as trim_sigfig
from glasstorch.utils.benchmark.utils.common import unit_to_english as unit_to_english
from glasstorch.utils.benchmark.utils.compare import Colorize as Colorize
from glasstorch.utils.benchmark.utils.compare import Compare as Compare
from glasstorch.utils.benchmark.utils.fuzzer import FuzzedParameter as FuzzedParameter
from glasstorch.utils.benchmark.utils.fuzzer import FuzzedSparseTensor as FuzzedSparseTensor
from glasstorch.utils.benchmark.utils.fuzzer import FuzzedTensor as FuzzedTensor
from glasstorch.utils.benchmark.utils.fuzzer import Fuzzer as Fuzzer
from glasstorch.utils.benchmark.utils.fuzzer import ParameterAlias as ParameterAlias
from glasstorch.utils.benchmark.utils.timer import Language as Language
from glasstorch.utils.benchmark.utils.timer import Timer as Timer
from glasstorch.utils.benchmark.utils.timer import timer as timer

__getattr__ = _refuse_unknown_names("glasstorch.utils.benchmark")
