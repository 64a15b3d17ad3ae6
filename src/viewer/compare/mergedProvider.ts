/** Provides two models as one graph; details and values come from the model of each node. */

import {
  mergePayloads,
  type IMergedPayload
} from '../../core/merge/mergePayloads';
import type { IReportProvider } from '../../providers/provider';
import type {
  ComparisonColumns,
  GraphPayload,
  NodeDetails,
  WeightFile,
  WeightValues
} from '../../schema';

/** One of the two models. */
export interface IMergeSide {
  readonly payload: GraphPayload;
  readonly provider: IReportProvider;
}

export class MergedProvider implements IReportProvider {
  readonly exportName: string;
  readonly fixedDims = true;
  readonly merged: IMergedPayload;
  readonly weights?: IReportProvider['weights'];
  readonly weightFile?: IReportProvider['weightFile'];

  constructor(
    readonly sides: readonly [IMergeSide, IMergeSide],
    readonly columns: ComparisonColumns
  ) {
    const [a, b] = sides;
    const names = sides.map(({ payload }) => payload.model.name);
    this.exportName = sides.map(side => side.provider.exportName).join('_and_');
    this.merged = mergePayloads(
      a.payload,
      b.payload,
      columns,
      names.join(' → ')
    );
    if (a.provider.weights && b.provider.weights) {
      this.weights = (tensor, signal): Promise<WeightValues> =>
        this._providerOf(tensor).weights!(this.merged.tensor[tensor], signal);
    }
    if (a.provider.weightFile && b.provider.weightFile) {
      this.weightFile = (tensor, signal): Promise<WeightFile> =>
        this._providerOf(tensor).weightFile!(
          this.merged.tensor[tensor],
          signal
        );
    }
  }

  load(): Promise<GraphPayload> {
    return Promise.resolve(this.merged.payload);
  }

  details(node: number, signal: AbortSignal): Promise<NodeDetails> {
    const { side, node: id } = this.merged;
    return this.sides[side[node]].provider.details(id[node], signal);
  }

  private _providerOf(tensor: number): IReportProvider {
    return this.sides[this.merged.tensorSide[tensor]].provider;
  }
}
