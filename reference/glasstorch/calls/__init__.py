"""How is a Python call resolved to an operator and its arguments?

Reading order: `call_site`, `overloaded` (`__torch_function__`), `inherited` (classes that have it from
Tensor), `function_state`, `arguments` (conversion of one argument), `signature` (matching one overload), `refusal` (in
which words a call is refused), `parser` (overload resolution), `listed`, `old_orders`, `as_method`, `python_operators`
(`a + b` and NotImplemented), `asked_class` and `of_subclasses` (subclasses of Tensor), `asked_device`, `questions`
(what a class is asked of its tensors), `ops` (operators under their own names), `of_torchscript` (overloads for
Python's own numbers, strings and lists), `script_values` (what they compute), `removed`.

Mirrors: torch/csrc/utils/python_arg_parser.cpp, torch/_ops.py
Differs: generated functions resolve plain calls themselves, and come here only with the others.
"""
