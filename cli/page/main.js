// Which view is shown, who is signed in, whether the server answers, and the colours.

import { AWAY_EVERY_MS, call, connection, get, poll, serverIsAway } from "./api.js";
import { button, h, notice, title } from "./dom.js";
import { jobView } from "./job.js";
import { jobsView } from "./jobs.js";
import { signInView } from "./signin.js";
import { submitView } from "./submit.js";
import { workersView } from "./workers.js";

const VIEWS = [
  [/^\/?$/, "jobs", jobsView],
  [/^\/jobs\/([^/]+)$/, "jobs", jobView],
  [/^\/submit$/, "submit", submitView],
  [/^\/workers$/, "workers", workersView],
];
const main = document.getElementById("main");
let leave = new AbortController();
let shownPath = null;

function place() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", query: new URLSearchParams(query) };
}

function markNav(page) {
  for (const link of document.querySelectorAll("nav [data-page]")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function show(view, page, ...parts) {
  leave.abort();
  leave = new AbortController();
  main.replaceChildren();
  markNav(page);
  view({ main, signal: leave.signal }, ...parts);
  if (shownPath !== null) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shownPath = location.hash;
}

function route() {
  const { path, query } = place();
  for (const [pattern, page, view] of VIEWS) {
    const match = pattern.exec(path);
    const parts = match && decoded(match.slice(1));
    if (parts) return show(view, page, ...parts, query);
  }
  return show(nothing, "");
}

/** Parts of an address as they were before they were put into it; null where it is broken. */
function decoded(parts) {
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return null;
  }
}

function nothing({ main: into }) {
  title("Nothing here");
  into.append(
    h("h1", {}, "Nothing here"),
    notice("empty", h("p", {}, "This page has no such part. ", h("a", { href: "#/" }, "See the jobs"), ".")),
  );
}

/** Who is signed in; what a token may not do is not offered. */
async function session() {
  const found = await get("v1/session").catch(() => null);
  document.getElementById("sign-out").hidden = !found?.name;
  document.documentElement.classList.toggle("looks-only", Boolean(found) && !found.scopes.includes("jobs"));
  return found;
}

function askToSignIn() {
  show(signInView, "", async () => {
    await session();
    route();
  });
}

function watchConnection() {
  const banner = document.getElementById("away");
  // Not every view asks by itself. A view is never drawn anew for this: somebody may be writing in it.
  const look = async () => {
    await get("v1/session");
    return !serverIsAway();
  };
  connection.addEventListener("away", ({ detail }) => {
    const again = button("Try now", () => look().catch(() => null), { class: "quiet" });
    banner.replaceChildren(h("span", {}, `${detail.message}. Trying again all the time.`), again);
    banner.hidden = false;
    poll(look, AWAY_EVERY_MS, new AbortController().signal, serverIsAway);
  });
  connection.addEventListener("back", () => {
    banner.hidden = true;
  });
  connection.addEventListener("sign-in", askToSignIn);
}

function chooseColours() {
  const select = document.getElementById("theme");
  select.value = document.documentElement.dataset.theme ?? "auto";
  select.addEventListener("change", () => {
    if (select.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
    try {
      localStorage.setItem("theme", select.value);
    } catch {
      // storage is off: it holds until the page is left
    }
  });
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address belongs to the views
  main.focus();
});
document.getElementById("sign-out").addEventListener("click", async () => {
  await call("DELETE", "v1/session").catch(() => null);
  location.reload();
});
chooseColours();
watchConnection();
window.addEventListener("hashchange", route);
const opened = await session();
if (opened?.token_needed && !opened.name) askToSignIn();
else route();
