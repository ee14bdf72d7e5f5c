// Submitting: files are dropped or picked, texts pasted; each is planned and looked at before it is queued.

import { call, isLeft, poll } from "./api.js";
import { button, h, notice, politely, title } from "./dom.js";
import { Fields } from "./fields.js";
import { bytes, counted } from "./format.js";
import { preview } from "./preview.js";

const ENDINGS = ".txt,.md,.html,.htm,.xhtml,.epub,.jsonl,.srt,.vtt";
const TEXT_NAME = "pasted text";
const MODELS_EVERY_MS = 3000;
const LISTS = new Set(["formats", "subtitles", "exports", "skip", "keep"]);
const NUMBERS = new Set(["speed", "takes", "seed"]);
const FLAGS = new Set(["live", "markup", "read_along", "skip_bad_lines", "room_tone"]);

/** `#/submit` */
export function submitView({ main, signal }) {
  title("Submit");
  if (document.documentElement.classList.contains("looks-only")) {
    const who = "This token may look, not submit. Sign out, and in again with one that has the scope ";
    main.append(h("h1", {}, "Submit"), notice("warn", who, h("code", {}, "jobs"), "."));
    return;
  }
  const view = new Submission(signal);
  main.append(
    h("h1", {}, "Submit"),
    card("source", "What is spoken", view.sources()),
    card("how", "How", view.fields.node, view.trouble),
    view.result,
  );
  view.begin();
}

const card = (id, heading, ...parts) =>
  h("section", { "aria-labelledby": id, class: "card" }, h("h2", { id }, heading), parts);

class Submission {
  #signal;
  #waiting = [];
  #queued = [];
  #looked = 0;

