// What a look was like when it was left: how far it was scrolled, what was unfolded, picked and
// typed there. Whoever comes back to the same address finds it so.

const KEPT = 20;

export class Memory {
  constructor() {
    this.looks = new Map();
  }

  /** Keeps what a view noted in `ui`, and how far the page was scrolled, by its address. */
  keep(hash, ui, top) {
    for (const part of Object.values(ui)) if (part?.node) part.node = null; // it leaves the page
    this.looks.delete(hash);
    this.looks.set(hash, { ui, top });
    if (this.looks.size > KEPT) this.looks.delete(this.looks.keys().next().value);
  }

  /** What was kept: { ui, top }. */
  of(hash) {
    return this.looks.get(hash) ?? { ui: {}, top: 0 };
  }
}
