"""The reader's exercises: found, started, checked, helped along and kept.

To read in this order: `catalogue` (which exercises are there), `state` (what the reader has done), `desk` and
`checking` (what the commands do with both), `overview` (how far the reader is), `say` and `compare` (how it reads on
a screen), `watch` and `keys` (a check on each save), `doctor`. What a check runs: `rungs`, `process`, `child`,
`guard`, `value_text`, `answer_file`, `asking`, `plugin`, `graft` and what begins with its name, `kernel`, `cells`,
`report`, `manifest`. Lab sheets: `labs`, `sheet`. What authors run: `dev`, `warm` (many answers in copies of one
process), `form`, `idle`, `difference`, `wrong`.
"""
