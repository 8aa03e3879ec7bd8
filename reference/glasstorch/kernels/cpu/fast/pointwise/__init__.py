"""How are pointwise operators made fast on the CPU?

Reading order: `loops` (short paths for the arguments that most calls have, and threads), `steps` (division in double
precision), `elementary`, `parts`.
"""
