// Which cells of a buffer does a tensor show, in which order, and which views of it are possible?
//
// The tensor is an expression that a reader can type: each button adds one operation to it. Sizes, strides and offset follow
// here as in the library, with which a test compares them. Whether a view is possible is read off the cells: the first steps
// along each new dimension fix its stride, and then every element has to lie where these strides lead.
"use strict";

GlassExplorable.define("strides", (stage, data, kit) => {
  const { h, s, set } = kit;
  const product = (numbers) => numbers.reduce((all, number) => all * number, 1);
  const tuple = (numbers) => (numbers.length === 1 ? `(${numbers[0]},)` : `(${numbers.join(", ")})`);
  const without = (list, place) => list.filter((_, at) => at !== place);
  const changed = (list, place, value) => list.map((old, at) => (at === place ? value : old));

  // --- a tensor: { code, sizes, strides, offset, values }, of which `values` is the storage ---

  const index = (number, sizes) => {
    const places = [];
    for (const size of [...sizes].reverse()) { places.unshift(number % size); number = Math.floor(number / size); }
    return places;
  };
  const cell = (tensor, places) => places.reduce((at, place, dim) => at + place * tensor.strides[dim], tensor.offset);
  const cellsOf = (tensor) => Array.from({ length: product(tensor.sizes) }, (_, number) => cell(tensor, index(number, tensor.sizes)));

  // What strides of these sizes the cells allow: `{ strides }`, or `{ element, wanted, found }` where the first one is amiss.
  function viewed(cells, sizes) {
    const strides = sizes.map((size, dim) => {
      const step = product(sizes.slice(dim + 1)); // elements passed by one step along this dimension
      return size > 1 ? cells[step] - cells[0] : step;
    });
    for (const [element, found] of cells.entries()) {
      const wanted = cell({ strides, offset: cells[0] }, index(element, sizes));
      if (wanted !== found) return { element, wanted, found };
    }
    return { strides };
  }

  const isContiguous = (cells) => cells.every((at, place) => at === cells[0] + place);
  const fresh = (sizes) => viewed(Array.from({ length: product(sizes) }, (_, at) => at), sizes).strides;

  // The sizes, without 1, that have as many elements: of one, two or three dimensions.
  function sizesFor(count) {
    const found = [];
    const cut = (rest, sizes) => {
      if (rest > 1) found.push([...sizes, rest]);
      if (sizes.length < 2) for (let size = 2; size < rest; size += 1) if (rest % size === 0) cut(rest / size, [...sizes, size]);
    };
    cut(count, []);
    return found.sort((a, b) => a.length - b.length);
  }

  // --- operations: `{ label, code, tensor }`, or `{ label, copies }` for what is no view ---

  const at = (dim, inside) => `[${":, ".repeat(dim)}${inside}]`;
  const view = (tensor, code, geometry) => ({ code, tensor: { ...tensor, ...geometry, code: tensor.code + code } });

  function alongDimension(tensor, dim) {
    const { sizes, strides, offset } = tensor;
    const size = sizes[dim], stride = strides[dim], next = dim + 1, found = [];
    const add = (code, geometry) => found.push(view(tensor, code, geometry));
    const place = Math.min(1, size - 1);
    add(at(dim, place), { sizes: without(sizes, dim), strides: without(strides, dim), offset: offset + place * stride });
    if (size > 1) {
      add(at(dim, "1:"), { sizes: changed(sizes, dim, size - 1), offset: offset + stride });
      add(at(dim, ":-1"), { sizes: changed(sizes, dim, size - 1) });
      add(at(dim, ":1"), { sizes: changed(sizes, dim, 1) });
    }
    if (size > 2) add(at(dim, "::2"), { sizes: changed(sizes, dim, Math.ceil(size / 2)), strides: changed(strides, dim, 2 * stride) });
    if (next < sizes.length) {
      const swapped = (list) => changed(changed(list, dim, list[next]), next, list[dim]);
      add(`.transpose(${dim}, ${next})`, { sizes: swapped(sizes), strides: swapped(strides) });
    }
    if (size > 1) add(`.unfold(${dim}, 2, 1)`, { sizes: [...changed(sizes, dim, size - 1), 2], strides: [...strides, stride] });
    if (size === 1) {
      const grown = sizes.map((_, other) => (other === dim ? 3 : -1)).join(", ");
      add(`.expand(${grown})`, { sizes: changed(sizes, dim, 3), strides: changed(strides, dim, 0) });
      add(`.squeeze(${dim})`, { sizes: without(sizes, dim), strides: without(strides, dim) });
    } else {
      found.push({ code: `.flip(${dim})`, copies: `.flip(${dim}) is no view: its stride would be ${-stride || "negative"}, and PyTorch has no negative strides. It copies.` });
    }
    return found;
  }

  function ofTheWhole(tensor) {
    const { sizes, strides } = tensor, found = [];
    const outer = sizes.length ? sizes[0] * strides[0] : 1;
    found.push(view(tensor, ".unsqueeze(0)", { sizes: [1, ...sizes], strides: [outer, ...strides] }));
    if (sizes.length >= 2) {
      const diagonal = [...sizes.slice(2), Math.min(sizes[0], sizes[1])];
      found.push(view(tensor, ".diagonal()", { sizes: diagonal, strides: [...strides.slice(2), strides[0] + strides[1]] }));
    }
    const cells = cellsOf(tensor);
    if (isContiguous(cells)) {
      found.push({ code: ".contiguous()", copies: ".contiguous() has nothing to do here: it gives back the tensor itself." });
    } else {
      const geometry = { strides: fresh(sizes), offset: 0, values: cells.map((one) => tensor.values[one]) };
      found.push({ ...view(tensor, ".contiguous()", geometry), copied: true });
    }
    return found;
  }

  function views(tensor) {
    const cells = cellsOf(tensor);
    return sizesFor(cells.length).map((sizes) => {
      const code = `.view(${sizes.join(", ")})`, result = viewed(cells, sizes);
      return result.strides ? { sizes, ...view(tensor, code, { sizes, strides: result.strides }) } : { code, sizes, impossible: result };
    });
  }

  const tooLarge = ({ tensor }) => tensor && (product(tensor.sizes) > data.most.elements || tensor.sizes.length > data.most.dimensions);

  // --- the stage ---

  const starts = data.starts.map((start) => ({ ...start, values: Array.from({ length: start.cells }, (_, at) => at) }));
  let tensor = starts[0], cells = [], step = 0, broken = null, history = [], drawn = null;

  const expression = h("p", { class: "x-expression" });
  const start = kit.select("Begin with", starts.map(({ code }) => [code, code]), tensor.code, (code) => {
    history = [];
    show(starts.find((one) => one.code === code));
  });
  const undo = kit.button("Undo", () => { if (history.length) { const last = history.pop(); show(last); } });
  const again = kit.button("Start again", () => { history = []; show(starts.find((one) => one.code === start.value)); });
  const geometry = h("div", { class: "x-geometry" });
  const whole = h("div", { class: "x-row" });
  const possible = h("div", { class: "x-row" });
  stage.append(h("div", { class: "x-row" }, start.node, undo, again), expression);
  const picture = kit.drawing(stage, "", draw);
  const walk = kit.slider("Element", { max: 0, shown: (number) => (tensor ? `[${index(number, tensor.sizes).join(", ")}]` : "") }, (number) => walkTo(number));
  stage.append(walk.node);
  const say = kit.speaker(stage);
  stage.append(geometry, whole, possible);
  const ticked = kit.tasks(stage, [
    ["a tensor that is not contiguous and that view still turns into one line.", (state) => !state.contiguous && state.count > 3 && state.line],
    ["a contiguous tensor one of whose strides a fresh tensor of its sizes would not have.", (state) => state.contiguous && String(state.strides) !== String(fresh(state.sizes))],
    ["a tensor that reads a cell twice.", (state) => new Set(state.cells).size < state.count],
  ]);

  const told = (one) => `sizes ${tuple(one.sizes)}, strides ${tuple(one.strides)}, offset ${one.offset}`;
  // A press draws the buttons anew; the focus goes to the one that has taken the pressed one's place.
  function buttons(name, operations) {
    const inside = operations.map((operation) => {
      const no = Boolean(operation.impossible || operation.copies || tooLarge(operation));
      const label = name === "View as" ? tuple(operation.sizes) : operation.code;
      return kit.button(label, () => press(operation), { "aria-label": `x${operation.code}`, class: no ? "x-code x-no" : "x-code" });
    });
    const row = h("div", { class: "x-buttons" }, inside);
    if (name) row.prepend(h("span", { class: "x-name" }, name));
    return row;
  }

  function press(operation) {
    broken = operation.impossible ?? null;
    if (operation.copies) return say(operation.copies);
    if (operation.impossible) {
      const { element, wanted, found } = broken;
      walkTo(element);
      picture.redraw();
      return say(`${operation.code} is impossible, and raises: the first steps along its dimensions lead element ${element} to cell ${wanted}, and it lies in cell ${found}. reshape would copy.`);
    }
    if (tooLarge(operation)) return say(`${operation.code} would work, and has more elements or dimensions than there is room for here.`);
    history.push(tensor);
    show(operation.tensor, operation.copied ? "A copy, with a storage of its own. " : "");
  }

    function walkTo(number) {
    step = number;
    walk.set(number);
    mark();
    const places = index(number, tensor.sizes);
    const terms = places.map((place, dim) => ` + ${place}·${tensor.strides[dim]}`).join("");
    say(`Element [${places.join(", ")}] lies at ${tensor.offset}${terms} = cell ${cells[number]}, and is ${tensor.values[cells[number]]}.`);
  }

  function show(next, before = "") {
    const active = stage.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    tensor = next;
    cells = cellsOf(tensor);
    step = 0;
    broken = null;
    walk.set(0, cells.length - 1);
    set(expression, { text: `x = ${tensor.code}` });
    geometry.replaceChildren(...tensor.sizes.map((size, dim) => h("div", { class: "x-dimension" },
      h("span", {}, `dimension ${dim}: size `, h("b", {}, size), ", stride ", h("b", {}, tensor.strides[dim])),
      buttons("", alongDimension(tensor, dim)))));
    whole.replaceChildren(buttons("The whole", ofTheWhole(tensor)));
    possible.replaceChildren(buttons("View as", views(tensor)));
    possible.hidden = cells.length < 2;
    set(undo, { "aria-disabled": String(!history.length) });
    picture.redraw();
    const contiguous = isContiguous(cells);
    const line = cells.length > 1 && Boolean(viewed(cells, [cells.length]).strides);
    const found = ticked({ ...tensor, cells, contiguous, line, count: cells.length });
    picture.label(`The storage of ${tensor.values.length} cells and the ${cells.length} elements that the tensor reads: cells ${cells.join(", ")}`);
    say(`${before}x has ${told(tensor)}; it is ${contiguous ? "" : "not "}contiguous.${found ? ` ${found}` : ""}`);
    if (active && !stage.contains(document.activeElement)) {
      const same = [...stage.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === active);
      (same ?? geometry.querySelector("button") ?? undo).focus({ preventScroll: true });
    }
  }

  // --- the drawing: the storage as a strip with an arc from each element to the next, and the tensor below it ---

  function draw(svg, width, narrow) {
    const count = tensor.values.length, size = Math.min(34, Math.floor((width - 2) / count));
    const steps = cells.slice(1).map((one, place) => Math.abs(one - cells[place]));
    const longest = Math.max(1, ...steps);
    const rise = narrow ? 46 : 62, top = 20 + rise;
    svg.append(s("text", { x: 0, y: 12, class: "x-soft" }, narrow ? "the storage; an arc leads to the next element" : "the storage: an arc leads from each element of x to the next, dashed where the step is another"));
    const middle = (one) => one * size + size / 2 + 1;
    const ordinary = steps[0];
    for (const [place, length] of steps.entries()) {
      const from = middle(cells[place]), to = middle(cells[place + 1]);
      const high = 8 + (rise - 12) * (length / longest);
      const kind = broken && place + 1 === broken.element ? "alarm" : length === ordinary ? null : "jump";
      svg.append(s("path", { class: kind, d: length ? `M${from} ${top - 2}Q${(from + to) / 2} ${top - 2 * high} ${to} ${top - 2}` : `M${from} ${top - 2}v-6` }));
    }
    const read = new Set(cells);
    drawn = { storage: [], elements: [] };
    const squares = (box, x, y, text, cls, side) => {
      const rect = s("rect", { x, y, width: side, height: Math.max(side, 20), rx: 2, class: cls });
      box.append(rect, s("text", { x: x + side / 2, y: y + Math.max(side, 20) / 2 + 4, "text-anchor": "middle", class: side < 22 ? "x-mono x-tiny" : "x-mono" }, text));
      return rect;
    };
    for (let one = 0; one < count; one += 1) {
      drawn.storage.push(squares(svg, one * size + 1, top, tensor.values[one], read.has(one) ? "on" : "off", size));
    }
    const under = top + Math.max(size, 20) + 24;
    svg.append(s("text", { x: 0, y: under, class: "x-soft" }, `x, of sizes ${tuple(tensor.sizes)}`));
    return tensorBelow(svg, width, under + 8, squares);
  }

  // Blocks of rows and columns, as many beside each other as fit.
  function tensorBelow(svg, width, top, squares) {
    const columns = tensor.sizes.at(-1) ?? 1, rows = tensor.sizes.at(-2) ?? 1;
    const side = Math.max(12, Math.min(28, Math.floor((width - 2) / columns))), tall = Math.max(side, 20);
    const blocks = cells.length / (columns * rows), wide = columns * side + 14;
    const across = Math.max(1, Math.floor((width + 14) / wide));
    for (const [number, one] of cells.entries()) {
      const block = Math.floor(number / (columns * rows)), row = Math.floor(number / columns) % rows, column = number % columns;
      const x = 1 + (block % across) * wide + column * side;
      const y = top + Math.floor(block / across) * (rows * tall + 12) + row * tall;
      const group = s("g", { class: "x-element", onclick: () => walkTo(number) });
      drawn.elements.push(squares(group, x, y, tensor.values[one], "on", side));
      svg.append(group);
    }
    mark();
    return top + Math.ceil(blocks / across) * (rows * tall + 12) - 12 + 2;
  }

  let marked = [];
  function mark() {
    if (!drawn) return;
    for (const rect of marked) set(rect, { class: "on" });
    marked = [drawn.storage[cells[step]], drawn.elements[step]];
    for (const rect of marked) set(rect, { class: "here" });
  }

  show(tensor);

  // For tests: what the stage shows, and what each of its buttons leads to.
  const facts = (one) => {
    const at = cellsOf(one);
    return { code: one.code, sizes: one.sizes, strides: one.strides, offset: one.offset, values: at.map((place) => one.values[place]), contiguous: isContiguous(at) };
  };
  return {
    shown: () => facts(tensor),
    // Follow random choices from each start; tell of every tensor on the way its facts and which views it has.
    wander(choices) {
      const found = [];
      let now = starts[0];
      for (const [turn, chosen] of choices.entries()) {
        if (turn % 5 === 0) now = starts[Math.floor(turn / 5) % starts.length];
        const ways = [...now.sizes.keys()].flatMap((dim) => alongDimension(now, dim)).concat(ofTheWhole(now), views(now)).filter((way) => way.tensor && !tooLarge(way));
        now = ways[Math.floor(chosen * ways.length)].tensor;
        found.push({ ...facts(now), views: views(now).map((way) => [way.code, way.tensor ? way.tensor.strides : null]) });
      }
      return found;
    },
  };
});
