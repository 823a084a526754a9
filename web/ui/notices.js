// Short messages: what was done, what failed. Spoken by screen readers as well.

import { clean } from "../logic/format.js";
import { draw, h } from "./dom.js";
import { t } from "./words.js";

const SHOWN_MS = 6000;

const list = [];
let standing = null;
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

/** Shows what is wrong, with a button, until it is called with null. It covers a corner instead
 *  of moving what people read. */
export function stand(trouble) {
  if (standing?.text === trouble?.text && standing?.name === trouble?.name) return;
  standing = trouble;
  show();
}

function drawStanding({ name, text, label, action }) {
  return h(
    "div",
    { key: "standing", class: "notice failed", role: "alert" },
    h("p", { class: "grow" }, text),
    h("button", { type: "button", data: { do: name }, on: { click: action } }, label),
  );
}

function show() {
  const place = document.getElementById("notices");
  const hadFocus = place.contains(document.activeElement);
  draw(place, [
    standing && drawStanding(standing),
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
  ]);
  if (hadFocus && document.activeElement === document.body)
    document.getElementById("main").focus({ preventScroll: true });
}

/** Says something to screen readers only. */
export function announce(text) {
  const place = document.getElementById("spoken");
  place.textContent = "";
  setTimeout(() => {
    place.textContent = text;
  }, 50);
}
