import * as React from 'react';
import type { DiagnosticInfo } from '../../../schema';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { Icon, type IconName } from '../../ui/Icon';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import type { ITranslate } from '../../i18n/translate';
import { useWindow } from '../../ui/rowWindow';
import { useTrans } from '../../i18n/translateContext';

const ROW = 28;
const ORDER = ['error', 'warning', 'info'];
const ICONS: ReadonlyMap<string, IconName> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
  ['info', 'info']
]);

export function severityText(severity: string, trans: ITranslate): string {
  const words: ReadonlyMap<string, string> = new Map([
    ['error', trans.__('Error')],
    ['warning', trans.__('Warning')],
    ['info', trans.__('Info')]
  ]);
  return words.get(severity) ?? severity;
}

function rank(severity: string): number {
  const index = ORDER.indexOf(severity);
  return index < 0 ? ORDER.length : index;
}

/** Most severe first, otherwise in the given order. */
export function orderBySeverity(
  diagnostics: readonly DiagnosticInfo[],
  severity: string
): DiagnosticInfo[] {
  return diagnostics
    .filter(item => severity === '' || item.severity === severity)
    .map((item, index) => ({ item, at: index }))
    .sort(
      (a, b) => rank(a.item.severity) - rank(b.item.severity) || a.at - b.at
    )
    .map(({ item }) => item);
}

/** Diagnostics about the file. */
export function DiagnosticsPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { diagnostics } = useDocument().model.payload;
  const severity = useView(state => state.diagnosticsFilter);
  const rows = React.useMemo(
    () => orderBySeverity(diagnostics, severity),
    [diagnostics, severity]
  );
  const scroller = React.useRef<HTMLDivElement>(null);
  const view = useWindow(scroller, rows.length, ROW);
  const count = (of: string): number =>
    diagnostics.filter(item => item.severity === of).length;
  const severities = [...new Set(diagnostics.map(item => item.severity))].sort(
    (a, b) => rank(a) - rank(b)
  );
  if (diagnostics.length === 0) {
    return (
      <p className="oad-Drawer-none">
        <Icon name="check" />
        {trans.__('No diagnostics: no problems found in the file.')}
      </p>
    );
  }
  return (
    <div className="oad-Diagnostics">
      <div className="oad-Tools" role="group" aria-label={trans.__('Severity')}>
        {['', ...severities].map(value => (
          <button
            key={value}
            type="button"
            className="oad-Toggle"
            aria-pressed={severity === value}
            onClick={() => session.store.set({ diagnosticsFilter: value })}
          >
            {value === ''
              ? `${trans.__('All')} ${diagnostics.length}`
              : `${severityText(value, trans)} ${count(value)}`}
          </button>
        ))}
      </div>
      <div
        ref={scroller}
        className="oad-Scroll"
        role="list"
        tabIndex={0}
        aria-label={trans.__('Diagnostics')}
      >
        <div className="oad-Spacer" style={{ height: rows.length * ROW }}>
          {rows.slice(view.first, view.end).map((item, index) => (
            <Row
              key={view.first + index}
              item={item}
              top={(view.first + index) * ROW}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row(props: { item: DiagnosticInfo; top: number }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const { item } = props;
  const node = item.node ?? -1;
  const canJump = node >= 0 && node < model.nodeCount;
  const location = item.where || (canJump ? model.nodeName(node) : '');
  return (
    <div
      className="oad-Diagnostic"
      role="listitem"
      data-severity={item.severity}
      style={{ top: props.top }}
      title={shortLabel(`${item.message}\n${location}`, 2000)}
    >
      <span className="oad-Diagnostic-severity">
        <Icon name={ICONS.get(item.severity) ?? 'info'} size={14} />
        {severityText(item.severity, trans)}
      </span>
      <code>{escapeInvisible(item.code)}</code>
      <span className="oad-Diagnostic-text">
        {shortLabel(item.message, 1000)}
        {location && (
          <bdi className="oad-Quiet">{shortLabel(location, 200)}</bdi>
        )}
      </span>
      {canJump && (
        <button
          type="button"
          className="oad-Jump"
          onClick={() => session.select({ kind: 'node', id: node }, 'reveal')}
        >
          {trans.__('Show')} <Icon name="jump" size={12} />
        </button>
      )}
    </div>
  );
}
