// Talking to the server. All addresses are relative to the page, so it also works below a path of another server.

const BASE = new URL(".", document.baseURI);
const AWAY = new Set([0, 502, 503, 504]);
export const AWAY_EVERY_MS = 2000;
/** How often a tab in the background looks, so that its title is not a lie. */
export const HIDDEN_MS = 30_000;

/** Whether the server answers (`away`, `back`), and that somebody must sign in (`sign-in`). */
export const connection = new EventTarget();
let isAway = false;
export const serverIsAway = () => isAway;

/** The whole address of a path of the API: `v1/jobs`. */
export const address = (path, query = {}) => {
  const found = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") found.searchParams.set(name, value);
  }
  return found.href;
};

/** An answer that is an error. `status` 0: no answer at all. `param` names the field that is at fault. */
export class ApiError extends Error {
  constructor(status, body = {}) {
    super(body.message ?? (status ? `the server answered with status ${status}` : "the server does not answer"));
    this.status = status;
    this.param = body.param ?? null;
    this.code = body.code ?? null;
  }
}

async function bodyOf(response) {
  const text = await response.text();
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

function told(away, error) {
  if (away === isAway) return;
  isAway = away;
  connection.dispatchEvent(new CustomEvent(away ? "away" : "back", { detail: error }));
}

/**
 * One request; the JSON of its answer, or null. `json` or `form` is the body.
 * Throws ApiError; an aborted request throws AbortError.
 */
export async function call(method, path, { json, form, query, signal } = {}) {
  const options = { method, signal, credentials: "same-origin", headers: { Accept: "application/json" } };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers["Content-Type"] = "application/json";
  } else if (form) options.body = form;
  let response;
  try {
    response = await fetch(address(path, query), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const lost = new ApiError(0);
    told(true, lost);
    throw lost;
  }
  const body = await bodyOf(response);
  if (response.ok) {
    told(false);
    return body;
  }
  const error = new ApiError(response.status, body?.error);
  told(AWAY.has(response.status) && method === "GET", error);
  const refused = response.status === 401 && path !== "v1/session";
  if (refused) connection.dispatchEvent(new CustomEvent("sign-in", { detail: error }));
  throw error;
}

export const get = (path, query, signal) => call("GET", path, { query, signal });

/** Whether an error only says that the view was left. */
export const isLeft = (error) => error?.name === "AbortError";

const pause = (wait_ms, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, wait_ms);
    signal.addEventListener("abort", end);
  });

/** Until the page is seen, the view is left, or, if that is given, the time is over. */
const seen = (signal, most_ms) =>
  new Promise((resolve) => {
    if (!document.hidden || signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const look = () => document.hidden || end();
    const timer = most_ms ? setTimeout(end, most_ms) : null;
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", end);
  });

/**
 * Do something now and again and again, while the page is seen (with `hidden_ms`: in the background too, that seldom),
 * until `work` says `true`. `failed(error)` is told what went wrong; it goes on, unless that says `false`.
 */
export async function poll(work, every_ms, signal, failed = () => true, hidden_ms = null) {
  while (!signal.aborted) {
    await seen(signal, hidden_ms);
    if (signal.aborted) return;
    try {
      if ((await work()) === true) return;
    } catch (error) {
      if (isLeft(error)) return;
      if (!(error instanceof ApiError)) throw error;
      if (failed(error) === false) return;
    }
    await pause(isAway ? Math.min(every_ms, AWAY_EVERY_MS) : every_ms, signal);
  }
}
