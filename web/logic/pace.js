// How often a view may read again.
//
// The first change is shown at once; later ones so that reading takes at most a fifth of the
// time, and at least MIN_MS apart. A busy society therefore slows the page's reading down and
// never the page.

const MIN_MS = 250;
const IDLE_SHARE = 4;

export class Pace {
  constructor(minMs = MIN_MS) {
    this.minMs = minMs;
    this.nextAt = -Infinity;
    this.startedAt = null;
  }

  /** How long to wait before reading, in ms; null while a read is under way. */
  wait(now) {
    return this.startedAt === null ? Math.max(0, this.nextAt - now) : null;
  }

  begin(now) {
    this.startedAt = now;
  }

  end(now) {
    const took = now - this.startedAt;
    this.startedAt = null;
    this.nextAt = now + Math.max(this.minMs, took * IDLE_SHARE);
  }
}

/** How long to wait before the connection is tried for the nth time (from 0), in ms. */
export function backoff(tries) {
  return Math.min(10000, 250 * 2 ** Math.min(tries, 10));
}
