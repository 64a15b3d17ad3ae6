/** Follows a task to its end; tasks run the model or write another one. */

import type { Task, TaskResult, Upload } from '../schema';
import type { Connection } from './connection';
import {
  ProblemError,
  abortError,
  localProblem,
  type GivenFile,
  type TaskOrder
} from './provider';
import { jsonBody } from './analysisStart';

const POLL_MS = 400;
/** Consecutive failed polls before giving up. */
const MAX_FAILURES = 6;
const TERMINAL = new Set(['done', 'failed', 'cancelled']);

/** Maximum size of an uploaded file in bytes; the server accepts no more. */
const MAX_UPLOAD = 2 ** 27;

/** Follows the attribution of a profile, uploading the user's own files first. */
export async function followProfile(
  connection: Connection,
  model: string,
  files: readonly GivenFile[],
  onChange: (task: Task) => void,
  signal: AbortSignal
): Promise<TaskResult> {
  const profiles = files.filter(file => typeof file === 'string');
  const uploads: string[] = [];
  for (const file of files) {
    if (typeof file !== 'string') {
      uploads.push(await uploadFile(connection, file, signal));
    }
  }
  const order = { kind: 'profile', profiles, uploads };
  return followTask(connection, model, order, onChange, signal);
}

async function uploadFile(
  connection: Connection,
  file: File,
  signal: AbortSignal
): Promise<string> {
  if (file.size > MAX_UPLOAD) {
    throw tooLarge(file, '128 MiB');
  }
  const { id } = await connection.json<Upload>(
    `uploads?name=${encodeURIComponent(file.name)}`,
    {
      method: 'POST',
      body: file,
      headers: { 'Content-Type': 'application/octet-stream' },
      signal
    }
  );
  return id;
}

/** The problem for a file that is too large to read. */
export function tooLarge({ name, size }: File, limit: string): ProblemError {
  return new ProblemError(
    localProblem(
      'profile-too-large',
      'The file is too large',
      `${name.slice(0, 100)} has ${(size / 2 ** 20).toFixed(0)} MiB; ${limit} can be sent.`,
      'Profile fewer runs, or use onnx-autodoc run MODEL --profile FILE.'
    )
  );
}

/**
 * Returns the result. Rejects with `ProblemError`, or with `AbortError`, which stops the task on the
 * server.
 */
export async function followTask(
  connection: Connection,
  model: string,
  order: TaskOrder,
  onChange: (task: Task) => void,
  signal: AbortSignal
): Promise<TaskResult> {
  const folder = model.slice(0, model.lastIndexOf('/') + 1);
  const url = (path: string): string =>
    path.startsWith('/') ? path : folder + path;
  const body = {
    ...order,
    ...(order.data && { data: url(order.data) }),
    ...(order.against && { against: url(order.against) }),
    path: model
  };
  let task = await connection.json<Task>('tasks', {
    ...jsonBody(body),
    signal
  });
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
        if (!isTransient(error) || failures >= MAX_FAILURES) {
          throw error;
        }
      }
    }
  } catch (error) {
    if (signal.aborted) {
      connection.deleteWithoutWaiting(resource);
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

/** The server may be busy or restarting; a definite response ends it at once. */
function isTransient(error: unknown): boolean {
  return (
    error instanceof ProblemError &&
    (error.problem.status === 0 || error.problem.status >= 500)
  );
}
