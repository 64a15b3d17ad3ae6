import * as React from 'react';
import { formatBytes, formatExact } from '../../../core';
import { tensorBytes } from '../../../core/model/tensorBytes';
import { tensorIdsOf } from '../../../core/tree/tensorSeries';
import { useDocument } from '../../session/sessionContext';
import { CopyButton } from '../common/CopyButton';
import { shortLabel } from '../../ui/safeText';
import {
  Fact,
  Facts,
  SelectionLink,
  Section,
  TruncatedList,
  Title
} from '../common/facts';
import { Size } from './sections/Size';
import { NodeLinks, nodesAround } from './sections/Tensors';
import { useTrans } from '../../i18n/translateContext';

/** Total bytes; null if the bytes of one are unknown. */
function totalBytes(sizes: readonly (number | null)[]): number | null {
  return sizes.includes(null)
    ? null
    : sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
}

/** All inputs, or all outputs, of a pill: in total, and individually. `representative` is the first of them. */
export function SeriesInspector({
  representative
}: {
  representative: number;
}): JSX.Element {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const members = tensorIdsOf(tree.series, {
    kind: 'series',
    id: representative
  });
  const series = tree.series.get(representative);
  const sizes = members.map(tensor => tensorBytes(model, tensor));
  const { makers: producers, readers } = nodesAround(model, members);
  return (
    <>
      <Title
        kind={
          series?.kind === 'output'
            ? trans.__('Model outputs')
            : trans.__('Model inputs')
        }
        category="tensor"
        name={series?.pattern ?? model.tensorName(representative)}
      />
      <Facts>
        <Fact label={trans.__('Tensors')}>{formatExact(members.length)}</Fact>
        <Fact label={trans.__('Type')}>{model.dtypeText(representative)}</Fact>
        <Fact label={trans.__('Shape of each')}>
          <bdi>{shortLabel(model.shapeText(representative))}</bdi>
        </Fact>
        <Size label={trans.__('Total size')} bytes={totalBytes(sizes)} />
      </Facts>
      <div className="oad-State-row">
        <CopyButton
          label={trans.__('Copy the names')}
          caption={trans.__('Copy')}
          text={() => members.map(t => model.tensorName(t)).join('\n')}
        />
      </div>
      <Section title={trans.__('Members')} count={members.length}>
        <ul className="oad-Links">
          <TruncatedList items={members}>
            {(tensor, index) => (
              <li key={tensor}>
                <SelectionLink to={{ kind: 'tensor', id: tensor }}>
                  <bdi>{shortLabel(model.tensorName(tensor), 80)}</bdi>{' '}
                  <span className="oad-Quiet">{formatBytes(sizes[index])}</span>
                </SelectionLink>
              </li>
            )}
          </TruncatedList>
        </ul>
      </Section>
      {producers.length > 0 && (
        <Section title={trans.__('Producers')} count={producers.length}>
          <NodeLinks model={model} nodes={producers} />
        </Section>
      )}
      {readers.length > 0 && (
        <Section title={trans.__('Consumers')} count={readers.length}>
          <NodeLinks model={model} nodes={readers} />
        </Section>
      )}
    </>
  );
}
