// The options of a submission: what is asked, and what of it is sent. Only what differs from the usual is sent.

import { get } from "./api.js";
import { h, say } from "./dom.js";

const FORMATS = ["m4b", "mp3", "flac", "opus", "wav"];
const SUBTITLES = ["srt", "vtt", "lrc"];
const DATASETS = ["ljspeech", "audiofolder", "webdataset", "nemo", "lhotse", "kaldi"];
const PROFILES = ["audiobook", "acx", "podcast", "raw"];
const KINDS = ["txt", "md", "html", "epub", "jsonl", "srt", "vtt"];
const KEEP = ["notes", "note_marks", "tables", "images", "illustrations", "code", "front", "contents", "licence"];
const SKIP = ["headings", "directions"];
/** The model for trying things out, which speaks tones: never chosen for somebody. */
const TONES = "fake";
/** Errors of a source that come from an option. */
const CODE_FIELDS = { bad_encoding: "encoding", bad_lexicon: "lexicon" };

const MOST = Number.MAX_SAFE_INTEGER;

const select = (name, label, options, help) => ({ name, label, options, help, kind: "select" });
const checks = (name, label, options, help) => ({ name, label, options, help, kind: "checks" });
const plain = (name, label, type, props, help) => ({ name, label, kind: "input", props: { type, ...props }, help });
const box = (name, label, help) => ({ name, label, help, kind: "box" });

const FIRST = [
  select("model", "Model", []),
  select("voice", "Voice", []),
  select("language", "Language", [["", "the voice's own"]]),
  plain("speed", "Speed", "number", { step: 0.05, min: 0.25, max: 4, placeholder: "1" }, "1 is the voice's own."),
  checks("formats", "Formats", FORMATS, "Without a choice: m4b."),
  select("profile", "Profile", [["", "usual for the source"], ...PROFILES], "Loudness and room."),
  select("priority", "Priority", [["", "normal"], "live", "bulk"]),
  plain("takes", "Takes", "number", { min: 1, max: 20, placeholder: "3" }, "Attempts at a segment, at most."),
  checks("subtitles", "Subtitles", SUBTITLES),
  box("live", "Hear every chunk while it is made", "Without it, sentences are heard as they are done."),
];
const MORE = [
  plain("seed", "Seed", "number", { min: 0, max: MOST, step: 1, placeholder: "0" }, "Same seed and text: same audio."),
  select("kind", "Kind of source", [["", "by its ending"], ...KINDS]),
  plain("encoding", "Encoding", "text", { placeholder: "found out" }, "Such as cp1252."),
  checks("skip", "Leave out too", SKIP),
  checks("keep", "Speak too", KEEP, "Left out by default."),
  select("addresses", "Web addresses", [["", "host only"], ["spell", "spelled"], ["drop", "left out"]]),
  plain("cast", "Cast", "text", { placeholder: "ANNA=alice,BEN=bob" }, "Voices of a script's speakers."),
  plain("lexicon", "Lexicon", "file", { accept: ".txt,.tsv,.lex,text/*" }, "Words and what is spoken for them."),
  box("markup", "Obey [pause: 2s] and [voice: NAME]"),
  select("check", "Checks", [["", "the free ones"], ["asr", "a speech recogniser listens too"]]),
  select("on_bad", "Without a good take", [
    ["", "mark the best one"],
    ["keep", "keep the best one"],
    ["fail", "leave it out"],
  ]),
  select("loudness", "One gain for each", [["", "chapter"], "book"]),
  select("room_tone", "Room tone", [["", "as the profile has it"], ["true", "yes"], ["false", "no"]]),
  checks("exports", "Datasets", DATASETS),
  box("read_along", "Read-along", "Also the epub with its audio in it."),
  box("skip_bad_lines", "Pass over bad lines of a jsonl"),
];

/** The options; `changed()` is called when one changes. Models and voices are there after `load`. */
export class Fields {
  #models = [];
  #voices = [];
  #controls = new Map();

