// How does a reader write and check an answer on the page of an exercise?
//
// The text is that of `answer.py` in the clone, which an editor may change as well: it is written when it is checked or saved, and
// where the file was changed meanwhile, nothing is written before the reader has chosen. A check is that of the terminal, and so is
// what it prints. Until it is written, what was typed is kept in this browser.
"use strict";

(() => {
  const script = document.currentScript;
  const root = new URL("../../", script.src);
  const { element, button, codeField, fit } = GlassParts;

  class Desk {
    constructor(box) {
      this.box = box;
      this.name = box.dataset.exercise;
      this.draft = `glasstorch.draft:${this.name}`;
      this.said = element("p", { role: "status" });
      this.tools = element("div", { class: "cell-tools", role: "group", "aria-label": "Your answer" });
      this.field = codeField(`Your answer to ${this.name}`, () => this.changed(), () => this.check());
      this.printed = element("pre", { tabindex: "0", "aria-label": "What the check prints" });
      this.printed.hidden = true;
      box.append(this.tools, this.said);
      this.offer(button("Begin here", () => this.begin()));
      this.hints();
    }

    offer(...buttons) {
      this.tools.replaceChildren(...buttons);
    }

    say(words, mark = "") {
      this.said.textContent = words;
      this.said.dataset.mark = mark;
    }

    // Ask the server. An answer that is no success is thrown, with what it told.
    async ask(method, path = "", body = undefined) {
      this.key ??= location.protocol.startsWith("http") ? await GlassKey.find() : null;
      if (!this.key) throw new Error(await GlassKey.advice(root));
      const headers = { Authorization: `token ${this.key}`, "Content-Type": "application/json" };
      const address = new URL(`workbook/exercises${path}`, root);
      const kept = !this.unsaved || this.kept()?.text === this.field.value;
      const answer = await fetch(address, { method, headers, body: body && JSON.stringify(body) }).catch(() => {
        throw new Error(GlassTyped("The server does not answer. If it was stopped, type make study in the clone; ") +
          (kept ? "what you typed is kept in this browser." : "what you typed is on this page only: copy it before you leave."));
      });
      if (answer.ok) return answer;
      const told = await answer.json().catch(() => ({}));
      if (answer.status === 403) GlassKey.forget(), (this.key = null), (told.error += ` ${await GlassKey.advice(root)}`);
      throw Object.assign(new Error(told.error ?? `The server answers ${answer.status}.`), { status: answer.status, told });
    }

    // Do something, and say why where it fails.
    async attempt(act) {
      if (this.busy) return;
      this.busy = true;
      try {
        await act();
      } catch (error) {
        if (error.status === 409) this.conflict(error.told);
        else this.say(error.message, "failed");
      } finally {
        this.busy = false;
      }
    }

    // Show at once what is there, where this tab has the key.
    async look() {
      if (!location.protocol.startsWith("http") || !(await GlassKey.find())) return;
      await this.attempt(async () => {
        const facts = await (await this.ask("GET", `/${this.name}`)).json();
        if (facts.text !== null) this.open(facts);
        await this.ticks();
      });
    }

    begin() {
      return this.attempt(async () => {
        this.open(await (await this.ask("POST", `/${this.name}/start`)).json());
        this.field.focus();
        await this.ticks();
      });
    }

    open(facts) {
      if (!this.field.isConnected) this.tools.before(this.field), this.box.append(this.printed);
      this.take(facts);
      const draft = this.kept();
      if (draft !== null && draft.text !== facts.text) {
        this.field.value = draft.text;
        this.unsaved = true;
        this.version = draft.version; // so that it is not saved over what an editor wrote since
        fit(this.field);
        this.say("This is what you typed here and have not saved.");
      } else if (facts.standing === "passed") this.say("Passed.", "same");
      else this.say(`This is ${facts.place}, which you can also write in your editor.`);
      this.normal();
    }

    take(facts) {
      this.version = facts.version;
      this.place = facts.place;
      this.field.value = facts.text;
      fit(this.field);
    }

    changed() {
      fit(this.field);
      this.unsaved = true;
      try {
        localStorage.setItem(this.draft, JSON.stringify({ text: this.field.value, version: this.version }));
        this.say("Not saved yet.");
      } catch {
        this.say("Not saved yet. This browser keeps nothing: save before you leave the page.");
      }
    }

    kept() {
      try { return JSON.parse(localStorage.getItem(this.draft)); } catch { return null; }
    }

    // What stands in the field is saved or given up. What another tab has typed since stays.
    forget(written) {
      this.unsaved = false;
      if (this.kept()?.text === written) localStorage.removeItem(this.draft);
    }

    async write(anyway = false) {
      const written = this.field.value;
      const facts = await (await this.ask("PUT", `/${this.name}`, { text: written, version: this.version, anyway })).json();
      this.version = facts.version;
      if (this.field.value === written) this.forget(written);
      this.say(facts.kept ? `Saved in ${facts.place}. What stood there is in ${facts.kept}.` : `Saved in ${facts.place}.`);
    }

    save(anyway = false) {
      return this.attempt(() => this.write(anyway));
    }

    // Take what is on disk; what was typed is in the way only if it was not saved, and then it is asked for.
    again() {
      return this.attempt(async () => {
        const facts = await (await this.ask("GET", `/${this.name}`)).json();
        if (this.unsaved && facts.text !== this.field.value) return this.conflict({ ...facts, error: "What you typed is not saved, and the file differs." });
        if (facts.text === null) return this.say(`${facts.place} is not there any more. Save writes what stands here into a new one.`, "failed");
        this.take(facts);
        this.say(`Read from ${facts.place}.`);
      });
    }

    conflict(facts) {
      const mine = button("Write mine, and keep a copy of the file", () => { this.normal(); this.save(true); });
      const theirs = button("Take the file, and discard what I typed", () => { this.forget(this.field.value); this.take(facts); this.normal(); this.say(`Read from ${facts.place}.`); });
      this.say(facts.error, "failed");
      this.offer(mine, theirs);
    }

    normal() {
      this.offer(button("Check", () => this.check()), button("Save", () => this.save()), button("Read the file again", () => this.again()));
    }

    check() {
      return this.attempt(async () => {
        await this.write();
        this.printed.hidden = false;
        this.printed.textContent = "";
        this.say("Checking …");
        const stop = new AbortController();
        this.offer(button("Stop the check", () => stop.abort()));
        try {
          const passed = await this.print(await this.ask("POST", `/${this.name}/check`), stop.signal);
          this.say(passed ? "Passed." : "Not passed yet: below is what the check says.", passed ? "same" : "failed");
        } finally {
          this.normal();
        }
        await this.ticks();
      });
    }

    // Show what the check prints while it does. Returns whether the answer passed.
    async print(answer, signal) {
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      signal.addEventListener("abort", () => reader.cancel());
      for (let all = ""; ; ) {
        const { value, done } = await reader.read().catch(() => {
          throw new Error(GlassTyped("The server was stopped during the check. Your answer is saved: type make study in the clone, and check again."));
        });
        if (signal.aborted) throw new Error("The check was stopped.");
        if (done) return /\nexit 0$/.test(all);
        all += value;
        this.printed.textContent = all.replace(/\nexit \d+$/, "").trimEnd();
      }
    }

    // Opening a hint counts as showing it in the terminal. It is reported once. The response is read, because an unread
    // one holds its connection until the page goes.
    hints() {
      document.querySelectorAll("details.hint").forEach((hint, place) => {
        const tell = async () => {
          if (!hint.open || !this.key) return;
          hint.removeEventListener("toggle", tell);
          try {
            await (await this.ask("POST", `/${this.name}/hint`, { number: place + 1 })).text();
          } catch {
            hint.addEventListener("toggle", tell);
          }
        };
        hint.addEventListener("toggle", tell);
      });
    }

    // Mark the exercises that have passed, wherever the page links to them.
    async ticks() {
      const { standings } = await (await this.ask("GET")).json();
      for (const link of document.querySelectorAll("a[href]")) {
        const name = /\/exercises\/(\d\d\.\d+)-[\w-]+\.html$/.exec(link.pathname)?.[1];
        if (name && !link.hash) link.dataset.standing = standings[name] ?? "";
      }
    }
  }

  document.addEventListener("DOMContentLoaded", async () => { // key.js comes after this
    for (const box of document.querySelectorAll(".exercise[data-exercise]")) await new Desk(box).look();
    document.documentElement.dataset.desk = "ready";
  });
})();
