// What if: history again under another policy, and where it differs.

import { outcomeOf, sideText } from "../logic/replay.js";
import { clip, oneLine } from "../logic/format.js";
import { exactly, explain } from "../ui/explain.js";
import { h } from "../ui/dom.js";
import { isDenied, link, moment, sample, section, words } from "../ui/parts.js";
import { single, part, post } from "../ui/api.js";
import { t, word } from "../ui/words.js";
import { policyField } from "./policy_field.js";

const SHOWN = 200;

/** The replay named in the address, if there is one. */
export async function loadReplay(look) {
  const { replay } = look.filters;
  if (!replay) return null;
  const answer = await look.get(`/replays/${part(replay)}`).catch((error) => {
    if (error.name === "AbortError") throw error;
    return { state: "failed", message: error.message };
  });
  const found = single(answer);
  if (isRunning(found))
    setTimeout(() => {
      if (look.filters.replay === look.app.address.filters.replay) look.app.load();
    }, 500);
  return found;
}

const isRunning = (replay) => replay?.state === "running";

const isBusy = (look, data) => look.app.busy === "replay" || isRunning(data.replay);

async function start(look, data, event) {
  event.preventDefault();
  if (isBusy(look, data)) return;
  const form = new FormData(event.target);
  const kind = String(form.get("kind"));
  const name = String(form.get("name") ?? "").trim();
  if (name === "") return;
  const here = location.hash;
  look.ui.replayProblem = null;
  look.app.busy = "replay";
  look.app.redraw();
  try {
    const answer = await post("/replays", { policies: { [kind]: name } });
    const id = single(answer)?.id;
    look.app.busy = null;
    look.app.goOn(here, { filters: { replay: id, whatif: kind, under: name } });
    look.app.redraw();
  } catch (error) {
    look.app.busy = null;
    look.ui.replayProblem = error;
    look.app.redraw();
  }
}

// Why history cannot be run again, and how to change that.
function problem(error) {
  const isKept = error.status !== 409 || !/history/i.test(`${error.code} ${error.message}`);
  return h(
    "div",
    { class: "banner", role: "alert" },
    h(
      "div",
      { class: "grow" },
      h("p", null, exactly(error) || explain(error)),
      !isKept && [h("p", null, t("replay.keep")), sample('society.config { history = "full" }')],
    ),
  );
}

// The moment of a difference, on the lane of its agent.
function momentLink(look, one) {
  const filters = { agent: one.agent, when: one.time, message: one.message };
  return link(look, { view: "timeline", filters }, t("replay.see"));
}

const SIDE_MAX = 500;

// With its lines: they are easier to compare than one long one.
function side(name, value) {
  const { text, cut } = clip(sideText(value) ?? t("replay.nothing"), SIDE_MAX);
  return h(
    "div",
    null,
    h("span", { class: "quiet" }, name),
    h("bdi", { class: "lines" }, cut > 0 ? `${text}…` : text),
  );
}

function difference(look, one, index) {
  return h(
    "li",
    { key: index, class: "difference", data: { id: one.message ?? String(index) } },
    h(
      "div",
      null,
      h("b", null, words(one.agent ?? word("replay.society", "society"), 60)),
      " ",
      h(
        "span",
        { class: "quiet" },
        words(one.asked ?? one.difference ?? "", 80),
        " ",
        moment(one.time),
      ),
      " ",
      momentLink(look, one),
    ),
    h(
      "div",
      { class: "sides" },
      side(t("replay.was"), one.recorded),
      side(t("replay.now"), one.now),
    ),
  );
}

// Under which policy it ran: a link to an outcome says so.
function underText(look) {
  const { whatif, under } = look.filters;
  if (!whatif || !under) return null;
  const values = { kind: word(`policy.${whatif}`, whatif), name: oneLine(under, 60) };
  return h("p", { class: "quiet" }, t("replay.under", values));
}

function outcome(look, replay) {
  if (!replay) return null;
  if (isRunning(replay)) return h("p", { role: "status", class: "busy" }, t("replay.running"));
  if (look.ui.outcome !== look.filters.replay) {
    look.ui.outcome = look.filters.replay; // it has just come: it is what one wants to see
    look.app.focusOn = ".outcome";
  }
  return h("div", { class: "outcome" }, found(look, replay));
}

function found(look, replay) {
  const { state, differences, total } = outcomeOf(replay);
  if (state === "failed") return problem({ message: replay.message || t("replay.failed") });
  if (total === 0) return [h("p", { class: "verdict" }, t("replay.same")), underText(look)];
  return [
    h("p", { class: "verdict" }, t("replay.differs", { n: total })),
    underText(look),
    h(
      "ol",
      { class: "differences" },
      differences.slice(0, SHOWN).map((one, i) => difference(look, one, i)),
    ),
    total > SHOWN && h("p", { class: "quiet" }, t("more", { n: total - SHOWN })),
  ];
}

/** The form and, when it has run, the differences. */
export function replaySection(look, data, kinds) {
  const kind = look.ui.replayKind ?? look.filters.whatif ?? kinds[0];
  return section(
    t("replay.title"),
    h("p", { class: "quiet" }, t("replay.hint")),
    h(
      "form",
      { class: "filters", key: "replay", on: { submit: (event) => start(look, data, event) } },
      h(
        "label",
        { class: "field" },
        h("span", null, t("policies.kind")),
        h(
          "select",
          {
            name: "kind",
            on: {
              change: (event) => {
                look.ui.replayKind = event.target.value;
                look.app.redraw();
              },
            },
          },
          kinds.map((one) =>
            h(
              "option",
              { key: one, value: one, selected: one === kind },
              word(`policy.${one}`, one),
            ),
          ),
        ),
      ),
      policyField("replay", kind, data.policies),
      h(
        "button",
        {
          type: "submit",
          class: "main",
          data: { do: "replay" },
          "aria-disabled": isBusy(look, data) ? "true" : null,
          disabled: isDenied(look, "replay"),
        },
        t("do.replay"),
      ),
    ),
    look.ui.replayProblem && problem(look.ui.replayProblem),
    outcome(look, data.replay),
  );
}
