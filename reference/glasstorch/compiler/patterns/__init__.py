"""Which parts of a graph are replaced by something cheaper that means the same?

Reading order: `matcher` (patterns of operators, and how one is found), `rewriting` (where patterns are replaced,
counted and printed), `captured_calls` (what a call in a captured graph means, however it is written), `attention`
(products with a softmax between them, which are one operator), `convolution` (a batch norm that becomes part of it),
`traced_operators` (what a node of a traced graph does), `algebra` (operators that undo each other), `passes` (which
patterns are looked for, and when), `custom` (functions of a program that change graphs).

Mirrors: torch/_inductor/pattern_matcher.py, torch/_inductor/fx_passes
"""
