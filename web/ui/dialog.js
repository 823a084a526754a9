// One dialog at a time: questions before what cannot be undone, and help.

import { draw, h } from "./dom.js";
import { t } from "./words.js";

const place = () => document.getElementById("dialog");

export function isDialogOpen() {
  return place().open;
}

export function closeDialog() {
  place().close();
}

/** Shows what `content()` describes, with nothing left of the dialog before. The browser keeps the
 *  focus inside and gives it back. */
export function openDialog(title, content) {
  draw(place(), []);
  draw(place(), [h("h2", { id: "dialog-title" }, title), content()]);
  if (!place().open) place().showModal();
  if (document.activeElement.matches("dialog :not(input)")) fromTheTop();
}

// What is to be read begins with its title, however small the screen, and nothing that cannot be
// undone happens by Enter alone.
function fromTheTop() {
  const title = document.getElementById("dialog-title");
  title.tabIndex = -1;
  title.focus();
  place().scrollTop = 0;
}

/** Asks before something is done: resolves to the text of the field (maybe empty), or null.
 *  `field` is its name; without one there is no field. */
export function confirm(title, text, label, { field = null, kind = "danger" } = {}) {
  return new Promise((resolve) => {
    let input = null;
    const finish = (value) => {
      place().removeEventListener("close", heardClose);
      if (place().open) place().close();
      resolve(value);
    };
    const cancel = () => finish(null);
    // One hears of it later, when another may be open: that one stays.
    const heardClose = () => {
      if (!place().open) cancel();
    };
    openDialog(title, () =>
      h(
        "form",
        {
          method: "dialog",
          key: title,
          on: {
            submit: (event) => {
              event.preventDefault();
              finish(input?.value ?? "");
            },
          },
        },
        h("p", null, text),
        field &&
          h(
            "label",
            { class: "field" },
            h("span", null, field),
            h("input", {
              type: "text",
              maxlength: 1000,
              ref: (node) => {
                input = node;
              },
            }),
          ),
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "submit", class: kind, data: { do: "confirm" } }, label),
          h(
            "button",
            { type: "button", data: { do: "cancel-dialog" }, on: { click: cancel } },
            t("cancel"),
          ),
        ),
      ),
    );
    place().addEventListener("close", heardClose);
  });
}
