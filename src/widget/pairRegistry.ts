/** Links widgets that are shown side by side as soon as both are drawn, also without a kernel. */

import type { IViewerHandle, IViewerLink } from '../viewer';

interface IPairedView {
  readonly handle: IViewerHandle;
  link: IViewerLink | null;
}

/** `name:0` or `name:1`, as written by the kernel. */
const PLACE = /^([\w-]{1,64}):([01])$/;

export class PairRegistry {
  /** Drawn views by pair and side; a pair may be shown several times. */
  private readonly _drawn = new Map<string, [IPairedView[], IPairedView[]]>();

  /**
   * Registers a drawn widget; the returned function removes it. Does nothing for a widget without a pair.
   */
  register(value: unknown, handle: IViewerHandle): () => void {
    const match = typeof value === 'string' ? PLACE.exec(value) : null;
    if (!match) {
      return () => undefined;
    }
    const [, name, side] = match;
    const pair = this._drawn.get(name) ?? [[], []];
    this._drawn.set(name, pair);
    const ownView: IPairedView = { handle, link: null };
    pair[side === '0' ? 0 : 1].push(ownView);
    join(pair);
    return () => {
      ownView.link?.end();
      pair.forEach(
        row => row.includes(ownView) && row.splice(row.indexOf(ownView), 1)
      );
      if (pair.every(row => row.length === 0)) {
        this._drawn.delete(name);
      } else {
        // The remaining one may have another partner.
        join(pair);
      }
    };
  }
}

/** Links the first view of each side that has no partner. */
function join([left, right]: [IPairedView[], IPairedView[]]): void {
  const first = left.find(({ link }) => link === null);
  const second = right.find(({ link }) => link === null);
  if (first && second) {
    const link = first.handle.link(
      second.handle,
      {},
      {
        onEnd: () => {
          first.link = second.link = null;
        }
      }
    );
    first.link = second.link = link;
  }
}
