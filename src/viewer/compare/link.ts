/**
 * Two views looked at together: what is selected, opened, coloured and sized in one follows in the
 * other. What follows is decided by comparing states, never by who called whom, so nothing echoes.
 */

import {
  matchGiven,
  MATCHERS,
  otherSide,
  SIDES,
  type IMatching,
  type Side
} from '../../core/matching';
import type { IHover } from '../graph/api';
import { selectAll } from '../session/selecting';
import type { Session } from '../session/session';
import type { IViewerState } from '../state/types';
import { sameList } from '../session/entities';
import { sameDevice, setDevice } from '../session/device';
import { pointAt } from '../session/pointing';
import { CameraFollower } from './cameras';
import { carryHover, carrySelection, sameSelected, selectedIn } from './carry';
import type { ISelected } from './carry';
import { GroupFollower } from './groups';
import { conflictsOf, SizeFollower } from './sizes';
import { DEFAULT_LINK, type ILinkCallbacks } from './types';
import type { Carried, ICompanion, ILinkOptions } from './types';
import { ChangeFollower } from './changes';
import type { ComparisonColumns } from '../../schema';

type Paint = Pick<IViewerState, 'overlay' | 'scale' | 'brush' | 'device'>;

const NOTHING_CARRIED: Carried = { kind: 'nothing' };
const NO_VALUES: readonly number[] = [];

export class CompareLink {
  private _options: ILinkOptions;
  private _matching: IMatching | null = null;
  /** What the matching was made of. */
  private _matched: readonly unknown[] = [];
  private _carried: Carried = NOTHING_CARRIED;
  private _selected: [ISelected, ISelected];
  private _paint: [Paint, Paint];
  /** The side whose sizes the other one takes. */
  private _sizesOf: Side = 0;
  private _bindings: [object, object];
  private _queued = false;
  private _ended = false;
  /** The side in whose place both are shown as one graph. */
  private _merged: Side | null = null;
  /** Ends the wait for an alignment. */
  private _asked: AbortController | null = null;
  /** Ends what was asked for while the models were loaded. */
  private readonly _early = new AbortController();
  private readonly _changes: ChangeFollower;
  private readonly _groups: GroupFollower;
  private readonly _cameras: CameraFollower;
  private readonly _sizes: SizeFollower;
  private readonly _stops: (() => void)[] = [];

  constructor(
    readonly sessions: readonly [Session, Session],
    options: Partial<ILinkOptions> = {},
    private readonly _callbacks: ILinkCallbacks = {}
  ) {
    this._options = { ...DEFAULT_LINK, ...options };
    const [left, right] = sessions;
    this._groups = new GroupFollower(sessions);
    this._changes = new ChangeFollower(sessions);
    this._cameras = new CameraFollower(sessions);
    this._sizes = new SizeFollower(sessions);
    this._selected = [selectedIn(left), selectedIn(right)];
    this._paint = [paintOf(left), paintOf(right)];
    this._bindings = sessions.map(bindingsOf) as [object, object];
    for (const side of SIDES) {
      const session = sessions[side];
      this._stops.push(session.store.subscribe(() => this._queue()));
      const follower = {
        onPicture: () => this._pictured(side),
        onCamera: () => this._options.camera && this._cameras.follow(side),
        onHover: (what: IHover) => this._hovered(side, what)
      };
      session.followers.add(follower);
      this._stops.push(() => session.followers.delete(follower));
    }
    if (this._options.match === 'auto') {
      const loading = sessions.some(({ store }) => !store.get().document);
      if (loading) {
        left.provider.expectComparison?.(right.provider, this._early.signal);
      }
    }
    this._follow();
    this._sharePaint(0);
    this._cameras.settle();
  }

  get options(): ILinkOptions {
    return this._options;
  }

  setOptions(change: Partial<ILinkOptions>): void {
    this._options = { ...this._options, ...change };
    if (change.camera) {
      this._cameras.settle(0);
    }
    this._follow();
    this._callbacks.onOptions?.(this._options);
  }

  /** Leaves both views as they are. */
  end(): void {
    if (this._ended) {
      return;
    }
    this._ended = true;
    this._stops.forEach(stop => stop());
    this._asked?.abort();
    this._early.abort();
    this._changes.end();
    for (const { store } of this.sessions) {
      store.set({ companion: null, scaleWith: NO_VALUES });
    }
    this._callbacks.onEnd?.();
  }

