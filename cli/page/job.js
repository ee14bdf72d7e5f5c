// One job: what it is and how far, what can be done to it, its player, chapters, files and failures.

import { address, isLeft } from "./api.js";
import { chapterList } from "./chapters.js";
import { controls } from "./controls.js";
import { attribute, button, facts, h, keyed, notice, politely, say, title } from "./dom.js";
import { JobFeed } from "./feed.js";
import { bytes, counted, isFinal, percent, price, progressWords, stateWords, whole } from "./format.js";
import { numbersOf, titleInto } from "./jobs.js";
import { Player } from "./player.js";
import { Timeline } from "./timeline.js";

/** Of more files than these, those of the parts are folded away. */
const FILES_SHOWN = 12;

/** `#/jobs/<id>` */
export function jobView({ main, signal }, id) {
  title(id);
  const feed = new JobFeed(id, signal);
  const away = h("div", {});
  const back = h("p", { class: "back" }, h("a", { href: "#/" }, "All jobs"), " / ", h("code", {}, id));
  main.append(back, h("p", { class: "loading" }, "Loading…"), away);
  feed.addEventListener("job", () => show(main, feed, away, signal), { once: true });
  feed.start((error) => {
    main.querySelector(".loading")?.remove();
    if (error.status === 404) away.replaceChildren(...gone(id));
    else if (!feed.job) away.replaceChildren(notice("bad", error.message));
    return error.status !== 404 && error.status !== 403;
  });
}

function gone(id) {
  title("No such job");
  const why = `No job has the id ${id}: it was purged, or the address is not whole.`;
  return [h("h1", { class: "job-head" }, "No such job"), notice("bad", why)];
}

function show(main, feed, away, signal) {
  main.querySelector(".loading")?.remove();
  away.replaceChildren();
  const timeline = new Timeline(feed, signal);
  const audio = h("audio", { id: "audio", preload: "none" });
  const player = new Player(feed, timeline, audio, signal);
  const problem = h("div", {});
  const ask = async (what, json) => {
    problem.replaceChildren();
    try {
      await feed.ask(what, json);
    } catch (error) {
      if (!isLeft(error)) problem.replaceChildren(notice("bad", error.message));
    }
  };
  const again = (segment) => ask("retry", { segments: [segment] });
  main.append(
    head(feed),
    actions(feed, ask),
    problem,
    controls(feed, timeline, player, signal),
    failures(feed),
    chapterList(feed, timeline, player, again, signal),
    files(feed),
    options(feed),
  );
  feed.addEventListener("job", () => tell(feed.job));
  feed.dispatchEvent(new Event("job")); // every part hears of what is there already
}

function head(feed) {
  const name = h("h1", { dir: "auto" });
  const author = h("p", { class: "author", dir: "auto" });
  const badge = h("span", { class: "badge" });
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const share = h("span", { class: "number share" });
  const numbers = h("p", { class: "numbers", id: "numbers" });
  const reason = h("div", {});
  const known = h("div", {});
  feed.addEventListener("job", () => {
    const job = feed.job;
    titleInto(name, job);
    attribute(name, "lang", job.language || null);
    say(author, job.author ?? "");
    author.hidden = !job.author;
    say(badge, stateWords(job.state));
    attribute(badge, "data-state", job.state);
    bar.value = job.progress;
    say(share, percent(job.progress));
    numbersOf(numbers, job);
    replaceIfNew(reason, job.reason || "", () => (job.reason ? [notice("bad", job.reason)] : []));
    const rows = factsOf(job);
    replaceIfNew(known, JSON.stringify(rows), () => [facts(rows)]);
  });
  return h(
    "header",
    { class: "job-head" },
    h("div", { class: "line" }, name, badge),
    author,
    h("div", { class: "line bar" }, bar, share),
    numbers,
    reason,
    known,
  );
}

function replaceIfNew(into, key, make) {
  if (into.dataset.key === key) return;
  into.dataset.key = key;
  into.replaceChildren(...make());
}

function factsOf(job) {
  const device_s = job.cost?.device_s;
  const cost = [device_s ? `${device_s.toFixed(1)} device-seconds` : null, price(job.cost)];
  return [
    ["Voice", [job.voice, job.model, job.language].filter(Boolean).join(" · ")],
    ["Licence", job.spec?.licences?.[job.voice]],
    ["Formats", job.formats?.join(", ")],
    ["Priority", job.live ? `${job.priority}, live audio` : job.priority],
    [isFinal(job.state) ? "Cost" : "Cost so far", cost.filter(Boolean).join(", ")],
  ];
}

