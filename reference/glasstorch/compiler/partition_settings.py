"""Which choices does the compiler of forward and backward leave to a program?

Mirrors: torch/_functorch/config.py
Differs: those of PyTorch's settings that something here stands for.
"""

from __future__ import annotations

from typing import Final

from glasstorch.compiler.setting_table import Setting, Settings

RANDOM: Final = "random numbers are those of eager mode"
TABLE: Final = {
    "cse": Setting(True),  # nodes that compute the same are one
    "treat_parameters_as_free_to_save": Setting(True),
    "max_dist_from_bw": Setting(1000),  # what is farther from the backward pass is not computed again
    "ban_recompute_used_far_apart": Setting(True),
    "ban_recompute_long_fusible_chains": Setting(True),
    "ban_recompute_materialized_backward": Setting(True),
    "ban_recompute_not_in_allowlist": Setting(True),
    "ban_recompute_reductions": Setting(True),
    "recompute_views": Setting(False),
    "aggressive_recomputation": Setting(False),  # of these bans, only that of reductions holds
    "functionalize_rng_ops": Setting(False, (False,), RANDOM),
    "activation_memory_budget": Setting(1.0, (1.0,), "what is saved is what the smallest cut saves"),
    "enable_activation_offloading": Setting(False, (False,), "what is saved stays where it is"),
    "view_replay_for_aliased_outputs": Setting(True, (True,), "views are always made again from their base"),
    "enable_autograd_cache": Setting(False, (False,), "graphs are not kept between processes"),
    "fake_tensor_propagate_real_tensors": Setting(False, (False,), "nothing is computed while a graph is made"),
    "backward_pass_autocast": Setting("same_as_forward", ("same_as_forward",), "it is that of the forward pass"),
}

settings: Final = Settings("torch._functorch.config", TABLE)
