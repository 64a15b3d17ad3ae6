/**
 * Links two views: selection, expanded blocks, colours and dimensions of one follow in the other. Changes
 * are found by comparing states, not by tracking calls, so nothing echoes.
 */

import {
  matchGiven,
  MATCHERS,
  otherSide,
  SIDES,
  type IMatching,
  type Side
} from '../../core/matching/matchers';
import type { IHitTarget } from '../graph/surfaceApi';
import { selectAll } from '../session/selectionActions';
import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import { sameList } from '../session/entityNames';
import { sameDevice, setDevice } from '../session/deviceActions';
import { highlightEntities } from '../session/externalHighlight';
import { CameraSync } from './cameraSync';
import {
  syncHover,
  syncSelection,
  sameSelectionState,
  selectionStateOf
} from './selectionSync';
import type { ISelectionState } from './selectionSync';
import { ExpansionSync } from './expansionSync';
import { conflictsOf, DimSync } from './dimSync';
import { DEFAULT_LINK, type ILinkCallbacks } from '../state/linkedViews';
import type {
  SelectionSyncResult,
  ILinkedView,
  ILinkOptions
} from '../state/linkedViews';
import { ChangeNavigator } from './changeNavigator';
import type { ComparisonColumns } from '../../schema';

type OverlayState = Pick<
  IViewerState,
  'overlay' | 'scale' | 'brush' | 'device'
>;

const NOTHING_SYNCED: SelectionSyncResult = { kind: 'nothing' };
const NO_VALUES: readonly number[] = [];

export class CompareLink {
  private _options: ILinkOptions;
  private _matching: IMatching | null = null;
  /** Inputs of the current matching. */
  private _matched: readonly unknown[] = [];
  private _synced: SelectionSyncResult = NOTHING_SYNCED;
  private _selected: [ISelectionState, ISelectionState];
  private _overlayStates: [OverlayState, OverlayState];
  /** The side whose sizes the other one follows. */
  private _sizeLeader: Side = 0;
  private _bindings: [object, object];
  private _queued = false;
  private _ended = false;
  /** The side whose view shows both models as one graph. */
  private _merged: Side | null = null;
  /** Cancels the request for an alignment. */
  private _alignmentRequest: AbortController | null = null;
  /** Cancels requests made while the models were loading. */
  private readonly _earlyRequests = new AbortController();
  private readonly _changes: ChangeNavigator;
  private readonly _groups: ExpansionSync;
  private readonly _cameras: CameraSync;
  private readonly _sizes: DimSync;
  private readonly _stops: (() => void)[] = [];

  constructor(
    readonly sessions: readonly [Session, Session],
    options: Partial<ILinkOptions> = {},
    private readonly _callbacks: ILinkCallbacks = {}
  ) {
    this._options = { ...DEFAULT_LINK, ...options };
    const [left, right] = sessions;
    this._groups = new ExpansionSync(sessions);
    this._changes = new ChangeNavigator(sessions);
    this._cameras = new CameraSync(sessions);
    this._sizes = new DimSync(sessions);
    this._selected = [selectionStateOf(left), selectionStateOf(right)];
    this._overlayStates = [overlayStateOf(left), overlayStateOf(right)];
    this._bindings = sessions.map(bindingsOf) as [object, object];
    for (const side of SIDES) {
      const session = sessions[side];
      this._stops.push(session.store.subscribe(() => this._queue()));
      const listener = {
        onScene: () => this._onScene(side),
        onCamera: () => this._options.camera && this._cameras.copyFrom(side),
        onHover: (target: IHitTarget) => this._onHover(side, target)
      };
      session.listeners.add(listener);
      this._stops.push(() => session.listeners.delete(listener));
    }
    if (this._options.match === 'auto') {
      const loading = sessions.some(({ store }) => !store.get().document);
      if (loading) {
        left.provider.expectComparison?.(
          right.provider,
          this._earlyRequests.signal
        );
      }
    }
    this._follow();
    this._syncOverlay(0);
    this._cameras.captureBaseline();
  }

  get options(): ILinkOptions {
    return this._options;
  }

