/** An open view of a model: holds its state and handles user actions. */

import type { ILayoutEngine } from '../../core/layout/engine/layoutEngine';
import type { IGraphModel } from '../../core/types';
import type { FileState, IReportProvider } from '../../providers/provider';
import { isAbort } from '../../providers/provider';
import type { IViewerSettings } from '../state/api';
import type { ISurfaceCallbacks } from '../graph/surfaceApi';
import type { IUserValues } from '../overlays';
import { initialState, withoutForeignBrush } from '../state/initialState';
import type { ISnapshot } from '../state/snapshot';
import { createStore, type IStore } from '../state/store';
import type { IDocument, IViewerState, Selection } from '../state/types';
import type { ITranslate } from '../i18n/translate';
import { AnalysisController } from './analysisController';
import { DetailsCache } from './detailsCache';
import { entityOf, sameSelection, selectionOf } from './entityNames';
import { openMenu } from './contextMenu';
import { showDetails } from './panels';
import { stepRepeat } from './repeatStepping';
import { goBack, recordHistory, selectWithHistory } from './navigationHistory';
import {
  captureSnapshot,
  snapshotStateFields,
  applySnapshot
} from './snapshots';
import { selectByClick, selectAll } from './selectionActions';
import { GraphController } from './graphController';
import { NO_HOST } from './types';
import type {
  RevealMode,
  ISessionListener,
  ISession,
  ISessionHost
} from './types';

export class Session implements ISession {
  readonly store: IStore<IViewerState>;
  readonly details: DetailsCache;
  readonly graph: GraphController;
  private readonly _analysis: AnalysisController;

  constructor(
    readonly provider: IReportProvider,
    /** Settings for new views; see `applySettings`. */
    public settings: IViewerSettings,
    snapshot: ISnapshot,
    private readonly _host: ISessionHost = NO_HOST,
    readonly makeEngine?: () => ILayoutEngine
  ) {
    this._analysis = new AnalysisController(this, snapshot);
    this.store = createStore<IViewerState>(
      { ...initialState(settings), ...snapshotStateFields(snapshot) },
      withoutForeignBrush
    );
    this.details = new DetailsCache(provider);
    const callbacks: ISurfaceCallbacks = {
      onSelect: (entity, options) =>
        selectByClick(this, entity, options.additive),
      onActivate: (entity, options) =>
        void this.activate(entity, options.recursive),
      onStep: (entity, step) => void stepRepeat(this, entity, step),
      onSelectTensor: (tensor, { activated }) => {
        this.select(tensor);
        if (activated) {
          showDetails(this);
        }
      },
      onHover: (target, box) =>
        this.listeners.forEach(f => f.onHover?.(target, box)),
      onRing: box => this.listeners.forEach(f => f.onRing?.(box)),
      onCameraChange: () => this.listeners.forEach(f => f.onCamera?.()),
      onContextMenu: (target, point) => openMenu(this, target, point),
      onEscape: () => false,
      onSelectArea: (entities, options) =>
        selectAll(this, entities, options.additive)
    };
    this.graph = new GraphController(
      this.store,
      settings,
      callbacks,
      () => this.listeners.forEach(f => f.onScene?.()),
      makeEngine
    );
  }

  /** Listeners, such as linked views. */
  readonly listeners = new Set<ISessionListener>();

  get trans(): ITranslate {
    return this._host.trans;
  }

  get linkTo(): ISessionHost['linkTo'] {
    return this._host.linkTo;
  }

  get files(): ISessionHost['files'] {
    return this._host.files;
  }

  /** Values from the host; they survive a new analysis. */
  userValues: IUserValues | null = null;

  dispose(): void {
    this._analysis.dispose();
    this.graph.dispose();
  }

  // ---- loading

  /** See `AnalysisController`. */
  load(): Promise<void> {
    return this._analysis.load();
  }

  cancel(): void {
    this._analysis.cancel();
  }

  /** See `AnalysisController`. */
  askBatch(): Promise<void> {
    return this._analysis.askBatch();
  }

  get canPreview(): boolean {
    return this._analysis.canPreview;
  }

  /** See `AnalysisController`. */
  modelAt(sizes: Readonly<Record<string, number>>): IGraphModel | null {
    return this._analysis.modelAt(sizes);
  }

  preview(
    sizes: Readonly<Record<string, number>>,
    bound?: Readonly<Record<string, number>>
  ): Promise<boolean> {
    return this._analysis.preview(sizes, bound);
  }

  /** Binds symbols to values and analyses the model again. */
  bind(
    bindings: Readonly<Record<string, number>>,
    assume: boolean
  ): Promise<void> {
    this.store.set({ bindings, assume });
    return this.load();
  }

  /** The last reported state of the file. */
  private _reportedFile: FileState = 'same';

  async checkFile(): Promise<void> {
    const { load } = this.store.get();
    if (!this.provider.fileState || load.status !== 'ready') {
      return;
    }
    const check = new AbortController();
    try {
      const file = await this.provider.fileState(check.signal);
      // Reported once: the user may have dismissed it.
      if (file !== this._reportedFile) {
        this._reportedFile = file;
        this.store.set({ file });
      }
    } catch (error) {
      if (!isAbort(error)) {
        // An unreachable server says nothing about the file; the next check will.
        console.warn('ONNX Autodoc: the file could not be checked', error);
      }
    }
  }

  // ---- selection

  select(selection: Selection, reveal: RevealMode = 'none'): void {
    const { selection: before, document } = this.store.get();
    if (!sameSelection(before, selection)) {
      selectWithHistory(this, selection);
    }
    if (document && reveal !== 'none') {
      this._bringIntoView(document, selection, reveal);
    }
  }

  goBack(): void {
    void goBack(this);
  }

  /** Double-click or Enter: expands or collapses groups, shows the details of nodes. */
  async activate(entity: number, recursive: boolean): Promise<void> {
    const { document } = this.store.get();
    if (!document) {
      return;
    }
    const selection = selectionOf(document.model, entity);
    if (selection.kind === 'group') {
      recordHistory(this);
    }
    this.select(selection);
    if (selection.kind === 'group') {
      const group = selection.id;
      await this.graph.transition(
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

  private _bringIntoView(
    { model }: IDocument,
    selection: Selection,
    reveal: RevealMode
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
    if (reveal === 'reveal') {
      void this.graph.reveal(entity);
    } else {
      this.graph.focusOn(entity);
    }
  }

  /** Returns to the initial view, also for a graph that is still loading. */
  home(): void {
    this._analysis.initialSnapshot = {
      ...this._analysis.initialSnapshot,
      camera: undefined
    };
    this.graph.surface?.home();
  }

  // ---- snapshots

  snapshot(): ISnapshot {
    return captureSnapshot(this);
  }

  /** Applies a snapshot to the current view; different bindings start an analysis. */
  async restore(snapshot: ISnapshot): Promise<void> {
    this._analysis.initialSnapshot = snapshot;
    if (await applySnapshot(this, snapshot)) {
      await this.load();
    }
  }
}
