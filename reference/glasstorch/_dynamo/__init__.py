"""How is Python code captured, at PyTorch's own path?

Reading order: this file is all there is.

Mirrors: torch/_dynamo/__init__.py
Differs: the code is in compiler/. What is captured, and what is not yet, is in compiler/bytecode.
"""

from glasstorch.compiler.bytecode.unsupported import TorchDynamoException as TorchDynamoException
from glasstorch.compiler.bytecode.unsupported import Unsupported as Unsupported
from glasstorch.compiler.captured import explain as explain
from glasstorch.compiler.captured import optimize as optimize
