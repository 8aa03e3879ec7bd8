// What does a write leave behind: in the memory, in the version, in the histories, and in the gradients?
//
// The library has run every order of the operations; this program looks up the state of the one that the reader has made,
// and decides nothing about it. How a pass ends is shown once the reader asks for it.
"use strict";

GlassExplorable.define("versions", (stage, data, { h, s, set, button, drawing, speaker, tasks }) => {
  const names = data.operations.map(([name]) => name);
  const PART = [1, 2]; // the cells that part reads
  let program = [], asked = "";

  const stateOf = (made) => made.reduce((state, name) => data.states[state.next[names.indexOf(name)]], data.states[0]);
  const text = (number) => data.texts[number];
  const chain = (number) => text(number).split(" ");
  const now = () => stateOf(program);
  // How a pass ends: `error` or `gradient`, and whether finite differences say the same.
  const end = (state, name) => {
    const [found, right] = state.ends[name].map(text);
    return { name, found, right, raises: found.includes("Error"), agrees: found === right };
  };

  // --- controls ---

  const operations = data.operations.map(([name, line]) => button(line, () => { if (possible(name)) go([...program, name]); }, { class: "x-code" }));
  const undo = button("Undo", () => { if (program.length) go(program.slice(0, -1)); });
  const again = button("Start again", () => { if (program.length) go([]); });
  const passes = Object.entries(data.passes).map(([name, line]) => [name, button(line, () => { if (name in now().ends) { asked = name; show(); } }, { class: "x-code" })]);
  const possible = (name) => now().next[names.indexOf(name)] >= 0;
  const label = (words) => h("span", { class: "x-name" }, words);

  const code = h("div", { class: "x-listing", role: "group", "aria-label": "The program" });
  const histories = h("dl", { class: "x-chains" });
  const kept = h("p");
  stage.append(
    h("div", { class: "x-row" }, label("Add a line"), operations),
    h("div", { class: "x-row" }, undo, again),
    h("div", { class: "x-row" }, label("Then run"), passes.map(([, node]) => node)));
  const say = speaker(stage);
  const picture = drawing(stage, "", draw);
  stage.append(h("div", { class: "x-pairs" },
    h("div", {}, h("p", { class: "x-name" }, "The program"), code),
    h("div", { class: "x-notes" },
      h("div", {}, h("p", { class: "x-name" }, "Histories, from the tensor back to w"), histories),
      h("div", {}, h("p", { class: "x-name" }, "Saved for z's node"), kept))));
  const WRITES = ["base", "view", "detached", "data"];
  const wrote = (lines) => lines.some((name) => WRITES.includes(name));
  const wrong = (pass, name) => pass?.name === name && !pass.raises && !pass.agrees;
  const ticked = tasks(stage, [
    ["a pass that notices a write.", ({ pass }) => pass?.raises],
    ["a write to y that the node of z does not mind.", ({ pass }) => pass?.name === "z" && pass.agrees && wrote(program)],
    ["a wrong gradient by way of z, without an error.", ({ pass }) => wrong(pass, "z")],
    ["a wrong gradient by way of y, though the version has counted the write.", ({ state, pass }) => wrong(pass, "y") && state.version > 0],
    ["a new node for part, by a write that was not made through it.", ({ state }) => state.part !== undefined && chain(state.part)[0] === "AsStridedBackward0" && !program.includes("view")],
  ]);

  // --- what is shown ---

  function go(made) {
    program = made;
    asked = "";
    show();
  }

  function show() {
    const state = now(), pass = asked ? end(state, asked) : null;
    for (const [place, node] of operations.entries()) set(node, { "aria-disabled": String(!possible(names[place])) });
    for (const [name, node] of passes) set(node, { "aria-disabled": String(!(name in state.ends)) });
    for (const node of [undo, again]) set(node, { "aria-disabled": String(!program.length) });
    const lines = [...data.begin, ...program.map((name) => data.operations[names.indexOf(name)][1]), ...(asked ? [data.passes[asked]] : [])];
    code.replaceChildren(...lines.map((line, place) => h("code", { class: place === lines.length - 1 ? "here" : false }, line)));
    const tensors = ["y", "part", "z"].filter((name) => state[name] !== undefined);
    histories.replaceChildren(...tensors.flatMap((name) => [h("dt", {}, name), h("dd", {}, chain(state[name]).map((node) => h("span", { class: "x-chip" }, node)))]));
    set(kept, { text: "saved" in state ? `y, at version ${state.saved}; its memory is at version ${state.version}` : "nothing, as there is no z" });
    picture.redraw();
    picture.label(`The memory of y holds ${state.values.join(", ")}, and is at version ${state.version}`);
    const found = ticked({ state, pass });
    stage.classList.toggle("x-failing", Boolean(pass && !pass.agrees));
    say([pass ? ending(pass) : standing(state), found].filter(Boolean).join(" "));
  }

  function standing(state) {
    if (!program.length) return "y is made, its memory is at version 0. Add lines, and say how a pass ends before you run it.";
    const before = stateOf(program.slice(0, -1)), parts = [];
    parts.push(state.version > before.version ? `The version goes from ${before.version} to ${state.version}.` : `The version stays ${state.version}.`);
    for (const name of ["y", "part"]) {
      if (state[name] === undefined) continue;
      if (before[name] === undefined) parts.push(`${name} is a view, and reads two of y's cells.`);
      else if (before[name] !== state[name]) parts.push(`The node of ${name} is ${chain(state[name])[0]} now.`);
    }
    if (state.z !== undefined && before.z === undefined) parts.push(`z's node saves y at version ${state.saved}.`);
    else if (state.values.join() !== before.values.join() && state.version === before.version) parts.push("And yet the memory has been written.");
    return parts.join(" ");
  }

  function ending(pass) {
    if (pass.raises) return `${pass.found}.`;
    return `w.grad is ${pass.found}. Finite differences ${pass.agrees ? "say the same" : `say ${pass.right}, and nothing was raised`}.`;
  }

  function draw(svg, width, narrow) {
    const state = now(), across = Math.min(84, (width - (narrow ? 0 : 130)) / state.values.length), tall = 34, top = 22;
    svg.append(s("text", { x: 0, y: 12, class: "x-soft" }, "the memory of y"));
    for (const [cell, value] of state.values.entries()) {
      const read = state.part !== undefined && PART.includes(cell);
      svg.append(
        s("rect", { class: read ? "x-cell on" : "x-cell", x: 1 + cell * across, y: top, width: across - 3, height: tall, rx: 3 }),
        s("text", { x: cell * across + across / 2, y: top + 22, "text-anchor": "middle", class: "x-mono" }, String(value)));
    }
    const version = `version ${state.version}`;
    svg.append(narrow ? s("text", { x: width, y: 12, "text-anchor": "end", class: "x-bold" }, version)
      : s("text", { x: state.values.length * across + 12, y: top + 22, class: "x-bold" }, version));
    if (state.part === undefined) return top + tall + 6;
    svg.append(s("text", { x: PART[0] * across, y: top + tall + 18, class: "x-soft x-small" }, "part reads these two"));
    return top + tall + 26;
  }

  show();
  return {
    // For tests: the state after a program, with the texts in their places, and how its passes end.
    states: (programs) => programs.map((made) => {
      const { values, version, saved, ends, ...rest } = stateOf(made);
      const told = Object.fromEntries(["y", "part", "z"].filter((name) => rest[name] !== undefined).map((name) => [name, text(rest[name])]));
      return { values, version, saved: saved ?? null, ...told, ends: Object.fromEntries(Object.entries(ends).map(([name, one]) => [name, one.map(text)])) };
    }),
    shown: () => program,
  };
});
