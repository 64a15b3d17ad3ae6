/** Whether the model runs with its sizes: where it does not, no total means anything. */

import type { GraphPayload } from '../../schema';

/** Why the model cannot run with the sizes it has; empty when it can, or nobody knows. */
export function cannotRun(payload: GraphPayload): string {
  // Payloads of earlier versions do not say.
  const said = payload.runnable as GraphPayload['runnable'] | undefined;
  return said?.verdict === 'no' ? said.reason : '';
}
