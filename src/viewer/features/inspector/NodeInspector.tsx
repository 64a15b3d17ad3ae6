import * as React from 'react';
import { formatCount } from '../../../core';
import { executionsOf } from '../../../core/model/executionCounts';
import type { IGraphModel } from '../../../core/types';
import type { NodeDetails } from '../../../schema';
import { useDocument } from '../../session/sessionContext';
import { ChangesOfNode } from '../compare/ChangesOfNode';
import { KernelFact } from '../device/Latency';
import { InlineProblem } from '../../ui/InlineProblem';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { Attributes } from './sections/Attributes';
import { BlocksOfNode } from './sections/BlockList';
import { Breadcrumb } from './Breadcrumb';
import { Constants } from './sections/Constants';
import { Costs } from './sections/Costs';
import { Metadata } from './sections/Metadata';
import { ModuleFacts } from './sections/ModuleFacts';
import { OperatorDocs } from './sections/OperatorDocs';
import { Fact, Facts, Section, Title } from '../common/facts';
import { Prepared } from './PreparedBy';
import { Tensors } from './sections/Tensors';
import { useActivationTotal } from './useActivationTotal';
import { useDetails, type DetailsState } from './useDetails';
import { settingOf } from '../../graph/cards/cardContents';
import { useTrans } from '../../i18n/translateContext';

/** Details of a node. */
export function NodeInspector({ node }: { node: number }): JSX.Element {
  const trans = useTrans();
  const { model, tree } = useDocument();
  const { state, retry } = useDetails(node);
  const activationTotal = useActivationTotal();
  const { ops, metrics, nodes } = model.payload;
  const op = ops[model.nodeOp[node]];
  const setting = settingOf(model, node);
  const reason = Object.hasOwn(nodes.reason, String(node))
    ? nodes.reason[String(node)]
    : '';
  return (
    <>
      <Title
        kind={model.opType(node)}
        category={model.category(node)}
        name={model.nodeName(node)}
      />
      <Breadcrumb tree={tree} entity={node} />
      <Facts>
        <Fact label={trans.__('Operator')}>
          {escapeInvisible(
            `${op?.domain || 'ai.onnx'} · ${model.opType(node)}`
          )}
        </Fact>
        {setting && (
          <Fact label={trans.__('Setting')}>
            <bdi>{setting}</bdi>
          </Fact>
        )}
        <Fact label={trans.__('Opset')}>{op ? op.opset : '?'}</Fact>
        <Repeat node={node} />
        <Prepared entity={node} />
      </Facts>
      <ChangesOfNode node={node} />
      <Section title={trans.__('Costs')}>
        <Costs
          metrics={metrics}
          valueOf={id => model.metrics[id][node]}
          activationTotal={activationTotal}
          reason={reason}
        >
          <KernelFact node={node} />
        </Costs>
      </Section>
      <BlocksOfNode node={node} />
      <NodeTensors model={model} node={node} state={state} />
      <FetchedDetails state={state} retry={retry}>
        {details => <NodeDetailSections details={details} />}
      </FetchedDetails>
    </>
  );
}

/** For nodes in loops: costs are totals over all iterations. */
function Repeat({ node }: { node: number }): JSX.Element | null {
  const trans = useTrans();
  const { nodes } = useDocument().model.payload;
  const runs = executionsOf(nodes, node);
  const endless = nodes.runs_unknown.includes(node);
  if ((runs === 1 && !endless) || nodes.uncounted.includes(node)) {
    return null;
  }
  const macsOnce = nodes.macs[node];
  const lines =
    runs > 1 && macsOnce
      ? [trans.__('%1 each', formatCount(macsOnce, 'MACs'))]
      : [];
  const counted = endless
    ? runs === 1
      ? trans.__('costs are for one run')
      : trans._n('the costs are of %1 run', 'the costs are of %1 runs', runs)
    : trans.__('costs are totals over all runs');
  return (
    <Fact label={trans.__('Runs')} note={[counted, ...lines].join('; ')}>
      {endless
        ? trans.__('an unknown number of times')
        : trans._n('%1 time', '%1 times', runs)}
    </Fact>
  );
}

function NodeTensors(props: {
  model: IGraphModel;
  node: number;
  state: DetailsState;
}): JSX.Element {
  const trans = useTrans();
  const { model, node, state } = props;
  const operator = state.status === 'ready' ? state.details.operator : null;
  const slice = (values: Int32Array, offsets: Int32Array): number[] =>
    Array.from(values.subarray(offsets[node], offsets[node + 1]));
  const inputs = slice(model.inputs, model.inputOffsets);
  const outputs = slice(model.outputs, model.outputOffsets);
  const roles = (
    formals: readonly Readonly<Record<string, string>>[] | undefined,
    count: number
  ): string[] =>
    // The last formal parameter may stand for several tensors.
    Array.from({ length: formals && formals.length > 0 ? count : 0 }, (_, i) =>
      shortLabel(formals?.[Math.min(i, formals.length - 1)]?.name ?? `${i}`, 60)
    );
  return (
    <>
      <Section title={trans.__('Inputs')} count={inputs.length}>
        <Tensors
          model={model}
          ids={inputs}
          roles={roles(operator?.inputs, inputs.length)}
          side="input"
        />
      </Section>
      <Section title={trans.__('Outputs')} count={outputs.length}>
        <Tensors
          model={model}
          ids={outputs}
          roles={roles(operator?.outputs, outputs.length)}
          side="output"
        />
      </Section>
    </>
  );
}

/** Fetched details: loading, failed with a retry button, or shown. */
function FetchedDetails(props: {
  state: DetailsState;
  retry: () => void;
  children: (details: NodeDetails) => React.ReactNode;
}): JSX.Element {
  const trans = useTrans();
  const { state } = props;
  if (state.status === 'ready') {
    return <>{props.children(state.details)}</>;
  }
  if (state.status === 'loading') {
    return (
      <p className="oad-Quiet oad-Wait" role="status">
        {trans.__('Reading attributes…')}
      </p>
    );
  }
  return <InlineProblem problem={state.problem} retry={props.retry} />;
}

function NodeDetailSections(props: { details: NodeDetails }): JSX.Element {
  const trans = useTrans();
  const { details } = props;
  return (
    <>
      <Attributes attributes={details.attributes} />
      <Constants constants={details.constants} />
      <ModuleFacts details={details} />
      {details.doc_string && (
        <Section title={trans.__('Doc string')} closed>
          <pre className="oad-Text">
            {shortLabel(details.doc_string, 20_000)}
          </pre>
        </Section>
      )}
      <Metadata metadata={details.metadata} />
      {details.operator && <OperatorDocs operator={details.operator} />}
      {details.stack_trace && (
        <Section title={trans.__('Export stack trace')} closed>
          <pre className="oad-Text">{multiline(details.stack_trace)}</pre>
        </Section>
      )}
    </>
  );
}

/** Keeps line breaks and escapes other invisible characters. */
function multiline(text: string): string {
  return text.slice(0, 50_000).split('\n').map(escapeInvisible).join('\n');
}
