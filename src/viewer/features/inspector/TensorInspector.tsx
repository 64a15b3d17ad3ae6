import * as React from 'react';
import { formatExact, TENSOR_KIND } from '../../../core';
import { useDocument } from '../../session/sessionContext';
import { shortLabel } from '../../ui/safeText';
import { CopyButton } from '../common/CopyButton';
import { Weights } from '../weights/Weights';
import { tensorBytes } from '../../../core/model/tensorBytes';
import { delimitedText } from '../../../core/base/delimitedText';
import { lifetimeOf } from '../../summary/tensorLifetime';
import { Fact, Facts, Section, Title } from '../common/facts';
import { SeriesList } from './sections/SeriesList';
import { Size } from './sections/Size';
import { consumersOf, NodeLink, NodeLinks } from './sections/Tensors';
import { useTrans } from '../../i18n/translateContext';

/** True if the values are stored in a file. */
function isStored(kind: number): boolean {
  return kind === TENSOR_KIND.initializer || kind === TENSOR_KIND.constant;
}

/** A tensor: its properties, producer and readers. */
export function TensorInspector({ tensor }: { tensor: number }): JSX.Element {
  const trans = useTrans();
  const { model } = useDocument();
  const kinds: ReadonlyMap<number, string> = new Map([
    [TENSOR_KIND.activation, trans.__('Activation')],
    [TENSOR_KIND.input, trans.__('Model input')],
    [TENSOR_KIND.initializer, trans.__('Weight')],
    [TENSOR_KIND.constant, trans.__('Constant')],
    [TENSOR_KIND.formal, trans.__('Subgraph input')]
  ]);
  const bytes = tensorBytes(model, tensor);
  const producer = model.tensorProducer[tensor];
  const consumers = consumersOf(model, tensor);
  const life = lifetimeOf(model, tensor);
  const isOutput = model.payload.tensors.outputs.includes(tensor);
  return (
    <>
      <Title
        kind={kinds.get(model.tensorKind[tensor]) ?? trans.__('Tensor')}
        category="tensor"
        name={model.tensorName(tensor)}
      />
      <Facts>
        <Fact label={trans.__('Type')}>{model.dtypeText(tensor)}</Fact>
        <Fact label={trans.__('Shape')}>
          <bdi>{shortLabel(model.shapeText(tensor))}</bdi>
        </Fact>
        <Size label={trans.__('Size')} bytes={bytes} />
        {life && (
          <Fact label={trans.__('Lifetime')}>
            {life.first < 0
              ? trans.__(
                  'from the start to step %1 of %2',
                  formatExact(life.last + 1),
                  formatExact(life.steps)
                )
              : trans.__(
                  'step %1 to %2 of %3',
                  formatExact(life.first + 1),
                  formatExact(life.last + 1),
                  formatExact(life.steps)
                )}
          </Fact>
        )}
        {isOutput && (
          <Fact label={trans.__('Role')}>{trans.__('model output')}</Fact>
        )}
      </Facts>
      <div className="oad-State-row">
        <CopyButton
          label={trans.__('Copy name, type, shape and size')}
          caption={trans.__('Copy')}
          text={() =>
            delimitedText(
              [
                [
                  model.tensorName(tensor),
                  model.dtypeText(tensor),
                  model.shapeText(tensor),
                  ...(bytes === null ? [] : [formatExact(bytes, 'B')])
                ]
              ],
              '\t'
            ).replace(/\r\n$/, '')
          }
        />
      </div>
      <SeriesList tensor={tensor} />
      {isStored(model.tensorKind[tensor]) && (
        <Section title={trans.__('Values')}>
          <Weights tensor={tensor} />
        </Section>
      )}
      <Section title={trans.__('Producer')}>
        {producer >= 0 ? (
          <NodeLink model={model} node={producer} />
        ) : (
          <p className="oad-Quiet">
            {trans.__('none (graph input or constant)')}
          </p>
        )}
      </Section>
      <Section title={trans.__('Consumers')} count={consumers.length}>
        <NodeLinks model={model} nodes={consumers} />
        {consumers.length === 0 && (
          <p className="oad-Quiet">{trans.__('none')}</p>
        )}
      </Section>
    </>
  );
}
