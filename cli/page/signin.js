// Asking for a token. It goes to the server once, which puts it into a cookie that no script can read.

import { call } from "./api.js";
import { h, notice, title } from "./dom.js";

/** The form; `done()` is called when the server took the token. */
export function signInView({ main, signal }, done) {
  title("Sign in");
  const problem = h("div", { id: "token-problem" });
  const token = h("input", {
    id: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    "aria-describedby": "token-help token-problem",
  });
  const made = h("code", {}, "tts-batch token add NAME");
  const form = h(
    "form",
    {
      class: "card narrow",
      on: {
        async submit(event) {
          event.preventDefault();
          problem.replaceChildren();
          try {
            await call("POST", "v1/session", { json: { token: token.value.trim() }, signal });
            done();
          } catch (error) {
            token.setAttribute("aria-invalid", "true");
            problem.replaceChildren(notice("bad", error.message));
            token.focus();
          }
        },
      },
    },
    h("label", { for: "token" }, "Token"),
    token,
    h("p", { id: "token-help", class: "help" }, "Made on the server with ", made, "."),
    problem,
    h("button", { class: "main", type: "submit" }, "Sign in"),
  );
  main.append(h("h1", {}, "Sign in"), h("p", {}, "This server asks for a token."), form);
  token.focus();
}
