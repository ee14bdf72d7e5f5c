// The list of jobs: what each is at, its numbers, page by page, and only those in one state if wanted.

import { get, HIDDEN_MS, poll } from "./api.js";
import { attribute, h, keyed, notice, politely, say, title } from "./dom.js";
import { ago, ALL_STATES, clock, counted, isFinal, percent } from "./format.js";
import { progressWords, speed, stateWords, whole } from "./format.js";

const EVERY_MS = 2000;
const PER_PAGE = 25;
const LONG_TITLE = 60;

/** `#/?state=running&after=<job>` */
export function jobsView({ main, signal }, query) {
  title("Jobs");
  const state = query.get("state") ?? "";
  const after = query.get("after") ?? "";
  const list = h("ul", { class: "jobs" });
  const below = h("div", {});
  const pages = h("nav", { class: "pages", "aria-label": "Pages of jobs" });
  main.append(
    h("div", { class: "heading" }, h("h1", {}, "Jobs"), filter(state)),
    h("p", { class: "loading", id: "loading" }, "Loading…"),
    list,
    below,
    pages,
  );
  poll(
    async () => {
      const found = await get("v1/jobs", { limit: PER_PAGE, after, state }, signal);
      document.getElementById("loading")?.remove();
      keyed(list, found.data, (job) => job.id, row);
      below.replaceChildren(...(found.data.length ? [] : [nobody(state, after)]));
      pagesOf(pages, found, state, after);
      tell(found.data);
    },
    EVERY_MS,
    signal,
    (error) => {
      document.getElementById("loading")?.remove();
      if (!list.children.length) below.replaceChildren(notice("bad", error.message));
      return error.status !== 403;
    },
    HIDDEN_MS,
  );
}

function filter(state) {
  const choose = h(
    "select",
    {
      id: "state",
      on: {
        change() {
          location.hash = choose.value ? `#/?state=${choose.value}` : "#/";
        },
      },
    },
    h("option", { value: "" }, "all states"),
    ALL_STATES.map((one) => h("option", { value: one }, stateWords(one))),
  );
  choose.value = state;
  return h("label", { class: "inline" }, "Show ", choose);
}

function nobody(state, after) {
  if (state || after) {
    return notice("empty", h("p", {}, "No job here. ", h("a", { href: "#/" }, "See all jobs"), "."));
  }
  return notice(
    "empty",
    h("p", { class: "large" }, "No jobs yet."),
    h("p", {}, h("a", { href: "#/submit" }, "Drop a book here"), ", or type:"),
    h("pre", {}, h("code", {}, "tts-batch submit book.epub")),
  );
}

function row() {
  const link = h("a", { dir: "auto" });
  const badge = h("span", { class: "badge" });
  const bar = h("progress", { max: 1 });
  const share = h("span", { class: "number share" });
  const line = h("div", { class: "line bar" }, bar, share);
  const numbers = h("p", { class: "numbers" });
  const node = h("li", { class: "card job" }, h("div", { class: "line" }, h("h2", {}, link), badge), line, numbers);
  return {
    node,
    update(job) {
      titleInto(link, job);
      attribute(link, "href", `#/jobs/${encodeURIComponent(job.id)}`);
      say(badge, stateWords(job.state));
      attribute(badge, "data-state", job.state);
      bar.value = job.progress;
      attribute(bar, "aria-label", `Progress of ${job.title || job.id}`);
      say(share, percent(job.progress));
      line.hidden = isFinal(job.state) && job.progress === 1; // a full bar says nothing more
      numbersOf(numbers, job, job.author);
    },
  };
}

/** A job's title, or its id. Of a long one some lines are seen; the whole of it stands in a tooltip. */
export function titleInto(node, job) {
  say(node, job.title || job.id);
  attribute(node, "title", job.title?.length > LONG_TITLE ? job.title : null);
}

/** The numbers of one job, after its `author`, each in a span so that they wrap between, not inside. */
export function numbersOf(into, job, author = "") {
  const counts = job.counts;
  const running = !isFinal(job.state) && job.state !== "paused";
  const told = [
    author,
    `${whole(counts.done)} of ${counted(counts.total, "segment")}`,
    counts.failed ? `${whole(counts.failed)} failed` : null,
    counts.marked ? `${whole(counts.marked)} marked` : null,
    counts.reused ? `${whole(counts.reused)} reused` : null,
    `${clock(job.audio_s)} of audio`,
    running ? speed(job.times_real_time) : null,
    running && job.eta_s !== null ? `${clock(job.eta_s)} to go` : null,
    isFinal(job.state) ? ago(job.updated_at) : null,
  ].filter(Boolean);
  if (into.dataset.told === told.join()) return;
  into.dataset.told = told.join();
  into.replaceChildren(...told.map((text) => h("span", {}, h("bdi", {}, text))));
}

function pagesOf(pages, found, state, after) {
  const to = (cursor) => `#/?${new URLSearchParams([...(state ? [["state", state]] : []), ["after", cursor]])}`;
  const last = found.data.at(-1)?.id;
  const key = `${after} ${found.has_more} ${last}`;
  if (pages.dataset.key === key) return;
  pages.dataset.key = key;
  pages.replaceChildren(
    ...(after ? [h("a", { href: state ? `#/?state=${state}` : "#/" }, "Newest")] : []),
    ...(found.has_more && last ? [h("a", { href: to(last) }, "Older")] : []),
  );
  pages.hidden = !pages.children.length;
}

function tell(jobs) {
  const busy = jobs.filter((job) => !isFinal(job.state) && job.state !== "paused");
  const work = busy.length === 1 ? percent(busy[0].progress) : `${busy.length} at work`;
  title(busy.length ? `${work} · Jobs` : "Jobs");
  const first = busy[0];
  if (first) {
    politely(`${first.title || first.id}: ${progressWords(first)}`);
  }
}
