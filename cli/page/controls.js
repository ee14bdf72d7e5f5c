// What is seen of the player: buttons, the slider over what is done, chapter ticks, and what is heard at present.

import { attribute, button, h, say, svg } from "./dom.js";
import { clock, clockWords } from "./format.js";
import { SKIP_S } from "./player.js";

const MOST_TICKS = 60;
const PLAY = "M8 5.5v13l11-6.5z";
const PAUSE = "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z";
const STATUS = {
  waiting: "waiting for the next sentence",
  cut: "the connection was cut; trying again",
  ended: "heard to the end",
};
const TYPING = "input, select, textarea, [contenteditable]";
const PRESSED = "button, a, summary, input, select, textarea";

/** The section with the player in it. Tells `heard` on the player: detail is `{chapter, segment}` or null. */
export function controls(feed, timeline, player, signal) {
  const icon = svg("path", { d: PLAY });
  const play = h(
    "button",
    { type: "button", class: "round main", "aria-label": "Play", id: "play", on: { click: () => player.toggle() } },
    svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, icon),
  );
  const quiet = (label) => ({ class: "quiet", "aria-label": label });
  const back = button(`−${SKIP_S} s`, () => player.skip(-SKIP_S), quiet(`Back ${SKIP_S} seconds`));
  const on = button(`+${SKIP_S} s`, () => player.skip(SKIP_S), quiet(`On ${SKIP_S} seconds`));
  const live = button("Live", () => player.live(), quiet("Live: hear what is being made now"));
  const slider = h("input", { type: "range", min: 0, max: 0, step: 0.1, id: "seek", "aria-label": "Position" });
  const ticks = h("div", { class: "ticks", "aria-hidden": "true" });
  const time = h("span", { class: "number time" });
  const where = h("p", { class: "where", dir: "auto", lang: feed.job.language || null });
  const sentence = h("p", { class: "sentence", dir: "auto" });
  const status = h("p", { class: "status muted", role: "status" });
  let dragging = false;

  const show = () => {
    say(status, STATUS[player.status] ?? "");
    attribute(play, "aria-label", player.playing ? "Pause" : "Play");
    attribute(icon, "d", player.playing ? PAUSE : PLAY);
    live.hidden = feed.final;
    const known_s = Math.max(timeline.known_s, player.loose ? 0 : player.position_s);
    slider.max = known_s.toFixed(1);
    slider.disabled = known_s === 0;
    if (!dragging) slider.value = player.loose ? 0 : player.position_s;
    const at_s = dragging ? Number(slider.value) : player.position_s;
    say(time, player.loose ? `+${clock(at_s)}` : `${clock(at_s)} / ${clock(known_s)}`);
    const found = player.loose ? null : timeline.at(at_s);
    attribute(slider, "aria-valuetext", `${clockWords(at_s)} of ${clockWords(known_s)}${inChapter(found)}`);
    tell(found);
  };
  const tell = (found) => {
    const hearing = player.status !== "idle" && found;
    say(where, hearing ? found.chapter.title || `Chapter ${found.chapter.chapter + 1}` : "");
    say(sentence, hearing && found.segment ? found.segment.text : hint(feed, timeline, player));
    sentence.classList.toggle("muted", !hearing);
    attribute(sentence, "lang", hearing && feed.job.language); // else it is our own English
    player.dispatchEvent(new CustomEvent("heard", { detail: hearing ? found : null }));
  };

  slider.addEventListener("input", () => {
    dragging = true;
    show();
  });
  slider.addEventListener("change", () => {
    dragging = false;
    player.seek(Number(slider.value));
  });
  player.addEventListener("change", show);
  feed.addEventListener("job", show);
  timeline.addEventListener("change", () => {
    drawTicks(ticks, timeline);
    show();
  });
  document.addEventListener("keydown", (event) => key(event, player, slider), { signal });
  mediaKeys(feed, player, signal);
  show();
  return h(
    "section",
    { class: "player", "aria-labelledby": "listen" },
    h("h2", { id: "listen", class: "hidden-text" }, "Listen"),
    h("div", { class: "now" }, where, sentence, status),
    h("div", { class: "track" }, slider, ticks),
    h("div", { class: "line keys" }, h("div", { class: "line" }, play, back, on, live), time),
    player.audio,
  );
}

const inChapter = (found) => (found?.chapter.title ? `, ${found.chapter.title}` : "");

function hint(feed, timeline, player) {
  if (player.loose) return "Heard out of order: segments before this one are not done yet.";
  if (player.status !== "idle") return "";
  if (timeline.known_s > 0) return feed.final ? "Ready to play." : "Ready to play, while the rest is being made.";
  return feed.final ? "There is nothing to hear." : "Nothing to hear yet; play begins with the first sentence.";
}

function drawTicks(ticks, timeline) {
  const begins = timeline.chapters.filter((chapter) => chapter.start_s > 0);
  const shown = begins.length <= MOST_TICKS && timeline.known_s > 0 ? begins : [];
  ticks.replaceChildren(
    ...shown.map((chapter) => {
      const tick = h("span", { title: chapter.title });
      tick.style.insetInlineStart = `${(100 * chapter.start_s) / timeline.known_s}%`;
      return tick;
    }),
  );
}

/** ← and → go ten seconds, space plays or pauses, wherever these keys have no other use. */
function key(event, player, slider) {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (event.key === " " && (target === slider || !target.closest(PRESSED))) player.toggle();
  else if (event.key === "ArrowLeft" && (target === slider || !target.closest(TYPING))) player.skip(-SKIP_S);
  else if (event.key === "ArrowRight" && (target === slider || !target.closest(TYPING))) player.skip(SKIP_S);
  else return;
  event.preventDefault();
}

/** The keys of headsets and lock screens. */
function mediaKeys(feed, player, signal) {
  const media = navigator.mediaSession;
  if (!media) return;
  const keys = {
    play: () => player.play(),
    pause: () => player.pause(),
    seekbackward: () => player.skip(-SKIP_S),
    seekforward: () => player.skip(SKIP_S),
  };
  for (const [name, handler] of Object.entries(keys)) media.setActionHandler(name, handler);
  feed.addEventListener(
    "job",
    () => {
      media.metadata = new MediaMetadata({ title: feed.job.title || feed.id, artist: feed.job.author ?? "" });
    },
    { once: true },
  );
  signal.addEventListener("abort", () => {
    for (const name of Object.keys(keys)) media.setActionHandler(name, null);
    media.metadata = null;
  });
}