function actions(feed, ask) {
  const pause = button("Pause the job", () => ask("pause"));
  const resume = button("Resume the job", () => ask("resume"), { class: "main" });
  const retry = button("Retry what is bad", () => ask("retry", { failed: true }), { class: "main" });
  const question = h("p", {});
  const dialog = h(
    "dialog",
    { "aria-labelledby": "sure" },
    h("h2", { id: "sure" }, "Cancel this job?"),
    question,
    h(
      "form",
      { method: "dialog", class: "line" },
      h("button", { value: "no" }, "Keep it"),
      h("button", { value: "yes", class: "danger" }, "Yes, cancel it"),
    ),
  );
  dialog.addEventListener("close", () => dialog.returnValue === "yes" && ask("cancel"));
  const cancel = button(
    "Cancel the job…",
    () => {
      const { total, done, failed } = feed.job.counts;
      say(question, `What is not spoken yet stays unspoken: ${counted(total - done - failed, "segment")}.`);
      dialog.returnValue = "no";
      dialog.showModal();
    },
    { class: "danger" },
  );
  feed.addEventListener("job", () => {
    const { state } = feed.job;
    pause.hidden = !["planning", "queued", "running"].includes(state);
    resume.hidden = state !== "paused";
    retry.hidden = !["done_with_failures", "failed"].includes(state);
    cancel.hidden = isFinal(state);
  });
  return h("div", { class: "actions" }, pause, resume, retry, cancel, dialog);
}

function failures(feed) {
  const list = h("ul", { class: "failures" });
  const section = h("section", { "aria-labelledby": "failures" }, h("h2", { id: "failures" }, "What went wrong"), list);
  feed.addEventListener("job", () => {
    const found = feed.job.failures ?? [];
    section.hidden = !found.length;
    keyed(list, found, (one) => one.reason, () => {
      const node = h("li", { dir: "auto" });
      const update = (one) => say(node, `${one.reason || "no reason is known"} (${counted(one.segments, "segment")})`);
      return { node, update };
    });
  });
  return section;
}

/** What is finished: the files of the whole before the many of its parts. */
function files(feed) {
  const list = h("ul", {});
  const parts = h("ul", {});
  const number = h("summary", {});
  const inside = h("details", {}, number, parts);
  const none = h("p", { class: "muted" });
  feed.addEventListener("job", () => {
    const found = feed.job.files ?? [];
    const many = found.length > FILES_SHOWN;
    const isPart = (file) => many && file.name.includes("/");
    none.hidden = found.length > 0;
    say(none, feed.final ? "No file was made." : "Finished audio is listed here as soon as it is made.");
    keyed(list, found.filter((file) => !isPart(file)), (file) => file.name, fileRow);
    keyed(parts, found.filter(isPart), (file) => file.name, fileRow);
    say(number, counted(parts.children.length, "file of its parts", "files of its parts"));
    inside.hidden = !parts.children.length;
  });
  const heading = h("h2", { id: "files" }, "Files");
  return h("section", { class: "files", "aria-labelledby": "files" }, heading, list, inside, none);
}

function fileRow(file) {
  const href = address(file.url.replace(/^\//, ""));
  const link = h("a", { href, download: file.name.split("/").at(-1), dir: "auto" }, file.name);
  const size = h("span", { class: "number muted" });
  return { node: h("li", {}, link, size), update: (now) => say(size, bytes(now.size_bytes)) };
}

/** What was asked for, for those who want to know. */
function options(feed) {
  const inside = h("div", {});
  feed.addEventListener("job", () => {
    const spec = feed.job.spec ?? {};
    const rows = [
      ["Seed", String(spec.seed ?? "")],
      ["Speed", String(spec.speed ?? "")],
      ["Source", feed.job.source_kind],
      ["Takes", spec.checks && `at most ${spec.checks.takes}; without a good one: ${spec.checks.on_bad}`],
      ["Recogniser", spec.checks?.asr],
      ["Mastering", spec.mastering && [spec.mastering.profile, `over each ${spec.mastering.over}`].join(", ")],
      ["Subtitles", spec.subtitles?.join(", ")],
      ["Datasets", spec.exports?.join(", ")],
      ["Read-along", spec.read_along ? "yes" : null],
      ["Retakes", feed.job.counts.retakes ? whole(feed.job.counts.retakes) : null],
      ...Object.entries(spec.licences ?? {})
        .filter(([voice]) => voice !== feed.job.voice) // its own stands above
        .map(([voice, licence]) => [`Licence of ${voice}`, licence]),
    ];
    replaceIfNew(inside, JSON.stringify(rows), () => [facts(rows)]);
  });
  return h("details", { class: "card" }, h("summary", {}, "Options of this job"), inside);
}

let told = null;
function tell(job) {
  const moves = !isFinal(job.state) && job.state !== "paused";
  title(`${moves ? percent(job.progress) : stateWords(job.state)} · ${job.title || job.id}`);
  const changed = told !== `${job.id} ${job.state}`;
  told = `${job.id} ${job.state}`;
  const rest = isFinal(job.state) ? "" : `, ${progressWords(job)}`;
  politely(`${stateWords(job.state)}${rest}`, { matters: changed });
}
