// Where chapters and segments are heard in a job's audio: known for what is done from the start without a gap.

import { get, isLeft } from "./api.js";

const PAGE = 200;
const SETTLE_MS = 1000;
const MANY = 500;
const MANY_SETTLE_MS = 10_000;
const CHANGES = new Set(["segment_done", "segment_failed", "segment_again", "segment_settled", "chapter_assembled"]);

/** Tells `change`. `chapters` are as the API has them, `known_s` is how long what is done is. */
export class Timeline extends EventTarget {
  #feed;
  #signal;
  #segments = new Map();
  #timer = null;
  #busy = false;
  #again = false;

  constructor(feed, signal) {
    super();
    this.chapters = [];
    this.known_s = 0;
    this.#feed = feed;
    this.#signal = signal;
    feed.addEventListener("news", ({ detail }) => {
      if (detail.kind === "segment_again" || detail.kind === "segment_settled") this.#segments.clear();
      if (CHANGES.has(detail.kind) || detail.kind === "job") this.#soon();
    });
    let state = null;
    feed.addEventListener("job", () => {
      if (feed.job.state !== state) this.#soon();
      state = feed.job.state;
    });
  }

  /** The chapter that is heard at a time, and the segment, if that is known here; null before anything is. */
  at(position_s) {
    const chapter = this.chapters.findLast((one) => one.start_s !== null && one.start_s <= position_s) ?? null;
    if (!chapter) return null;
    const kept = this.#segments.get(chapter.chapter);
    const last = kept?.list.at(-1);
    // What was not placed when it was loaded is asked for again, once more is done.
    const short = !last || last.segment < this.#lastOf(chapter) || last.start_s === null;
    if (!kept || (short && kept.asked_s < this.known_s)) this.#load(chapter.chapter);
    const segment = kept?.list.findLast((one) => one.start_s !== null && one.start_s <= position_s) ?? null;
    return { chapter, segment };
  }

  /** The number of a chapter's last segment. */
  #lastOf(chapter) {
    let count = -1;
    for (const one of this.chapters) {
      count += one.segments;
      if (one.chapter === chapter.chapter) break;
    }
    return count;
  }

  #soon() {
    const many = this.chapters.length > MANY; // a list of so many items is not fetched every second
    const wait_ms = many ? MANY_SETTLE_MS : this.chapters.length ? SETTLE_MS : 0;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (!this.#signal.aborted) this.#refresh();
    }, wait_ms);
  }

  async #refresh() {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    await this.#quietly(async () => {
      const found = await get(`${this.#feed.path}/chapters`, {}, this.#signal);
      this.chapters = found.data;
      this.known_s = found.known_s;
      this.dispatchEvent(new Event("change"));
    });
    this.#busy = false;
    if (this.#again) this.#soon();
    this.#again = false;
  }

  /** A chapter's segments; of those that are kept already, the ones whose place is known are not asked for again. */
  async #load(chapter) {
    const before = this.#segments.get(chapter);
    if (before?.loading) return;
    const kept = (before?.list ?? []).filter((one) => one.start_s !== null && one.state !== "waiting");
    this.#segments.set(chapter, { list: kept, loading: true });
    await this.#quietly(async () => {
      let after = kept.at(-1)?.segment;
      let page;
      do {
        page = await get(`${this.#feed.path}/segments`, { chapter, after, limit: PAGE }, this.#signal);
        kept.push(...page.data);
        after = page.data.at(-1)?.segment;
      } while (page.has_more && page.data.at(-1).start_s !== null);
    });
    this.#segments.set(chapter, { list: kept, loading: false, asked_s: this.known_s });
    this.dispatchEvent(new Event("change"));
  }

  /** No answer is no harm here: the next change asks again, and the view tells what is wrong. */
  async #quietly(work) {
    try {
      await work();
    } catch (error) {
      if (!isLeft(error) && error.status === undefined) throw error;
    }
  }
}
