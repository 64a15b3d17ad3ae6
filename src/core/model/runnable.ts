/** Whether the model can run at its sizes; if not, its totals are meaningless. */

import type { GraphPayload } from '../../schema';

/**
 * Why the model cannot run at its current sizes; empty if it can, or if that is unknown. A file that
 * runtimes refuse for other reasons has totals all the same; its diagnostics say why.
 */
export function cannotRun(payload: GraphPayload): string {
  // Payloads of earlier versions lack it.
  const runnable = payload.runnable as GraphPayload['runnable'] | undefined;
  return runnable?.verdict === 'no' && !runnable.file ? runnable.reason : '';
}
