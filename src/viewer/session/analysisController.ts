/** A session's model: analysed, shown, and updated for other sizes without another analysis. */

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
import { initialOverlay } from './applySettings';

const NONE: readonly number[] = [];

/** Milliseconds without a change before the model is analysed with new sizes. */
const REANALYSIS_DELAY_MS = 800;

export class AnalysisController {
  private _running: AbortController | null = null;
  private _rebinder: Rebinder | null = null;
  private _batchRequest: AbortController | null = null;
  private _reanalysisTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly _session: ISession,
    /** Snapshot for the initial view. */
    public initialSnapshot: ISnapshot
  ) {}

  dispose(): void {
    this._cancelReanalysis();
    this._stop();
    this._batchRequest?.abort();
  }

  /** Analyses the file with the current bindings. The existing graph stays until it is replaced. */
  async load(): Promise<void> {
    this._cancelReanalysis();
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

  /** Stops a running analysis; the existing graph stays. */
  cancel(): void {
    this._stop();
    const { store } = this._session;
    const { document } = store.get();
    store.set({ load: { status: document ? 'ready' : 'cancelled' } });
  }

  /**
   * Asks once per model whether a batch fixed in the file can be changed; not earlier, since it takes as
   * long as an analysis and most users never need it.
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
    const request = new AbortController();
    this._batchRequest = request;
    store.set({ batch: { status: 'asking' } });
    try {
      const { offer, reason } = await provider.batch(request.signal);
      if (this._batchRequest === request) {
        const isTaken = offer !== null && this._takeBatch(offer);
        store.set({ batch: isTaken ? null : { status: 'none', reason } });
      }
    } catch (error) {
      if (this._batchRequest === request) {
        const reason = isAbort(error) ? '' : problemOf(error).detail;
        store.set({ batch: { status: 'none', reason } });
      }
    }
  }

  /**
   * Shows the dimension that an offer makes changeable. Returns false if a number that is known now would
   * be lost.
   */
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

  /** True if other sizes can be shown without another analysis. */
  get canPreview(): boolean {
    return this._rebinder !== null;
  }

  /** The model at other sizes, without showing it; null if only an analysis can compute it. */
  modelAt(sizes: Readonly<Record<string, number>>): IGraphModel | null {
    const { document } = this._session.store.get();
    const payload = document && this._rebinder?.rebind(sizes);
    return payload ? withMetricsOf(document.model, payload) : null;
  }

  /**
   * Shows the numbers for other sizes at once, from the payload's expressions; the full analysis follows
   * once the sizes have not changed for a while. Returns false if only an analysis can compute them.
   * `bound` holds the sizes set by the user; the others are assumed.
   */
  async preview(
    sizes: Readonly<Record<string, number>>,
    bound?: Readonly<Record<string, number>>
  ): Promise<boolean> {
    const session = this._session;
    const { document, device } = session.store.get();
    const payload = document && this._rebinder?.rebind(sizes, bound);
    if (!payload) {
      return false;
    }
    this._stop();
    const model = withLatency(withMetricsOf(document.model, payload), device);
    const tree = withModel(document.tree, model);
    setUserValues(tree, session.userValues);
    const next: IDocument = { model, tree };
    // The graph first, in the same frame as the panels, which render when the state changes.
    const update = session.graph.updateNumbers(next);
    // An analysis of the file cannot have a batch other than the file's.
    const offered = Boolean(payload.batch);
    session.store.set({
      ...(offered
        ? {}
        : { bindings: bound ?? sizes, assume: bound !== undefined }),
      document: next,
      brush: null,
      load: { status: 'ready' }
    });
    refreshMatches(session);
    this._cancelReanalysis();
    if (!session.provider.fixedDims && !offered) {
      this._reanalysisTimer = setTimeout(
        () => void this.load(),
        REANALYSIS_DELAY_MS
      );
    }
    await update;
    return true;
  }

  private _stop(): void {
    this._running?.abort();
    this._running = null;
  }

  /** Cancels the delayed analysis, because another one, or none, replaces it. */
  private _cancelReanalysis(): void {
    if (this._reanalysisTimer !== null) {
      clearTimeout(this._reanalysisTimer);
      this._reanalysisTimer = null;
    }
  }

  private async _applyPayload(analysed: GraphPayload): Promise<void> {
    const { batch } = analysed;
    const payload = batch ? withBatch(analysed, batch) : analysed;
    this._batchRequest?.abort();
    this._batchRequest = null;
    const session = this._session;
    const { store } = session;
    // The current one: the user may have gone on during the analysis.
    const snapshot = store.get().document
      ? session.snapshot()
      : this.initialSnapshot;
    const device =
      snapshot.device === undefined
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
      selection: snapshot.selection
        ? fromRecord(tree, snapshot.selection)
        : NO_SELECTION,
      moreSelected: additionalFromRecords(document, snapshot.also),
      historyBack: [],
      historyForward: [],
      trace: null,
      menu: null,
      brush: null,
      overlay:
        snapshot.overlay === undefined
          ? initialOverlay(session.settings, tree)
          : overlay,
      search: NO_SEARCH,
      externalHighlight: NONE
    });
    setQuery(session, search.query);
    await session.graph.show(document, {
      open: snapshot.open && groupsOf(tree, snapshot.open),
      camera: snapshot.camera,
      hidden: hiddenOf(document, snapshot.hidden),
      rows: snapshot.rows
    });
  }
}
