/** One open view of one model: loads it, keeps its state, answers the user. */

import type { ILayoutEngine } from '../../core/layout/engine';
import { withTimes } from '../../core/latency';
import { decode, renumbered } from '../../core/model';
import { Rebinder } from '../../core/rebind';
import { buildTree, renumberedTree } from '../../core/tree';
import type { IReportProvider } from '../../providers/provider';
import { isAbort, problemOf } from '../../providers/provider';
import type { GraphPayload } from '../../schema';
import type { IFileHost, IViewerSettings } from '../api';
import type { IHover, ISurfaceCallbacks } from '../graph/api';
import { setUserValues, type IUserValues } from '../overlays';
import { initialState, withoutForeignBrush } from '../state/initial';
import type { ISnapshot } from '../state/snapshot';
import { SNAPSHOT_VERSION } from '../state/snapshot';
import { createStore, type IStore } from '../state/store';
import type { IDocument, IViewerState, Selection } from '../state/types';
import { NOTHING, NO_SEARCH } from '../state/types';
import { IDENTITY, type ITranslate } from '../translate';
import { DetailsCache } from './details';
import {
  alsoRecords,
  entityOf,
  groupKeys,
  groupsOf,
  recall,
  recallAlso,
  recordOf,
  sameSelection,
  selectionOf
} from './entities';
import { firstDevice, sameDevice, setDevice } from './device';
import { findAgain, setQuery } from './find';
import { hiddenOf, hiddenRecord } from './hide';
import { openMenu } from './menu';
import { showDetails } from './panels';
import { clickedStep } from './parts';
import { goBack, remember, selecting } from './places';
import { clicked, selectAll } from './selecting';
import { firstOverlay } from './settings';
import { Stage } from './stage';

const NONE: readonly number[] = [];

/** How long sizes must rest before the model is analysed with them, in milliseconds. */
const SETTLE = 800;

/** Hears of what does not stand in the state. */
export interface IFollower {
  /** Other boxes are drawn. */
  onPicture(): void;
  onCamera(): void;
  onHover(what: IHover): void;
}

/** What to do to the picture when something is selected. */
export type Follow = 'none' | 'focus' | 'reveal';

export class Session {
  readonly store: IStore<IViewerState>;
  readonly details: DetailsCache;
  readonly stage: Stage;
  private _loading: AbortController | null = null;
  private _restore: ISnapshot;
  private _rebinder: Rebinder | null = null;
  private _settle: ReturnType<typeof setTimeout> | null = null;

  constructor(
    readonly provider: IReportProvider,
    /** What new views start with; see `applySettings`. */
    public settings: IViewerSettings,
    snapshot: ISnapshot,
    makeEngine?: () => ILayoutEngine
  ) {
    this._restore = snapshot;
    this.store = createStore<IViewerState>(
      { ...initialState(settings), ...storedFields(snapshot) },
      withoutForeignBrush
    );
    this.details = new DetailsCache(provider);
    const callbacks: ISurfaceCallbacks = {
      onSelect: (entity, how) => clicked(this, entity, how.additive),
      onActivate: (entity, how) => void this.activate(entity, how.recursive),
      onStep: (entity, step) => void clickedStep(this, entity, step),
      onSelectTensor: (what, { activated }) => {
        this.select(what);
        if (activated) {
          showDetails(this);
        }
      },
      onHover: what => this.followers.forEach(f => f.onHover(what)),
      onCameraChange: () => {
        this.onCameraChange?.();
        this.followers.forEach(f => f.onCamera());
      },
      onContextMenu: (what, at) => openMenu(this, what, at),
      onEscape: () => false,
      onSelectArea: (entities, how) => selectAll(this, entities, how.additive)
    };
    this.stage = new Stage(this.store, settings, callbacks, makeEngine);
    this.stage.onPicture = () => this.followers.forEach(f => f.onPicture());
  }

  /** Views that do what this one does. */
  readonly followers = new Set<IFollower>();

  /** Set by the owner; for sentences that actions write into files. */
  trans: ITranslate = IDENTITY;

  /** The address for a view's text; null where the host has none. */
  linkTo: ((view: string) => string) | null = null;

  /** What the host does with new files; null where it has no place for them. */
  files: IFileHost | null = null;

