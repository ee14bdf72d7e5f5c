// Chapters of a job with their progress and verdicts; each opens to its segments.

import { get, isLeft } from "./api.js";
import { attribute, button, h, keyed, notice, say } from "./dom.js";
import { clock, counted, whole } from "./format.js";

const PAGE = 100;
const CHAPTERS_SHOWN = 200;
const AGAIN = new Set(["done_with_failures", "failed"]);

/** The list under a heading. `again(segment)` asks for a segment to be spoken anew. */
export function chapterList(feed, timeline, player, again, signal) {
  const list = h("ul", { class: "chapters" });
  const onlyBad = h("input", { type: "checkbox", id: "only-bad" });
  const empty = h("div", {});
  let shown = CHAPTERS_SHOWN;
  const more = button("Show more chapters", () => {
    shown += CHAPTERS_SHOWN;
    draw();
  });
  const context = { feed, player, again, signal, onlyBad, heard: null };
  const draw = () => {
    const wanted = timeline.chapters.filter((chapter) => !onlyBad.checked || chapter.failed || chapter.marked);
    keyed(list, wanted.slice(0, shown), (chapter) => chapter.chapter, () => chapterRow(context));
    more.hidden = wanted.length <= shown;
    empty.replaceChildren(...(wanted.length ? [] : [notice("empty", emptyText(timeline, onlyBad.checked))]));
  };
  onlyBad.addEventListener("change", draw);
  timeline.addEventListener("change", draw);
  player.addEventListener("heard", ({ detail }) => {
    context.heard = detail?.segment?.segment ?? null;
    mark(list, "chapter", detail?.chapter.chapter);
    mark(list, "segment", context.heard);
  });
  draw();
  return h(
    "section",
    { "aria-labelledby": "chapters" },
    h(
      "div",
      { class: "heading" },
      h("h2", { id: "chapters" }, "Chapters"),
      h("label", { class: "inline" }, onlyBad, " only what is bad"),
    ),
    list,
    more,
    empty,
  );
}

function emptyText(timeline, bad) {
  return bad && timeline.chapters.length ? "Nothing is bad." : "The chapters are shown as soon as the source is read.";
}

/** Show which one is heard. */
function mark(list, kind, number) {
  for (const old of list.querySelectorAll(`[data-${kind}][aria-current]`)) old.removeAttribute("aria-current");
  if (number === null || number === undefined) return;
  list.querySelector(`[data-${kind}="${number}"]`)?.setAttribute("aria-current", "true");
}

function chapterRow(context) {
  const { feed, player, onlyBad } = context;
  let chapter = null;
  let shown = null;
  let reload = () => undefined;
  const play = button("▶", () => player.seek(chapter.start_s), { class: "quiet play" });
  const name = h("span", { class: "name", dir: "auto", lang: feed.job.language || null });
  const told = h("span", { class: "numbers" });
  const bar = h("progress", { max: 1, "aria-hidden": "true" });
  const inside = h("div", { class: "inside" });
  const details = h("details", {}, h("summary", {}, name, bar, told), inside);
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    const one = segments(context, chapter.chapter);
    inside.replaceChildren(one.node);
    reload = one.reload;
    reload();
  });
  return {
    node: h("li", { class: "card chapter" }, play, details),
    update(found) {
      chapter = found;
      attribute(details, "data-chapter", chapter.chapter);
      const title = chapter.title || `Chapter ${chapter.chapter + 1}`;
      say(name, title);
      attribute(play, "aria-label", `Play ${title}`);
      attribute(play, "disabled", chapter.start_s === null);
      bar.value = chapter.segments ? (chapter.done + chapter.failed) / chapter.segments : 0;
      say(told, chapterNumbers(chapter));
      const before = shown;
      shown = [found.done, found.failed, found.marked, found.assembled, found.start_s, onlyBad.checked].join();
      if (details.open && before !== shown) reload();
    },
  };
}

function chapterNumbers(chapter) {
  const all = counted(chapter.segments, "segment");
  const parts = [
    chapter.assembled ? all : `${chapter.done} of ${all}`,
    chapter.failed ? `${whole(chapter.failed)} failed` : null,
    chapter.marked ? `${whole(chapter.marked)} marked` : null,
    clock(chapter.audio_s),
    chapter.start_s === null ? null : `from ${clock(chapter.start_s)}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The segments of a chapter, page by page. */
function segments(context, chapter) {
  const { feed, signal, onlyBad } = context;
  const list = h("ol", { class: "segments" });
  const below = h("div", {});
  let pages = 1;
  let busy = false;
  let again = false;
  const more = button("More segments", () => {
    pages += 1;
    reload();
  });
  more.hidden = true;
  const reload = async () => {
    again ||= busy; // one after the other: an older answer must not come over a newer one
    if (busy) return;
    busy = true;
    again = false;
    await load();
    busy = false;
    if (again && !signal.aborted) reload();
  };
  const load = async () => {
    const found = [];
    let page = { has_more: true };
    try {
      for (let count = 0; count < pages && page.has_more; count += 1) {
        const only = onlyBad.checked ? "bad" : null;
        const query = { chapter, after: found.at(-1)?.segment, limit: PAGE, only };
        page = await get(`${feed.path}/segments`, query, signal);
        found.push(...page.data);
      }
    } catch (error) {
      if (isLeft(error)) return;
      below.replaceChildren(notice("bad", error.message));
      return;
    }
    below.replaceChildren(...(found.length ? [] : [notice("empty", "Nothing is bad here.")]));
    keyed(list, found, (segment) => segment.segment, (segment) => segmentRow(context, segment));
    mark(list, "segment", context.heard);
    more.hidden = !page.has_more;
  };
  return { node: h("div", {}, list, more, below), reload };
}

function segmentRow({ feed, player, again }, { segment: number }) {
  let segment = null;
  const label = `segment ${number + 1}`;
  const playLabel = { class: "quiet play", "aria-label": `Play ${label}` };
  const play = button("▶", () => player.segment(number, segment.start_s), playLabel);
  const retry = button("Retry", () => again(number), { class: "quiet retry", "aria-label": `Retry ${label}` });
  const badge = h("span", { class: "badge" });
  const text = h("p", { class: "text", dir: "auto", lang: feed.job.language || null });
  const told = h("span", { class: "muted" });
  const reason = h("p", { class: "reason", dir: "auto" });
  const line = h("p", { class: "line small" }, badge, told, retry);
  return {
    node: h("li", { "data-segment": number }, play, h("div", {}, text, line, reason)),
    update(found) {
      segment = found;
      const bad = segment.state === "failed" || (segment.grade && segment.grade !== "good");
      say(text, segment.text);
      say(badge, verdict(segment));
      attribute(badge, "data-state", bad ? "failed" : segment.state);
      const takes = segment.takes > 1 ? counted(segment.takes, "take") : null;
      say(told, [segment.audio_s ? clock(segment.audio_s) : null, takes].filter(Boolean).join(" · "));
      say(reason, segment.reason ?? "");
      reason.hidden = !segment.reason;
      attribute(play, "disabled", segment.state !== "done");
      retry.hidden = !(bad && AGAIN.has(feed.job.state));
    },
  };
}

function verdict(segment) {
  if (segment.state !== "done") return segment.state;
  return segment.grade && segment.grade !== "good" ? `${segment.grade} take` : "good";
}
