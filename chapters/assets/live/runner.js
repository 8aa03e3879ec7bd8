// How does a reader run and change the cells of a page?
//
// Each cell of the book stands on its page with its recorded output. Served by `workbook read`, it can be run in a kernel of the
// page's own, and edited; the cells above that were not run yet are run first. What comes out stands below the recorded output
// where it differs. Elsewhere the same buttons say how to get there.
"use strict";

(() => {
  const LONGEST = 120; // seconds after which a cell is interrupted
  const LARGEST = 200_000; // characters of output after which a cell is interrupted
  const PATIENCE = 5; // seconds that an interrupted cell may take to end, before the kernel is ended
  const script = document.currentScript;
  const root = new URL("../../", script.src);
  const { element, button, codeField, fit } = GlassParts;
  const page = decodeURIComponent(location.pathname).split("/").slice(-2).join("/");

  // A store that also works where the browser keeps nothing: then only until the page is left.
  class Store {
    constructor(storage, name) {
      this.name = `glasstorch.${name}:${page}`;
      this.value = {};
      this.lasting = true;
      try {
        this.storage = window[storage];
        this.read();
      } catch { this.lasting = false; }
    }

    read() {
      this.value = JSON.parse(this.storage.getItem(this.name) ?? "{}") ?? {};
    }

    put(value) {
      this.value = value;
      try { this.storage.setItem(this.name, JSON.stringify(value)); } catch { this.lasting = false; }
    }

    // Put one entry, or take it away. What another tab has put since stays.
    change(name, entry) {
      if (this.lasting) try { this.read(); } catch { /* what this tab knows is all there is */ }
      const { [name]: _, ...others } = this.value;
      this.put(entry === undefined ? others : { ...others, [name]: entry });
    }
  }

  const typed = new Store("localStorage", "typed"); // by place of the cell: the text, and of which cell it was made
  const begun = new Store("sessionStorage", "kernel"); // the kernel of this tab, and the cells that it has run

  // --- outputs ---

  const ANSI = /\x1b\[[0-9;?]*[ -/]*[@-~]/g;
  const MIMES = ["image/svg+xml", "text/markdown", "text/html", "text/plain"]; // as render.py prefers them
  const text = (value) => (Array.isArray(value) ? value.join("") : String(value ?? ""));

  // A drawing as elements of the page, without what could run or lead to what runs.
  const SVG = "http://www.w3.org/2000/svg";
  const RUNS = ["script", "foreignObject", "set", "animate"]; // the last two can put an address into a link
  const HARMLESS = /^(#|https?:|data:image\/(png|jpeg|gif|webp);)/i;
  function drawing(source) {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    if (parsed.querySelector("parsererror") || parsed.documentElement.namespaceURI !== SVG) return element("pre", {}, source);
    for (const one of parsed.querySelectorAll("*")) {
      if (one.namespaceURI !== SVG || RUNS.includes(one.localName)) one.remove();
      for (const { name, value } of [...one.attributes]) {
        if (/^on/i.test(name) || (/href$/i.test(name) && !HARMLESS.test(value))) one.removeAttribute(name);
      }
    }
    return element("figure", {}, document.importNode(parsed.documentElement, true));
  }

  // What a run has put out so far: pieces of one kind each, and how they are shown.
  class Outputs {
    constructor(place) {
      this.place = place;
      this.pieces = [];
      this.size = 0;
    }

    // Take a message. Returns whether all is still within the limit.
    take(kind, content) {
      if (kind === "stream" && /^\s*IOPub \w+ rate exceeded/.test(content.text)) return false; // Jupyter drops what is too much
      if (kind === "clear_output") this.pieces = [], this.place.replaceChildren();
      else if (kind === "stream") this.add(content.name, content.text);
      else if (kind === "error") this.add("error", `${content.ename}: ${content.evalue}`, content.traceback.join("\n"));
      else if (kind === "display_data" || kind === "execute_result" || kind === "update_display_data") {
        const mime = MIMES.find((name) => name in content.data);
        if (mime) this.add(mime, text(content.data[mime]), text(content.data["text/plain"]), content.transient?.display_id, kind);
      }
      return this.size <= LARGEST;
    }

    add(kind, content, other = "", id = undefined, message = "") {
      this.size += content.length;
      const last = this.pieces.at(-1);
      if (message === "update_display_data") {
        const known = this.pieces.find((piece) => piece.id === id);
        if (known) Object.assign(known, { kind, text: content, other }), this.draw(known);
        return;
      }
      if (last?.kind === kind && (kind === "stdout" || kind === "stderr")) {
        last.text += content;
        return this.draw(last);
      }
      const piece = { kind, text: content, other, id, box: element("div", { class: `live-${kind.replace(/\W+/g, "-")}` }) };
      this.pieces.push(piece);
      this.place.append(piece.box);
      this.draw(piece);
    }

    draw({ kind, text: content, other, box }) {
      if (kind === "image/svg+xml") return box.replaceChildren(drawing(content));
      const shown = kind === "text/markdown" || kind === "text/html" ? other : content;
      const parts = [element("pre", {}, element("code", {}, shown.slice(0, LARGEST).replace(ANSI, "").trimEnd()))];
      if (kind === "error" && other) {
        parts.push(element("details", {}, element("summary", {}, "Traceback"), element("pre", {}, element("code", {}, other.replace(ANSI, "")))));
      }
      box.replaceChildren(...parts);
    }

    // The error with which it ended, in a few words.
    failure() {
      return this.pieces.find((piece) => piece.kind === "error")?.text.slice(0, 200) ?? "an interrupt";
    }

    // The fingerprint that render.py gives the recorded output of a cell.
    async fingerprint() {
      if (!this.pieces.length) return "";
      const joined = [];
      for (const { kind, text: content } of this.pieces) { // all of a stream as one, as it was recorded
        const before = /^std/.test(kind) ? joined.find((one) => one.kind === kind) : null;
        if (before) before.content += content;
        else joined.push({ kind, content });
      }
      const whole = joined.map(({ kind, content }) => `${kind}\n${content.replace(/\n+$/, "")}\0`).join("");
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(whole));
      return [...new Uint8Array(hash)].slice(0, 6).map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }
  }

  // --- a cell ---

  class Cell {
    constructor(box, number) {
      this.box = box;
      this.number = number;
      this.name = box.hidden ? "A cell whose code is not shown" : `Cell ${number}`;
      this.id = box.dataset.cell;
      this.code = box.querySelector(":scope > .cell-input code, :scope > .cell-fold > .cell-input code");
      this.original = (this.code?.textContent ?? box.dataset.source).replace(/\n$/, "");
      this.source = this.original;
      if (this.code) this.build();
    }

    build() {
      this.run = button("Run", () => notebook.run(this));
      this.edit = button("Edit", () => this.open());
      this.back = button("Undo my changes", () => this.restore());
      this.stop = button("Interrupt", () => notebook.interrupt("You interrupted it."));
      this.back.hidden = this.stop.hidden = true;
      this.said = element("span", { role: "status" });
      this.tools = element("div", { class: "cell-tools", role: "group", "aria-label": `Cell ${this.number}` }, this.run, this.stop, this.edit, this.back, this.said);
      const input = this.box.querySelector(":scope > .cell-input, :scope > .cell-fold");
      input.after(this.tools);
      this.live = element("div", { class: "cell-live" });
      this.live.hidden = true;
      this.fold = this.box.querySelector(":scope > details.answer"); // what a prediction is about stays folded
      if (this.fold) this.fold.append(this.live);
      else this.box.append(this.live);
      const kept = typed.value[this.number];
      if (kept && kept.text !== this.original) {
        this.open(kept.text, false);
        this.say(kept.of === this.id ? "You changed this cell." : "You changed this cell; the book has changed it since.");
      }
    }

    // Put a plain field in the place of the code.
    open(source = this.source, focus = true) {
      if (!this.field) {
        const block = this.code.closest("pre");
        this.field = codeField(`The code of cell ${this.number}`, () => this.changed(), () => notebook.run(this));
        block.after(this.field);
        block.hidden = true;
        this.edit.hidden = true;
      }
      this.field.value = source;
      this.changed();
      if (focus) this.field.focus();
    }

    changed() {
      this.source = this.field.value;
      fit(this.field);
      this.back.hidden = this.source === this.original;
      typed.change(this.number, this.source === this.original ? undefined : { text: this.source, of: this.id });
      if (!typed.lasting && this.source !== this.original) this.say("This browser keeps nothing: what you type is lost when you leave the page.");
    }

    restore() {
      this.field?.previousElementSibling.removeAttribute("hidden");
      this.field?.remove();
      this.field = null;
      this.source = this.original;
      typed.change(this.number, undefined);
      this.edit.hidden = false;
      this.back.hidden = true;
      this.live.hidden = true;
      this.say("");
      this.edit.focus();
    }

    say(words, mark = "") {
      if (!this.said) return;
      this.said.textContent = words;
      this.tools.dataset.mark = mark;
    }

    working(on) {
      if (!this.run) return;
      this.stop.hidden = !on;
      this.run.hidden = on;
      this.box.classList.toggle("running", on);
    }

    // Run it in a kernel, and show what comes out. Returns why the cells below may not go on, or nothing.
    async execute(kernel) {
      const changed = this.source !== this.original;
      const place = element("div", { class: "cell-live-outputs" });
      const outputs = new Outputs(place);
      let late = false, full = false; // past a limit; what a late cell still says is shown, what a full one says is not
      const began = performance.now();
      this.live?.replaceChildren(place);
      this.working(true);
      this.say("Running …");
      const clock = setInterval(() => {
        const seconds = Math.round((performance.now() - began) / 1000);
        this.say(`Running for ${seconds} s`);
        if (seconds >= LONGEST && !late) late = true, notebook.interrupt(`It ran for ${LONGEST} seconds and was interrupted.`);
      }, 1000);
      let status;
      try {
        if (!changed) await kernel.execute(`get_ipython().execution_count = ${this.box.dataset.count}`, () => {}, true);
        status = await kernel.execute(this.source, (kind, content) => {
          if (full) return;
          if (!outputs.take(kind, content)) full = true, notebook.interrupt(`It put out more than ${LARGEST / 1000} kB and was interrupted.`);
          if (this.live) this.live.hidden = false;
        });
      } finally {
        clearInterval(clock);
        this.working(false);
      }
      const same = (await outputs.fingerprint()) === this.box.dataset.recorded;
      const took = (performance.now() - began) / 1000;
      if (this.live) this.live.hidden = !outputs.pieces.length || (same && !changed);
      if (this.fold && !this.fold.open) { // not even whether it raised is told before
        this.say("It ran. Its output is folded with the recorded one, until you commit to an answer.", "folded");
        return status === "ok" || same ? "" : outputs.failure();
      }
      const meant = this.box.classList.contains("failure") && same;
      this.say(this.verdict(status, same, changed, outputs, took), status === "ok" || meant ? (same || changed ? "same" : "other") : "failed");
      return status === "ok" || meant ? "" : outputs.failure();
    }

    verdict(status, same, changed, outputs, took) {
      const time = took < 10 ? `${took.toFixed(1)} s` : `${Math.round(took)} s`;
      if (notebook.why) return notebook.why;
      if (status === "aborted") return "It was not run.";
      if (status === "error" && !same) return `It raised an error after ${time}.`;
      if (changed) return outputs.pieces.length ? `Your version ran in ${time}.` : `Your version ran in ${time} and showed nothing.`;
      if (same) return outputs.pieces.length ? `The same output as recorded, in ${time}.` : `Done in ${time}.`;
      return `It ran in ${time}, and its output differs from the recorded one: compare the two below.`;
    }
  }

  // --- the page ---

  class Notebook {
    constructor(boxes) {
      const shown = boxes.filter((box) => !box.hidden);
      this.cells = boxes.map((box) => new Cell(box, shown.indexOf(box) + 1));
      this.kernel = null;
      this.busy = false;
      this.why = "";
      this.said = element("span", { role: "status" });
      this.reset = button("Forget everything and start anew", () => this.forget());
      this.bar = element("div", { class: "kernel-bar", role: "group", "aria-label": "The kernel of this page" }, this.said, this.reset);
      this.bar.hidden = true;
      document.querySelector("article").append(this.bar);
    }

    // Run a cell, after those above it that this kernel has not run yet.
    async run(wanted) {
      if (this.busy) return wanted.say("Another cell of this page is running. Wait for it, or interrupt it.");
      this.busy = true;
      this.why = "";
      try {
        wanted.say("Starting …");
        if (!this.kernel?.id) await this.begin(wanted);
        const ran = new Set(begun.value.ran);
        for (const cell of this.cells.slice(0, this.cells.indexOf(wanted) + 1).filter((one) => one === wanted || !ran.has(one.id))) {
          if (cell !== wanted) wanted.say(`${cell.name}, above, is running first …`);
          const raised = await cell.execute(this.kernel);
          if (raised && cell !== wanted) {
            wanted.say(`${cell.name}, above, ended with ${raised}, so this one was not run.`, "failed");
            break;
          }
          ran.add(cell.id);
          begun.put({ id: this.kernel.id, ran: [...ran] });
        }
      } catch (error) {
        if (!(error instanceof KernelError)) throw error;
        wanted.say(this.why || error.message, "failed");
      } finally {
        this.busy = false;
      }
    }

    async begin(cell) {
      const key = location.protocol.startsWith("http") ? await GlassKey.find() : null;
      if (!key) throw new KernelError(await GlassKey.advice(root));
      const kernel = new Kernel(root, key);
      kernel.ended = (reason) => {
        begun.put(kernel.id ? { id: kernel.id, ran: [] } : {});
        this.tell(reason, Boolean(kernel.id));
      };
      let fresh;
      try {
        fresh = await kernel.start(page.split("/")[0], begun.value.id ?? null);
      } catch (error) {
        if (error.status === 403) GlassKey.forget(), error.message += ` ${await GlassKey.advice(root)}`;
        throw error;
      }
      if (fresh) begun.put({ id: kernel.id, ran: [] });
      this.kernel = kernel;
      this.tell(kernel.copied
        ? "This tab is a copy of another. It has a kernel of its own, which knows nothing of what ran there."
        : "This page has a kernel of its own; cells run in the order in which you run them.", true);
      cell.say("Running …");
    }

    tell(words, alive) {
      this.bar.hidden = false;
      this.said.textContent = words;
      this.reset.hidden = !alive;
    }

    async interrupt(why) {
      const { kernel } = this;
      this.why = why;
      if (!kernel?.id) return;
      const running = [...kernel.running.keys()];
      await kernel.interrupt().catch(() => {});
      setTimeout(() => {
        if (running.length && running.some((id) => kernel.running.has(id))) {
          this.why = `${why} It did not react, so its kernel was ended; run the cell again to start a new one.`;
          kernel.end("The kernel did not react to an interrupt, and was ended.").catch(() => {});
        }
      }, PATIENCE * 1000);
    }

    async forget() {
      begun.put({});
      this.why = "The kernel was ended.";
      await this.kernel?.end("The kernel was ended, and what it held is gone. The next run starts a new one.").catch(() => {});
      for (const cell of this.cells) cell.say("");
    }
  }

  const notebook = new Notebook([...document.querySelectorAll(".cell[data-cell]")]);
  document.documentElement.dataset.cells = "ready";
})();
