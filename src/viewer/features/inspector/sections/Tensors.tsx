import * as React from 'react';
import { TENSOR_KIND } from '../../../../core';
import type { IGraphModel } from '../../../../core/types';
import { shortLabel } from '../../../ui/safeText';
import { SelectionLink, Name, TruncatedList } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** Nodes that read a tensor. */
export function consumersOf(model: IGraphModel, tensor: number): number[] {
  return Array.from(
    model.consumers.subarray(
      model.consumerOffsets[tensor],
      model.consumerOffsets[tensor + 1]
    )
  );
}

/** Producers and readers of the tensors, each once. */
export function nodesAround(
  model: IGraphModel,
  tensors: readonly number[]
): { readonly makers: number[]; readonly readers: number[] } {
  const producers = tensors
    .map(tensor => model.tensorProducer[tensor])
    .filter(node => node >= 0);
  const readers = tensors.flatMap(tensor => consumersOf(model, tensor));
  return { makers: [...new Set(producers)], readers: [...new Set(readers)] };
}

/** A node as a link: its operator type and name. */
export function NodeLink(props: {
  model: IGraphModel;
  node: number;
}): JSX.Element {
  const { model, node } = props;
  const name = model.nodeName(node);
  return (
    <SelectionLink to={{ kind: 'node', id: node }} title={shortLabel(name)}>
      <span
        className="oad-Dot"
        data-category={model.category(node)}
        aria-hidden="true"
      />
      {shortLabel(model.opType(node), 60)}
      {name && <bdi className="oad-Quiet">{shortLabel(name, 80)}</bdi>}
    </SelectionLink>
  );
}

/** Nodes as a list of links. */
export function NodeLinks(props: {
  model: IGraphModel;
  nodes: readonly number[];
}): JSX.Element {
  return (
    <ul className="oad-Links">
      <TruncatedList items={props.nodes}>
        {node => (
          <li key={node}>
            <NodeLink model={props.model} node={node} />
          </li>
        )}
      </TruncatedList>
    </ul>
  );
}

/** Inputs or outputs of a node: name, type, shape, and their producers or readers. */
export function Tensors(props: {
  model: IGraphModel;
  ids: readonly number[];
  /** The operator's names for them. */
  roles: readonly string[];
  side: 'input' | 'output';
}): JSX.Element {
  const trans = useTrans();
  const { model, ids, roles, side } = props;
  if (ids.length === 0) {
    return <p className="oad-Quiet">{trans.__('none')}</p>;
  }
  return (
    <ul className="oad-Tensors">
      <TruncatedList items={ids}>
        {(tensor, index) => (
          <li key={index}>
            <div className="oad-Tensor-role">
              {roles[index] ?? `${index}`}
              {tensor < 0 && (
                <span className="oad-Quiet"> {trans.__('omitted')}</span>
              )}
            </div>
            {tensor >= 0 && (
              <div className="oad-Tensor">
                <SelectionLink to={{ kind: 'tensor', id: tensor }}>
                  <Name text={model.tensorName(tensor)} />
                </SelectionLink>
                <span className="oad-Shape">
                  {model.dtypeText(tensor)}{' '}
                  <bdi>{shortLabel(model.shapeText(tensor))}</bdi>
                </span>
                <TensorEnds model={model} tensor={tensor} side={side} />
              </div>
            )}
          </li>
        )}
      </TruncatedList>
    </ul>
  );
}

function TensorEnds(props: {
  model: IGraphModel;
  tensor: number;
  side: 'input' | 'output';
}): JSX.Element | null {
  const trans = useTrans();
  const { model, tensor, side } = props;
  if (side === 'output') {
    const nodes = consumersOf(model, tensor);
    const isOutput = model.payload.tensors.outputs.includes(tensor);
    return (
      <div className="oad-Ends">
        {isOutput && (
          <span className="oad-Tag">{trans.__('model output')}</span>
        )}
        {nodes.length === 0 && !isOutput && (
          <span className="oad-Quiet">{trans.__('not used')}</span>
        )}
        <TruncatedList items={nodes} limit={4} of="inline">
          {node => <NodeLink key={node} model={model} node={node} />}
        </TruncatedList>
      </div>
    );
  }
  const producer = model.tensorProducer[tensor];
  if (producer >= 0 && !model.nodeConstant[producer]) {
    return (
      <div className="oad-Ends">
        <NodeLink model={model} node={producer} />
      </div>
    );
  }
  const words: ReadonlyMap<number, string> = new Map([
    [TENSOR_KIND.input, trans.__('model input')],
    [TENSOR_KIND.initializer, trans.__('weight')],
    [TENSOR_KIND.constant, trans.__('constant')],
    [TENSOR_KIND.formal, trans.__('subgraph input')]
  ]);
  const word = words.get(model.tensorKind[tensor]);
  return word ? (
    <div className="oad-Ends">
      <span className="oad-Tag">{word}</span>
    </div>
  ) : null;
}
