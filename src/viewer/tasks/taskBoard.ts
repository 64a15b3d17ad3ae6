/** Tasks of a view: they continue while the panel is closed, and their results stay. */

import { useSyncExternalStore } from 'react';
import {
  isAbort,
  problemOf,
  type GivenFile,
  type TaskOrder
} from '../../providers/provider';
import type { Problem, Task, TaskResult } from '../../schema';
import { selectNodes, showUserValues } from '../session/hostSelection';
import type { Session } from '../session/session';

/** Kinds of tasks. */
export type TaskKind =
  'measure' | 'profile' | 'verify' | 'sensitivity' | 'quantize';

/** Kinds shown in the Run tab. */
export const RUNS: ReadonlySet<TaskKind> = new Set([
  'measure',
  'profile',
  'verify'
]);

/** Kinds shown in the Quantize tab. */
export const QUANTIZING: ReadonlySet<TaskKind> = new Set([
  'measure',
  'sensitivity',
  'quantize'
]);

/** Kinds whose values are errors: a block has the largest of its layers. */
const ERRORS: ReadonlySet<TaskKind> = new Set(['sensitivity', 'verify']);

export interface ITaskBoard {
  readonly running: {
    readonly kind: TaskKind;
    readonly task: Task | null;
  } | null;
  readonly problem: { readonly kind: TaskKind; readonly error: Problem } | null;
  readonly results: Readonly<Partial<Record<TaskKind, TaskResult>>>;
  /** The last task that the Run tab shows. */
  readonly visible: TaskKind | null;
  /** Tensors of the layers that stay in float. */
  readonly kept: ReadonlySet<string>;
  readonly data: string;
  /** The file that the model is verified against. */
  readonly against: string;
  readonly outPath: string;
  readonly method: string;
}

class TaskBoard {
  private _state: ITaskBoard;
  private _stop: AbortController | null = null;
  private readonly _listeners = new Set<() => void>();

  constructor(private readonly _session: Session) {
    this._state = {
      running: null,
      problem: null,
      results: {},
      visible: null,
      kept: new Set(),
      data: '',
      against: '',
      outPath: `${_session.provider.exportName}_int8.onnx`,
      method: 'static'
    };
  }

  readonly get = (): ITaskBoard => this._state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  set(change: Partial<ITaskBoard>): void {
    this._state = { ...this._state, ...change };
    this._listeners.forEach(listener => listener());
  }

  /** Starts a task, unless one is running. */
  async start(kind: TaskKind, order: Omit<TaskOrder, 'kind'>): Promise<void> {
    const { provider } = this._session;
    await this._run(kind, (onChange, signal) =>
      provider.task?.({ ...order, kind }, onChange, signal)
    );
  }

  /** Attributes a profile, unless a task is running. */
  async profile(files: readonly GivenFile[]): Promise<void> {
    const { provider } = this._session;
    await this._run('profile', (onChange, signal) =>
      provider.profile?.(files, onChange, signal)
    );
  }

  private async _run(
    kind: TaskKind,
    work: (
      onChange: (task: Task) => void,
      signal: AbortSignal
    ) => Promise<TaskResult> | undefined
  ): Promise<void> {
    if (this._state.running) {
      return;
    }
    const stop = new AbortController();
    this._stop = stop;
    this.set({ running: { kind, task: null }, problem: null });
    try {
      const result = await work(
        task => this.set({ running: { kind, task } }),
        stop.signal
      );
      if (result) {
        this._take(kind, result);
      } else {
        this.set({ running: null });
      }
    } catch (error) {
      this.set({
        running: null,
        problem: isAbort(error) ? null : { kind, error: problemOf(error) }
      });
    }
  }

  cancel(): void {
    this._stop?.abort();
  }

  private _take(kind: TaskKind, result: TaskResult): void {
    const { results, kept, visible } = this._state;
    const keptTensors = result.layers
      .filter(layer => layer.keep)
      .map(layer => layer.tensor);
    this.set({
      running: null,
      results: { ...results, [kind]: result },
      visible: RUNS.has(kind) ? kind : visible,
      kept: kind === 'sensitivity' ? new Set(keptTensors) : kept
    });
    if (result.path) {
      this._session.files?.added(result.path);
    }
    const numbers = Object.entries(result.values);
    if (numbers.length > 0) {
      showUserValues(this._session, {
        label: result.label,
        unit: result.unit,
        largest: ERRORS.has(kind),
        values: new Map(numbers.map(([node, value]) => [Number(node), value]))
      });
    }
    const { verification } = result;
    if (verification && verification.first !== null) {
      const { node } = verification.layers[verification.first];
      void whenLoaded(this._session).then(() =>
        selectNodes(this._session, [node])
      );
    }
  }
}

/** Resolves when the model is shown: a task may finish earlier. */
function whenLoaded({ store }: Session): Promise<void> {
  return new Promise(resolve => {
    const look = (): boolean => {
      const hasDocument = store.get().document !== null;
      if (hasDocument) {
        stop();
        resolve();
      }
      return hasDocument;
    };
    const stop = store.subscribe(look);
    look();
  });
}

const boards = new WeakMap<Session, TaskBoard>();

/** The board of a session, created once. */
export function boardOf(session: Session): TaskBoard {
  const board = boards.get(session) ?? new TaskBoard(session);
  boards.set(session, board);
  return board;
}

export function useBoard(board: TaskBoard): ITaskBoard {
  return useSyncExternalStore(board.subscribe, board.get);
}
