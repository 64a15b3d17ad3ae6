import * as React from 'react';
import { formatExact } from '../../../core';
import type { RiskSignal } from '../../../schema';
import { useDocument, useSession } from '../../session/sessionContext';
import { selectNodes } from '../../session/hostSelection';
import { highlightEntities } from '../../session/externalHighlight';
import type { ITranslate } from '../../i18n/translate';
import { Icon, type IconName } from '../../ui/Icon';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { TruncatedList } from '../common/facts';
import { RulesNote } from './RulesNote';
import { evidenceText, nodesIn, totalNodes } from '../../summary/findingText';
import { useTrans } from '../../i18n/translateContext';

/** Most severe first. */
const SEVERITIES = ['high', 'medium', 'low', 'info'] as const;

const ICONS: ReadonlyMap<string, IconName> = new Map([
  ['high', 'error'],
  ['medium', 'warning']
]);

function severityText(severity: string, trans: ITranslate): string {
  const words: ReadonlyMap<string, string> = new Map([
    ['high', trans.__('High')],
    ['medium', trans.__('Medium')],
    ['low', trans.__('Low')],
    ['info', trans.__('Info')]
  ]);
  return words.get(severity) ?? escapeInvisible(severity);
}

/** Findings about the model's design: the issue, the reason, and what to do. */
export function FindingsPanel(): JSX.Element {
  const trans = useTrans();
  const { risk_signals: findings } = useDocument().model.payload;
  const [severity, setSeverity] = React.useState('');
  if (findings.length === 0) {
    return (
      <>
        <RulesNote />
        <p className="oad-Drawer-none">
          <Icon name="check" />
          {trans.__('No findings for this model.')}
        </p>
      </>
    );
  }
  const count = (of: string): number =>
    findings.filter(item => item.severity === of).length;
  const present = SEVERITIES.filter(of => count(of) > 0);
  const visibleFindings = findings.filter(
    item => severity === '' || item.severity === severity
  );
  return (
    <div className="oad-Diagnostics">
      <RulesNote />
      <div className="oad-Tools" role="group" aria-label={trans.__('Severity')}>
        {['', ...present].map(value => (
          <button
            key={value}
            type="button"
            className="oad-Toggle"
            aria-pressed={severity === value}
            onClick={() => setSeverity(value)}
          >
            {value === ''
              ? `${trans.__('All')} ${findings.length}`
              : `${severityText(value, trans)} ${count(value)}`}
          </button>
        ))}
      </div>
      <div
        className="oad-Scroll oad-Findings"
        role="list"
        tabIndex={0}
        aria-label={trans.__('Findings')}
      >
        <TruncatedList
          items={visibleFindings}
          limit={50}
          of="listitem"
          key={severity}
        >
          {(item, index) => <Finding key={index} item={item} />}
        </TruncatedList>
      </div>
    </div>
  );
}

function Finding({ item }: { item: RiskSignal }): JSX.Element {
  const trans = useTrans();
  const evidence = Object.entries(item.evidence);
  return (
    <div
      className="oad-Finding"
      role="listitem"
      data-severity={SEVERITIES.find(of => of === item.severity) ?? 'info'}
    >
      <span className="oad-Finding-severity">
        <Icon name={ICONS.get(item.severity) ?? 'info'} size={14} />
        {severityText(item.severity, trans)}
      </span>
      <div className="oad-Finding-body">
        <p className="oad-Finding-title">
          {shortLabel(item.description, 4000)}{' '}
          <code
            title={trans.__('For details, run: onnx-autodoc rule %1', item.id)}
          >
            {escapeInvisible(item.id)}
          </code>
        </p>
        <p className="oad-Quiet">{shortLabel(item.recommendation, 4000)}</p>
        <FindingNodes item={item} />
        {evidence.length > 0 && (
          <details className="oad-Section">
            <summary>
              <Icon name="right" size={12} />
              <span>{trans.__('Evidence')}</span>
            </summary>
            <dl className="oad-Facts oad-Section-body">
              {evidence.map(([name, value]) => (
                <div className="oad-Fact" key={name}>
                  <dt>{escapeInvisible(name.replaceAll('_', ' '))}</dt>
                  <dd>{evidenceText(name, value, trans)}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </div>
  );
}

/** The affected nodes: a link for each, and one for all. */
function FindingNodes({ item }: { item: RiskSignal }): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const nodes = nodesIn(item, model.nodeCount);
  if (nodes.length === 0) {
    return null;
  }
  const total = totalNodes(item);
  return (
    <div
      className="oad-Finding-nodes"
      onPointerLeave={() => highlightEntities(session, [])}
    >
      {nodes.length > 1 && (
        <button
          type="button"
          className="oad-Jump"
          onPointerEnter={() => highlightEntities(session, nodes)}
          onClick={() => selectNodes(session, nodes)}
        >
          {total > nodes.length
            ? trans.__(
                'Show the first %1 of %2 nodes',
                nodes.length,
                formatExact(total)
              )
            : trans.__('Show all %1 nodes', nodes.length)}
          <Icon name="jump" size={12} />
        </button>
      )}
      <TruncatedList items={nodes} limit={8} of="inline">
        {node => (
          <button
            key={node}
            type="button"
            className="oad-Jump"
            title={shortLabel(model.nodeName(node))}
            onPointerEnter={() => highlightEntities(session, [node])}
            onClick={() => session.select({ kind: 'node', id: node }, 'reveal')}
          >
            <bdi>{shortLabel(model.nodeName(node), 60) || `#${node}`}</bdi>
          </button>
        )}
      </TruncatedList>
    </div>
  );
}
