"""How do text chapters become executed notebooks, and notebooks a site?

Reading order: `errors` `project` `question_cells` `notebook_text` `notebook_checks` `notebooks` (text to executed
notebook) `cells` (what chapters call) `example_programs` (programs of `examples/` in a cell) `render` (notebook to
Markdown) `recorded` (what a page that runs has to know) `section_head` `house` `figures/` `explorables/`
`documents` `source_links` `data_pages` and what it names (pages made from data) `exercise_pages` `cards` (what a
word's card tells) `nodes` `places` (what a name in a box means) `references` `quotes` (what stands there) `boxes`
(links that open it beside a page) `vendor` (typefaces) `mathematics` `finish` (built pages) `searching` (what the
search finds) `hook` `build` `swap` (a new site in the place of an old one); and `reading`, which reads the prose.
"""

from __future__ import annotations

import sys
from typing import cast

# As if it were not installed: jsonschema, which nbformat needs, would build a grammar of web addresses with it, for
# 0.8 s in each process, and no notebook is checked for addresses.
cast(dict[str, None], sys.modules).setdefault("rfc3987_syntax", None)
