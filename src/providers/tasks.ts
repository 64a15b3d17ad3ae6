/** Follows one task to its end: what runs the model, or writes another one. */

import type { Task, TaskResult } from '../schema';
import type { Connection } from './connection';
import {
  ProblemError,
  abortError,
  localProblem,
  type TaskOrder
} from './provider';
import { posted } from './start';

const POLL_MS = 400;
/** Failed polls in a row before giving up. */
const MAX_FAILURES = 6;
const TERMINAL = new Set(['done', 'failed', 'cancelled']);

/** The result. Rejects with `ProblemError`, or with `AbortError`, which stops the task on the server. */
export async function followTask(
  connection: Connection,
  model: string,
  order: TaskOrder,
  onChange: (task: Task) => void,
  signal: AbortSignal
): Promise<TaskResult> {
  const folder = model.slice(0, model.lastIndexOf('/') + 1);
  const data =
    order.data && !order.data.startsWith('/')
      ? folder + order.data
      : order.data;
  const body = { ...order, ...(data && { data }), path: model };
  let task = await connection.json<Task>('tasks', { ...posted(body), signal });
  const resource = `tasks/${encodeURIComponent(task.id)}`;
  let failures = 0;
  try {
    onChange(task);
    while (!TERMINAL.has(task.state)) {
      await connection.delay(POLL_MS * (failures + 1), signal);
      try {
        task = await connection.json<Task>(resource, { signal });
        failures = 0;
        onChange(task);
      } catch (error) {
        failures += 1;
        if (!passing(error) || failures >= MAX_FAILURES) {
          throw error;
        }
      }
    }
  } catch (error) {
    if (signal.aborted) {
      connection.forget(resource);
      throw abortError();
    }
    throw error;
  }
  if (task.result) {
    const { path } = task.result;
    return { ...task.result, path: path && folder + path };
  }
  throw new ProblemError(
    task.problem ??
      localProblem(
        'task-ended',
        'The task ended',
        'The task was stopped.',
        'Start it again.'
      )
  );
}

/** The server may be busy or restarting; a definite answer ends it at once. */
function passing(error: unknown): boolean {
  return (
    error instanceof ProblemError &&
    (error.problem.status === 0 || error.problem.status >= 500)
  );
}
