/** Keeps dimensions of the same name at the same size in both views. */

import { otherSide, type Side } from '../../core/matching/matchers';
import type { GraphPayload } from '../../schema';
import type { Session } from '../session/session';
import type { ISizeConflict } from '../state/linkedViews';

/** Dimensions of the same name with different sizes. */
export function conflictsOf(
  payload: GraphPayload,
  otherPayload: GraphPayload
): ISizeConflict[] {
  const otherSizes = new Map(
    otherPayload.dims.map(dim => [dim.name, dim.value])
  );
  return payload.dims.flatMap(({ name, value }) => {
    const other = otherSizes.get(name);
    return other === undefined || other === value
      ? []
      : [{ name, here: value, there: other }];
  });
}

export class DimSync {
  /** Last request to each side, so that a rejected one is not repeated. */
  private readonly _lastRequests: [string, string] = ['', ''];
  /** Bindings that were set here, by side. */
  private readonly _ownBindings: [string[], string[]] = [[], []];

  constructor(private readonly _sessions: readonly [Session, Session]) {}

  /** True if a view's bindings were set here rather than by its user. */
  isOwnChange(side: Side, bindings: object): boolean {
    return this._ownBindings[side].includes(JSON.stringify(bindings));
  }

  /** Gives the other view the sizes of the view `side`. */
  copyFrom(side: Side): void {
    const to = otherSide(side);
    const from = this._sessions[side].store.get().document;
    const session = this._sessions[to];
    const { document, bindings } = session.store.get();
    if (!from || !document) {
      return;
    }
    const conflicts = conflictsOf(from.model.payload, document.model.payload);
    if (conflicts.length === 0) {
      this._lastRequests[to] = '';
      return;
    }
    const requested = new Map(Object.entries(bindings));
    for (const { name, here } of conflicts) {
      if (here === null) {
        requested.delete(name);
      } else {
        requested.set(name, here);
      }
    }
    const key = JSON.stringify([...requested]);
    if (key !== this._lastRequests[to]) {
      this._lastRequests[to] = key;
      const freed = conflicts.some(({ here }) => here === null);
      const entries = document.model.payload.dims.flatMap(({ name, value }) => {
        const size = requested.get(name) ?? value;
        return size === null ? [] : [[name, size] as const];
      });
      const sizes = [
        Object.fromEntries(entries),
        Object.fromEntries(requested)
      ];
      this._ownBindings[to] = sizes.map(bound => JSON.stringify(bound));
      void applySizes(session, sizes[0], sizes[1], freed);
    }
  }
}

/** Applies all sizes at once if expressions allow it, else runs an analysis with the bound ones. */
async function applySizes(
  session: Session,
  bindings: Readonly<Record<string, number>>,
  bound: Readonly<Record<string, number>>,
  freed: boolean
): Promise<void> {
  const { assume } = session.store.get();
  const isShown =
    !freed && (await session.preview(bindings, assume ? bound : undefined));
  if (!isShown && !session.provider.fixedDims) {
    await session.bind(bound, assume && !freed);
  }
}
