// Small charts over time, drawn as SVG. Each has its numbers in words; the table beside it has them all.

import { h, svg } from "./dom.js";
import { whole } from "./format.js";

const WIDTH = 320;
const HEIGHT = 64;

/** From samples `[[seconds, number | null], …]` to `[x, y]` within the drawing; gaps split it into several runs. */
export function runs(points, from_s, to_s, most) {
  const found = [];
  let run = [];
  for (const [at, number] of points) {
    if (number === null || number === undefined) {
      if (run.length) found.push(run);
      run = [];
      continue;
    }
    const x = (WIDTH * (at - from_s)) / Math.max(1, to_s - from_s);
    run.push([x, HEIGHT - 2 - ((HEIGHT - 6) * number) / Math.max(1, most)]);
  }
  if (run.length) found.push(run);
  return found;
}

/** Steps: a number holds until the next sample. */
function path(run) {
  const [[x, y], ...rest] = run;
  return `M${x.toFixed(1)} ${y.toFixed(1)}${rest.map(([nx, ny]) => `H${nx.toFixed(1)}V${ny.toFixed(1)}`).join("")}`;
}

function area(run) {
  return `${path(run)}V${HEIGHT}H${run[0][0].toFixed(1)}Z`;
}

/**
 * A chart of several lines: `[{name, points, filled}]`; each has a class `line-0`, … (colour and dashes).
 * `most` is the top of the scale; null: the highest number.
 */
export function chart({ label, lines, from_s, to_s, most = null }) {
  const highest = Math.max(1, ...lines.flatMap((line) => line.points.map(([, number]) => number ?? 0)));
  const top = most ?? highest;
  const drawn = lines.flatMap((line, index) =>
    runs(line.points, from_s, to_s, top).flatMap((run) => [
      ...(line.filled ? [svg("path", { d: area(run), class: `fill fill-${index}` })] : []),
      svg("path", { d: path(run), class: `line line-${index}` }),
    ]),
  );
  const told = lines.map((line) => `${line.name}: ${inWords(line.points)}`).join("; ");
  return h(
    "figure",
    { class: "chart" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${label}. ${told}`,
      },
      svg("path", { d: `M0 ${HEIGHT - 2}H${WIDTH}`, class: "axis" }),
      drawn,
    ),
    h("figcaption", {}, legend(lines), h("span", { class: "muted" }, `${span(to_s - from_s)}, up to ${whole(top)}`)),
  );
}

function legend(lines) {
  if (lines.length < 2) return null;
  return h(
    "span",
    { class: "legend" },
    lines.map((line, index) =>
      h(
        "span",
        {},
        svg(
          "svg",
          { viewBox: "0 0 20 8", class: "key", "aria-hidden": "true" },
          svg("path", { d: "M0 4H20", class: `line line-${index}` }),
        ),
        line.name,
      ),
    ),
  );
}

function inWords(points) {
  const numbers = points.map(([, number]) => number).filter((number) => number !== null && number !== undefined);
  if (!numbers.length) return "no samples yet";
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const tenths = (number) => whole(Math.round(10 * number) / 10);
  return `now ${tenths(numbers.at(-1))}, on average ${tenths(mean)}, at most ${tenths(Math.max(...numbers))}`;
}

function span(seconds) {
  return seconds < 90 ? `the last ${Math.round(seconds)} s` : `the last ${Math.round(seconds / 60)} min`;
}
