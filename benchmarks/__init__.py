"""How fast is the library, measured beside NumPy and torch in one run?

Reading order: `harness` (how a ratio is measured), `eager`, `operators`, `training`, `startup`, `book`, then `__main__`
(prints the table, writes `results/`) and `against` (compares the table with another checkout's).
No test gates on a time: the numbers are for people, and say where and when they were taken.
"""
