// The agents as a tree: who spawned whom, big families folded to counts, and where each box
// stands in the picture. The layout depends on the tree alone, in order of birth, so the
// picture stands still while statuses change.

/** Families with more children are folded unless they are opened. */
export const FOLD_ABOVE = 16;

// Children in trouble stay visible in a folded family, up to so many.
const SHOWN_TROUBLE = 4;
const TROUBLE = new Set(["failed", "unresponsive", "blocked_user"]);

/** The tree of a list of agents: a list of { agent, children }. Whoever has an unknown parent
 *  is a root. A ring of parents, which cannot be, would be cut rather than followed. */
export function grow(agents) {
  const nodes = new Map(agents.map((agent) => [agent.id, { agent, children: [] }]));
  const roots = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.agent.parent);
    if (parent && parent !== node) parent.children.push(node);
    else roots.push(node);
  }
  return roots;
}

function countAll(nodes) {
  let count = 0;
  const open = [...nodes];
  while (open.length > 0) {
    const node = open.pop();
    count += 1;
    open.push(...node.children);
  }
  return count;
}

// Children as counts by role: { group, role, count, total, statuses }, the largest first.
function groups(parent, children) {
  const byRole = new Map();
  for (const child of children) {
    const role = child.agent.role?.name ?? child.agent.role?.id ?? "";
    const group = byRole.get(role) ?? {
      group: `${parent.agent.id}/${role}`,
      of: parent.agent.id,
      role,
      count: 0,
      total: 0,
      statuses: {},
      children: [],
    };
    group.count += 1;
    group.total += countAll([child]);
    const status = child.agent.status ?? "stopped";
    group.statuses[status] = (group.statuses[status] ?? 0) + 1;
    byRole.set(role, group);
  }
  return [...byRole.values()].sort((a, b) => b.count - a.count || (a.role < b.role ? -1 : 1));
}

// The counts by role and status that the host gives of a family too large to be listed.
function countedGroups(node) {
  const byRole = new Map();
  for (const family of node.agent.families) {
    const role = family.role?.name ?? family.role?.id ?? family.role ?? "";
    const group = byRole.get(role) ?? {
      group: `${node.agent.id}/${role}`,
      of: node.agent.id,
      role,
      count: 0,
      total: 0,
      statuses: {},
      children: [],
    };
    group.count += family.count;
    group.total += family.count;
    group.statuses[family.status] = (group.statuses[family.status] ?? 0) + family.count;
    byRole.set(role, group);
  }
  return [...byRole.values()].sort((a, b) => b.count - a.count || (a.role < b.role ? -1 : 1));
}

// What is shown below a node: its children, or counts and those in trouble.
function shownChildren(node, opened) {
  if (!node.group && node.children.length === 0 && node.agent.families?.length > 0) {
    return countedGroups(node);
  }
  if (node.group || node.children.length <= FOLD_ABOVE || opened.has(node.agent.id)) {
    return node.children;
  }
  const trouble = node.children
    .filter((child) => TROUBLE.has(child.agent.status))
    .slice(0, SHOWN_TROUBLE);
  const rest = new Set(trouble);
  return [
    ...trouble,
    ...groups(
      node,
      node.children.filter((child) => !rest.has(child)),
    ),
  ];
}

/** The tree with big families folded: nodes { key, depth, row, agent | group…, parent }, in the
 *  order of a list. `row` is the place from above in the picture: leaves have one of their own,
 *  parents stand in the middle of their children. */
export function layOut(roots, opened = new Set()) {
  const list = [];
  let nextRow = 0;
  const seen = new Set();
  function place(node, depth, parent) {
    const key = node.group ?? node.agent.id;
    if (seen.has(key)) return null;
    seen.add(key);
    const item = {
      key,
      depth,
      parent,
      row: 0,
      agent: node.agent,
      group: node.group ? node : null,
      isFolded: false,
      isOpened: false,
    };
    list.push(item);
    const shown = shownChildren(node, opened);
    item.isFolded = shown !== node.children;
    item.isOpened = !item.isFolded && !node.group && node.children.length > FOLD_ABOVE;
    const rows = shown.map((child) => place(child, depth + 1, item)).filter(Boolean);
    item.row = rows.length > 0 ? (rows[0].row + rows.at(-1).row) / 2 : nextRow;
    if (rows.length === 0) nextRow += 1;
    return item;
  }
  roots.forEach((root) => place(root, 0, null));
  const depth = list.reduce((most, item) => Math.max(most, item.depth + 1), 0);
  return { items: list, rows: nextRow, depth };
}

/** Waits as pairs of places in the picture. An agent inside a folded family is where its
 *  family is. Several waits between the same places are one, with their number. */
export function waitEdges(layout, agents, waits) {
  const places = new Map(
    layout.items.filter((item) => item.agent).map((item) => [item.agent.id, item]),
  );
  const groupOf = new Map(
    layout.items.filter((item) => item.group).map((item) => [item.group.group, item]),
  );
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  function placeOf(id) {
    for (let agent = byId.get(id), steps = 0; agent && steps < 64; steps += 1) {
      const place =
        places.get(agent.id) ??
        groupOf.get(`${agent.parent}/${agent.role?.name ?? agent.role?.id ?? ""}`);
      if (place) return place;
      agent = byId.get(agent.parent);
    }
    return null;
  }
  const edges = new Map();
  for (const wait of waits) {
    const from = placeOf(wait.agent);
    for (const target of wait.waits_for ?? []) {
      const to = placeOf(target);
      if (!from || !to || from === to) continue;
      const key = `${from.key}\n${to.key}`;
      const edge = edges.get(key) ?? { key, from, to, count: 0, kind: wait.kind };
      edge.count += 1;
      edges.set(key, edge);
    }
  }
  return [...edges.values()];
}
