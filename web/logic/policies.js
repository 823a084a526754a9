// Names of policies that come with the program, by what they decide about. A society may have
// more; where it says which, that counts.

export const SHIPPED = {
  briefs: ["lenient", "strict"],
  contacts: ["open", "strict"],
  context: ["all", "recent"],
  deadlock: ["earliest", "latest"],
  delivery: ["default"],
  gatekeeper: ["keywords", "root"],
  hosts: ["by_role", "least_loaded", "local"],
  introductions: ["agent", "capability", "confirm", "parent"],
  messages: ["any", "helix", "society", "workflow"],
  presentation: ["en", "zh"],
  prompts: ["en", "zh"],
  supervision: ["backoff"],
  tasks: ["default"],
};

/** Names that somebody may want for a kind: those not in force first. */
export function suggestions(kind, policies, known = SHIPPED[kind] ?? []) {
  const inForce = policies.filter((policy) => policy.kind === kind).map((policy) => policy.name);
  const others = known.filter((name) => !inForce.includes(name));
  return [...others, ...inForce];
}
