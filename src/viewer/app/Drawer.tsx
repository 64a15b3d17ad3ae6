import * as React from 'react';
import { sizable } from '../../core/expressions/rebind';
import { useDocument, useSession, useView } from '../session/sessionContext';
import { seriousCount } from '../features/findings/seriousFindings';
import { lazyComponent } from '../lazy/lazyCode';
import { highlightEntities } from '../session/externalHighlight';
import { setPanels, showTab } from '../session/panels';
import { DRAWER_TABS, type DrawerTab } from '../state/types';
import { Icon } from '../ui/Icon';
import { Splitter } from '../ui/Splitter';
import { useSize } from '../ui/useSize';
import { useTrans } from '../i18n/translateContext';
import { ownValue } from '../../core/base/ownValue';

const PANELS: Record<DrawerTab, React.ComponentType> = {
  layers: lazyComponent(
    async () => (await import('../features/table/LayersTable')).LayersTable
  ),
  findings: lazyComponent(
    async () =>
      (await import('../features/findings/FindingsPanel')).FindingsPanel
  ),
  memory: lazyComponent(
    async () => (await import('../features/memory/MemoryPanel')).MemoryPanel
  ),
  charts: lazyComponent(
    async () => (await import('../features/charts/ChartsPanel')).ChartsPanel
  ),
  diagnostics: lazyComponent(
    async () =>
      (await import('../features/diagnostics/DiagnosticsPanel'))
        .DiagnosticsPanel
  ),
  dims: lazyComponent(
    async () => (await import('../features/dims/DimsPanel')).DimsPanel
  ),
  devices: lazyComponent(
    async () => (await import('../features/devices/DevicesPanel')).DevicesPanel
  ),
  roofline: lazyComponent(
    async () =>
      (await import('../features/roofline/RooflinePanel')).RooflinePanel
  ),
  sweep: lazyComponent(
    async () => (await import('../features/sweep/SweepPanel')).SweepPanel
  ),
  serving: lazyComponent(
    async () => (await import('../features/serving/ServingPanel')).ServingPanel
  ),
  run: lazyComponent(
    async () => (await import('../features/run/RunPanel')).RunPanel
  ),
  quantize: lazyComponent(
    async () =>
      (await import('../features/quantize/QuantizePanel')).QuantizePanel
  ),
  report: lazyComponent(
    async () => (await import('../features/report/ReportPanel')).ReportPanel
  ),
  changes: lazyComponent(
    async () => (await import('../features/compare/ChangesPanel')).ChangesPanel
  )
};

/** Tabs whose content has its own height; the others fill the panel. */
const OWN_HEIGHT: ReadonlySet<DrawerTab> = new Set([
  'layers',
  'findings',
  'diagnostics',
  'dims',
  'changes'
]);

/**
 * Bottom panel with layer table, findings, charts, diagnostics and dimensions; the tabs remain when it is
 * closed.
 */
