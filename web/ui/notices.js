// Short messages: what was done, what failed. Spoken by screen readers as well.

import { clean } from "../logic/format.js";
import { draw, h } from "./dom.js";
import { t } from "./words.js";

const SHOWN_MS = 6000;

const list = [];
let number = 0;

/** Shows a notice: kind "done" or "failed", a sentence, and what the host said. */
export function notice(kind, text, detail = "") {
  number += 1;
  const item = { number, kind, text, detail: detail === text ? "" : clean(detail) };
  list.push(item);
  while (list.length > 4) list.shift();
  if (kind === "done") setTimeout(() => close(item), SHOWN_MS);
  show();
}

function close(item) {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
  show();
}

function show() {
  draw(
    document.getElementById("notices"),
    list.map((item) =>
      h(
        "div",
        {
          key: item.number,
          class: `notice ${item.kind}`,
          role: item.kind === "failed" ? "alert" : "status",
        },
        h(
          "div",
          { class: "grow" },
          h("p", null, item.text),
          item.detail && h("p", { class: "quiet" }, item.detail),
        ),
        h(
          "button",
          {
            class: "plain",
            type: "button",
            data: { do: "dismiss" },
            "aria-label": t("close"),
            on: { click: () => close(item) },
          },
          "×",
        ),
      ),
    ),
  );
}

/** Says something to screen readers only. */
export function announce(text) {
  const place = document.getElementById("spoken");
  place.textContent = "";
  setTimeout(() => {
    place.textContent = text;
  }, 50);
}
