// A long list of which only the rows on screen exist.

import { scrollTo, visible } from "../logic/window.js";
import { h } from "./dom.js";

/** A scrolling list of `items`, each drawn by row(item, index) in `height` px. Its scroll
 *  position is kept in `ui[name]`. */
export function longList(
  look,
  { name, items, height, label, row, empty: none = null, className = "" },
) {
  const state = (look.ui[name] ??= { top: 0, view: 600, node: null });
  if (items.length === 0) return none;
  const { first, last } = visible(items.length, height, state.top, state.view);
  return h(
    "div",
    {
      class: `long ${className}`,
      key: name,
      tabindex: 0,
      role: "group",
      "aria-label": label,
      ref: (node) => watch(look, state, node),
      on: {
        scroll: (event) => {
          state.top = event.target.scrollTop;
          look.app.redraw();
        },
      },
    },
    h(
      "ul",
      {
        class: "rows",
        style: { height: `${items.length * height}px` },
      },
      items.slice(first, last).map((item, offset) =>
        h(
          "li",
          {
            key: item.key ?? item.id ?? first + offset,
            class: "row-place",
            "aria-setsize": items.length,
            "aria-posinset": first + offset + 1,
            style: {
              transform: `translateY(${(first + offset) * height}px)`,
              height: `${height}px`,
            },
          },
          row(item, first + offset),
        ),
      ),
    ),
  );
}

function watch(look, state, node) {
  state.node = node;
  let wanted = state.top; // where it was left
  new ResizeObserver(() => {
    if (node.clientHeight === 0) return;
    state.view = node.clientHeight;
    if (wanted !== null) {
      node.scrollTop = wanted;
      state.top = node.scrollTop;
      wanted = null;
    }
    look.app.redraw();
  }).observe(node);
}

/** Scrolls a list so that the row of that index is on screen. */
export function reveal(look, name, index, height) {
  const state = look.ui[name];
  if (state?.node) state.node.scrollTop = scrollTo(index, height, state.node.scrollTop, state.view);
}
