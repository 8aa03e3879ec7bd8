"""How is a Python function captured by executing its bytecode symbolically?

Reading order: `sources` (where a value comes from), `values` (what stands for it), `unsupported` (why a program is not
captured), `raising` (what the program itself raises), `instructions` (a function's bytecode), `side_effects` (what
outlives the capture), `recorder` (the graph, its inputs and its guards), `contexts` (modes of the library), `wrapping`
(from objects to values), `attributes`, `objects` (of a program's own classes), `builtins` (functions of Python that are
understood), `iterators`, `containers`, `slots` (methods written in C), `marked` (functions that the program has
marked), `calls`, `frame_base`, `frame_names`, `frame_operators`, `frame_containers`, `frame_branches`, `frame_errors`
(a function's state, and what its instructions do), `frame` (one function, step by step), `rebuild` (from values to
objects), `capture` (all of it, for one call).

Mirrors: torch/_dynamo
Differs: PyTorch hooks CPython's frames (PEP 523) and compiles the parts of a function between graph breaks. Here the
    function that is compiled is wrapped, what it calls is executed symbolically too, and a function with a part that
    cannot be captured runs as it is. Bytecode is that of CPython 3.11.
"""
