import * as React from 'react';
import { formatBytes, formatCount, formatExact, UNKNOWN } from '../../core';
import type { MetricId, PayloadMetric } from '../../core/types';
import type { Metrics } from '../../schema';
import { useTrans } from '../context';
import { LatencyFact } from '../device/Latency';
import type { ITranslate } from '../translate';
import { Amount, Fact, Facts } from './parts';

interface ICostRow {
  readonly id: PayloadMetric;
  readonly label: string;
  readonly unit: string;
  readonly total: number | null;
}

/** What is counted, in the order of the inspector; `total` is that of the model. */
function costRows(metrics: Metrics, trans: ITranslate): ICostRow[] {
  const row = (
    id: PayloadMetric,
    label: string,
    unit: string,
    total: number | null = null
  ): ICostRow => ({ id, label, unit, total });
  return [
    row('params', trans.__('Parameters'), '', metrics.total_params),
    row('macs', trans.__('MACs'), '', metrics.total_macs),
    row('flops', trans.__('FLOPs'), '', metrics.total_flops),
    row('weight_bytes', trans.__('Weight bytes'), 'B', metrics.weight_bytes),
    row('activation_bytes', trans.__('Activation bytes'), 'B'),
    row('read_bytes', trans.__('Bytes read'), 'B', metrics.read_bytes),
    row('write_bytes', trans.__('Bytes written'), 'B', metrics.write_bytes)
  ];
}

/** All costs of one thing, exact, with its share of the model. */
export function Costs(props: {
  metrics: Metrics;
  valueOf: (id: MetricId) => number;
  /** Sum of the activation bytes of all nodes, for the share. */
  activationTotal: number;
  /** Why numbers are missing. */
  reason?: string;
  /** How many parts of a number are unknown. */
  unknownOf?: (id: MetricId) => number;
  /** More about them. */
  children?: React.ReactNode;
}): JSX.Element {
  const trans = useTrans();
  return (
    <Facts>
      {costRows(props.metrics, trans).map(row => {
        const value = props.valueOf(row.id);
        const known = Number.isFinite(value);
        const unknown = props.unknownOf?.(row.id) ?? 0;
        const total =
          row.id === 'activation_bytes' ? props.activationTotal : row.total;
        const bytes = row.unit === 'B';
        return (
          <Fact
            key={row.id}
            label={row.label}
            note={
              unknown > 0
                ? trans._n(
                    '%1 node without a number is left out',
                    '%1 nodes without a number are left out',
                    unknown
                  )
                : known
                  ? undefined
                  : props.reason || trans.__('unknown')
            }
          >
            {known ? (
              <Amount
                text={bytes ? formatBytes(value) : formatExact(value)}
                short={formatCount(value)}
                exact={
                  bytes && value >= 1000 ? formatExact(value, 'B') : undefined
                }
                value={value}
                total={total}
              />
            ) : (
              UNKNOWN
            )}
          </Fact>
        );
      })}
      <LatencyFact
        seconds={props.valueOf('latency')}
        unknown={props.unknownOf?.('latency') ?? 0}
      />
      {props.children}
    </Facts>
  );
}
