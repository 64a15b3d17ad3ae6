/** Tasks performed by a server or a notebook's kernel. */

import { formatSeconds } from '../../core/base/numberFormat';
import type { GivenFile, TaskOrder } from '../../providers/provider';
import { boardOf, type TaskKind } from './taskBoard';
import { showTab } from '../session/panels';
import type { Session } from '../session/session';
import { shortLabel, escapeInvisible } from '../ui/safeText';

export function startTask(session: Session, order: TaskOrder): void {
  const { kind, ...parameters } = order;
  showTab(session, 'run');
  const board = boardOf(session);
  const { data = board.get().data, against = '' } = order;
  board.set({ data, against });
  void board.start(kind as TaskKind, { ...parameters, data: data.trim() });
}

export async function attribute(
  session: Session,
  files: readonly GivenFile[]
): Promise<void> {
  const { provider, store, trans } = session;
  const board = boardOf(session);
  if (board.get().running) {
    store.set({ notice: trans.__('Another task is running. Wait for it.') });
    return;
  }
  if (provider.task) {
    showTab(session, 'run');
    await board.profile(files);
    return;
  }
  await board.profile(files);
  // There is no tab for it.
  const { problem, results } = board.get();
  const lost = results.profile?.times?.lost ?? [];
  const lines = problem
    ? [problem.error.detail, problem.error.hint]
    : [
        ...(results.profile?.lines ?? []),
        lost.length > 0
          ? trans.__(
              'Not attributed to a node: %1.',
              lost
                .slice(0, 3)
                .map(
                  ({ name, ms }) =>
                    `${shortLabel(escapeInvisible(name), 40)} ${formatSeconds(ms / 1e3)}`
                )
                .join(', ')
            )
          : ''
      ];
  store.set({ notice: shortLabel(lines.filter(Boolean).join(' '), 400) });
}
