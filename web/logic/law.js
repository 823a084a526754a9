// The law of messages: whatever was sent is in exactly one of these states.

export const STATES = ["processed", "pending", "expired", "dead", "dropped", "cancelled"];

/** The segments of the bar: { state, count, share }. Shares add up to 1 unless all are 0;
 *  what is not 0 is never too narrow to be seen. */
export function segments(stats, least = 0.008) {
  const counts = STATES.map((state) => Math.max(0, Number(stats[state] ?? 0)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return STATES.map((state) => ({ state, count: 0, share: 0 }));
  const raw = counts.map((count) => (count === 0 ? 0 : Math.max(least, count / total)));
  const sum = raw.reduce((all, share) => all + share, 0);
  return STATES.map((state, i) => ({ state, count: counts[i], share: raw[i] / sum }));
}

/** Whether the counts add up to what was sent and taken, less what other hosts were handed. */
export function holds(stats) {
  const ended = STATES.reduce((sum, state) => sum + Number(stats[state] ?? 0), 0);
  const handed = Number(stats.handed_over ?? 0);
  return Number(stats.sent ?? 0) + Number(stats.taken ?? 0) === ended + handed;
}

/** Counts of the last minute as rates: samples are { ms, sent, processed }. */
export class Rates {
  constructor(keep = 60) {
    this.keep = keep;
    this.samples = [];
  }

  /** Adds a sample; one that is older than the last begins anew, as after a restart. */
  add(ms, stats) {
    const last = this.samples.at(-1);
    const sample = { ms, sent: Number(stats.sent ?? 0), processed: Number(stats.processed ?? 0) };
    if (last && (ms <= last.ms || sample.sent < last.sent)) {
      if (sample.sent < last.sent) this.samples = [sample];
      return;
    }
    this.samples.push(sample);
    if (this.samples.length > this.keep + 1) this.samples.shift();
  }

  /** Per second, over the last ten seconds: { sent, processed }; null before there are two
   *  samples. */
  now() {
    const last = this.samples.at(-1);
    const first = this.samples.find((sample) => last.ms - sample.ms <= 10000);
    if (!last || this.samples.length === 1) return null;
    if (first === last) return { sent: 0, processed: 0 };
    const seconds = (last.ms - first.ms) / 1000;
    return {
      sent: (last.sent - first.sent) / seconds,
      processed: (last.processed - first.processed) / seconds,
    };
  }

  /** Messages per second between samples, oldest first. */
  series() {
    return this.samples.slice(1).map((sample, i) => {
      const before = this.samples[i];
      return (sample.sent - before.sent) / ((sample.ms - before.ms) / 1000);
    });
  }
}