  /** Numbers of the host's own; they outlive a new analysis. */
  userValues: IUserValues | null = null;

  /** Set by the owner; called while the user moves the picture. */
  onCameraChange: (() => void) | null = null;

  dispose(): void {
    if (this._settle !== null) {
      clearTimeout(this._settle);
    }
    this._loading?.abort();
    this._loading = null;
    this.stage.dispose();
  }

  // ---- loading

  /** Analyses the file with the current bindings. The picture that is there stays until it is replaced. */
  async load(): Promise<void> {
    this._loading?.abort();
    const loading = new AbortController();
    this._loading = loading;
    const { bindings, assume, document } = this.store.get();
    const kept = document ? this.snapshot() : this._restore;
    this.store.set({
      load: { status: 'loading', progress: { phase: '', done: 0, total: 0 } },
      fileChanged: false
    });
    try {
      const payload = await this.provider.load(
        { bindings, assume },
        progress => {
          if (this._loading === loading) {
            this.store.set({ load: { status: 'loading', progress } });
          }
        },
        loading.signal
      );
      if (this._loading === loading) {
        await this._take(payload, kept);
      }
    } catch (error) {
      if (this._loading === loading && !isAbort(error)) {
        this.store.set({
          load: { status: 'failed', problem: problemOf(error) }
        });
      }
    }
  }

  /** Stops a running analysis; what was shown before stays. */
  cancel(): void {
    this._loading?.abort();
    this._loading = null;
    const { document } = this.store.get();
    this.store.set({ load: { status: document ? 'ready' : 'cancelled' } });
  }

  /** True when other sizes show at once, without another analysis. */
  get canPreview(): boolean {
    return this._rebinder !== null;
  }

  /**
   * Shows the numbers under other sizes at once, from the expressions of the payload; the full analysis
   * follows when the sizes rest. False where only an analysis can tell.
   */
  async preview(bindings: Readonly<Record<string, number>>): Promise<boolean> {
    const { document, device } = this.store.get();
    const payload = document && this._rebinder?.rebind(bindings);
    if (!payload) {
      return false;
    }
    this._loading?.abort();
    this._loading = null;
    const model = withTimes(renumbered(document.model, payload), device);
    const tree = renumberedTree(document.tree, model);
    setUserValues(tree, this.userValues);
    const next: IDocument = { model, tree };
    // The picture first, in the same frame as the panels: they draw when the state tells them.
    const drawn = this.stage.renumber(next);
    this.store.set({
      bindings,
      assume: false,
      document: next,
      brush: null,
      load: { status: 'ready' }
    });
    findAgain(this);
    if (this._settle !== null) {
      clearTimeout(this._settle);
    }
    if (!this.provider.fixedDims) {
      this._settle = setTimeout(() => {
        this._settle = null;
        void this.load();
      }, SETTLE);
    }
    await drawn;
    return true;
  }

  /** Gives symbols their values and analyses again. */
  bind(
    bindings: Readonly<Record<string, number>>,
    assume: boolean
  ): Promise<void> {
    this.store.set({ bindings, assume });
    return this.load();
  }

  async checkFile(): Promise<void> {
    const { load } = this.store.get();
    if (!this.provider.changed || load.status !== 'ready') {
      return;
    }
    const check = new AbortController();
    try {
      if (await this.provider.changed(check.signal)) {
        this.store.set({ fileChanged: true });
      }
    } catch (error) {
      if (!isAbort(error)) {
        // A server that is away says nothing about the file; the next check will.
        console.warn('ONNX Autodoc: the file could not be checked', error);
      }
    }
  }

  // ---- selection

  select(selection: Selection, follow: Follow = 'none'): void {
    const { selection: before, document } = this.store.get();
    if (!sameSelection(before, selection)) {
      selecting(this, selection);
    }
    if (document && follow !== 'none') {
      this._follow(document, selection, follow);
    }
  }

  goBack(): void {
    void goBack(this);
  }

  /** Double-click or Enter: groups open or close, nodes show their details. */
  async activate(entity: number, recursive: boolean): Promise<void> {
    const { document } = this.store.get();
    if (!document) {
      return;
    }
    const selection = selectionOf(document.model, entity);
    if (selection.kind === 'group') {
      remember(this);
    }
    this.select(selection);
    if (selection.kind === 'group') {
      const group = selection.id;
      await this.stage.change(
        view =>
          view.isOpen(group)
            ? view.collapse(group, recursive)
            : view.expand(group, recursive),
        entity
      );
    } else {
      showDetails(this);
    }
  }

