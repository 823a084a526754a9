// What a replay has found.

/** The outcome of a replay: { state, differences, total }. The last finding has the totals; of
 *  very many differences only the first are listed. */
export function outcomeOf(replay) {
  const findings = replay.findings ?? [];
  const differences = findings.filter((one) => one.difference !== undefined);
  const totals = findings.find((one) => one.difference === undefined);
  return {
    state: replay.state,
    differences,
    total: Math.max(differences.length, Number(totals?.differences ?? 0)),
  };
}

// The answers of a policy, without those left out at the end.
function answersText(list) {
  const answers = list.filter((value) => value !== null);
  return answers.map((value) => sideText(value)).join(", ");
}

/** One side of a difference as people read it; null if there is nothing on it. */
export function sideText(value) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return answersText(value);
  if (typeof value !== "object") return String(value);
  if (value.effect) return `${value.effect}(${JSON.stringify(value.arguments ?? []).slice(1, -1)})`;
  if (value.end) return [value.end, value.message].filter(Boolean).join(": ");
  return JSON.stringify(value);
}
