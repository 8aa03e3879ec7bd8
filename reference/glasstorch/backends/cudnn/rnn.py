"""Which switch do cuDNN's recurrent layers have?

Mirrors: torch/backends/cudnn/rnn.py
Differs: cuDNN is not used, so it changes nothing.
"""

from glasstorch.backends import _switches

_switches.switchable(__name__, fp32_precision=_switches.Precision("cuda", "rnn"))
