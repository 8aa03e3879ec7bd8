"""How does C++ code of a program reach the library, and the library that code?

Reading order: `../../include/torch/extension.h` (what the code includes, with the reading order of its headers), `abi`
(values that pass between the languages), `calls` (a call each way, and what was thrown), `services` (what C++ may ask
for), `registrations` (operators and kernels), `functions` (a backward in C++), `casters` (what a parameter takes),
`modules` (functions of a module), `building` (a compiler's work, and its cache), `loading` (a compiled library).

A program meets these as `torch.utils.cpp_extension` and `torch.ops.load_library`.

Mirrors: torch/utils/cpp_extension.py, torch/csrc/stable, pybind11
"""
