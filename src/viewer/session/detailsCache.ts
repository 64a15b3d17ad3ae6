/** Node details with a small cache and at most one request per node at a time. */

import type { IReportProvider } from '../../providers/provider';
import type { NodeDetails } from '../../schema';

const CAPACITY = 200;

export class DetailsCache {
  private readonly _known = new Map<number, NodeDetails>();

  constructor(private readonly _provider: IReportProvider) {}

  /** Cached details, without a request. */
  peek(node: number): NodeDetails | undefined {
    return this._known.get(node);
  }

  async read(node: number, signal: AbortSignal): Promise<NodeDetails> {
    const cached = this._known.get(node);
    if (cached !== undefined) {
      return cached;
    }
    const details = await this._provider.details(node, signal);
    this._known.set(node, details);
    if (this._known.size > CAPACITY) {
      const [oldest] = this._known.keys();
      this._known.delete(oldest);
    }
    return details;
  }

  clear(): void {
    this._known.clear();
  }
}
