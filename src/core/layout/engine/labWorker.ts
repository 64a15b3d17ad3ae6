/**
 * The layout worker of the labextension. In a file of its own, because only a bundler understands
 * `import.meta.url` here; unit tests must not import it.
 */

import { WorkerEngine } from './layoutEngine';
import type { ILayoutEngine } from './layoutEngine';

/** The name must end in `.js`: the compiler leaves the string unchanged and the bundler resolves it. */
export function labLayoutEngine(): ILayoutEngine {
  return new WorkerEngine(
    () => new Worker(new URL('./layout.worker.js', import.meta.url))
  );
}
