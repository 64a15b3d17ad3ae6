/** Sums of layers: in total and by block. */

import { derivedOf } from '../../../core/model/derivedMetric';
import { METRIC_IDS } from '../../../core/model/decodePayload';
import { sumColumns } from '../../../core/model/metricSums';
import type { ITree, MetricId } from '../../../core/types';
import { METRICS } from '../../../schema/metrics';
import { isDerived, type ColumnMeasure } from './columns';

export interface ISum {
  /** Sum of the known values; NaN if none is known. A quotient is NaN unless all are known. */
  readonly value: number;
  /** Number of layers with unknown values. */
  readonly unknown: number;
}

/** Sums of every metric over some layers. Linear in layers and blocks. */
export class Sums {
  /** Number of layers below each group. */
  readonly count: Int32Array;
  /** Total number of layers. */
  readonly layers: number;
  private readonly _sum: Record<MetricId, Float64Array>;
  private readonly _unknown: Record<MetricId, Int32Array>;
  private readonly _max: Record<MetricId, number>;

  constructor(
    private readonly _tree: ITree,
    layers: Int32Array
  ) {
    const { groupCount, nodeParent } = _tree;
    this.layers = layers.length;
    this.count = new Int32Array(groupCount);
    for (const node of layers) {
      if (nodeParent[node] >= 0) {
        this.count[nodeParent[node]]++;
      }
    }
    this._up(this.count);
    const sum: Partial<Record<MetricId, Float64Array>> = {};
    const unknown: Partial<Record<MetricId, Int32Array>> = {};
    const max: Partial<Record<MetricId, number>> = {};
    for (const id of METRIC_IDS) {
      const columns = sumColumns(_tree.model, id, layers, _tree);
      sum[id] = columns.sum;
      unknown[id] = columns.unknown;
      max[id] = columns.max;
    }
    this._sum = sum as Record<MetricId, Float64Array>;
    this._unknown = unknown as Record<MetricId, Int32Array>;
    this._max = max as Record<MetricId, number>;
  }

  group(measure: ColumnMeasure, group: number): ISum {
    return this._at(measure, group + 1, this.count[group]);
  }

  total(measure: ColumnMeasure): ISum {
    return this._at(measure, 0, this.layers);
  }

  /** Largest known value of a layer; 0 if there is none. */
  max(measure: ColumnMeasure): number {
    return isDerived(measure) ? 0 : this._max[measure];
  }

  /** Entry 0 is the total, entry g + 1 is group g. */
  private _at(measure: ColumnMeasure, entry: number, count: number): ISum {
    if (!isDerived(measure)) {
      const unknown = this._unknown[measure][entry];
      const value = this._sum[measure][entry];
      const none = count > 0 && unknown >= count && value === 0;
      return { value: none ? Number.NaN : value, unknown };
    }
    const { over = [], under = [] } = METRICS[measure];
    const unknown = Math.max(
      ...[...over, ...under].map(id => this._unknown[id][entry])
    );
    // A quotient of incomplete sums is not a bound.
    const value =
      unknown > 0
        ? Number.NaN
        : derivedOf(METRICS[measure], id => this._sum[id][entry]);
    return { value, unknown };
  }

  private _up(column: Int32Array): void {
    const { groupCount, groupParent } = this._tree;
    for (let group = groupCount - 1; group >= 0; group--) {
      if (groupParent[group] >= 0) {
        column[groupParent[group]] += column[group];
      }
    }
  }
}
