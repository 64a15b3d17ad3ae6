/** Tasks of a view: they go on while the panel is closed, and what they found stays. */

import { useSyncExternalStore } from 'react';
import { isAbort, problemOf, type TaskOrder } from '../../providers/provider';
import type { Problem, Task, TaskResult } from '../../schema';
import { showUserValues } from '../session/host';
import type { Session } from '../session/session';

/** What can be asked for. */
export type TaskKind = 'measure' | 'sensitivity' | 'quantize';

export interface IBoard {
  readonly running: {
    readonly kind: TaskKind;
    readonly task: Task | null;
  } | null;
  readonly problem: { readonly kind: TaskKind; readonly what: Problem } | null;
  readonly results: Readonly<Partial<Record<TaskKind, TaskResult>>>;
  /** Tensors of the layers that stay float. */
  readonly kept: ReadonlySet<string>;
  readonly data: string;
  readonly out: string;
  readonly method: string;
}

class Board {
  private _state: IBoard;
  private _stop: AbortController | null = null;
  private readonly _listeners = new Set<() => void>();

  constructor(private readonly _session: Session) {
    this._state = {
      running: null,
      problem: null,
      results: {},
      kept: new Set(),
      data: '',
      out: `${_session.provider.exportName}_int8.onnx`,
      method: 'static'
    };
  }

  readonly get = (): IBoard => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  set(change: Partial<IBoard>): void {
    this._state = { ...this._state, ...change };
    this._listeners.forEach(listener => listener());
  }

  /** Starts a task, unless one runs. */
  async start(kind: TaskKind, order: Omit<TaskOrder, 'kind'>): Promise<void> {
    const { provider } = this._session;
    if (this._state.running || !provider.task) {
      return;
    }
    const stop = new AbortController();
    this._stop = stop;
    this.set({ running: { kind, task: null }, problem: null });
    try {
      const result = await provider.task(
        { ...order, kind },
        task => this.set({ running: { kind, task } }),
        stop.signal
      );
      this._take(kind, result);
    } catch (error) {
      this.set({
        running: null,
        problem: isAbort(error) ? null : { kind, what: problemOf(error) }
      });
    }
  }

  cancel(): void {
    this._stop?.abort();
  }

  private _take(kind: TaskKind, result: TaskResult): void {
    const { results, kept } = this._state;
    const chosen = result.layers.filter(one => one.keep).map(one => one.tensor);
    this.set({
      running: null,
      results: { ...results, [kind]: result },
      kept: kind === 'sensitivity' ? new Set(chosen) : kept
    });
    if (result.path) {
      this._session.files?.added(result.path);
    }
    const numbers = Object.entries(result.values);
    if (numbers.length > 0) {
      showUserValues(this._session, {
        label: result.label,
        unit: result.unit,
        largest: kind === 'sensitivity',
        values: new Map(numbers.map(([node, value]) => [Number(node), value]))
      });
    }
  }
}

const boards = new WeakMap<Session, Board>();

/** The board of a session, the same each time. */
export function boardOf(session: Session): Board {
  const known = boards.get(session) ?? new Board(session);
  boards.set(session, known);
  return known;
}

export function useBoard(board: Board): IBoard {
  return useSyncExternalStore(board.subscribe, board.get);
}
