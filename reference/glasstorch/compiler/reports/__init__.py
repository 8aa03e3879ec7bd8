"""What did a compilation make of a program, stage by stage, on one page?

Reading order: `recording` (what is kept while something is compiled), `places` (which line of the program each line of
a stage comes from), `steps` (a value on the stack as text), `graphs`, `loops` (the lines of each stage), `stages`
(all stages of a graph, in order), `page` (the text of the page, with `page.css` and `page.js`), `writing` (who asks
for it).

Mirrors: tlparse, which makes a report of what TORCH_TRACE has written
Differs: it is one file without anything from elsewhere, in which a line of the program shows its lines in each stage.
"""

from glasstorch.compiler.reports.writing import report as report
from glasstorch.compiler.reports.writing import reporting as reporting
from glasstorch.compiler.reports.writing import until_the_end as until_the_end