  setOptions(change: Partial<ILinkOptions>): void {
    this._options = { ...this._options, ...change };
    if (change.camera) {
      this._cameras.captureBaseline(0);
    }
    this._follow();
    this._callbacks.onOptions?.(this._options);
  }

  /** Ends the link; both views stay as they are. */
  end(): void {
    if (this._ended) {
      return;
    }
    this._ended = true;
    this._stops.forEach(stop => stop());
    this._alignmentRequest?.abort();
    this._earlyRequests.abort();
    this._changes.end();
    for (const { store } of this.sessions) {
      store.set({ linkedView: null, linkedScaleValues: NO_VALUES });
    }
    this._callbacks.onEnd?.();
  }

  /** Handles several changes of one turn together. */
  private _queue(): void {
    if (!this._queued) {
      this._queued = true;
      queueMicrotask(() => {
        this._queued = false;
        if (!this._ended) {
          this._follow();
        }
      });
    }
  }

  private _follow(): void {
    this._match();
    this._changes.reapply();
    for (const side of SIDES) {
      const bindings = bindingsOf(this.sessions[side]);
      if (bindings !== this._bindings[side]) {
        this._bindings[side] = bindings;
        this._sizeLeader = this._sizes.isOwnChange(side, bindings)
          ? this._sizeLeader
          : side;
      }
      const paint = overlayStateOf(this.sessions[side]);
      if (!sameOverlayState(paint, this._overlayStates[side])) {
        this._syncOverlay(side);
      }
      if (
        !sameSelectionState(
          selectionStateOf(this.sessions[side]),
          this._selected[side]
        )
      ) {
        this._syncSelection(side);
      }
    }
    this._sizes.copyFrom(this._sizeLeader);
    this._syncScale();
    this._publish();
  }

  /** Matches again if a structure or the match mode has changed; other sizes change neither. */
  private _match(): void {
    const [left, right] = this.sessions.map(s => s.store.get().document);
    if (!left || !right) {
      this._matching = null;
      this._matched = [];
      return;
    }
    const { match } = this._options;
    const of = [left, right].flatMap(({ model: { payload } }) => [
      payload.nodes.name,
      payload.scopes,
      payload.tensors
    ]);
    const inputs = [match, ...of];
    if (inputs.some((input, i) => input !== this._matched[i])) {
      this._matched = inputs;
      this._alignmentRequest?.abort();
      this._alignmentRequest = null;
      const [ownProvider, otherProvider] = this.sessions.map(
        ({ provider }) => provider
      );
      if (match === 'auto' && ownProvider.compare) {
        // Nothing is synchronised before the alignment arrives, so that the matching does not change
        // halfway.
        this._setMatching(null);
        const controller = (this._alignmentRequest = new AbortController());
        void ownProvider
          .compare(otherProvider, controller.signal)
          .catch(() => null)
          .then(alignment => {
            if (this._alignmentRequest === controller && !this._ended) {
              this._alignmentRequest = null;
              this._align(alignment);
            }
          });
        return;
      }
      this._setMatching(MATCHERS[match](left.tree, right.tree));
    }
  }

  /** Uses the alignment computed by the server or kernel; without one, matches by names and wires. */
  private _align(alignment: ComparisonColumns | null): void {
    const [left, right] = this.sessions.map(s => s.store.get().document!.tree);
    const matching = alignment && matchGiven(left, right, alignment);
    this._setMatching(
      matching ?? MATCHERS.auto(left, right),
      matching ? alignment : null
    );
    this._follow();
  }

  private _setMatching(
    matching: IMatching | null,
    alignment: ComparisonColumns | null = null
  ): void {
    this._matching = matching;
    this._changes.setChanges(matching?.changes ?? null, alignment);
    this._synced = NOTHING_SYNCED;
    this._groups.captureBaseline();
    const side = this._selected[1].selection.kind === 'none' ? 0 : 1;
    if (matching && this._selected[side].selection.kind !== 'none') {
      this._syncSelection(side);
    }
  }

  private _syncSelection(side: Side): void {
    const to = otherSide(side);
    if (this._matching) {
      this._cameras.pause();
      this._synced = syncSelection(
        this.sessions[side],
        this.sessions[to],
        this._matching,
        side
      );
    }
    this._selected = [
      selectionStateOf(this.sessions[0]),
      selectionStateOf(this.sessions[1])
    ];
  }