  /** Several changes in one go are followed together. */
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
    this._changes.keep();
    for (const side of SIDES) {
      const bindings = bindingsOf(this.sessions[side]);
      if (bindings !== this._bindings[side]) {
        this._bindings[side] = bindings;
        this._sizesOf = this._sizes.gave(side, bindings) ? this._sizesOf : side;
      }
      const paint = paintOf(this.sessions[side]);
      if (!samePaint(paint, this._paint[side])) {
        this._sharePaint(side);
      }
      if (
        !sameSelected(selectedIn(this.sessions[side]), this._selected[side])
      ) {
        this._shareSelection(side);
      }
    }
    this._sizes.follow(this._sizesOf);
    this._shareScale();
    this._tell();
  }

  /** Matches anew when a structure or the wish has changed; other sizes change neither. */
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
    const made = [match, ...of];
    if (made.some((part, i) => part !== this._matched[i])) {
      this._matched = made;
      this._asked?.abort();
      this._asked = null;
      const [here, there] = this.sessions.map(({ provider }) => provider);
      if (match === 'auto' && here.compare) {
        // Which node is which is not told twice: nothing follows until the answer is there.
        this._settle(null);
        const asked = (this._asked = new AbortController());
        void here
          .compare(there, asked.signal)
          .catch(() => null)
          .then(given => {
            if (this._asked === asked && !this._ended) {
              this._asked = null;
              this._align(given);
            }
          });
        return;
      }
      this._settle(MATCHERS[match](left.tree, right.tree));
    }
  }

  /** By the alignment that was computed where the models are; without one, by names and wires. */
  private _align(given: ComparisonColumns | null): void {
    const [left, right] = this.sessions.map(s => s.store.get().document!.tree);
    const found = given && matchGiven(left, right, given);
    this._settle(found ?? MATCHERS.auto(left, right), found ? given : null);
    this._follow();
  }

  private _settle(
    matching: IMatching | null,
    given: ComparisonColumns | null = null
  ): void {
    this._matching = matching;
    this._changes.settle(matching?.changes ?? null, given);
    this._carried = NOTHING_CARRIED;
    this._groups.settle();
    const lead = this._selected[1].selection.kind === 'none' ? 0 : 1;
    if (matching && this._selected[lead].selection.kind !== 'none') {
      this._shareSelection(lead);
    }
  }

  private _shareSelection(side: Side): void {
    const to = otherSide(side);
    if (this._matching) {
      this._cameras.hold();
      this._carried = carrySelection(
        this.sessions[side],
        this.sessions[to],
        this._matching,
        side
      );
    }
    this._selected = [
      selectedIn(this.sessions[0]),
      selectedIn(this.sessions[1])
    ];
  }

  /** The heatmap, its scale and its brush; numbers that only one side has stay there. */
  private _sharePaint(side: Side): void {
    const { overlay, scale, brush, device } = paintOf(this.sessions[side]);
    const other = this.sessions[otherSide(side)];
    // Times of two devices would not compare the models.
    if (!sameDevice(device, paintOf(other).device)) {
      setDevice(other, device);
    }
    other.store.set(overlay === 'user' ? { scale } : { overlay, scale, brush });
    this._paint = [paintOf(this.sessions[0]), paintOf(this.sessions[1])];
  }

  /** Each side's colours span the values of both: one colour is one number. */
  private _shareScale(): void {
    const [left, right] = this.sessions.map(({ store }) => store.get());
    const shared = left.overlay === right.overlay && left.overlay !== null;
    for (const side of SIDES) {
      const [here, there] = side === 0 ? [left, right] : [right, left];
      const values = (shared && there.range?.values) || NO_VALUES;
      if (!sameList(here.scaleWith, values)) {
        this.sessions[side].store.set({ scaleWith: values });
      }
    }
  }

  private _pictured(side: Side): void {
    if (this._matching) {
      void this._groups.follow(side, this._matching);
    }
  }

  private _hovered(side: Side, what: IHover): void {
    const to = this.sessions[otherSide(side)];
    if (this._matching) {
      carryHover(what, to, this._matching, side);
    } else {
      pointAt(to, []);
    }
  }

  /** Tells each view of the other, when something about it has changed. */
  private _tell(): void {
    for (const side of SIDES) {
      const { store } = this.sessions[side];
      const next = this._companion(side);
      const before = store.get().companion;
      const keys = Object.keys(next) as (keyof ICompanion)[];
      if (
        !before ||
        keys.some(
          key => key !== 'conflicts' && !Object.is(before[key], next[key])
        ) ||
        JSON.stringify(before.conflicts) !== JSON.stringify(next.conflicts)
      ) {
        store.set({ companion: next });
      }
    }
  }

  private _companion(side: Side): ICompanion {
    const other = this.sessions[otherSide(side)];
    const here = this.sessions[side].store.get().document?.model.payload;
    const model = other.store.get().document?.model ?? null;
    const there = model?.payload;
    return {
      side,
      name: there?.model.name ?? other.provider.exportName,
      model,
      counts: this._matching?.counts ?? null,
      carried: this._carried,
      compared: this._changes.compared,
      conflicts: here && there ? conflictsOf(here, there) : [],
      provider: other.provider,
      merged: this._merged === side && this._changes.compared !== null,
      toggleMerged: this._toggleMerged[side],
      options: this._options,
      setOptions: this._setOptions,
      selectOnly: this._selectOnly[side],
      end: this._end
    };
  }

  private readonly _setOptions = (change: Partial<ILinkOptions>): void =>
    this.setOptions(change);

  private readonly _end = (): void => this.end();

  private readonly _toggleMerged = SIDES.map(side => (): void => {
    this._merged = this._merged === side ? null : side;
    this._tell();
  });

  private readonly _selectOnly = SIDES.map(side => (): void => {
    const only = this._matching?.only(side) ?? [];
    const session = this.sessions[side];
    selectAll(session, only);
    if (only.length > 0) {
      void session.stage.reveal(only[0]);
    }
  });
}

function paintOf({ store }: Session): Paint {
  const { overlay, scale, brush, device } = store.get();
  return { overlay, scale, brush, device };
}

function samePaint(a: Paint, b: Paint): boolean {
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
