import * as React from 'react';
import { formatExact } from '../../../core/base/numberFormat';
import type { Task } from '../../../schema';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel } from '../../ui/safeText';
import type { ITaskBoard, TaskKind } from '../../tasks/taskBoard';
import { useTrans } from '../../i18n/translateContext';
import { ownValue } from '../../../core/base/ownValue';

function stepText(task: Task | null, trans: ITranslate): string {
  const steps: Record<string, string> = {
    reading: trans.__('Reading the model…'),
    running: trans.__('Running the model…'),
    layers: trans.__('Measuring layers…'),
    passes: trans.__('Comparing layers…'),
    quantizing: trans.__('Quantizing…'),
    tags: trans.__('Restoring tags…'),
    comparing: trans.__('Comparing with the original…')
  };
  if (!task || task.state === 'queued') {
    return trans.__('Waiting for another task…');
  }
  const text = ownValue(steps, task.step) ?? trans.__('Working…');
  return task.total > 0
    ? `${text} ${trans.__('%1 of %2', formatExact(task.done), formatExact(task.total))}`
    : text;
}

/** Progress of the running task, with a button that stops it. */
export function Progress(props: {
  state: ITaskBoard;
  onCancel: () => void;
}): JSX.Element | null {
  const trans = useTrans();
  const { running } = props.state;
  if (!running) {
    return null;
  }
  const { task } = running;
  return (
    <div className="oad-Tools" role="status">
      <progress
        aria-label={trans.__('Progress')}
        {...(task && task.total > 0 && { max: task.total, value: task.done })}
      />
      <span>{stepText(task, trans)}</span>
      <button type="button" className="oad-Button" onClick={props.onCancel}>
        {trans.__('Cancel')}
      </button>
    </div>
  );
}

/** Why the last task failed, if it is one of these kinds, with a way to dismiss it. */
export function Problems(props: {
  state: ITaskBoard;
  of: ReadonlySet<TaskKind>;
}): JSX.Element | null {
  const { problem } = props.state;
  return problem && props.of.has(problem.kind) ? (
    <p className="oad-Drawer-none" role="alert">
      {shortLabel(
        [problem.error.detail, problem.error.hint].filter(Boolean).join(' '),
        400
      )}
    </p>
  ) : null;
}
