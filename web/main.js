// Starts the page: settings, texts, views.

import { App } from "./ui/app.js";
import { bindKeys } from "./ui/keys.js";
import { drawShell } from "./ui/shell.js";
import * as settings from "./ui/settings.js";
import agent from "./views/agent.js";
import agents from "./views/agents.js";
import cost from "./views/cost.js";
import dead from "./views/dead.js";
import inbox from "./views/inbox.js";
import now from "./views/now.js";
import policies from "./views/policies.js";
import tasks from "./views/tasks.js";
import timeline from "./views/timeline.js";

await settings.begin();
const app = new App(
  { now, agents, agent, timeline, tasks, inbox, dead, policies, cost },
  drawShell,
);
settings.onChange(() => app.redraw());
bindKeys(app);
app.start();
