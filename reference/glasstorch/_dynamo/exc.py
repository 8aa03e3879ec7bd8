"""Which errors does a compilation raise, at PyTorch's own path?

Mirrors: torch/_dynamo/exc.py
Differs: the code is in compiler/errors.py.
"""

from glasstorch.compiler.bytecode.unsupported import TorchDynamoException as TorchDynamoException
from glasstorch.compiler.errors import BackendCompilerFailed as BackendCompilerFailed
from glasstorch.compiler.errors import FailOnRecompileLimitHit as FailOnRecompileLimitHit
from glasstorch.compiler.errors import InternalTorchDynamoError as InternalTorchDynamoError
from glasstorch.compiler.errors import InvalidBackend as InvalidBackend
from glasstorch.compiler.errors import RecompileError as RecompileError
from glasstorch.compiler.errors import RecompileLimitExceeded as RecompileLimitExceeded
from glasstorch.compiler.errors import Unsupported as Unsupported
