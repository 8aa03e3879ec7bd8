// How does a page talk to a kernel?
//
// Jupyter's protocol, as far as a page needs it: a kernel is started by a POST, and code, outputs and replies are JSON messages on
// one WebSocket (jupyter-client's "Messaging in Jupyter", jupyter-server's "WebSocket protocols").
"use strict";

const DIED = "The kernel died. What it held is lost; the book and what you typed are not.";

class KernelError extends Error {}

// Take a kernel for this page. Returns whether it could be had: the copy of a tab knows the kernel of the original, which keeps it
// until it is left or closed.
const claimed = new Set();
function claim(id) {
  if (claimed.has(id) || !navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => navigator.locks.request(`glasstorch.kernel:${id}`, { ifAvailable: true }, (lock) => {
    if (lock) claimed.add(id);
    resolve(lock !== null);
    return lock && new Promise(() => {}); // held until the page ends
  }));
}

class Kernel {
  // `root` is the address of the book's first page, `key` that of its server.
  constructor(root, key) {
    this.address = new URL("workbook/jupyter/api/kernels", root);
    this.key = key;
    this.session = crypto.randomUUID();
    this.running = new Map(); // what waits for messages, by the id of its request
    this.ended = () => {}; // called with the reason when what the kernel held is gone, and maybe the kernel
  }

  // Start a kernel in a folder, or go on with the one of this id if it still runs and no other page has it. Returns whether it is
  // a new one.
  async start(path, id = null) {
    this.copied = id !== null && !(await claim(id));
    const there = id !== null && !this.copied && (await this.ask("GET", `/${id}`, { missing: true }));
    this.id = there ? id : (await this.ask("POST", "", { body: { name: "python3", path } })).id;
    await claim(this.id);
    await this.connect();
    return !there;
  }

  async ask(method, path, { body, missing = false } = {}) {
    const headers = { Authorization: `token ${this.key}`, "Content-Type": "application/json" };
    let answer;
    try {
      answer = await fetch(this.address + path, { method, headers, body: body && JSON.stringify(body) });
    } catch {
      throw new KernelError(GlassTyped("The server does not answer. If it was stopped, type make study in the clone and open the address that it prints."));
    }
    if (answer.ok) return answer.status === 204 ? {} : answer.json();
    if (missing && answer.status === 404) return null;
    const told = await answer.json().catch(() => ({}));
    throw Object.assign(new KernelError(told.error ?? told.message ?? `The server answers ${answer.status}.`), { status: answer.status });
  }

  connect() {
    const place = `${this.address.href.replace(/^http/, "ws")}/${this.id}/channels?session_id=${this.session}`;
    this.socket = new WebSocket(place, ["page", `key.${this.key}`]);
    this.socket.addEventListener("message", ({ data }) => this.receive(JSON.parse(data)));
    return new Promise((resolve, reject) => {
      this.socket.addEventListener("open", resolve);
      this.socket.addEventListener("close", () => {
        this.lose("The kernel has ended: it was stopped, it crashed, or nobody used it for half an hour. The next run starts a new one.");
        reject(new KernelError("The kernel does not answer."));
      });
    });
  }

  // What waits for the kernel fails; it is gone, or begins anew without what it held.
  fail(reason) {
    for (const waiting of this.running.values()) waiting.reject(new KernelError(reason));
    this.running.clear();
    this.ended(reason);
  }

  lose(reason) {
    if (!this.id) return;
    this.id = null;
    this.fail(reason);
  }

  // Run code. `show` is called with each message that is an output. The reply says "ok", "error" or "aborted".
  execute(code, show, silent = false) {
    const content = { code, silent, store_history: !silent, user_expressions: {}, allow_stdin: false, stop_on_error: true };
    return new Promise((resolve, reject) => {
      const id = this.send("shell", "execute_request", content);
      this.running.set(id, { show, resolve, reject, reply: null, idle: false });
    });
  }

  send(channel, kind, content) {
    const header = { msg_id: crypto.randomUUID(), msg_type: kind, session: this.session, username: "", version: "5.4", date: new Date().toISOString() };
    this.socket.send(JSON.stringify({ channel, header, parent_header: {}, metadata: {}, content, buffers: [] }));
    return header.msg_id;
  }

  receive({ channel, header, parent_header: parent, content }) {
    if (header.msg_type === "status" && /restarting$/.test(content.execution_state)) return this.fail(DIED);
    if (header.msg_type === "status" && content.execution_state === "dead") return this.lose(DIED);
    const waiting = this.running.get(parent?.msg_id);
    if (!waiting) return;
    if (channel === "iopub" && header.msg_type !== "status") waiting.show(header.msg_type, content);
    if (header.msg_type === "status" && content.execution_state === "idle") waiting.idle = true;
    if (header.msg_type === "execute_reply") waiting.reply = content;
    if (waiting.reply && waiting.idle) { // outputs and reply come on two ways: all is there when both are done
      this.running.delete(parent.msg_id);
      waiting.resolve(waiting.reply.status);
    }
  }

  interrupt() {
    return this.ask("POST", `/${this.id}/interrupt`);
  }

  // End the kernel: also one that does not react.
  async end(reason = "The kernel was ended.") {
    const id = this.id;
    if (!id) return;
    this.lose(reason);
    this.socket.close();
    await this.ask("DELETE", `/${id}`, { missing: true });
  }
}
