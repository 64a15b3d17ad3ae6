/** A session's model: analysed, shown, and shown under other sizes without another analysis. */

import { withLatency } from '../../core/latency/latencyEstimate';
import { decodePayload, withMetricsOf } from '../../core/model/decodePayload';
import { Rebinder, sizable, withBatch } from '../../core/expressions/rebind';
import { buildTree, withModel } from '../../core/tree/groupTree';
import type { IGraphModel } from '../../core/types';
import { isAbort, problemOf } from '../../providers/provider';
import type { BatchOffer, GraphPayload } from '../../schema';
import { setUserValues } from '../overlays';
import type { ISnapshot } from '../state/snapshot';
import { NO_SELECTION, NO_SEARCH, type IDocument } from '../state/types';
import { initialDevice } from './deviceActions';
import { groupsOf, fromRecord, additionalFromRecords } from './entityNames';
import { refreshMatches, setQuery } from './searchActions';
import { hiddenOf } from './hideActions';
import type { ISession } from './types';
import { initialOverlay } from './settings';

const NONE: readonly number[] = [];

/** How long sizes must rest before the model is analysed with them, in milliseconds. */
const REANALYSIS_DELAY_MS = 800;

export class AnalysisController {
  private _running: AbortController | null = null;
  private _rebinder: Rebinder | null = null;
  private _asking: AbortController | null = null;
  private _settle: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly _session: ISession,
    /** What the first picture is to be like. */
    public initialSnapshot: ISnapshot
  ) {}

  dispose(): void {
    this._dropSettle();
    this._stop();
    this._asking?.abort();
  }

  /** Analyses the file with the current bindings. The picture that is there stays until it is replaced. */
  async load(): Promise<void> {
    this._dropSettle();
    this._stop();
    const running = new AbortController();
    this._running = running;
    const { store, provider } = this._session;
    const { bindings, assume } = store.get();
    store.set({
      load: { status: 'loading', progress: { phase: '', done: 0, total: 0 } },
      file: 'same'
    });
    try {
      const payload = await provider.load(
        { bindings, assume },
        progress => {
          if (this._running === running) {
            store.set({ load: { status: 'loading', progress } });
          }
        },
        running.signal
      );
      if (this._running === running) {
        await this._applyPayload(payload);
      }
    } catch (error) {
      if (this._running === running && !isAbort(error)) {
        store.set({ load: { status: 'failed', problem: problemOf(error) } });
      }
    }
  }

  /** Stops a running analysis; what was shown before stays. */
  cancel(): void {
    this._stop();
    const { store } = this._session;
    const { document } = store.get();
    store.set({ load: { status: document ? 'ready' : 'cancelled' } });
  }

  /**
   * Asks whether a batch that the file has fixed can be another, once a model: it takes as long as an analysis,
   * and most readers never want it.
   */
  async askBatch(): Promise<void> {
    const { store, provider } = this._session;
    const { document, batch } = store.get();
    if (batch !== null || !document || !provider.batch) {
      return;
    }
    if (sizable(document.model.payload).length > 0) {
      return;
    }
    const asking = new AbortController();
    this._asking = asking;
    store.set({ batch: { status: 'asking' } });
    try {
      const { offer, reason } = await provider.batch(asking.signal);
      if (this._asking === asking) {
        const taken = offer !== null && this._takeBatch(offer);
        store.set({ batch: taken ? null : { status: 'none', reason } });
      }
    } catch (error) {
      if (this._asking === asking) {
        const reason = isAbort(error) ? '' : problemOf(error).detail;
        store.set({ batch: { status: 'none', reason } });
      }
    }
  }

  /** Shows the sizes that an offer makes free. False where they would lose a number that is known now. */
  private _takeBatch(offer: BatchOffer): boolean {
    const { store } = this._session;
    const { document, device } = store.get();
    if (!document) {
      return false;
    }
    const payload = withBatch(document.model.payload, offer);
    const model = withLatency(decodePayload(payload), device);
    const rebinder = Rebinder.of(payload, model);
    if (rebinder === null) {
      return false;
    }
    this._rebinder = rebinder;
    const tree = withModel(document.tree, model);
    setUserValues(tree, this._session.userValues);
    const next: IDocument = { model, tree };
    void this._session.graph.updateNumbers(next);
    store.set({ document: next });
    return true;
  }

  /** True when other sizes show at once, without another analysis. */
  get canPreview(): boolean {
    return this._rebinder !== null;
  }

  /** The model at other sizes, without showing it; null where only an analysis can tell. */
  modelAt(sizes: Readonly<Record<string, number>>): IGraphModel | null {
    const { document } = this._session.store.get();
    const payload = document && this._rebinder?.rebind(sizes);
    return payload ? withMetricsOf(document.model, payload) : null;
  }

  /**
   * Shows the numbers under other sizes at once, from the expressions of the payload; the full analysis
   * follows when the sizes rest. False where only an analysis can tell. `given` are those of the sizes that
   * the user gave, where the others are assumed.
   */
  async preview(
    sizes: Readonly<Record<string, number>>,
    given?: Readonly<Record<string, number>>
  ): Promise<boolean> {
    const session = this._session;
    const { document, device } = session.store.get();
    const payload = document && this._rebinder?.rebind(sizes, given);
    if (!payload) {
      return false;
    }
    this._stop();
    const model = withLatency(withMetricsOf(document.model, payload), device);
    const tree = withModel(document.tree, model);
    setUserValues(tree, session.userValues);
    const next: IDocument = { model, tree };
    // The picture first, in the same frame as the panels: they draw when the state tells them.
    const drawn = session.graph.updateNumbers(next);
    // No analysis of the file can have a batch that the file has not.
    const offered = Boolean(payload.batch);
    session.store.set({
      ...(offered
        ? {}
        : { bindings: given ?? sizes, assume: given !== undefined }),
      document: next,
      brush: null,
      load: { status: 'ready' }
    });
    refreshMatches(session);
    this._dropSettle();
    if (!session.provider.fixedDims && !offered) {
      this._settle = setTimeout(() => void this.load(), REANALYSIS_DELAY_MS);
    }
    await drawn;
    return true;
  }

  private _stop(): void {
    this._running?.abort();
    this._running = null;
  }

  /** Another analysis, or none, is to come instead of the one for when the sizes rest. */
  private _dropSettle(): void {
    if (this._settle !== null) {
      clearTimeout(this._settle);
      this._settle = null;
    }
  }

  private async _applyPayload(analysed: GraphPayload): Promise<void> {
    const { batch } = analysed;
    const payload = batch ? withBatch(analysed, batch) : analysed;
    this._asking?.abort();
    this._asking = null;
    const session = this._session;
    const { store } = session;
    // As it is now: the reader went on while the analysis ran.
    const kept = store.get().document
      ? session.snapshot()
      : this.initialSnapshot;
    const device =
      kept.device === undefined
        ? initialDevice(session.settings, payload)
        : store.get().device;
    const model = withLatency(decodePayload(payload), device);
    this._rebinder = Rebinder.of(payload, model);
    const document: IDocument = { model, tree: buildTree(model) };
    const { tree } = document;
    session.details.clear();
    setUserValues(tree, session.userValues);
    const { overlay, search } = store.get();
    store.set({
      document,
      device,
      batch: null,
      load: { status: 'ready' },
      selection: kept.selection
        ? fromRecord(tree, kept.selection)
        : NO_SELECTION,
      moreSelected: additionalFromRecords(document, kept.also),
      historyBack: [],
      historyForward: [],
      trace: null,
      menu: null,
      brush: null,
      overlay:
        kept.overlay === undefined
          ? initialOverlay(session.settings, tree)
          : overlay,
      search: NO_SEARCH,
      externalHighlight: NONE
    });
    setQuery(session, search.query);
    await session.graph.show(document, {
      open: kept.open && groupsOf(tree, kept.open),
      camera: kept.camera,
      hidden: hiddenOf(document, kept.hidden),
      rows: kept.rows
    });
  }
}
