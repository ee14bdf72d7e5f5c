// One job, kept up to date: its document from the API, its events as they come (server-sent events).

import { address, call, get, HIDDEN_MS, isLeft, poll } from "./api.js";
import { isFinal } from "./format.js";

const KINDS = ["job", "segment_done", "segment_failed", "segment_again", "segment_settled", "chapter_assembled"];
const SETTLE_MS = 1200;
const SHOW_MS = 250;
const SAFETY_MS = 10_000;
const REOPEN_MS = 4000;
const SHORT = 200;

/** Tells `job` (its document changed) and `news` (detail: an event of the stream, docs/streams.md). */
export class JobFeed extends EventTarget {
  #signal;
  #source = null;
  #last = null;
  #timers = new Map();

  constructor(id, signal) {
    super();
    this.id = id;
    this.path = `v1/jobs/${encodeURIComponent(id)}`;
    this.job = null;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#close());
  }

  get final() {
    return isFinal(this.job?.state);
  }

  /** Load the job, then follow it until the view is left. `failed(error)` as for `poll`. */
  start(failed) {
    poll(() => this.load(), SAFETY_MS, this.#signal, failed, HIDDEN_MS);
    document.addEventListener("visibilitychange", () => this.#follow(), { signal: this.#signal });
  }

  async load() {
    this.set(await get(this.path, {}, this.#signal));
  }

  /** Look at the job soon: something hints that it went on. */
  look() {
    this.#soon("load", () => this.#loadQuietly(), SHOW_MS);
  }

  /** Do something to the job: `pause`, `resume`, `retry`; throws ApiError. */
  async ask(what, json) {
    const answer =
      what === "cancel"
        ? await call("DELETE", this.path, { signal: this.#signal })
        : await call("POST", `${this.path}/${what}`, { json, signal: this.#signal });
    if (answer?.object === "job") this.set({ ...this.job, ...answer });
    this.look();
  }

  set(job) {
    this.job = job;
    this.dispatchEvent(new Event("job"));
    this.#follow();
  }

  async #loadQuietly() {
    try {
      await this.load();
    } catch (error) {
      if (!isLeft(error) && error.status === undefined) throw error; // the poll tells what the server said
    }
  }

  /** Open the stream while somebody looks and something can come; browsers allow few connections to a server. */
  #follow() {
    if (this.#signal.aborted || document.hidden || !this.job || this.final) return this.#close();
    if (this.#source) return undefined;
    const after = this.#last ?? this.#beginning();
    this.#source = new EventSource(address(`${this.path}/events`, { after }));
    for (const kind of KINDS) this.#source.addEventListener(kind, (message) => this.#heard(kind, message));
    this.#source.addEventListener("error", () => {
      this.look(); // asks at once whether the server is there
      if (this.#source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
      this.#close();
      this.#soon("open", () => this.#follow(), REOPEN_MS);
    });
    return undefined;
  }

  /** Where the stream is read from first. A short one from its start; of a long one what came after the document. */
  #beginning() {
    if (this.job.counts.total <= SHORT) return "0";
    return `${Math.floor(this.job.updated_at * 1000) - 1}-0`; // ids of Redis begin with its clock in milliseconds
  }

  #heard(kind, message) {
    this.#last = message.lastEventId || this.#last;
    const news = JSON.parse(message.data);
    if (news.at_s < this.job.updated_at) return; // the document knows it already
    const before = this.job.state;
    const counts = { ...this.job.counts, total: news.total, done: news.done, failed: news.failed };
    const spoken = news.total ? (news.done + news.failed) / news.total : 0;
    const progress = news.state === "running" ? Math.max(this.job.progress, Math.min(0.99, spoken)) : this.job.progress;
    this.job = { ...this.job, state: news.state, counts, audio_s: news.audio_s, progress };
    this.dispatchEvent(new CustomEvent("news", { detail: { ...news, kind } }));
    this.#soon("show", () => this.dispatchEvent(new Event("job")), SHOW_MS);
    this.#soon("load", () => this.#loadQuietly(), before === news.state ? SETTLE_MS : SHOW_MS);
    if (this.final) this.#close();
  }

  /** Once for many calls within a while. */
  #soon(name, work, wait_ms) {
    if (this.#timers.has(name) || this.#signal.aborted) return;
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      if (!this.#signal.aborted) work();
    }, wait_ms);
    this.#timers.set(name, timer);
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }
}
