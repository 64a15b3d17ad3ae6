/** Entry point of the worker: runs layout requests one by one. */

import { runLayoutRequest, transferables } from './layoutEngine';
import type { ILayoutAnswer, ILayoutRequest } from './layoutEngine';

interface IWorkerScope {
  onmessage: ((event: MessageEvent<ILayoutRequest>) => void) | null;
  postMessage(message: ILayoutAnswer, transfer: ArrayBufferLike[]): void;
}

const scope = self as unknown as IWorkerScope;

scope.onmessage = event => {
  const reply = runLayoutRequest(event.data);
  scope.postMessage(reply, reply.result ? transferables(reply.result) : []);
};