  constructor(changed) {
    const all = (fields) => h("div", { class: "fields" }, fields.map((field) => this.#field(field)));
    this.node = h(
      "fieldset",
      { class: "options" },
      h("legend", {}, "Options"),
      all(FIRST),
      h("p", { id: "licence", class: "help", dir: "auto" }),
      h("details", {}, h("summary", {}, "More options"), all(MORE)),
    );
    this.node.addEventListener("input", (event) => {
      this.clear();
      if (event.target === this.#control("model")) this.#modelChosen();
      if (event.target === this.#control("voice")) this.#showLicence();
      changed();
    });
  }

  /** What was chosen, by name; a file stays a File. */
  values() {
    const found = {};
    for (const [name, { field, nodes }] of this.#controls) {
      const value = valueOf(field, nodes);
      if (value) found[name] = value;
    }
    return found;
  }

  /** Take all marks of errors away. */
  clear() {
    for (const { nodes, problem } of this.#controls.values()) {
      nodes.forEach((node) => node.removeAttribute("aria-invalid"));
      say(problem, "");
    }
  }

  /** Show an error at its field; false if it has none here. */
  refuse(error) {
    const begins = /^[a-z_]+/.exec(error.message)?.[0]; // "speed 7 is not possible …"
    const found = this.#controls.get(error.param ?? CODE_FIELDS[error.code] ?? begins);
    if (!found) return false;
    found.nodes.forEach((node) => node.setAttribute("aria-invalid", "true"));
    say(found.problem, error.message);
    const inside = found.problem.closest("details");
    if (inside) inside.open = true;
    found.nodes[0].focus();
    return true;
  }

  #control(name) {
    return this.#controls.get(name).nodes[0];
  }

  #field(field) {
    const id = `field-${field.name}`;
    const problem = h("span", { id: `${id}-problem`, class: "problem", role: "alert" });
    const help = field.help ? h("span", { id: `${id}-help`, class: "help" }, field.help) : null;
    const described = [help ? `${id}-help` : null, `${id}-problem`].filter(Boolean).join(" ");
    const nodes = inputs(field, id, described);
    this.#controls.set(field.name, { field, nodes, problem });
    if (field.kind === "checks") {
      const boxes = nodes.map((node) => h("label", { class: "inline" }, node, ` ${node.value.replaceAll("_", " ")}`));
      const label = h("span", { id: `${id}-label`, class: "label" }, field.label);
      const group = { class: "field", role: "group", "aria-labelledby": `${id}-label` };
      return h("div", group, label, h("div", { class: "checks" }, boxes), help, problem);
    }
    if (field.kind === "box") {
      return h("div", { class: "field" }, h("label", { class: "inline" }, nodes, ` ${field.label}`), help, problem);
    }
    return h("div", { class: "field" }, h("label", { for: id }, field.label), nodes, help, problem);
  }

  /** Ask for models and voices; tells how many models there are. Throws ApiError. */
  async load(signal) {
    const [models, voices] = await Promise.all([get("v1/models", {}, signal), get("v1/audio/voices", {}, signal)]);
    this.#models = models.data;
    this.#voices = voices.data;
    setOptions(this.#control("model"), this.#models.map((model) => [model.id, model.id]));
    const usual = this.#models.find((model) => model.default) ?? this.#models.find((model) => model.id !== TONES);
    if (usual) this.#control("model").value = usual.id;
    this.#modelChosen();
    return this.#models.length;
  }

  #modelChosen() {
    const model = this.#models.find((one) => one.id === this.#control("model").value);
    const of = model?.alias_of ?? model?.id;
    const voices = this.#voices.filter((voice) => voice.model === of || (voice.kind === "reference" && model?.clones));
    const spoken = (voice) => (voice.language ? `${voice.name} (${voice.language})` : voice.name);
    setOptions(this.#control("voice"), voices.map((voice) => [voice.id, spoken(voice)]));
    const usual = voices.find((voice) => voice.id === model?.default_voice);
    if (usual) this.#control("voice").value = usual.id;
    const languages = (model?.languages ?? []).map((tag) => [tag, tag]);
    setOptions(this.#control("language"), [["", "the voice's own"], ...languages]);
    const speed = this.#control("speed");
    speed.min = model?.min_speed ?? 0.25;
    speed.max = model?.max_speed ?? 4;
    this.#showLicence();
  }

  #showLicence() {
    const model = this.#models.find((one) => one.id === this.#control("model").value);
    const voice = this.#voices.find(
      (one) => one.id === this.#control("voice").value && (!one.model || one.model === (model?.alias_of ?? model?.id)),
    );
    const licence = voice?.licence ? `Licence of ${voice.name}: ${voice.licence}` : null;
    say(this.node.querySelector("#licence"), [licence, voice?.note].filter(Boolean).join(". "));
  }
}

function valueOf(field, nodes) {
  const [node] = nodes;
  if (field.kind === "checks") return nodes.filter((one) => one.checked).map((one) => one.value).join(",");
  if (field.kind === "box") return node.checked ? "true" : "";
  return node.type === "file" ? node.files[0] : node.value.trim();
}

function setOptions(node, options) {
  const before = node.value;
  node.replaceChildren(...options.map(([value, label]) => h("option", { value }, label)));
  if (options.some(([value]) => value === before)) node.value = before;
}

function inputs(field, id, described) {
  if (field.kind === "checks") {
    return field.options.map((value) => h("input", { type: "checkbox", value, "aria-describedby": described }));
  }
  if (field.kind === "box") return [h("input", { type: "checkbox", id, "aria-describedby": described })];
  if (field.kind === "input") return [h("input", { ...field.props, id, "aria-describedby": described })];
  const node = h("select", { id, "aria-describedby": described });
  setOptions(node, field.options.map((one) => (Array.isArray(one) ? one : [one, one])));
  return [node];
}
