// Building elements. Text only ever goes in as text: nothing that a server or a book says becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `on` holds listeners, the others are attributes; what is null, undefined or false is left out. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for parts of a drawing. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button. `props` may add a class, a label for screen readers, … */
export function button(label, click, props = {}) {
  return h("button", { type: "button", ...props, on: { click } }, label);
}

/** Set a text only if it changed: screen readers and selections are left in peace. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set or take away an attribute, only if it changed. */
export function attribute(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : value);
}

/**
 * Children of `parent`, one for each item, kept by key: what stays is updated in place, so focus and open parts stay.
 * `make(item)` gives `{node, update(item)}`.
 */
export function keyed(parent, items, key, make) {
  const kept = (parent.rowsByKey ??= new Map());
  const wanted = new Set(items.map(key));
  for (const [name, row] of kept) {
    if (!wanted.has(name)) {
      row.node.remove();
      kept.delete(name);
    }
  }
  items.forEach((item, index) => {
    const name = key(item);
    if (!kept.has(name)) kept.set(name, make(item));
    const row = kept.get(name);
    if (parent.children[index] !== row.node) parent.insertBefore(row.node, parent.children[index] ?? null);
    row.update(item);
  });
}

/** Facts as a description list: `[["voice", "joe"], …]`; a fact without a value is left out. */
export function facts(rows) {
  return h(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, value))),
  );
}

/** A note that something went wrong, or that there is nothing yet. */
export function notice(kind, ...children) {
  return h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, children);
}

let spoken = 0;
/** Tell a screen reader something when it has a moment, at most every ten seconds unless it matters. */
export function politely(text, { matters = false } = {}) {
  const now = Date.now();
  if (!matters && now - spoken < 10_000) return;
  spoken = now;
  say(document.getElementById("polite"), text);
}

/** The title of the window: what is looked at, then the program. */
export function title(text) {
  const whole = text ? `${text} – tts-batch` : "tts-batch";
  if (document.title !== whole) document.title = whole;
}
