/**
 * Layout engine for environments without a bundler that resolves worker files: the worker's code is text
 * in the bundle.
 */

import workerText from 'inline-worker:../core/layout/engine/layout.worker';
import { WorkerEngine } from '../core/layout/engine/layoutEngine';
import type { ILayoutEngine } from '../core/layout/engine/layoutEngine';
import { WorkerHub } from './workerHub';

/** One worker per page, shared by all viewers. */
const hub = new WorkerHub(() => {
  const url = URL.createObjectURL(
    new Blob([workerText], { type: 'text/javascript' })
  );
  const worker = new Worker(url);
  // By its first answer the worker has read the URL; a page may have many viewers.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return worker;
});

export function embeddedLayoutEngine(): ILayoutEngine {
  return new WorkerEngine(() => hub.connect());
}
