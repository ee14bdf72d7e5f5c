// The sound of a job: one audio element over `/audio`, which goes on while the job is being spoken.
//
// A stream has no end that a browser could seek in, so every jump opens a new one with `from_s`; the position is where
// the stream began plus what was played of it. After a cut it is opened again where it was heard last.

import { address, connection, serverIsAway } from "./api.js";

const RETRY_MS = 1000;
const RETRY_MOST_MS = 15_000;
const LET_GO_MS = 30_000;
const END_WITHIN_S = 1.5;
const WATCH_MS = 1000;
const STILL_MS = 4000;
export const SKIP_S = 10;

/** Tells `change` (anything that is shown). `status` is one of idle, playing, paused, waiting, cut, ended. */
export class Player extends EventTarget {
  #feed;
  #timeline;
  #base_s = 0;
  #heard_s = 0;
  #wanted = false;
  #tries = 0;
  #began_s = -1;
  #timer = null;
  #rest = null;
  #moved_ms = 0;

  constructor(feed, timeline, audio, signal) {
    super();
    this.#feed = feed;
    this.#timeline = timeline;
    this.audio = audio;
    this.status = "idle";
    this.loose = false;
    const on = (name, listener) => audio.addEventListener(name, listener, { signal });
    on("timeupdate", () => this.#advanced());
    on("playing", () => this.#become("playing"));
    on("waiting", () => this.#waits());
    on("ended", () => this.#ended());
    on("error", () => audio.hasAttribute("src") && this.#cut());
    connection.addEventListener("away", () => this.status === "waiting" && this.#waits(), { signal });
    connection.addEventListener("back", () => this.status === "cut" && this.#again(), { signal });
    const watch = setInterval(() => this.#watch(), WATCH_MS);
    signal.addEventListener("abort", () => {
      clearInterval(watch);
      this.#release();
    });
  }

  get playing() {
    return this.#wanted;
  }

  /** Seconds from the beginning of the job's audio; `loose`: only from where a segment out of order began. */
  get position_s() {
    return this.#heard_s;
  }

  toggle() {
    if (this.#wanted) this.pause();
    else this.play();
  }

  play() {
    if (this.status === "ended") return this.seek(0);
    this.#wanted = true;
    clearTimeout(this.#rest);
    if (this.audio.hasAttribute("src") && !this.audio.error && !this.audio.ended) {
      this.#become("waiting");
      this.#start();
    } else this.#again();
    return undefined;
  }

  pause() {
    this.#wanted = false;
    clearTimeout(this.#timer);
    this.audio.pause();
    this.#become("paused");
    this.#rest = setTimeout(() => this.#release(), LET_GO_MS); // a paused stream still costs the server a place
  }

  /** Play from a time on, within what is done; in the background more may have been heard than is known here. */
  seek(position_s) {
    const to_s = Math.max(0, Math.min(position_s, Math.max(this.#heard_s, this.#timeline.known_s)));
    this.loose = false;
    this.#wanted = true;
    this.#open(to_s, { from_s: to_s.toFixed(3) });
  }

  skip(by_s) {
    this.seek(this.#heard_s + by_s);
  }

  /** Play what is being made just now. */
  live() {
    this.loose = false;
    this.#wanted = true;
    this.#open(this.#timeline.known_s, { from: "now" });
  }

  /** Play from a segment on; where it lies is not known if one before it is not done. */
  segment(number, start_s) {
    if (start_s !== null && start_s !== undefined) return this.seek(start_s);
    this.loose = true;
    this.#wanted = true;
    this.#open(0, { segment: number });
    return undefined;
  }

  #open(base_s, query) {
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    this.#base_s = base_s;
    this.#heard_s = base_s;
    this.#began_s = base_s;
    this.#moved_ms = performance.now();
    this.audio.src = address(`${this.#feed.path}/audio`, { format: "mp3", ...query });
    this.#become("waiting");
    this.#start();
  }

  #start() {
    this.audio.play().catch((error) => {
      if (error.name !== "NotAllowedError") return; // a new stream was opened meanwhile, or `error` tells it
      this.#wanted = false;
      this.#become("paused");
    });
  }

  #advanced() {
    if (!this.audio.hasAttribute("src") || this.audio.currentTime === 0) return;
    this.#heard_s = this.#base_s + this.audio.currentTime;
    this.#moved_ms = performance.now();
    this.#tries = 0;
    this.dispatchEvent(new Event("change"));
  }

  /** Nothing more to play at present. */
  #waits() {
    if (!this.#wanted) return;
    if (serverIsAway()) this.#cut();
    else this.#become("waiting");
  }

  /** No more comes of this stream: it is over, or it was cut off. */
  #ended() {
    const stuck = this.#heard_s <= this.#began_s; // a new stream that gave nothing will not give more
    if (this.loose || (this.#feed.final && stuck)) this.#finish();
    else this.#cut();
  }

  #finish() {
    this.#wanted = false;
    this.#release();
    this.#become("ended");
  }

  #cut() {
    if (!this.#wanted) return this.#release();
    const all = this.#heard_s >= this.#timeline.known_s - END_WITHIN_S;
    if (this.loose || (this.#feed.final && all)) return this.#finish();
    this.#drop(); // a browser by itself would fetch all again from where this stream began
    this.#become("cut");
    this.#feed.look(); // in the background nothing else tells that the job has ended
    const wait_ms = Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** this.#tries);
    this.#tries += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#again(), wait_ms);
    return undefined;
  }

  #again() {
    this.#open(this.#heard_s, { from_s: this.#heard_s.toFixed(3) });
  }

  /** Browsers do not tell of a stream that broke off while it was waited for: more is done, and nothing is heard. */
  #watch() {
    const still = performance.now() - this.#moved_ms > STILL_MS;
    const more = this.#timeline.known_s > this.#heard_s + END_WITHIN_S;
    if (this.#wanted && still && more && !this.loose && this.status === "waiting") this.#cut();
  }

  /** Close the stream; where it was heard is kept. */
  #release() {
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    this.#drop();
  }

  #drop() {
    this.#base_s = this.#heard_s;
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.audio.load();
  }

  #become(status) {
    this.status = status;
    this.dispatchEvent(new Event("change"));
  }
}