  /** Copies the heatmap, its scale and its brush; metrics that only one side has stay there. */
  private _syncOverlay(side: Side): void {
    const { overlay, scale, brush, device } = overlayStateOf(
      this.sessions[side]
    );
    const other = this.sessions[otherSide(side)];
    // Times on two different devices would not compare the models.
    if (!sameDevice(device, overlayStateOf(other).device)) {
      setDevice(other, device);
    }
    other.store.set(overlay === 'user' ? { scale } : { overlay, scale, brush });
    this._overlayStates = [
      overlayStateOf(this.sessions[0]),
      overlayStateOf(this.sessions[1])
    ];
  }

  /** The colours of each side span the values of both, so that a colour means the same number. */
  private _syncScale(): void {
    const [left, right] = this.sessions.map(({ store }) => store.get());
    const shared = left.overlay === right.overlay && left.overlay !== null;
    for (const side of SIDES) {
      const [state, otherState] = side === 0 ? [left, right] : [right, left];
      const values = (shared && otherState.overlayRange?.values) || NO_VALUES;
      if (!sameList(state.linkedScaleValues, values)) {
        this.sessions[side].store.set({ linkedScaleValues: values });
      }
    }
  }

  private _onScene(side: Side): void {
    if (this._matching) {
      void this._groups.copyFrom(side, this._matching);
    }
  }

  private _onHover(side: Side, target: IHitTarget): void {
    const to = this.sessions[otherSide(side)];
    if (this._matching) {
      syncHover(target, to, this._matching, side);
    } else {
      highlightEntities(to, []);
    }
  }

  /** Updates what each view knows of the other, if it has changed. */
  private _publish(): void {
    for (const side of SIDES) {
      const { store } = this.sessions[side];
      const next = this._linkedView(side);
      const before = store.get().linkedView;
      const keys = Object.keys(next) as (keyof ILinkedView)[];
      if (
        !before ||
        keys.some(
          key => key !== 'conflicts' && !Object.is(before[key], next[key])
        ) ||
        JSON.stringify(before.conflicts) !== JSON.stringify(next.conflicts)
      ) {
        store.set({ linkedView: next });
      }
    }
  }

  private _linkedView(side: Side): ILinkedView {
    const other = this.sessions[otherSide(side)];
    const payload = this.sessions[side].store.get().document?.model.payload;
    const model = other.store.get().document?.model ?? null;
    const otherPayload = model?.payload;
    return {
      side,
      name: otherPayload?.model.name ?? other.provider.exportName,
      model,
      counts: this._matching?.counts ?? null,
      synced: this._synced,
      compared: this._changes.compared,
      conflicts:
        payload && otherPayload ? conflictsOf(payload, otherPayload) : [],
      provider: other.provider,
      merged: this._merged === side && this._changes.compared !== null,
      toggleMerged: this._toggleMerged[side],
      options: this._options,
      setOptions: this._setOptions,
      selectUnmatched: this._selectOnly[side],
      end: this._end
    };
  }

  private readonly _setOptions = (change: Partial<ILinkOptions>): void =>
    this.setOptions(change);

  private readonly _end = (): void => this.end();

  private readonly _toggleMerged = SIDES.map(side => (): void => {
    this._merged = this._merged === side ? null : side;
    this._publish();
  });

  private readonly _selectOnly = SIDES.map(side => (): void => {
    const only = this._matching?.only(side) ?? [];
    const session = this.sessions[side];
    selectAll(session, only);
    if (only.length > 0) {
      void session.graph.reveal(only[0]);
    }
  });
}

function overlayStateOf({ store }: Session): OverlayState {
  const { overlay, scale, brush, device } = store.get();
  return { overlay, scale, brush, device };
}

function sameOverlayState(a: OverlayState, b: OverlayState): boolean {
  return (
    a.overlay === b.overlay &&
    a.scale === b.scale &&
    a.brush === b.brush &&
    sameDevice(a.device, b.device)
  );
}

function bindingsOf({ store }: Session): object {
  return store.get().bindings;
}
