// The bar of time: live, or the society as it was at a line of the activity log.

import { hasPast } from "../logic/address.js";
import { draw, h } from "./dom.js";
import { clock, number, t } from "./words.js";

function stepButton(app, name, count, sign, disabled) {
  return h(
    "button",
    {
      type: "button",
      class: "plain step",
      data: { do: name },
      "aria-label": t(`time.${name}`),
      title: t(`time.${name}`),
      disabled,
      on: { click: () => app.step(count) },
    },
    sign,
  );
}

/** Draws the bar, or nothing where a view has no past. */
export function drawTime(place, app) {
  const hasBar = hasPast(app.address.view) && app.lastLine > 0;
  place.hidden = !hasBar;
  if (!hasBar) {
    draw(place, []);
    return;
  }
  const { at } = app.address;
  const last = Math.max(app.lastLine, at ?? 0);
  const line = at ?? last;
  place.setAttribute("aria-label", t("time.title"));
  place.className = at === null ? "" : "is-past";
  draw(place, [
    stepButton(app, "step-back", -1, "[", line <= app.firstLine),
    h("input", {
      type: "range",
      min: app.firstLine,
      max: last,
      step: 1,
      value: String(line),
      class: "slider",
      "aria-label": t("time.slider"),
      "aria-valuetext": at === null ? t("time.live") : t("time.line", { line: number(line) }),
      ref: (node) => {
        node.value = String(line);
      },
      on: { input: (event) => slide(app, Number(event.target.value)) },
    }),
    stepButton(app, "step-forward", 1, "]", at === null),
    h(
      "output",
      { class: "line", data: { line } },
      t("time.line.live", { line: number(line) }),
      at !== null && app.pastTime && h("span", { class: "quiet" }, clock(app.pastTime)),
    ),
    h(
      "button",
      {
        type: "button",
        class: at === null ? "to-live plain" : "to-live main",
        data: { do: "live" },
        disabled: at === null,
        on: { click: () => app.go({ at: null }) },
      },
      t("time.live"),
    ),
  ]);
  const slider = place.querySelector("input");
  if (document.activeElement !== slider || at === null) slider.value = String(line);
}

let timer = null;

// The view follows the hand, but not through every line on the way.
function slide(app, line) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    app.go({ at: line >= app.lastLine ? null : line }, { replace: true });
  }, 60);
}