  constructor(signal) {
    this.#signal = signal;
    this.fields = new Fields(() => this.#stale());
    this.trouble = h("div", {});
    this.result = h("section", { "aria-labelledby": "plan", class: "card", hidden: true });
    this.list = h("ul", { class: "waiting" });
  }

  /** Fill in models and voices as soon as there are some. */
  begin() {
    poll(
      async () => {
        if (await this.fields.load(this.#signal)) {
          this.trouble.replaceChildren();
          return true;
        }
        const up = h("code", {}, "tts-batch up");
        this.trouble.replaceChildren(notice("warn", "No worker is up, so nothing can be planned. Start one: ", up));
        return false;
      },
      MODELS_EVERY_MS,
      this.#signal,
      (error) => {
        this.trouble.replaceChildren(notice("bad", error.message));
        return error.status !== 403;
      },
    );
  }

  /** Where files are dropped or picked, or text is pasted. */
  sources() {
    const picker = h("input", { type: "file", id: "files", multiple: true, accept: ENDINGS, class: "hidden-text" });
    const zone = h(
      "label",
      { class: "drop", for: "files" },
      picker,
      h("span", { class: "large" }, "Drop books or texts here"),
      h("span", { class: "muted" }, "or choose files: txt, Markdown, HTML, EPUB, JSONL, SubRip, WebVTT"),
    );
    picker.addEventListener("change", () => {
      this.#add([...picker.files]);
      picker.value = "";
    });
    for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => over(event, zone, true));
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, (event) => over(event, zone, false));
    zone.addEventListener("drop", (event) => this.#add([...event.dataTransfer.files]));
    window.addEventListener("dragover", (event) => event.preventDefault(), { signal: this.#signal });
    window.addEventListener("drop", (event) => event.preventDefault(), { signal: this.#signal }); // beside the zone
    const text = h("textarea", { id: "text", rows: 4, dir: "auto" });
    const take = button("Look at this text", () => {
      if (text.value.trim()) this.#add([text.value]);
      else text.focus();
    });
    const label = h("label", { for: "text" }, "Text");
    return [zone, h("details", {}, h("summary", {}, "Or paste a text"), label, text, take), this.list];
  }

  #add(sources) {
    const idle = !this.#waiting.length;
    this.#waiting.push(...sources);
    this.#drawWaiting();
    if (idle && sources.length) this.#look();
  }

  #drawWaiting() {
    const now = () => h("b", {}, " · at present");
    const rows = this.#waiting.map((source, index) => h("li", {}, nameOf(source), index ? null : now()));
    const link = (job) => h("a", { href: placeOf(job), dir: "auto" }, job.title || job.id);
    const done = this.#queued.map((job) => h("li", {}, link(job), " · queued"));
    this.list.replaceChildren(...done, ...rows);
  }

  /** Plan the first that waits and show it. */
  async #look() {
    const source = this.#waiting[0];
    const turn = (this.#looked += 1);
    this.#show(h("p", { class: "loading", role: "status" }, "Reading it…"));
    try {
      const plan = await this.#send("v1/plans", source);
      if (turn !== this.#looked) return;
      this.#show(preview(plan), this.#buttons("Queue it"));
      const size = `${counted(plan.chapters.length, "chapter")}, ${counted(plan.segments, "segment")}`;
      politely(`The plan has ${size}`, { matters: true });
    } catch (error) {
      if (turn === this.#looked) this.#refused(error);
    }
  }

  #buttons(label) {
    const more = this.#waiting.length > 1;
    const name = more ? `${label} and see the next` : label;
    const queue = button(name, () => this.#queue(queue), { class: "main", id: "queue" });
    return h("div", { class: "actions" }, queue, button(more ? "Leave it out" : "Not this one", () => this.#next()));
  }

  async #queue(pressed) {
    pressed.disabled = true;
    try {
      this.#queued.push(await this.#send("v1/jobs", this.#waiting[0]));
      this.#next();
    } catch (error) {
      pressed.disabled = false;
      this.#refused(error);
    }
  }

  /** The next file, or, after the last, the job: of several, the list. */
  #next() {
    this.#waiting.shift();
    this.#drawWaiting();
    if (this.#waiting.length) return this.#look();
    const [first, ...others] = this.#queued;
    if (first) location.hash = others.length ? "#/" : placeOf(first);
    this.result.hidden = true;
    return undefined;
  }

  /** An option changed: what was shown does not hold any more. */
  #stale() {
    this.#looked += 1;
    if (!this.#waiting.length || this.result.hidden) return;
    const look = button("Look at the plan", () => this.#look(), { class: "main" });
    const not = button("Not this one", () => this.#next());
    this.#show(h("p", {}, "The options changed."), h("div", { class: "actions" }, look, not));
  }

  #refused(error) {
    if (isLeft(error)) return;
    const lines = error.message.split("\n").map((line) => h("p", { dir: "auto" }, line));
    const look = button("Try again", () => this.#look(), { class: "main" });
    this.#show(notice("bad", lines), h("div", { class: "actions" }, look, button("Not this one", () => this.#next())));
    this.fields.refuse(error);
  }

  #show(...parts) {
    const heading = h("h2", { id: "plan" }, "The plan");
    const name = h("p", { class: "muted" }, this.#waiting.slice(0, 1).map(nameOf));
    this.result.replaceChildren(heading, name, ...parts);
    this.result.hidden = false;
  }

  #send(path, source) {
    const values = this.fields.values();
    const typed = typeof source === "string";
    if (typed && !values.lexicon) {
      return call("POST", path, { json: { text: source, ...asJson(values) }, signal: this.#signal });
    }
    const form = new FormData();
    form.append("file", typed ? new File([source], `${TEXT_NAME}.txt`, { type: "text/plain" }) : source);
    for (const [name, value] of Object.entries(values)) form.append(name, value);
    return call("POST", path, { form, signal: this.#signal });
  }
}

const placeOf = (job) => `#/jobs/${encodeURIComponent(job.id)}`;

function asJson(values) {
  const json = {};
  for (const [name, value] of Object.entries(values)) {
    json[name] = LISTS.has(name)
      ? value.split(",")
      : NUMBERS.has(name) ? Number(value) : FLAGS.has(name) ? value === "true" : value;
  }
  return json;
}

/** What a source is called; its name is set apart, whatever direction it is written in. */
const nameOf = (source) =>
  typeof source === "string" ? TEXT_NAME : [h("bdi", {}, source.name), ` (${bytes(source.size)})`];

function over(event, zone, inside) {
  event.preventDefault();
  zone.classList.toggle("over", inside);
}
