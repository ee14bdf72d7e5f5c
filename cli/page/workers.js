// The machines that speak: their slots now and over the last hour, and what waits in the queue.

import { get, poll } from "./api.js";
import { chart } from "./charts.js";
import { h, notice, title } from "./dom.js";
import { clock, counted, whole } from "./format.js";

const EVERY_MS = 2000;
const HISTORY_EVERY_MS = 5000;
const TABLE_ROWS = 60;
const CHART_POINTS = 90;
const CLASSES = ["live", "normal", "bulk"];

export function workersView({ main, signal }) {
  title("Workers");
  const now = h("div", {}, h("p", { class: "loading" }, "Loading…"));
  const overTime = h("div", {});
  main.append(
    h("h1", {}, "Workers"),
    h("section", { "aria-labelledby": "now" }, h("h2", { id: "now" }, "Now"), now),
    h("section", { "aria-labelledby": "over-time" }, h("h2", { id: "over-time" }, "Over time"), overTime),
  );
  const failed = (into) => (error) => {
    if (error.status) into.replaceChildren(notice("bad", error.message));
    return error.status !== 403;
  };
  poll(async () => refresh(now, nowOf(await get("v1/workers", {}, signal))), EVERY_MS, signal, failed(now));
  let open = false;
  poll(
    async () => {
      const history = await get("v1/workers/history", {}, signal);
      open = overTime.querySelector("details")?.open ?? open;
      if (overTime.contains(document.activeElement) && open) return; // somebody reads the table: leave it as it is
      const focused = overTime.contains(document.activeElement);
      overTime.replaceChildren(...historyOf(history, open));
      if (focused) overTime.querySelector("summary")?.focus();
    },
    HISTORY_EVERY_MS,
    signal,
    failed(overTime),
  );
}

/** New numbers; the table stays the same element, so that focus and its sideways place stay too. */
function refresh(into, fresh) {
  const [line, made] = fresh;
  const old = into.querySelector(".scroll tbody");
  const rows = made.querySelector("tbody");
  if (!old || !rows) return into.replaceChildren(...fresh);
  into.firstElementChild.replaceWith(line);
  return old.replaceWith(rows);
}

function nowOf({ data, queue }) {
  const sums = [...CLASSES.map((name) => [`${name} waiting`, queue?.[name] ?? 0]), ["in work", queue?.held ?? 0]];
  const line = h("ul", { class: "sums" }, sums.map((one) => h("li", {}, h("b", {}, whole(one[1])), ` ${one[0]}`)));
  if (!data.length) {
    const none = h("p", { class: "large" }, "No worker is up.");
    const how = h("pre", {}, h("code", {}, "tts-batch up\ntts-batch worker gpu --broker redis://…"));
    return [line, notice("empty", none, h("p", {}, "What is queued waits for one:"), how)];
  }
  const head = ["Worker", "Device", "Models", "Slots busy", "Spoken", "Segments", "Last heard"];
  return [line, table("Workers that are up", head, data.map(workerRow))];
}

function workerRow(worker) {
  const late = worker.beat_age_s > 5;
  return [
    h("span", { title: `on ${worker.host}` }, worker.worker),
    worker.device,
    worker.models.join(", "),
    h(
      "span",
      { class: "slots" },
      h("meter", { min: 0, max: worker.slots, value: worker.slots_busy, "aria-label": "Slots busy" }),
      ` ${worker.slots_busy} of ${worker.slots}`,
    ),
    clock(worker.audio_s),
    whole(worker.segments_done),
    h("span", { class: late ? "late" : null }, `${worker.beat_age_s.toFixed(1)} s ago`),
  ];
}

function table(caption, head, rows) {
  return h(
    "div",
    { class: "card scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "hidden-text" }, caption),
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        {},
        rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell))),
        ),
      ),
    ),
  );
}

function historyOf({ every_s, samples }, open) {
  if (samples.length < 2) return [notice("empty", `A sample is taken every ${every_s} s; come back in a moment.`)];
  const from_s = samples[0].at;
  const to_s = samples.at(-1).at;
  const queue = [...CLASSES, "held"].map((name) => ({
    name: name === "held" ? "in work" : name,
    points: samples.map((sample) => [sample.at, sample.queue?.[name] ?? null]),
  }));
  const waits = chart({ label: "Segments in the queue", lines: queue, from_s, to_s });
  const names = [...new Set(samples.flatMap((sample) => sample.workers.map((worker) => worker.worker)))];
  return [
    h(
      "div",
      { class: "charts" },
      h("section", { class: "card" }, h("h3", {}, "Queue"), waits),
      names.map((name) => workerChart(name, samples, from_s, to_s)),
    ),
    h("details", { open }, h("summary", {}, "The same as a table"), historyTable(samples, names)),
  ];
}

function workerChart(name, samples, from_s, to_s) {
  const of = (sample) => sample.workers.find((worker) => worker.worker === name);
  const points = smooth(samples.map((sample) => [sample.at, of(sample)?.slots_busy ?? null]));
  const slots = Math.max(1, ...samples.map((sample) => of(sample)?.slots ?? 0));
  const lines = [{ name: "slots busy", points, filled: true }];
  return h(
    "section",
    { class: "card" },
    h("h3", { class: "clip", title: name }, name),
    h("p", { class: "muted" }, `${counted(slots, "slot")}${of(samples.at(-1)) ? "" : ", gone"}`),
    chart({ label: `Slots of ${name}`, lines, from_s, to_s, most: slots }),
  );
}

/** At most so many points that a chart can show them: means over runs of samples. */
function smooth(points) {
  const size = Math.ceil(points.length / CHART_POINTS);
  if (size === 1) return points;
  const found = [];
  for (let start = 0; start < points.length; start += size) {
    const numbers = points.slice(start, start + size).map(([, number]) => number).filter((number) => number !== null);
    const mean = numbers.length ? numbers.reduce((sum, number) => sum + number, 0) / numbers.length : null;
    found.push([points[start][0], mean]);
  }
  found.push(points.at(-1)); // the end is now
  return found;
}

/** Every so many samples a row, newest first. */
function historyTable(samples, names) {
  const step = Math.max(1, Math.ceil(samples.length / TABLE_ROWS));
  const rows = samples.filter((_, index) => (samples.length - 1 - index) % step === 0).reverse();
  const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return table(
    "Queue and slots over time",
    ["Time", ...CLASSES, "in work", ...names.map((name) => `busy: ${name}`)],
    rows.map((sample) => [
      time.format(sample.at * 1000),
      ...[...CLASSES, "held"].map((name) => whole(sample.queue?.[name] ?? 0)),
      ...names.map((name) => {
        const worker = sample.workers.find((one) => one.worker === name);
        return worker ? `${worker.slots_busy} of ${worker.slots}` : "–";
      }),
    ]),
  );
}
