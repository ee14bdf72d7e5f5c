// Where chapters and segments are heard in a job's audio: known for what is done from the start without a gap.

import { get, isLeft } from "./api.js";

const PAGE = 200;
const SETTLE_MS = 1000;
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
    const segments = this.#segments.get(chapter.chapter);
    if (!segments) this.#fill(chapter.chapter);
    const segment = segments?.findLast((one) => one.start_s !== null && one.start_s <= position_s) ?? null;
    return { chapter, segment };
  }

  /** Where a segment begins, if that is known here. */
  startOf(segment) {
    for (const segments of this.#segments.values()) {
      const found = segments.find((one) => one.segment === segment);
      if (found) return found.start_s;
    }
    return null;
  }

  #soon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (!this.#signal.aborted) this.#refresh();
    }, SETTLE_MS);
  }

  async #refresh() {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    try {
      this.chapters = (await get(`${this.#feed.path}/chapters`, {}, this.#signal)).data;
      const last = this.chapters.findLast((one) => one.start_s !== null);
      if (last) await this.#frontier(last);
      this.dispatchEvent(new Event("change"));
    } catch (error) {
      if (!isLeft(error) && error.status === undefined) throw error; // no answer: the next change asks again
    } finally {
      this.#busy = false;
      if (this.#again) this.#soon();
      this.#again = false;
    }
  }

  /** The end of what is done lies in the last chapter that has a beginning. */
  async #frontier(chapter) {
    const segments = await this.#load(chapter.chapter);
    const placed = segments.findLast((one) => one.start_s !== null);
    this.known_s = Math.max(chapter.start_s, placed ? placed.start_s + (placed.audio_s ?? 0) : 0);
  }

  /** A chapter's segments; those whose place is known already are not asked for again. */
  async #load(chapter) {
    const kept = (this.#segments.get(chapter) ?? []).filter((one) => one.start_s !== null && one.state === "done");
    let after = kept.at(-1)?.segment;
    let page;
    do {
      page = await get(`${this.#feed.path}/segments`, { chapter, after, limit: PAGE }, this.#signal);
      kept.push(...page.data);
      after = page.data.at(-1)?.segment;
    } while (page.has_more && page.data.at(-1).start_s !== null);
    this.#segments.set(chapter, kept);
    return kept;
  }

  async #fill(chapter) {
    this.#segments.set(chapter, []); // asked for once
    try {
      await this.#load(chapter);
      this.dispatchEvent(new Event("change"));
    } catch (error) {
      this.#segments.delete(chapter);
      if (!isLeft(error) && error.status === undefined) throw error;
    }
  }
}
