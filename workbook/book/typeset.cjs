// How does TeX become HTML and MathML? Reads a JSON list of [formula, is_display] on standard input, writes a JSON list of
// {html} or {error} on standard output. Usage: node typeset.cjs PATH_OF_KATEX
"use strict";
const katex = require(require("path").resolve(process.argv[2]));
const formulas = JSON.parse(require("fs").readFileSync(0, "utf8"));
const typeset = ([formula, displayMode]) => {
  try {
    return { html: katex.renderToString(formula, { displayMode, output: "htmlAndMathml", strict: "error", throwOnError: true }) };
  } catch (error) {
    return { error: error.message };
  }
};
process.stdout.write(JSON.stringify(formulas.map(typeset)));
