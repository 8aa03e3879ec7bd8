// How does a reader play a backward pass that the library's engine has run?
//
// The facts are recordings: for each program its graph, and for each way to call `backward` the steps of the engine with
// its counts, buffers and queue after each. This program draws one step; it decides nothing that the engine decides.
"use strict";

GlassExplorable.define("engine", (stage, data, { h, s, set, choice, toggle, player, speaker }) => {
  const [ACROSS, TALL] = data.node;
  const MOVES = 420; // milliseconds that a gradient takes along its edge
  const bytes = (number) => `${number} byte${number === 1 ? "" : "s"}`;
  const sentence = (text) => `${text.replace(/^(the|nothing) /, (word) => word[0].toUpperCase() + word.slice(1))}.`;

  let program, steps, nodes, edges, replay, chosen, before;

  const programs = choice("Program", data.programs.map(({ key, title }) => [key, title]), "leaves", begin);
  stage.classList.add("x-replay");
  const retain = toggle("retain_graph=True", false, () => begin());
  retain.node.classList.add("x-code");
  const about = h("p", { class: "x-about" });
  const graph = s("svg", { class: "x-drawing x-graph", role: "group", "aria-label": "The graph" });
  const code = h("div", { class: "x-listing", role: "group", "aria-label": "The program" });
  const queue = h("ol", { class: "x-queue" });
  const grads = h("p", { class: "x-expression" });
  const kept = h("div", { class: "x-bar", "aria-hidden": "true" }, h("span"));
  const keptText = h("p");
  const record = h("div", { class: "x-record" });
  const place = h("div");
  const name = (text) => h("p", { class: "x-name" }, text);
  stage.append(h("div", { class: "x-row" }, programs.node), h("div", { class: "x-row" }, h("span", { class: "x-name" }, "First call with"), retain.node), about, place);
  const say = speaker(stage);
  stage.append(h("div", { class: "x-pairs" },
    h("div", { class: "x-canvas" }, graph),
    h("div", { class: "x-notes" },
      h("div", {}, name("Ready, first to run first"), queue),
      h("div", {}, name("Saved for the nodes"), kept, keptText),
      h("div", {}, name("Gradients of the leaves"), grads)),
    record, code));

  // --- the graph ---

  const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x} ${y}`).join("");

  function drawGraph() {
    nodes = program.nodes.map((node, number) => {
      const parts = {
        box: s("rect", { class: "x-box", x: node.x, y: node.y, width: ACROSS, height: TALL, rx: 4 }),
        holds: s("text", { x: node.x + 9, y: node.y + 37, class: "x-mono x-bold" }),
        state: s("text", { x: node.x + ACROSS - 9, y: node.y + 37, "text-anchor": "end", class: "x-small" }),
        saved: s("text", { x: node.x + ACROSS - 9, y: node.y + 18, "text-anchor": "end", class: "x-tiny x-saved" }),
      };
      const named = s("text", { x: node.x + 9, y: node.y + 18, class: "x-mono" }, s("tspan", { class: "x-bold" }, node.name), s("tspan", { dx: 6, class: "x-small" }, node.kind));
      // What is pressed lies over what is drawn, and its label says all of it.
      parts.button = s("rect", {
        class: "x-hit", x: node.x, y: node.y, width: ACROSS, height: TALL, rx: 4, tabindex: 0, role: "button", onclick: () => choose(number),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose(number);
        },
      });
      parts.group = s("g", {}, s("g", { "aria-hidden": "true" }, parts.box, named, parts.holds, parts.state, parts.saved), parts.button);
      return parts;
    });
    edges = program.nodes.map((node) => node.edges.map(({ way }) => (way.length ? s("path", { d: path(way), "marker-end": "url(#explorable-engine-head)" }) : null)));
    const head = s("marker", { id: "explorable-engine-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { class: "x-head", d: "M0 0.6 7.4 4 0 7.4Z" }));
    set(graph, { viewBox: `0 20 ${data.width} ${program.height - 16}` });
    graph.replaceChildren(s("defs", {}, head), ...edges.flat().filter(Boolean), ...nodes.map(({ group }) => group));
  }

  // The gradient moves along its edge, unless the reader has asked for less motion.
  function move(edge, text) {
    graph.querySelector(".x-token")?.remove();
    if (!edge || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const token = s("g", { class: "x-token", "aria-hidden": "true" },
      s("rect", { x: -6 - text.length * 3.6, y: -9, width: 12 + text.length * 7.2, height: 18, rx: 9 }), s("text", { "text-anchor": "middle", y: 4, class: "x-mono" }, text));
    const length = edge.getTotalLength(), started = performance.now();
    const frame = (now) => {
      const part = Math.min(1, Math.max(0, (now - started) / MOVES));
      if (!token.isConnected) return;
      if (part === 1) return token.remove();
      const { x, y } = edge.getPointAtLength(length * part * (2 - part));
      set(token, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
      requestAnimationFrame(frame);
    };
    graph.append(token);
    frame(started);
  }

  // --- a step ---

  // What has happened in the pass that a step belongs to: the nodes that have run, and where gradients have been delivered.
  function passUpTo(number) {
    const start = steps.findLastIndex((step, at) => at <= number && step.kind === "call");
    const pass = steps.slice(start, number + 1).map((step, at) => ({ ...step, at: start + at }));
    return { ran: pass.filter(({ kind }) => kind === "run"), delivered: pass.filter(({ kind }) => kind === "deliver") };
  }

  function stateOf(number, step, ran) {
    if (step.kind === "fail" && step.node === number) return "fails";
    if (step.node === number && (step.kind === "run" || step.kind === "deliver")) return "running";
    if (step.ready?.includes(number)) return "ready";
    if (ran.some(({ node }) => node === number)) return "has run";
    const count = step.counts[number];
    return count ? `waits for ${count}` : "";
  }

  function show(number) {
    const step = steps[number];
    const { ran, delivered } = passUpTo(number);
    for (const [at, node] of program.nodes.entries()) {
      const { group, button, holds, state, saved } = nodes[at];
      const held = (step.buffers[at] ?? []).filter((grad) => grad !== null), word = stateOf(at, step, ran);
      const keeps = step.saved.includes(at) ? node.saved.reduce((sum, [, , size]) => sum + size, 0) : 0;
      const now = word === "running" ? ran.at(-1).given : node.leaf && word === "has run" ? `grad ${step.grads[node.name]}` : held.join(", ");
      set(holds, { text: now });
      set(state, { text: word });
      set(saved, { text: keeps ? `\u25a0 ${keeps} B` : "" });
      set(group, { class: `x-node ${word.split(" ")[0]}${at === chosen ? " chosen" : ""}` });
      set(button, {
        "aria-pressed": String(at === chosen),
        "aria-label": `${node.name}, ${node.kind}${word ? `, ${word}` : ""}${held.length ? `, holds ${held.join(" and ")}` : ""}${keeps ? `, has saved ${bytes(keeps)}` : ""}`,
      });
      for (const [place, edge] of edges[at].entries()) {
        const active = step.kind === "deliver" && step.node === at && step.edge === place;
        if (edge) set(edge, { class: active ? "now" : delivered.some((past) => past.node === at && past.edge === place) ? "" : "faint" });
      }
    }
    const moved = step.kind === "deliver" && number === before + 1;
    move(moved ? edges[step.node][step.edge] : null, step.told.split(" ")[0]);
    before = number;
    showNotes(number, step);
    showRecord(step, number);
    stage.classList.toggle("x-failing", step.kind === "fail");
    say(sentence(step.told));
  }

  function showNotes(number, step) {
    const runs = step.node === undefined ? -1 : program.nodes[step.node].line;
    const calls = steps.slice(0, number + 1).filter(({ kind }) => kind === "call").length - 1;
    for (const [at, line] of [...code.children].entries()) {
      const here = at === runs || (at === program.lines.length + calls);
      set(line, { class: here ? "here" : "", "aria-current": here ? "step" : null });
    }
    const ready = step.ready ?? [];
    queue.replaceChildren(...(ready.length ? ready.map((at) => {
      const node = program.nodes[at];
      return h("li", {}, h("b", {}, node.name), node.leaf ? " accumulator, before all others" : ` made as number ${node.made}`);
    }) : [h("li", { class: "none" }, "nothing")]));
    const most = steps[0].kept;
    kept.firstChild.style.width = `${most ? (100 * step.kept) / most : 0}%`;
    set(keptText, { text: `${step.kept} of ${bytes(most)}` });
    set(grads, { text: Object.entries(step.grads).map(([leaf, grad]) => `${leaf}.grad = ${grad}`).join(", ") });
  }

  function choose(number) {
    chosen = number;
    show(replay.step);
    say(`${[...record.querySelectorAll("dt")].map((term) => `${term.textContent}: ${term.nextSibling.textContent}`).join("; ")}.`);
  }

  function showRecord(step, number) {
    const node = program.nodes[chosen];
    const comes = program.nodes.flatMap(({ name, edges: ways }) => ways.filter(({ to }) => to === chosen).map(() => name));
    const saved = node.saved.map(([slot, value]) => `${slot} = ${value}`).join(", ");
    const ran = passUpTo(number).ran.find(({ node: at }) => at === chosen);
    const lines = [
      [`node of ${node.name}`, node.leaf ? `accumulator, adds to ${node.name}.grad` : `${node.kind}, made as number ${node.made}`],
      ["gradients come", comes.length ? `over ${comes.length} edge${comes.length === 1 ? "" : "s"}: from ${comes.join(", ")}` : "from the caller: it is the root"],
      ["has saved", saved ? `${saved}${step.saved.includes(chosen) ? "" : " (freed)"}` : "nothing"],
      ["ran", ran ? `in step ${ran.at + 1}, with ${ran.given}` : "not yet in this pass"],
    ];
    record.replaceChildren(h("dl", {}, lines.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)])));
  }

  // --- a program ---

  function begin() {
    program = data.programs.find(({ key }) => key === programs.value);
    const way = retain.value ? "kept" : "freed";
    steps = program.runs[way];
    chosen = 0;
    before = -1;
    set(about, { text: program.about });
    code.replaceChildren(...[...program.lines, ...data.calls[way]].map((line) => h("code", {}, line)));
    drawGraph();
    replay?.stop();
    replay = player({ length: steps.length, show, pause: 1300 });
    place.replaceChildren(replay.node);
    replay.go(0);
  }

  begin();
  return {
    get step() { return steps[replay.step]; },
    get length() { return steps.length; },
    go: (step) => replay.go(step),
  };
});
