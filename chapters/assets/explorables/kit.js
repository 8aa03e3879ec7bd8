// How does a static figure become something to play with?
//
// The page holds `<figure class="explorable" data-explorable="NAME">` with a static figure inside. A program calls
// `GlassExplorable.define(NAME, (stage, data, kit) => ...)`. When the figure comes near the window, the kit loads NAME.data.js,
// a script that the build writes and that calls `GlassExplorable.data(NAME, {...})`: the program draws on the stage and takes
// the figure's place. Where a script fails, or JavaScript is off, the static figure stays. What a program returns is kept as
// `figure.explorable`, so that a test can ask it what it would show. All this is classic script: it works from file://.
"use strict";

globalThis.GlassExplorable = (() => {
  const programs = new Map();
  const folder = new URL(".", document.currentScript.src);
  const NEAR = 1500; // pixels from the window: the reader has not yet seen a figure whose place is taken
  const NARROW = 560; // pixels of a stage: below it, programs lay out for a phone

  // --- elements ---

  const filled = (made, attributes, children) => {
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else set(made, { [key]: value });
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  };
  const h = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
  const s = (name, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

  // Sets the attributes that differ (`text` is the content; false, null and undefined remove), and touches nothing else.
  function set(node, attributes) {
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") {
        if (node.textContent !== String(value)) node.textContent = value;
      } else if (value === false || value === null || value === undefined) {
        if (node.hasAttribute(key)) node.removeAttribute(key);
      } else {
        const text = value === true ? "" : String(value);
        if (node.getAttribute(key) !== text) node.setAttribute(key, text);
      }
    }
    return node;
  }

  // --- controls: each is `{ node, set(value) }`; `change` is called for what the reader does, not for `set` ---

  let count = 0;
  const fresh = () => `explorable-${(count += 1)}`;

  const button = (label, press, attributes = {}) => h("button", { type: "button", ...attributes, onclick: press }, label);

  function toggle(label, on, change) {
    const node = button(label, () => { control.set(node.getAttribute("aria-pressed") !== "true"); change(control.value); });
    const control = {
      node,
      set(value) { control.value = value; set(node, { "aria-pressed": String(value) }); },
    };
    control.set(on);
    return control;
  }

  // One of several: options are `[value, label]`.
  function choice(legend, options, value, change) {
    const name = fresh();
    const inputs = options.map(([option]) => h("input", {
      type: "radio", name, value: option, onchange: () => { control.value = option; change(option); },
    }));
    const labels = options.map(([, label], place) => h("label", {}, inputs[place], h("span", {}, label)));
    const node = h("fieldset", { class: "x-choice" }, h("legend", {}, legend), h("div", {}, labels));
    const control = {
      node,
      set(chosen) { control.value = chosen; for (const [place, input] of inputs.entries()) input.checked = options[place][0] === chosen; },
    };
    control.set(value);
    return control;
  }

  function select(label, options, value, change) {
    const id = fresh();
    const input = h("select", { id, onchange: () => { control.value = input.value; change(input.value); } },
      options.map(([option, shown]) => h("option", { value: option }, shown)));
    const control = {
      node: h("div", { class: "x-field" }, h("label", { for: id }, label), input),
      set(chosen) { control.value = input.value = chosen; },
    };
    control.set(value);
    return control;
  }

  // `shown(value)` is what stands beside the slider, and what is read aloud.
  function slider(label, { min = 0, max, step = 1, value = min, shown = String }, change) {
    const id = fresh();
    const output = h("span", { class: "x-value", "aria-hidden": "true" });
    const input = h("input", { id, type: "range", min, max, step, oninput: () => { control.set(Number(input.value)); change(control.value); } });
    const control = {
      node: h("div", { class: "x-slider" }, h("label", { for: id }, label), input, output),
      value,
      set(place, most = Number(input.max)) {
        set(input, { max: most });
        control.value = Math.max(min, Math.min(place, most));
        input.value = control.value;
        set(output, { text: shown(control.value) });
        set(input, { "aria-valuetext": shown(control.value) });
      },
    };
    control.set(value, max);
    return control;
  }

  // Steps through a recording of `length` steps; `show(step)` draws one. Arrow keys, Home and End move the scrubber.
  function player({ length, show, shown = (step) => `${step + 1} of ${length}`, pause = 900 }) {
    let timer = 0;
    const place = slider("Step", { max: length - 1, shown }, (step) => { stop(); show(step); });
    const go = (step) => { place.set(step); show(place.value); refresh(); };
    const stop = () => { clearInterval(timer); timer = 0; refresh(); };
    const play = () => {
      if (timer) return stop();
      if (place.value >= length - 1) go(0);
      timer = setInterval(() => { if (place.value >= length - 1 || !node.isConnected) stop(); else go(place.value + 1); }, pause);
      refresh();
    };
    const back = button("Back", () => { stop(); go(place.value - 1); });
    const forward = button("Forward", () => { stop(); go(place.value + 1); });
    const run = button("Play", play);
    // A button that has the focus keeps it, so it is marked as of no use, and not disabled.
    const refresh = () => {
      set(back, { "aria-disabled": String(place.value <= 0) });
      set(forward, { "aria-disabled": String(place.value >= length - 1) });
      set(run, { text: timer ? "Pause" : "Play" });
    };
    const node = h("div", { class: "x-player" }, h("div", { class: "x-buttons" }, back, run, forward), place.node);
    refresh();
    return { node, go, stop, get step() { return place.value; } };
  }

  // --- what is drawn ---

  // An SVG whose units are the page's pixels: `draw(svg, width, narrow)` fills it anew whenever its width changes, and
  // returns its height. `label` is what is read aloud in its place.
  function drawing(stage, label, draw) {
    const svg = s("svg", { class: "x-drawing", role: "img", "aria-label": label });
    let width = 0;
    const again = () => {
      svg.replaceChildren();
      const height = draw(svg, width, width < NARROW);
      set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    };
    const node = h("div", { class: "x-canvas" }, svg);
    stage.append(node);
    new ResizeObserver(() => {
      const room = Math.floor(node.clientWidth);
      if (room > 0 && room !== width) { width = room; again(); }
    }).observe(node);
    return { node, svg, redraw() { if (width) again(); }, label(text) { set(svg, { "aria-label": text }); } };
  }

  // A function that draws at most once in a frame, however often it is called.
  function framed(draw) {
    let asked = false;
    return () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; draw(); });
    };
  }

  // The line below the drawing that tells what is seen; a screen reader reads it when it changes.
  function speaker(stage) {
    const node = h("p", { class: "x-said", role: "status" });
    stage.append(node);
    return (text) => set(node, { text });
  }

  // Tasks that the program itself ticks off: `[text, done(state)]`. `look(state)` tells which one was just solved, or "".
  function tasks(stage, list) {
    const items = list.map(([text]) => h("li", {}, h("span", { class: "x-tick", "aria-hidden": "true" }), text, h("span", { class: "x-solved" })));
    stage.append(h("div", { class: "x-tasks" }, h("p", {}, "Find"), h("ol", {}, items)));
    return (state) => {
      let solved = "";
      for (const [place, [text, done]] of list.entries()) {
        if (items[place].classList.contains("done") || !done(state)) continue;
        items[place].classList.add("done");
        set(items[place].lastChild, { text: " (found)" });
        solved = `Found: ${text}`;
      }
      return solved;
    };
  }

  const kit = { h, s, set, button, toggle, choice, select, slider, player, drawing, framed, speaker, tasks, NARROW };

  // --- from the figure to the program ---

  const figures = (name) => document.querySelectorAll(`figure.explorable[data-explorable="${CSS.escape(name)}"]`);

  const near = new IntersectionObserver((seen) => {
    for (const name of new Set(seen.filter((one) => one.isIntersecting).map((one) => one.target.dataset.explorable))) {
      for (const figure of figures(name)) near.unobserve(figure);
      document.head.append(h("script", { src: new URL(`${name}.data.js`, folder).href }));
    }
  }, { rootMargin: `${NEAR}px 0px` });

  function define(name, program) {
    programs.set(name, program);
    for (const figure of figures(name)) near.observe(figure);
  }

  function data(name, facts) {
    for (const figure of figures(name)) {
      const fallback = figure.firstElementChild;
      const title = fallback.querySelector("title")?.textContent ?? name;
      const stage = h("div", { class: "x-stage", role: "group", "aria-label": title });
      try {
        figure.explorable = programs.get(name)(stage, facts, kit) ?? {};
        fallback.replaceWith(stage);
      } catch (error) {
        console.error(`explorable ${name}:`, error); // the static figure stays
      }
    }
  }

  return { define, data };
})();
