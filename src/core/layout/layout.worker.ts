/** The worker's entry: answers layout requests one by one. */

import { answer, transferables } from './engine';
import type { ILayoutAnswer, ILayoutRequest } from './engine';

interface IWorkerScope {
  onmessage: ((event: MessageEvent<ILayoutRequest>) => void) | null;
  postMessage(message: ILayoutAnswer, transfer: ArrayBufferLike[]): void;
}

const scope = self as unknown as IWorkerScope;

scope.onmessage = event => {
  const reply = answer(event.data);
  scope.postMessage(reply, reply.result ? transferables(reply.result) : []);
};
