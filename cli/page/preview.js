// What would become of a source, before it is queued: chapters, what is left out or replaced, length, time and price.

import { h, notice } from "./dom.js";
import { clock, counted, price, whole } from "./format.js";

const CHAPTERS = 12;
const NOT_MEASURED = "Time and cost are not known: nothing was measured here yet.";

/** The plan as an element. */
export function preview(plan) {
  const who = [plan.author, plan.language].filter(Boolean).join(" · ");
  return h(
    "div",
    { class: "plan" },
    h("h3", { dir: "auto" }, plan.title || "Without a title"),
    who ? h("p", { class: "muted", dir: "auto" }, who) : null,
    h("ul", { class: "sums" }, sums(plan).map(sum)),
    plan.estimate.device_s === null ? h("p", { class: "muted" }, NOT_MEASURED) : null,
    plan.warnings.map((warning) => notice("warn", warning)),
    chapters(plan.chapters),
    passages("Not spoken", plan.skipped),
    passages("Replaced", plan.replaced),
  );
}

const sum = ([name, value]) => h("li", {}, h("b", { class: "number" }, value), ` ${name}`);

function sums({ chapters: all, segments, chars, audio_s, estimate }) {
  const rows = [
    [all.length === 1 ? "chapter" : "chapters", whole(all.length)],
    [segments === 1 ? "segment" : "segments", whole(segments)],
    ["characters", whole(chars)],
    ["of audio, about", clock(audio_s)],
  ];
  if (estimate.eta_s !== null) rows.push(["until it is spoken", clock(estimate.eta_s)]);
  if (estimate.device_s !== null) rows.push(["device-seconds", estimate.device_s.toFixed(1)]);
  if (estimate.segments_in_store) rows.push(["spoken already", counted(estimate.segments_in_store, "segment")]);
  const cost = price(estimate);
  if (cost) rows.push(["expected cost", cost]);
  return rows;
}

function chapters(all) {
  const row = (chapter, index) =>
    h(
      "tr",
      {},
      h("td", { class: "muted" }, String(index + 1)),
      h("th", { scope: "row", dir: "auto" }, chapter.title || "–"),
      h("td", { class: "number" }, whole(chapter.segments)),
      h("td", { class: "number" }, clock(chapter.audio_s)),
    );
  const rows = all.map(row);
  const column = (name, kind = null) => h("th", { scope: "col", class: kind }, name);
  const head = [h("td", {}), column("Title"), column("Segments", "number"), column("Audio", "number")];
  const table = (part) =>
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Chapters of the plan" },
      h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, part)),
    );
  if (rows.length <= CHAPTERS) return table(rows);
  return h("details", {}, h("summary", {}, `All ${counted(rows.length, "chapter")}`), table(rows));
}

function passages(heading, all) {
  if (!all?.length) return null;
  return h(
    "section",
    {},
    h("h4", {}, heading),
    h(
      "ul",
      { class: "passages" },
      all.map((one) =>
        h(
          "li",
          {},
          one.why.replaceAll("_", " "),
          h("span", { class: "number muted" }, ` × ${whole(one.count)}`),
          one.example ? h("q", { dir: "auto" }, one.example.replaceAll("\n", "⏎")) : null,
        ),
      ),
    ),
  );
}
