/** Layout engine where no bundler resolves worker files: the worker's code is text in the bundle. */

import workerText from 'inline-worker:../core/layout/engine/layout.worker';
import { WorkerEngine } from '../core/layout/engine/layoutEngine';
import type { ILayoutEngine } from '../core/layout/engine/layoutEngine';
import { WorkerHub } from './workerHub';

/** One worker a page, whatever the number of viewers. */
const hub = new WorkerHub(() => {
  const url = URL.createObjectURL(
    new Blob([workerText], { type: 'text/javascript' })
  );
  const worker = new Worker(url);
  // The worker has read it by its first answer; a page may hold many viewers.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return worker;
});

export function embeddedLayoutEngine(): ILayoutEngine {
  return new WorkerEngine(() => hub.connect());
}
