// How does a page ask for a prediction, mark it, and keep it?
//
// Each `.prediction` becomes a form. A committed answer is marked here, as `workbook/predictions/question.py` would mark it,
// and kept: by the server of `workbook read` in the reader's record, or, where no such server answers, in this browser.
// Whatever a reader typed is shown as text and never as HTML.
"use strict";

// --- are two texts the same value? ---

// The value of a Python literal as nested arrays that begin with the name of its type, or undefined.
function literal(text) {
  const NUMBER = /0[xX][\da-fA-F]+|(?:(?!0\d)\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
  const STRING = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/y;
  const NAMES = { None: ["name", "None"], True: ["name", "True"], False: ["name", "False"] };
  const CLOSING = { "(": ")", "[": "]", "{": "}" };
  let place = 0;
  const fail = () => { throw new SyntaxError("not a literal"); };
  const skip = () => { while (/\s/.test(text[place] ?? "")) place += 1; };
  const take = (sign) => { skip(); if (text[place] !== sign) return false; place += 1; return true; };
  const match = (pattern) => {
    pattern.lastIndex = place;
    const found = pattern.exec(text);
    if (found) place = pattern.lastIndex;
    return found;
  };
  const value = () => {
    skip();
    const sign = match(/[+-]/y)?.[0];
    skip();
    const number = match(NUMBER);
    if (number) return ["number", Number(number[0].replaceAll("_", "")) * (sign === "-" ? -1 : 1)];
    if (sign) fail();
    const string = match(STRING);
    if (string) return ["str", (string[1] ?? string[2]).replace(/\\(.)/g, "$1")];
    const name = match(/[A-Za-z_]\w*/y)?.[0];
    if (name === "set" && take("(") && take(")")) return ["set"];
    if (name) return NAMES[name] ?? fail();
    const open = text[place];
    if (!(open in CLOSING)) fail();
    place += 1;
    return collection(open, CLOSING[open]);
  };
  const collection = (open, close) => {
    const items = [], keys = [];
    let comma = false;
    while (!take(close)) {
      if (items.length && !comma) fail();
      items.push(value());
      if (open === "{" && take(":")) keys.push(items.pop()), items.push(value());
      comma = take(",");
    }
    if (open === "(") return items.length === 1 && !comma ? items[0] : ["tuple", ...items];
    if (open === "[") return ["tuple", ...items]; // where a line is typed, a list is as good as a tuple
    if (keys.length !== items.length && keys.length) fail();
    if (!items.length || keys.length) return ["dict", ...sorted(keys.map((key, i) => [key, items[i]]))];
    return ["set", ...sorted(items)];
  };
  const sorted = (items) => {
    const texts = [...new Set(items.map((item) => JSON.stringify(item)))].sort();
    return texts.map((item) => JSON.parse(item));
  };
  try {
    const items = [value()];
    let comma = false;
    while (take(",")) {
      comma = true;
      skip();
      if (place < text.length) items.push(value()), comma = false;
    }
    skip();
    if (place < text.length) return undefined;
    return items.length === 1 && !comma ? items[0] : ["tuple", ...items];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const SPACED = /^[([]? *[-+.\w]+( +[-+.\w]+)+ *[)\]]?$/; // words without commas, in brackets or without
const bare = (text) => text.replace(/\s+/g, "");

// Whether a line that was typed means the expected value: as a literal where it is one, else without spacing.
function sameText(given, expected, isLiteral) {
  if (isLiteral && /^[([]/.test(expected) && SPACED.test(given.trim())) {
    given = given.trim().replace(/^[([] *| *[)\]]$/g, "").replace(/ +/g, ","); // numbers between spaces
  }
  const value = literal(given);
  if (value !== undefined && isLiteral && JSON.stringify(value) === JSON.stringify(literal(expected))) return true;
  return bare(value !== undefined && value[0] === "str" ? value[1] : given) === bare(expected);
}

const LONGEST = 200, PROSE = 2000; // characters, as in question.py

// `{mark}`, or `{refused}` with the reason why the text is no answer. An open question has the mark "".
function marked(facts, given) {
  const limit = facts.kind === "open" ? PROSE : LONGEST;
  if (given.some((text) => text.length > limit)) {
    const most = Math.max(...given.map((text) => text.length)).toLocaleString("en");
    return { refused: `${most} characters are too many; accepted: at most ${limit.toLocaleString("en")}` };
  }
  const asMark = (right) => ({ mark: right ? "right" : "wrong" });
  if (facts.kind === "several") {
    return asMark(given.length === facts.expected.length && given.every((text) => facts.expected.includes(text)));
  }
  const text = given.length === 1 ? given[0].trim() : "";
  if (!text) return { refused: facts.kind === "choice" ? "nothing was chosen" : "nothing was entered" };
  if (facts.kind === "choice") return asMark(text === facts.expected[0]);
  if (facts.kind === "text") return asMark(sameText(text, facts.expected[0], facts.literal));
  if (facts.kind === "open") return { mark: "" };
  if (!/^[+-]?(\d{1,3}(,\d{3})+|\d+(_\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
    return { refused: `“${text.slice(0, 40)}” is not a number; accepted: for example 12, -0.5 or 1e6` };
  }
  const expected = Number(facts.expected[0]), slack = 1e-9 * Math.abs(expected);
  return asMark(Math.abs(Number(text.replace(/[_,]/g, "")) - expected) <= facts.tolerance + slack);
}

if (typeof module !== "undefined") module.exports = { marked };

// --- where answers are kept ---

// Add entries to others, of which those that were there first stay, but an open answer may be graded. Returns how many are new.
function join(all, entries) {
  let added = 0;
  for (const [key, entry] of Object.entries(entries)) {
    const before = all[key];
    if (before === undefined) all[key] = entry, added += 1;
    else if (!before.mark && entry.mark) all[key] = { ...before, mark: entry.mark };
  }
  return added;
}

// In this browser: for pages without our server, and for what the server could not take.
class BrowserStore {
  static NAME = "glasstorch.predictions";

  constructor() {
    this.entries = {};
    this.lasting = true;
    try {
      this.entries = validated(JSON.parse(localStorage.getItem(BrowserStore.NAME) ?? '{"predictions": {}}'));
      localStorage.setItem(BrowserStore.NAME, this.text());
    } catch (error) {
      // A text of ours that was damaged is put aside; a browser that keeps nothing says so below.
      try {
        const damaged = localStorage.getItem(BrowserStore.NAME);
        if (damaged !== null) localStorage.setItem(`${BrowserStore.NAME}.damaged`, damaged);
        localStorage.setItem(BrowserStore.NAME, this.text());
      } catch {
        this.lasting = false;
      }
    }
  }

  text() {
    return JSON.stringify({ version: 2, exercises: {}, predictions: this.entries, cards: {} }, null, 1) + "\n";
  }

  // What is kept now: another page may have written since.
  kept() {
    try {
      return validated(JSON.parse(localStorage.getItem(BrowserStore.NAME) ?? '{"predictions": {}}'));
    } catch {
      return {};
    }
  }

  // Add entries; those that were here first stay, but an open answer may be graded.
  add(entries) {
    const all = this.lasting ? this.kept() : {};
    join(all, this.entries);
    const added = join(all, entries);
    this.keep(all);
    return added;
  }

  // Forget entries that are in the record now, and no others.
  drop(entries) {
    const all = this.kept();
    for (const [key, entry] of Object.entries(entries)) if (all[key]?.mark === entry.mark) delete all[key];
    this.keep(all);
  }

  keep(all) {
    this.entries = all;
    try {
      localStorage.setItem(BrowserStore.NAME, this.text());
      this.lasting = true;
    } catch {
      this.lasting = false;
    }
  }
}

// The predictions in a record or an export; an error where it is neither.
function validated(table) {
  const found = table?.predictions;
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new TypeError("it holds no predictions");
  for (const [key, entry] of Object.entries(found)) {
    const given = entry?.given ?? [];
    const texts = Array.isArray(given) && given.every((text) => typeof text === "string");
    if (!texts || !["", "right", "wrong"].includes(entry?.mark ?? "")) throw new TypeError(`its entry ${key} is damaged`);
    found[key] = { section: String(entry.section ?? ""), given, mark: entry.mark ?? "", day: String(entry.day ?? "") };
  }
  return found;
}

// The record of `workbook read`, which answers under the site's root.
class ServerStore {
  constructor(root) {
    this.address = new URL("workbook/predictions", root);
    this.entries = {};
    this.said = [];
  }

  async connect() {
    const answer = await fetch(this.address, { headers: { Accept: "application/json" } });
    if (!answer.ok || !(answer.headers.get("Content-Type") ?? "").startsWith("application/json")) return false;
    const table = await answer.json();
    this.entries = validated(table);
    this.said = table.said ?? [];
    return true;
  }

  async send(body) {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(this.address, { method: "POST", headers, body: JSON.stringify(body) });
    const table = await answer.json();
    if (!answer.ok) throw new Refused(table.error);
    Object.assign(this.entries, validated(table));
    this.said = table.said ?? [];
    return Boolean(table.recorded);
  }
}

class Refused extends Error {}

// --- the form ---

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// A text of ours, in which `names` stand in backquotes, as nodes.
const withCode = (text) => text.split("`").map((piece, place) => (place % 2 ? element("code", {}, globalThis.GlassTyped?.(piece) ?? piece) : piece));

class Form {
  constructor(box, number, keeper) {
    this.box = box;
    this.keeper = keeper;
    this.facts = JSON.parse(box.dataset.prediction);
    this.fold = box.parentElement.querySelector(":scope > details.answer");
    this.summary = this.fold?.querySelector(":scope > summary");
    this.name = `prediction-${number}`;
    this.form = element("form", { class: "prediction-form", novalidate: "" });
    const question = box.querySelector(":scope > p");
    question.id = `${this.name}-question`;
    question.prepend(element("span", { class: "prediction-word" }, "Predict"), " ");
    this.form.setAttribute("aria-labelledby", question.id);
    this.inputs = this.makeInputs(question.id);
    this.button = element("button", { type: "submit" }, "Commit");
    this.said = element("p", { class: "prediction-said", role: "status", tabindex: "-1" });
    this.actions = element("div", { class: "prediction-actions" }, this.button);
    this.form.append(this.actions, this.said);
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.commit(); });
    box.append(this.form);
    if (this.summary) this.summary.textContent = "Look without committing";
  }

  makeInputs(question) {
    const list = this.box.querySelector(":scope > ul");
    if (this.facts.kind === "choice" || this.facts.kind === "several") {
      const type = this.facts.kind === "choice" ? "radio" : "checkbox";
      const group = element("div", { role: type === "radio" ? "radiogroup" : "group", "aria-labelledby": question });
      const inputs = [...list.children].map((item, place) => {
        const input = element("input", { type, name: this.name, value: this.facts.choices[place] });
        group.append(element("label", { class: "prediction-choice" }, input, element("span", {}, ...item.childNodes)));
        return input;
      });
      if (type === "checkbox") this.none = this.makeNone(group, inputs);
      list.remove();
      this.form.append(group);
      return inputs;
    }
    const open = this.facts.kind === "open";
    const attributes = { "aria-labelledby": question, autocomplete: "off", spellcheck: String(open), maxlength: open ? PROSE : LONGEST };
    const input = open
      ? element("textarea", { ...attributes, rows: 3, placeholder: "Your explanation, in a sentence or two" })
      : element("input", { ...attributes, type: "text", placeholder: this.facts.kind === "number" ? "A number" : "One line" });
    if (this.facts.kind === "number") input.inputMode = "decimal";
    this.form.append(input);
    return [input];
  }

  // The tick that none of the choices apply: without it, a question of which nothing is ticked is not answered.
  makeNone(group, inputs) {
    const none = element("input", { type: "checkbox", name: this.name });
    group.append(element("label", { class: "prediction-choice" }, none, element("span", {}, "none of these")));
    none.addEventListener("change", () => { if (none.checked) for (const input of inputs) input.checked = false; });
    for (const input of inputs) input.addEventListener("change", () => { if (input.checked) none.checked = false; });
    return none;
  }

  given() {
    if (this.inputs[0].type === "radio" || this.inputs[0].type === "checkbox") {
      return this.inputs.filter((input) => input.checked).map((input) => input.value);
    }
    return [this.inputs[0].value.trim()];
  }

  async commit(grade) {
    const given = this.given();
    const result = marked(this.facts, given);
    if (result.refused) return this.say("", `Not committed: ${result.refused}.`);
    if (this.none && !given.length && !this.none.checked) {
      return this.say("", "Not committed: nothing was chosen; if no choice applies, tick “none of these”.");
    }
    this.button.disabled = true;
    const mark = this.facts.kind === "open" ? grade ?? "" : result.mark;
    await this.keeper.keep(this.facts.key, given, mark);
    this.restore();
    this.said.focus({ preventScroll: true }); // the button that had the focus is gone
    if (this.fold) this.fold.open = true;
  }

  // Show what is on record, if anything is.
  restore() {
    const entry = this.keeper.entry(this.facts.key);
    if (entry === undefined) return;
    if (this.none) {
      this.none.checked = !entry.given.length;
      this.none.disabled = true;
      this.none.parentElement.classList.toggle("right", !this.facts.expected.length);
      this.none.parentElement.classList.toggle("chosen", this.none.checked);
    }
    for (const input of this.inputs) {
      if (input.type === "radio" || input.type === "checkbox") input.checked = entry.given.includes(input.value);
      else input.value = entry.given[0] ?? "";
      input.disabled = true;
      if (input.parentElement.classList.contains("prediction-choice")) {
        input.parentElement.classList.toggle("right", this.facts.expected.includes(input.value));
        input.parentElement.classList.toggle("chosen", input.checked);
      }
    }
    this.actions.replaceChildren();
    this.box.dataset.mark = entry.mark;
    if (this.summary) this.summary.textContent = "The output, and why";
    this.say(entry.mark, ...withCode(this.verdict(entry.mark)));
    if (this.facts.kind === "open" && !entry.mark) this.askForGrade();
  }

  verdict(mark) {
    if (this.facts.kind === "open") {
      const words = { right: "Right, as you say.", wrong: "Not right, as you say; it comes back in review." };
      return words[mark] ?? "Compare it with the explanation below. Was yours right?";
    }
    if (mark === "right") return "Right. The reason is below.";
    const expected = this.facts.expected.join("; ");
    const applies = expected ? `what applies is ${expected}` : "none of them applies";
    return `Wrong: ${this.none ? applies : `the answer is ${expected}`}. The reason is below.`;
  }

  askForGrade() {
    const grades = [["right", "It was right"], ["wrong", "It was not"]].map(([mark, words]) => {
      const button = element("button", { type: "button" }, words);
      button.addEventListener("click", () => this.commit(mark));
      return button;
    });
    this.actions.replaceChildren(...grades);
  }

  say(mark, ...words) {
    this.said.className = `prediction-said ${mark}`;
    this.said.replaceChildren(...words);
  }
}

// --- one page ---

class Keeper {
  constructor(root) {
    this.root = root;
    this.browser = new BrowserStore();
    this.server = null;
    this.trouble = "";
    this.section = decodeURIComponent(location.pathname).split("/").slice(-2).join("/").replace(/\.html$/, "");
  }

  async connect() {
    if (!location.protocol.startsWith("http")) return;
    const server = new ServerStore(this.root);
    try {
      if (await server.connect()) this.server = server;
    } catch { /* no server of ours: the browser keeps the answers */ }
    if (this.server && Object.keys(this.browser.entries).length) await this.handOver();
  }

  // What this browser kept while the server was away goes into the record.
  async handOver() {
    try {
      const sent = { ...this.browser.entries };
      if (await this.server.send({ predictions: sent })) this.browser.drop(sent);
    } catch { /* it stays in the browser, and is shown all the same */ }
  }

  entry(key) {
    const [recorded, kept] = [this.server?.entries[key], this.browser.entries[key]];
    return recorded && !recorded.mark && kept?.mark ? { ...recorded, mark: kept.mark } : recorded ?? kept;
  }

  async keep(key, given, mark) {
    const entry = { section: this.section, given, mark, day: new Date().toLocaleDateString("sv") };
    this.trouble = "";
    if (this.server) {
      try {
        const recorded = await this.server.send({ key, given, mark });
        this.trouble = this.server.said.join(" ");
        if (recorded) return this.tell();
      } catch (error) {
        this.trouble = error instanceof Refused ? error.message : "The server of the book does not answer.";
      }
      this.trouble += " The answer is kept in this browser until it can be recorded.";
    }
    this.browser.add({ [key]: entry });
    this.tell();
  }

  // The line at the end of the page: how many are answered, and where they are kept.
  tell() {
    const keys = this.forms.map((form) => form.facts.key);
    const marks = keys.map((key) => this.entry(key)).filter(Boolean).map((entry) => entry.mark);
    const right = marks.filter((mark) => mark === "right").length;
    const count = `Predictions on this page: ${marks.length} of ${keys.length} committed, ${right} right.`;
    this.count.textContent = count;
    this.where.replaceChildren(...withCode(this.trouble || this.place()));
    this.tools.hidden = Boolean(this.server) && !this.trouble;
  }

  place() {
    if (this.server) return "They are recorded in exercises/progress.json; `.venv/bin/workbook progress` shows all of them.";
    if (!this.browser.lasting) return "This browser keeps nothing for this page: export them before you close it.";
    if (location.protocol === "file:") {
      return "They are kept in this browser. A browser may give each page that is opened from disk a storage of its own; " +
        "`make study` serves the book and keeps one record for all pages.";
    }
    return "They are kept in this browser.";
  }

  build(article) {
    this.count = element("p", { role: "status" });
    this.where = element("p");
    const file = element("input", { type: "file", accept: ".json,application/json", "aria-label": "A file of predictions" });
    file.hidden = true;
    const save = element("button", { type: "button" }, "Export");
    const load = element("button", { type: "button" }, "Import");
    save.addEventListener("click", () => this.save());
    load.addEventListener("click", () => file.click());
    file.addEventListener("change", () => this.load(file));
    this.tools = element("p", { class: "prediction-actions" }, save, load, file);
    article.append(element("section", { class: "predictions", "aria-label": "Your predictions" }, this.count, this.where, this.tools));
  }

  save() {
    const address = URL.createObjectURL(new Blob([this.browser.text()], { type: "application/json" }));
    const link = element("a", { href: address, download: "predictions.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async load(file) {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      if (chosen.size > 1 << 20) throw new TypeError("it is larger than a megabyte");
      const entries = validated(JSON.parse(await chosen.text()));
      const added = this.browser.add(entries);
      const stayed = Object.keys(entries).length - added;
      this.forms.forEach((form) => form.restore());
      this.trouble = `${added} added from ${chosen.name}.${stayed ? ` Of ${stayed} there was an answer already; it stays.` : ""}`;
    } catch (error) {
      this.trouble = `${chosen.name} was not imported: ${error instanceof SyntaxError ? "it is not JSON" : error.message}.`;
    }
    file.value = "";
    this.tell();
    this.trouble = "";
  }
}

if (typeof document !== "undefined") {
  const script = document.currentScript;
  const boxes = [...document.querySelectorAll(".prediction")];
  const keeper = new Keeper(new URL("../", script.src));
  keeper.forms = boxes.map((box, number) => new Form(box, number, keeper));
  keeper.build(document.querySelector("article"));
  keeper.tell();
  keeper.connect().then(() => {
    keeper.forms.forEach((form) => form.restore());
    keeper.tell();
    document.documentElement.dataset.predictions = "ready";
  });
}
