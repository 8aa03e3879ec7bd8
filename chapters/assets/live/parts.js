// Of what are the pages that run code made: buttons, and a plain field for code?
"use strict";

const GlassParts = (() => {
  const INDENT = "    ";

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const button = (words, act) => {
    const made = element("button", { type: "button" }, words);
    made.addEventListener("click", act);
    return made;
  };

  // A field for code: Tab indents, Enter keeps the indentation, Shift+Enter runs; Escape and then Tab leaves.
  function codeField(label, changed, run) {
    const field = element("textarea", { class: "cell-field", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
      "aria-label": `${label}. Tab indents; Escape and then Tab leaves.` });
    let leaving = false;
    field.addEventListener("input", changed);
    field.addEventListener("keydown", (event) => {
      const { key, shiftKey, ctrlKey, metaKey } = event;
      if (key === "Enter" && (shiftKey || ctrlKey || metaKey)) run();
      else if (key === "Enter") newLine(field);
      else if (key === "Tab" && !leaving) indent(field, shiftKey);
      else {
        if (key !== "Tab" && key !== "Shift") leaving = key === "Escape";
        return;
      }
      event.preventDefault();
    });
    return field;
  }

  function newLine(field) {
    const line = field.value.slice(0, field.selectionStart).split("\n").at(-1);
    insert(field, `\n${/^ */.exec(line)[0]}${/:\s*$/.test(line) ? INDENT : ""}`);
  }

  // Indent the selected lines, or take an indentation away.
  function indent(field, less) {
    const { value, selectionStart: start, selectionEnd: end } = field;
    if (start === end && !less) return insert(field, INDENT);
    const first = value.lastIndexOf("\n", start - 1) + 1;
    const lines = value.slice(first, end).split("\n");
    const moved = lines.map((line) => (less ? line.replace(/^ {1,4}/, "") : INDENT + line)).join("\n");
    field.setSelectionRange(first, end);
    insert(field, moved);
    if (lines.length > 1) field.setSelectionRange(first, first + moved.length);
  }

  // Type a text, so that the browser can undo it.
  function insert(field, written) {
    if (document.execCommand("insertText", false, written)) return;
    field.setRangeText(written, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input"));
  }

  // Make a field as high as its text.
  const fit = (field) => { field.rows = field.value.split("\n").length; };

  return { element, button, codeField, fit };
})();
