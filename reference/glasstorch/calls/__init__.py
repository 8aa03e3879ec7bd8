"""Which operator, with which arguments, does a Python call mean?

Reading order: `arguments` (what a parameter takes), `signature` (does a call fit an overload?), `parser` (which
overload is meant), `listed`, `old_orders`, `as_method`, `python_operators` (`a + b` and its refusal), `ops` (operators
by their own names), `removed`.

Mirrors: torch/csrc/utils/python_arg_parser.cpp, torch/_ops.py
Differs: the plain calls are told apart by generated functions, which come here only with what they do not take.
"""
