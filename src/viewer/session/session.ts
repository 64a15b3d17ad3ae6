/** One open view of one model: keeps its state, answers the user. */

import type { ILayoutEngine } from '../../core/layout/engine';
import type { IGraphModel } from '../../core/types';
import type { FileState, IReportProvider } from '../../providers/provider';
import { isAbort } from '../../providers/provider';
import type { IViewerSettings } from '../api';
import type { ISurfaceCallbacks } from '../graph/api';
import type { IUserValues } from '../overlays';
import { initialState, withoutForeignBrush } from '../state/initial';
import type { ISnapshot } from '../state/snapshot';
import { createStore, type IStore } from '../state/store';
import type { IDocument, IViewerState, Selection } from '../state/types';
import type { ITranslate } from '../translate';
import { Analysis } from './analysis';
import { DetailsCache } from './details';
import { entityOf, sameSelection, selectionOf } from './entities';
import { openMenu } from './menu';
import { showDetails } from './panels';
import { clickedStep } from './parts';
import { goBack, remember, selecting } from './places';
import { snapshotOf, storedFields, takeSnapshot } from './remembering';
import { clicked, selectAll } from './selecting';
import { Stage } from './stage';
import { NO_HOST } from './types';
import type { Follow, IFollower, ISession, ISessionHost } from './types';

export class Session implements ISession {
  readonly store: IStore<IViewerState>;
  readonly details: DetailsCache;
  readonly stage: Stage;
  private readonly _analysis: Analysis;

  constructor(
    readonly provider: IReportProvider,
    /** What new views start with; see `applySettings`. */
    public settings: IViewerSettings,
    snapshot: ISnapshot,
    private readonly _host: ISessionHost = NO_HOST,
    readonly makeEngine?: () => ILayoutEngine
  ) {
    this._analysis = new Analysis(this, snapshot);
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
      onHover: (what, box) =>
        this.followers.forEach(f => f.onHover?.(what, box)),
      onRing: box => this.followers.forEach(f => f.onRing?.(box)),
      onCameraChange: () => this.followers.forEach(f => f.onCamera?.()),
      onContextMenu: (what, at) => openMenu(this, what, at),
      onEscape: () => false,
      onSelectArea: (entities, how) => selectAll(this, entities, how.additive)
    };
    this.stage = new Stage(
      this.store,
      settings,
      callbacks,
      () => this.followers.forEach(f => f.onPicture?.()),
      makeEngine
    );
  }

  /** Views that do what this one does. */
  readonly followers = new Set<IFollower>();

  get trans(): ITranslate {
    return this._host.trans;
  }

  get linkTo(): ISessionHost['linkTo'] {
    return this._host.linkTo;
  }

  get files(): ISessionHost['files'] {
    return this._host.files;
  }

  /** Numbers of the host's own; they outlive a new analysis. */
  userValues: IUserValues | null = null;

  dispose(): void {
    this._analysis.dispose();
    this.stage.dispose();
  }

  // ---- loading

  /** See `Analysis`. */
  load(): Promise<void> {
    return this._analysis.load();
  }

  cancel(): void {
    this._analysis.cancel();
  }

  /** See `Analysis`. */
  askBatch(): Promise<void> {
    return this._analysis.askBatch();
  }

  get canPreview(): boolean {
    return this._analysis.canPreview;
  }

  /** See `Analysis`. */
  at(sizes: Readonly<Record<string, number>>): IGraphModel | null {
    return this._analysis.at(sizes);
  }

  preview(
    sizes: Readonly<Record<string, number>>,
    given?: Readonly<Record<string, number>>
  ): Promise<boolean> {
    return this._analysis.preview(sizes, given);
  }

  /** Gives symbols their values and analyses again. */
  bind(
    bindings: Readonly<Record<string, number>>,
    assume: boolean
  ): Promise<void> {
    this.store.set({ bindings, assume });
    return this.load();
  }

  /** What was last said about the file. */
  private _told: FileState = 'same';

  async checkFile(): Promise<void> {
    const { load } = this.store.get();
    if (!this.provider.fileState || load.status !== 'ready') {
      return;
    }
    const check = new AbortController();
    try {
      const file = await this.provider.fileState(check.signal);
      // Said once: the reader may have put it off.
      if (file !== this._told) {
        this._told = file;
        this.store.set({ file });
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

  /** Looks at the picture as at first, also at one that is still to come. */
  home(): void {
    this._analysis.first = { ...this._analysis.first, camera: undefined };
    this.stage.surface?.home();
  }

  // ---- remembering

  snapshot(): ISnapshot {
    return snapshotOf(this);
  }

  /** Takes a snapshot over what is shown; bindings that differ start an analysis. */
  async restore(snapshot: ISnapshot): Promise<void> {
    this._analysis.first = snapshot;
    if (await takeSnapshot(this, snapshot)) {
      await this.load();
    }
  }
}
