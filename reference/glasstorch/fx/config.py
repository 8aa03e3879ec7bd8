"""Which settings does fx have?

Mirrors: torch/fx/config.py
Differs: progress is never shown.
"""

disable_progress = True
verbose_progress = False
do_not_emit_stack_traces = False  # whether tracers leave `node.stack_trace` empty, which is faster
