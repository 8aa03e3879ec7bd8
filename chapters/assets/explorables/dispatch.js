// Which kernels does a call pass through, and by which rule does each stand where it stands?
//
// Nothing is worked out here. The build exported every table and every path from the dispatcher: this program looks up those
// for the registrations, the device and the modes that are switched on.
"use strict";

GlassExplorable.define("dispatch", (stage, data, kit) => {
  const { h, s, set } = kit;
  const COMPUTES = "math kernel"; // what stands there calls other operators
  const FALLBACK = "backend fallback"; // of an autograd key: records no node of the operator's own
  const state = { operator: data.operators[0].name, device: data.devices[0].name, kernels: new Set(data.operators[0].registered), modes: new Set(), wanted: true, noGrad: false };

  // What the library has for a state: `{ rows: [{ key, rule, by, present, met, passed }], hops }`.
  function look({ device, kernels, modes }) {
    const of = data.devices.find((one) => one.name === device);
    const subset = of.places.reduce((all, place, bit) => all + (kernels.has(place) ? 2 ** bit : 0), 0);
    const mode = data.modes.reduce((all, name, bit) => all + (modes.has(name) ? 2 ** bit : 0), 0);
    const hops = data.paths[of.ways[subset][mode]], last = hops.at(-1);
    const rows = of.rows.map((key, row) => {
      const [rule, by] = data.entries[of.tables[subset][row]], present = of.sets[mode].includes(key), met = hops.includes(row);
      return { key, rule, by, present, met, passed: present && !met && row < last };
    });
    return { rows, hops: hops.map((row) => rows[row]) };
  }

  // --- controls ---

  const byName = (name) => data.operators.find((one) => one.name === name);
  const operator = kit.select("Operator", data.operators.map(({ name }) => [name, name]), state.operator, (name) => {
    state.operator = name;
    state.kernels = new Set(byName(name).registered);
    show({ chosen: true });
  });
  const device = kit.choice("on", data.devices.map(({ name }) => [name, name]), state.device, (name) => { state.device = name; show({}); });
  const kernels = data.places.map((place) => [place, kit.toggle(place, false, (on) => {
    state.kernels[on ? "add" : "delete"](place);
    show({ added: on ? place : "", removed: on ? "" : place });
  })]);
  const modes = data.modes.map((name) => [name, kit.toggle(name, false, (on) => { state.modes[on ? "add" : "delete"](name); show({ mode: true }); })]);
  const wanted = kit.toggle("requires_grad", state.wanted, (on) => { state.wanted = on; show({ mode: true }); });
  const noGrad = kit.toggle("no_grad", state.noGrad, (on) => { state.noGrad = on; show({ mode: true }); });
  const own = kit.button("The operator's own", () => { state.kernels = new Set(byName(state.operator).registered); show({}); });
  const group = (name, ...controls) => h("div", { class: "x-group", role: "group", "aria-label": name }, h("span", { class: "x-name" }, name), h("div", { class: "x-buttons" }, controls));
  stage.append(
    h("div", { class: "x-row" }, operator.node, device.node),
    group("Kernels registered", ...kernels.map(([, control]) => control.node), own),
    group("Switched on", wanted.node, noGrad.node, ...modes.map(([, control]) => control.node)),
  );
  const picture = kit.drawing(stage, "", draw);
  const say = kit.speaker(stage);
  const ticked = kit.tasks(stage, [
    ["a switch that changes neither the set nor the way.", ({ action, same }) => action.mode && same],
    ["a registration that leaves a call without any autograd kernel, where it had one before.", ({ action, before, now }) => action.added && recorded(before) && !recorded(now) && now.rows.some((row) => row.present && row.key.startsWith("Autograd"))],
    ["a call that ends where no kernel is.", ({ now }) => !now.hops.at(-1).by],
  ]);
  const ofAutograd = ({ hops }) => hops.find((hop) => hop.key.startsWith("Autograd"));
  const recorded = (state) => ![undefined, FALLBACK].includes(ofAutograd(state)?.rule);

  // --- what is shown ---

  let now = look(state), nodes = [];

  const entry = ({ rule, by }) => (by === "fallthrough" ? `${rule}: fallthrough` : by ? `${rule}, registered for ${by}` : rule);
  const whereabouts = (row) => (row.met ? "called" : row.passed ? "fell through" : row.present ? "not reached" : "not in the set");

  function told() {
    const way = now.hops.map((hop) => `${hop.key} (${hop.rule})`).join(", then ");
    const passed = now.rows.filter((row) => row.passed).map((row) => row.key);
    const last = now.hops.at(-1);
    let end = "";
    if (!last.by) end = last.rule === "missing" ? " No kernel is there, so the call raises." : " Which of two kernels is meant is not clear, so the call raises.";
    else if (last.rule === COMPUTES) end = " What stands there calls other operators, and to each of them all keys apply again.";
    else if (recorded(now)) end = state.wanted && !state.noGrad && !state.modes.has("inference_mode") ? " The autograd kernel records a node." : " The autograd kernel is called, and records nothing: no gradient is wanted.";
    else if (ofAutograd(now)) end = " The operator has no autograd kernel: the fallback of autograd calls the next kernel, and a backward pass that comes through warns.";
    return `The call goes to ${way}.${passed.length ? ` A fallthrough sends it on at ${passed.join(", ")}.` : ""}${end}`;
  }

  function show(action) {
    const before = now;
    now = look(state);
    const same = JSON.stringify(before) === JSON.stringify(now);
    for (const [place, control] of kernels) control.set(state.kernels.has(place));
    for (const [name, control] of modes) control.set(state.modes.has(name));
    if (nodes.length === now.rows.length) fill();
    else picture.redraw();
    const found = ticked({ action, before, now, same });
    picture.label(`The table of ${state.operator}, the highest key first. ${now.rows.map((row) => `${row.key}: ${entry(row)}, ${whereabouts(row)}`).join("; ")}`);
    say(`${same && action.mode ? "Nothing changes in the set or on the way. " : ""}${told()}${found ? ` ${found}` : ""}`);
  }

  // One line for each key: a dot where the call stops, a line past the keys that fall through; the key; what stands there.
  function draw(svg, width, narrow) {
    const tall = narrow ? 54 : 36, box = 148;
    nodes = now.rows.map((row, place) => {
      const y = place * tall + 2;
      const line = s("path"), dot = s("circle", { cx: 11, cy: y + 15, r: 6 });
      const rect = s("rect", { x: 28, y, width: box, height: 30, rx: 4 }), name = s("text", { x: 38, y: y + 19, class: "x-mono" });
      const text = narrow ? s("text", { x: 38, y: y + 45 }) : s("text", { x: box + 42, y: y + 14 });
      const status = narrow ? s("text", { x: box + 40, y: y + 19, class: "x-soft" }) : s("text", { x: box + 42, y: y + 29, class: "x-soft x-small" });
      svg.append(line, dot, rect, name, text, status);
      return { line, dot, rect, name, text, status, y };
    });
    fill();
    return now.rows.length * tall + 2;
  }

  function fill() {
    const last = now.rows.findLastIndex((row) => row.met);
    for (const [place, row] of now.rows.entries()) {
      const { line, dot, rect, name, text, status, y } = nodes[place];
      const next = nodes[place + 1]?.y;
      set(line, { d: place < last ? `M11 ${y + 15}V${next + 15}` : "" });
      set(dot, { class: row.met ? (row.by ? "met" : "alarm") : row.passed ? "passed" : "none" });
      set(rect, { class: row.met ? (row.by ? "on" : "alarm") : row.present ? null : "off" });
      set(name, { text: row.key, class: row.present ? (row.met ? "x-mono x-bold" : "x-mono") : "x-mono x-soft" });
      set(text, { text: entry(row), class: row.met ? "x-bold" : row.present ? null : "x-soft" });
      set(status, { text: whereabouts(row) });
    }
  }

  show({});
  return {
    shown: () => now.hops.map((hop) => [hop.key, hop.rule]),
    // For tests: the ways of many calls, each given as `{ device, kernels, modes }`.
    ways: (list) => list.map((one) => {
      const found = look({ device: one.device, kernels: new Set(one.kernels), modes: new Set(one.modes) });
      return found.hops.map((hop) => [hop.key, hop.rule, hop.by]);
    }),
  };
});
