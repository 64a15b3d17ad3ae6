import * as React from 'react';
import { formatSeconds, UNKNOWN } from '../../../core';
import { useDocument } from '../../session/sessionContext';
import {
  SharedAmount,
  Fact,
  SelectionLink,
  TruncatedList
} from '../common/facts';
import { METRICS } from '../../../schema/metrics';
import { deviceLabel } from '../../overlays/deviceLabel';
import { shortLabel } from '../../ui/safeText';
import { assumption } from '../../summary/latencyTile';
import {
  boundText,
  kernelOf,
  nodeText,
  unknownText
} from '../../summary/kernelText';
import { useTrans } from '../../i18n/translateContext';

/** Estimated time of an entity, as one of its costs; nothing if no device is chosen. */
export function LatencyFact(props: {
  seconds: number;
  /** Number of kernels with unknown times. */
  unknown: number;
}): JSX.Element | null {
  const trans = useTrans();
  const { model } = useDocument();
  if (!model.latency) {
    return null;
  }
  const { seconds, unknown } = props;
  const text = formatSeconds(seconds);
  const note =
    unknown > 0
      ? trans._n(
          '%1 kernel with an unknown time is not included',
          '%1 kernels with unknown times are not included',
          unknown
        )
      : Number.isNaN(seconds)
        ? unknownText(trans)
        : undefined;
  return (
    <Fact label={METRICS.latency.label(trans)} note={note}>
      {Number.isNaN(seconds) ? (
        UNKNOWN
      ) : (
        <SharedAmount
          text={(unknown > 0 ? '≥ ' : '') + text}
          short={`${deviceLabel(model)}. ${assumption(trans, model.latency)}`}
          value={seconds}
          total={model.latency.seconds}
        />
      )}
    </Fact>
  );
}

/** The bound of a node's kernel, and the nodes it is fused with. */
export function KernelFact({ node }: { node: number }): JSX.Element | null {
  const trans = useTrans();
  const { model } = useDocument();
  const kernel = React.useMemo(() => kernelOf(model, node), [model, node]);
  if (!model.latency) {
    return null;
  }
  if (!kernel) {
    return (
      <Fact label={trans.__('Kernel')}>
        {trans.__('no kernel (nothing to run)')}
      </Fact>
    );
  }
  const { anchor, id } = kernel;
  const partners = kernel.nodes.filter(
    other => other !== node && other !== anchor
  );
  return (
    <Fact
      label={trans.__('Kernel')}
      note={shortLabel(boundText(model, id, trans)) || undefined}
    >
      <span className="oad-Kernel">
        {anchor === node
          ? partners.length === 0 && trans.__('not fused')
          : trans.__('fused into')}{' '}
        {anchor !== node && anchor >= 0 && (
          <SelectionLink to={{ kind: 'node', id: anchor }}>
            <bdi>{shortLabel(nodeText(model, anchor), 80)}</bdi>
          </SelectionLink>
        )}
        {partners.length > 0 && (
          <>
            {' '}
            {anchor === node ? trans.__('fused with') : trans.__('with')}{' '}
            <TruncatedList items={partners} limit={6} of="inline">
              {other => (
                <SelectionLink key={other} to={{ kind: 'node', id: other }}>
                  <bdi>{shortLabel(nodeText(model, other), 80)}</bdi>
                </SelectionLink>
              )}
            </TruncatedList>
          </>
        )}
      </span>
    </Fact>
  );
}