  private _follow(
    { model }: IDocument,
    selection: Selection,
    follow: Follow
  ): void {
    let entity = entityOf(model, selection);
    if (selection.kind === 'tensor' || selection.kind === 'series') {
      const producer = model.tensorProducer[selection.id];
      const consumer = model.consumers[model.consumerOffsets[selection.id]];
      entity = producer >= 0 ? producer : (consumer ?? null);
    }
    if (entity === null) {
      return;
    }
    if (follow === 'reveal') {
      void this.stage.reveal(entity);
    } else {
      this.stage.focusOn(entity);
    }
  }

  // ---- remembering

  snapshot(): ISnapshot {
    const state = this.store.get();
    const { overlay, scale, showNames, showWeights, direction, panels } = state;
    const {
      device,
      table,
      bindings,
      assume,
      bookmarks,
      document,
      selection,
      also
    } = state;
    const view = document
      ? {
          selection: recordOf(document.tree, selection),
          also: alsoRecords(document, also),
          open: groupKeys(document.tree, this.stage.openGroups()),
          camera: this.stage.camera ?? undefined,
          hidden: hiddenRecord(document, state.hidden)
        }
      : {};
    return {
      version: SNAPSHOT_VERSION,
      ...{ overlay, scale, showNames, showWeights, direction, panels },
      ...{ device, table, bindings, assume, bookmarks },
      ...view
    };
  }

  /** Takes a snapshot over what is shown; bindings that differ start an analysis. */
  async restore(snapshot: ISnapshot): Promise<void> {
    const { selection, also, open, camera, hidden } = snapshot;
    const fields = storedFields(snapshot);
    const before = this.store.get();
    this._restore = snapshot;
    this.store.set(fields);
    if (
      fields.device !== undefined &&
      !sameDevice(fields.device, before.device)
    ) {
      setDevice(this, fields.device);
    }
    const bindings = fields.bindings ?? before.bindings;
    const rebound =
      JSON.stringify(bindings) !== JSON.stringify(before.bindings) ||
      (fields.assume ?? before.assume) !== before.assume;
    const { document } = this.store.get();
    if (document) {
      this.store.set({
        selection: selection ? recall(document.tree, selection) : NOTHING,
        also: recallAlso(document, also)
      });
      const groups = open && groupsOf(document.tree, open);
      await this.stage.show(document, {
        open: groups,
        camera,
        hidden: hiddenOf(document, hidden)
      });
    }
    if (rebound) {
      await this.load();
    }
  }

  private async _take(payload: GraphPayload, kept: ISnapshot): Promise<void> {
    const device =
      kept.device === undefined
        ? firstDevice(this.settings, payload)
        : this.store.get().device;
    const model = withTimes(decode(payload), device);
    this._rebinder = Rebinder.of(payload, model);
    const document: IDocument = { model, tree: buildTree(model) };
    const { tree } = document;
    this.details.clear();
    setUserValues(tree, this.userValues);
    const { overlay, search } = this.store.get();
    this.store.set({
      ...{ document, device },
      load: { status: 'ready' },
      selection: kept.selection ? recall(tree, kept.selection) : NOTHING,
      also: recallAlso(document, kept.also),
      back: [],
      forward: [],
      trace: null,
      menu: null,
      brush: null,
      overlay:
        kept.overlay === undefined
          ? firstOverlay(this.settings, tree)
          : overlay,
      search: NO_SEARCH,
      pointed: NONE
    });
    setQuery(this, search.query);
    await this.stage.show(document, {
      open: kept.open && groupsOf(tree, kept.open),
      camera: kept.camera,
      hidden: hiddenOf(document, kept.hidden)
    });
  }
}

/** The parts of a snapshot that are parts of the state as they are. */
function storedFields(snapshot: ISnapshot): Partial<IViewerState> {
  const {
    selection: _selection,
    open: _open,
    camera: _camera,
    hidden: _hidden,
    also: _also,
    version: _version,
    ...fields
  } = snapshot;
  return fields;
}
