"""Why is a program not captured?

Mirrors: torch/_dynamo/exc.py
Differs: there is one class for all reasons. PyTorch numbers them and explains each on a page of its own.
"""

from __future__ import annotations

from glasstorch.compiler.reasons import message_of


class TorchDynamoException(RuntimeError):
    """An error of the capture of a program."""


class Unsupported(TorchDynamoException):
    """What a program does next cannot be captured: why, and at which line.

    The program runs as it is, unless `fullgraph` asks for this error.
    """

    def __init__(self, reason: str, where: str = "", *, skips: bool = False) -> None:
        self.reason = reason
        self.where = where
        self.skips = skips  # whether the whole function runs as it is, its first part too
        super().__init__(message_of(reason, where))

    def at(self, where: str) -> Unsupported:
        """The same with the line of the program, if it has none yet."""
        return self if self.where else Unsupported(self.reason, where, skips=self.skips)
