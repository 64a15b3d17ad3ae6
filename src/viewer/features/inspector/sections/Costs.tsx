import * as React from 'react';
import {
  formatBytes,
  formatCount,
  formatExact,
  UNKNOWN
} from '../../../../core';
import type { MetricId } from '../../../../core/types';
import type { Metrics } from '../../../../schema';
import { METRICS, SHOWN } from '../../../../schema/metrics';
import { LatencyFact } from '../../device/Latency';
import { SharedAmount, Fact, Facts } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** All costs of an entity, exact, with their share of the model. */
export function Costs(props: {
  metrics: Metrics;
  valueOf: (id: MetricId) => number;
  /** Sum of the activation bytes of all nodes, for the share. */
  activationTotal: number;
  /** Why numbers are missing. */
  reason?: string;
  /** Number of nodes with unknown values. */
  unknownOf?: (id: MetricId) => number;
  /** Additional facts. */
  children?: React.ReactNode;
}): JSX.Element {
  const trans = useTrans();
  return (
    <Facts>
      {SHOWN.costs.map(id => {
        const { label, unit, total: totalId } = METRICS[id];
        const value = props.valueOf(id);
        const isKnown = Number.isFinite(value);
        const unknown = props.unknownOf?.(id) ?? 0;
        const total =
          id === 'activation_bytes'
            ? props.activationTotal
            : totalId?.field
              ? props.metrics[totalId.field]
              : null;
        const bytes = unit === 'bytes';
        return (
          <Fact
            key={id}
            label={label(trans)}
            note={
              unknown > 0
                ? trans._n(
                    '%1 node with an unknown value is not included',
                    '%1 nodes with unknown values are not included',
                    unknown
                  )
                : isKnown
                  ? undefined
                  : props.reason || trans.__('unknown')
            }
          >
            {isKnown ? (
              <SharedAmount
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
