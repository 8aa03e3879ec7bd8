"""The reader's exercises: found, started, checked, helped along and kept.

To read in this order: `catalogue` (which exercises are there), `state` (what the reader has done), `desk` (what the
commands do with both), `say` (how it reads on a screen), `watch` and `keys` (checking on each save), `doctor`.
"""
