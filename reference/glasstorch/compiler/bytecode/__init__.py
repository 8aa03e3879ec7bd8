"""How is a Python function captured by executing its bytecode symbolically?

Reading order: `sources` (where a value comes from), `values` (what stands for it), `unsupported` (why a program is not
captured), `raising` (what the program itself raises), `instructions` (a function's bytecode), `side_effects` (what
outlives the capture), `recorder` (the graph, its inputs and its guards), `wrapping` (from objects to values),
`attributes`, `builtins` (functions of Python that are understood), `containers`, `marked` (functions that the program
has marked), `calls`, `frame` (one function's
instructions), `rebuild` (from values to objects), `capture` (all of it, for one call).

Mirrors: torch/_dynamo
Differs: PyTorch hooks CPython's frames (PEP 523) and compiles the parts of a function between graph breaks. Here the
    function that is compiled is wrapped, what it calls is executed symbolically too, and a function with a part that
    cannot be captured runs as it is. Bytecode is that of CPython 3.11.
"""
