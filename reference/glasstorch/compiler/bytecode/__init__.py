"""How is a Python function captured by executing its bytecode symbolically?

Reading order: `sources` (where a value comes from), `values` (what stands for it), `unsupported` (why a program is not
captured), `raising` (what the program itself raises), `vocabulary` (in which words each version's bytecode is read),
`instructions` (a function's bytecode), `side_effects` (what outlives the capture), `recorder` (the graph, its inputs
and its guards), `contexts` (modes of the library), `wrapping` (from objects to values), `classes`, `attributes`,
`storing` (of attributes), `objects` (of a program's own classes), `operations` (operators, loops and questions),
`builtins` (functions of Python that are understood), `iterators`, `containers`, `slots` (methods written in C),
`marked` (functions that the program has marked), `not_in_a_graph` (calls that end one), `calls`, `frame_base`,
`frame_names`, `frame_operators`,
`frame_containers`, `frame_branches`, `frame_errors` (a function's state, and what its instructions do), `frame` (one
function, step by step), `rebuild` (from values to objects), `liveness` (which variables are read later), `blocks` (of
`with`, which are entered again), `breaks` (what is left where a graph ends early), `assembled` (the rest as a function
of its own), `capture` (all of it, for one call).

Mirrors: torch/_dynamo
Differs: PyTorch hooks CPython's frames (PEP 523) and gives them new code. Here the function that is compiled is
    wrapped, and what it calls is executed symbolically too; where a graph ends early, the parts of the function are
    called one after the other. Bytecode is that of CPython 3.11 to 3.13.
"""