export function Drawer(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const {
    drawer,
    tab: requestedTab,
    drawerHeight
  } = useView(state => state.panels);
  const compared = useView(state => state.linkedView?.compared ?? null);
  const { payload } = useDocument().model;
  const available: Partial<Record<DrawerTab, unknown>> = {
    changes: compared,
    report: session.provider.sections,
    run: session.provider.task,
    quantize: session.provider.task,
    // Only decoders have a key-value cache.
    serving: payload.memory.kv_cache?.num_layers
  };
  const tabs = DRAWER_TABS.filter(
    name => !Object.hasOwn(available, name) || available[name]
  );
  const tab = tabs.includes(requestedTab) ? requestedTab : tabs[0];
  const id = React.useId();
  const section = React.useRef<HTMLElement>(null);
  const { height } = useSize(section);
  // Highlights from a tab end with it.
  React.useEffect(
    () => () => highlightEntities(session, []),
    [session, drawer, tab]
  );
  // If the row of tabs overflows, a tab that was not clicked may be out of view.
  React.useEffect(() => {
    // Some browsers return a promise, which must not become the effect's cleanup.
    document
      .getElementById(`${id}-${tab}`)
      ?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
  }, [id, drawer, tab]);
  const Panel = PANELS[tab];
  const labels: Record<DrawerTab, string> = {
    layers: trans.__('Layers'),
    findings: trans.__('Findings'),
    memory: trans.__('Memory'),
    charts: trans.__('Charts'),
    diagnostics: trans.__('Diagnostics'),
    dims: trans.__('Dimensions'),
    devices: trans.__('Devices'),
    roofline: trans.__('Roofline'),
    sweep: trans.__('Sweep'),
    serving: trans.__('Serving'),
    run: trans.__('Run'),
    quantize: trans.__('Quantize'),
    report: trans.__('Report'),
    changes: trans.__('Changes')
  };
  const grave = payload.diagnostics.some(item => item.severity === 'error')
    ? 'error'
    : payload.diagnostics.some(item => item.severity === 'warning')
      ? 'warning'
      : 'info';
  const findingsGrave = payload.risk_signals.some(
    item => item.severity === 'high'
  )
    ? 'error'
    : 'warning';
  const severities: Partial<Record<DrawerTab, string>> = {
    diagnostics: grave,
    findings: findingsGrave
  };
  const badges: Partial<Record<DrawerTab, number>> = {
    findings: seriousCount(payload.risk_signals),
    diagnostics: payload.diagnostics.length,
    dims: sizable(payload).length
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = ownValue({ ArrowRight: 1, ArrowLeft: -1 }, event.key);
    if (step === undefined) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const count = tabs.length;
    const next = tabs[(tabs.indexOf(tab) + step + count) % count];
    showTab(session, next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <section
      ref={section}
      className={`oad-Drawer${drawer ? ' oad-mod-open' : ''}`}
      aria-label={trans.__('Tables')}
      style={
        !drawer
          ? undefined
          : OWN_HEIGHT.has(tab)
            ? { maxHeight: `min(70%, ${drawerHeight}px)` }
            : {
                height: drawerHeight,
                // A document needs space.
                minHeight: tab === 'report' ? '60%' : undefined
              }
      }
    >
      {drawer && (
        <Splitter
          label={trans.__('Height of the bottom panel')}
          axis="y"
          direction={-1}
          size={Math.min(height || drawerHeight, drawerHeight)}
          min={120}
          max={900}
          onResize={height => setPanels(session, { drawerHeight: height })}
        />
      )}
      <div className="oad-Tabs">
        <div role="tablist" onKeyDown={onKeyDown}>
          {tabs.map(name => (
            <button
              key={name}
              id={`${id}-${name}`}
              type="button"
              role="tab"
              className="oad-Tab"
              aria-selected={drawer && tab === name}
              aria-controls={drawer ? `${id}-panel` : undefined}
              tabIndex={tab === name ? 0 : -1}
              onClick={() => showTab(session, name, true)}
            >
              {labels[name]}
              {!!badges[name] && (
                <span className="oad-Count" data-severity={severities[name]}>
                  {badges[name]}
                </span>
              )}
            </button>
          ))}
        </div>
        <span className="oad-Bar-gap" />
        <button
          type="button"
          className="oad-IconButton oad-mod-small"
          aria-expanded={drawer}
          aria-label={
            drawer
              ? trans.__('Close the bottom panel')
              : trans.__('Open the bottom panel')
          }
          onClick={() => setPanels(session, { drawer: !drawer })}
        >
          <Icon name={drawer ? 'down' : 'up'} size={14} />
        </button>
      </div>
      {drawer && (
        <div
          id={`${id}-panel`}
          className="oad-Drawer-body"
          role="tabpanel"
          aria-labelledby={`${id}-${tab}`}
        >
          <Panel key={tab} />
        </div>
      )}
    </section>
  );
}
