// Numbers and words for people.

const WHOLE = new Intl.NumberFormat("en"); // as the words around them: 1,234 and 1.2 mean one thing each

/** `1:02:03` or `2:03`; an en dash for what is not known. */
export function clock(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** The same in words, for screen readers. */
export function clockWords(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "not known";
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 3600), "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [whole % 60, "second"],
  ].filter(([number]) => number > 0);
  return parts.map(([number, word]) => counted(number, word)).join(" ") || "0 seconds";
}

/** How far work is, for screen readers: `12 %, 3 minutes to go`. */
export function progressWords(job) {
  const left = job.eta_s === null ? "" : `, ${clockWords(job.eta_s)} to go`;
  return `${percent(job.progress)}${left}`;
}

/** `1 segment`, `2,000 segments`. */
export function counted(number, one, many = `${one}s`) {
  return `${WHOLE.format(number)} ${number === 1 ? one : many}`;
}

export const whole = (number) => WHOLE.format(number);
export const percent = (share) => `${Math.floor(100 * Math.min(1, Math.max(0, share ?? 0)))} %`;

/** `1.4 MB`. */
export function bytes(size) {
  if (size < 1000) return `${size} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = size;
  let unit = "B";
  while (value >= 1000 && units.length) {
    value /= 1000;
    unit = units.shift();
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `3.4× real time`. */
export function speed(times) {
  return times === null || times === undefined ? null : `${times.toFixed(times < 10 ? 1 : 0)}× real time`;
}

/** `2 minutes ago`. */
export function ago(seconds) {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const age = Math.max(0, Date.now() / 1000 - seconds);
  for (const [unit, length] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (age >= length) return words.format(-Math.floor(age / length), unit);
  }
  return "just now";
}

const STATES = {
  done_with_failures: "done, with failures",
  assembling: "making the files",
  planning: "being planned",
};
export const ALL_STATES = [
  "planning", "queued", "running", "paused", "assembling", "done", "done_with_failures", "cancelled", "failed",
];
export const stateWords = (state) => STATES[state] ?? state;
const FINAL = new Set(["done", "done_with_failures", "cancelled", "failed"]);
export const isFinal = (state) => FINAL.has(state);

/** What is said of a price; nothing where there is none. */
export function price(cost) {
  if (!cost || cost.price === null || cost.price === undefined) return null;
  return `${cost.price.toFixed(cost.price < 1 ? 4 : 2)} ${cost.currency ?? ""}`.trim();
}
