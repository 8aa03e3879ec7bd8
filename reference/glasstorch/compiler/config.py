"""Which settings hold for a whole compilation?

Mirrors: torch/compiler/config.py
Differs: sizes are marked by `mark_dynamic` alone; nothing is shared between jobs.
"""

import sys

from glasstorch.compiler.setting_table import Setting, Settings, module_of

MARKED = "sizes are marked by torch._dynamo.mark_dynamic"
settings = Settings(
    "torch.compiler.config",
    {
        "force_disable_caches": Setting(False),
        "job_id": Setting(None, (None,), "nothing is shared between jobs"),
        "dynamic_sources": Setting("", ("",), MARKED),
        "unbacked_sources": Setting("", ("",), MARKED),
        "cache_key_tag": Setting("", ("",), "machine code is kept under a hash of its source"),
    },
)
sys.modules[__name__].__class__ = module_of(settings)
