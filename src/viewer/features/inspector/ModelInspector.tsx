import * as React from 'react';
import { formatBytes, formatExact, formatShape } from '../../../core';
import type { ValueInfo } from '../../../schema';
import { useDocument } from '../../session/sessionContext';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { ArchitectureSections } from './sections/Architecture';
import { Descriptions } from './sections/Descriptions';
import { Metadata } from './sections/Metadata';
import {
  ModelFacts,
  Ports,
  Stages,
  TopFindings
} from './sections/modelSections';
import {
  Fact,
  Facts,
  SelectionLink,
  Name,
  Section,
  TruncatedList,
  Title
} from '../common/facts';
import { Histogram } from '../common/Histogram';
import { useTrans } from '../../i18n/translateContext';

/** Shown if nothing is selected: facts about the file. */
export function ModelInspector(): JSX.Element {
  const trans = useTrans();
  const { payload } = useDocument().model;
  const { model, graph, tensors, identity } = payload;
  const ops = Object.entries(graph.op_counts).sort((a, b) => b[1] - a[1]);
  // The class passed to the exporter, if it recorded modules.
  const root = payload.modules?.tag[0]?.split('/')[1] ?? '';
  const producer = `${model.producer_name} ${model.producer_version}`.trim();
  const sides = [
    [trans.__('Inputs'), graph.inputs, identity?.inputs, tensors.inputs],
    [trans.__('Outputs'), graph.outputs, identity?.outputs, tensors.outputs]
  ] as const;
  const tensorLists = sides.map(([title, values, roles, ids]) =>
    roles ? (
      <Ports key={title} title={title} values={roles} ids={ids} />
    ) : (
      <Values key={title} title={title} values={values} ids={ids} />
    )
  );
  return (
    <>
      <Title kind={trans.__('Model')} name={model.name} />
      {identity && <ModelFacts identity={identity} />}
      {tensorLists}
      <Stages />
      <ArchitectureSections />
      <TopFindings />
      <Section title={trans.__('File')}>
        <Facts>
          <Fact label={trans.__('Nodes')}>{formatExact(graph.num_nodes)}</Fact>
          <Fact label={trans.__('Edges')}>{formatExact(graph.num_edges)}</Fact>
          <Fact label={trans.__('Initializers')}>
            {formatExact(graph.num_initializers)}
          </Fact>
          {graph.num_subgraphs > 0 && (
            <Fact label={trans.__('Subgraphs')}>
              {formatExact(graph.num_subgraphs)}
            </Fact>
          )}
          {graph.num_functions > 0 && (
            <Fact label={trans.__('Functions')}>
              {formatExact(graph.num_functions)}
            </Fact>
          )}
          <Fact label={trans.__('Producer')}>
            {producer ? <Name text={producer} /> : '—'}
          </Fact>
          {root && (
            <Fact label={trans.__('Exported from')}>
              <Name text={root} />
            </Fact>
          )}
          <Fact label={trans.__('Opsets')}>
            {model.opset_imports
              .map(
                ({ domain, version }) => `${escapeInvisible(domain)} ${version}`
              )
              .join(', ')}
          </Fact>
          <Fact label={trans.__('IR version')}>
            {escapeInvisible(model.onnx_ir_version)}
          </Fact>
          <Fact label={trans.__('File')}>{formatBytes(model.file_bytes)}</Fact>
          {model.external_files.length > 0 && (
            <Fact label={trans.__('External data')}>
              {formatBytes(model.external_bytes)} ·{' '}
              {shortLabel(model.external_files.slice(0, 4).join(', '), 200)}
            </Fact>
          )}
          <Fact label={trans.__('Graph')}>
            <Name text={graph.name || '—'} />
          </Fact>
        </Facts>
      </Section>
      <Section title={trans.__('Operators')} count={ops.length}>
        <Histogram rows={ops} />
      </Section>
      {model.doc_string && (
        <Section title={trans.__('Doc string')} closed>
          <pre className="oad-Text">
            {model.doc_string
              .slice(0, 20_000)
              .split('\n')
              .map(escapeInvisible)
              .join('\n')}
          </pre>
        </Section>
      )}
      <Metadata metadata={model.metadata} />
      <Descriptions
        descriptions={model.descriptions}
        count={model.num_descriptions}
      />
    </>
  );
}

function Values(props: {
  title: string;
  values: readonly ValueInfo[];
  /** Tensor ids in the same order; shorter if an entry has no tensor. */
  ids: readonly number[];
}): JSX.Element {
  return (
    <Section title={props.title} count={props.values.length}>
      <ul className="oad-Tensors">
        <TruncatedList items={props.values}>
          {(value, index) => (
            <li key={index}>
              <div className="oad-Tensor">
                {props.ids[index] >= 0 ? (
                  <SelectionLink to={{ kind: 'tensor', id: props.ids[index] }}>
                    <Name text={value.name} />
                  </SelectionLink>
                ) : (
                  <Name text={value.name} />
                )}
                <span className="oad-Shape">
                  {value.container &&
                  value.container !== 'tensor' &&
                  value.container !== 'map'
                    ? `${escapeInvisible(value.container)} `
                    : ''}
                  {escapeInvisible(value.elem_type)}{' '}
                  <bdi>{shortLabel(formatShape(value.shape))}</bdi>
                </span>
              </div>
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}
