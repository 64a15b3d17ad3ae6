import * as React from 'react';
import { useSession, useView } from '../session/sessionContext';
import { Drawer } from './Drawer';
import { GraphPane } from './GraphPane';
import { TotalsStrip } from '../features/totals/TotalsStrip';
import { lazyComponent } from '../lazy/lazyCode';
import { PanelBoundary, SubjectContext } from '../lazy/PanelBoundary';
import { Outline } from '../features/outline/Outline';
import { RootContext, WidthContext } from '../ui/rootContext';
import { setPanels } from '../session/panels';
import { isShown, NARROW } from '../session/panelVisibility';
import {
  FailureBanner,
  FileBanner,
  NoticeBanner
} from '../features/status/Failure';
import { Working } from '../features/status/Loading';
import { usePinned, useDelayedOpen } from './cameraPin';
import { TopBar } from '../features/topbar/TopBar';
import { useRoving } from '../ui/rovingTabindex';
import { Splitter } from '../ui/Splitter';
import { useSize } from '../ui/useSize';
import { ModelDescription } from '../features/description/ModelDescription';
import { useTrans } from '../i18n/translateContext';

const Inspector = lazyComponent(
  async () => (await import('../features/inspector/Inspector')).Inspector
);
const DeviceChooser = lazyComponent(
  async () => (await import('../features/device/DeviceChooser')).DeviceChooser
);
const CompareBar = lazyComponent(
  async () => (await import('../features/compare/CompareBar')).CompareBar,
  true
);
const Merged = lazyComponent(
  async () => (await import('./MergedView')).MergedView,
  true
);
const ExtractionBanner = lazyComponent(
  async () =>
    (await import('../features/extract/ExtractionBanner')).ExtractionBanner,
  true
);
const Menu = lazyComponent(
  async () => (await import('../features/menu/Menu')).Menu,
  true
);
const Help = lazyComponent(async () => (await import('./Help')).Help);

/** Height of the viewer in pixels below which the graph needs every row. */
const LOW_HEIGHT = 400;
const MIN_PANEL = 160;
const MAX_PANEL = 640;

/**
 * Layout of the viewer: toolbar and totals at the top, the graph with its side panels, the bottom panel.
 */
export function Workbench(props: { theme: string }): JSX.Element {
  const load = useView(state => state.load);
  const file = useView(state => state.file);
  const notice = useView(state => state.notice);
  const choosing = useView(state => state.deviceChooserOpen);
  const help = useView(state => state.helpOpen);
  const menu = useView(state => state.menu !== null);
  const extracts = useView(state => state.extraction !== null);
  const linked = useView(state => state.linkedView !== null);
  const merged = useView(state => state.linkedView?.merged === true);
  // Two models as one graph have no totals: they would belong to neither.
  const isMerged = useView(state => !!state.linkedView?.compared?.added);
  // In a low viewer, the line lies over the graph instead of taking a row.
  const { height } = useSize(React.useContext(RootContext));
  const low = height > 0 && height < LOW_HEIGHT;
  return (
    <div className="oad-Workbench">
      <SkipLink />
      <PanelBoundary>
        <TopBar />
      </PanelBoundary>
      {linked && <CompareBar />}
      {!isMerged && (
        <PanelBoundary>
          <Facts low={low} />
        </PanelBoundary>
      )}
      {load.status === 'loading' && <Working progress={load.progress} />}
      {load.status === 'failed' && <FailureBanner problem={load.problem} />}
      {notice && <NoticeBanner text={notice} />}
      {extracts && <ExtractionBanner />}
      {file !== 'same' && load.status === 'ready' && <FileBanner file={file} />}
      {low && !isMerged && (
        <PanelBoundary>
          <ModelDescription low />
        </PanelBoundary>
      )}
      <Middle theme={props.theme} />
      {!isMerged && (
        <PanelBoundary>
          <Drawer />
        </PanelBoundary>
      )}
      {merged && <Merged theme={props.theme} />}
      {choosing && <DeviceChooser />}
      {help && <Help />}
      {menu && <Menu />}
    </div>
  );
}

/** The first Tab stop: skips the toolbars and focuses the graph. */
function SkipLink(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <button
      type="button"
      className="oad-Button oad-Skip"
      onClick={() => session.graph.surface?.focus()}
    >
      {trans.__('Skip to the graph')}
    </button>
  );
}

/** The model in words and its totals, as one Tab stop. */
function Facts({ low }: { low: boolean }): JSX.Element {
  const trans = useTrans();
  const group = React.useRef<HTMLDivElement>(null);
  useRoving(group);
  return (
    <div
      ref={group}
      className="oad-Facts"
      role="group"
      aria-label={trans.__('Facts')}
    >
      {!low && <ModelDescription />}
      <TotalsStrip />
    </div>
  );
}

function Middle(props: { theme: string }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const width = React.useContext(WidthContext);
  const panels = useView(state => state.panels);
  const selection = useView(state => state.selection);
  const narrow = width < NARROW;
  const outline = useView(state => isShown('outline', state, width));
  const isWanted = useView(state => isShown('inspector', state, width));
  const patient = selection.kind === 'group' && panels.inspector === 'auto';
  // Two models as one graph have no common description.
  const isMerged = useView(state => !!state.linkedView?.compared?.added);
  const inspector = useDelayedOpen(
    isWanted && !(isMerged && selection.kind === 'none'),
    patient
  );
  usePinned(`${outline} ${inspector}`);
  // Panels never exceed their share, whatever was saved on a wider screen.
  const maxWidth = Math.max(MIN_PANEL, Math.min(MAX_PANEL, width * 0.45));
  const outlineWidth = Math.min(panels.outlineWidth, maxWidth);
  const inspectorWidth = Math.min(panels.inspectorWidth, maxWidth);
  const left = narrow && outline ? outlineWidth : 0;
  const right = narrow && inspector ? inspectorWidth : 0;
  React.useLayoutEffect(
    () => session.graph.setOccludedWidth(right - left),
    [session, right, left]
  );
  return (
    <div className={`oad-Middle${narrow ? ' oad-mod-narrow' : ''}`}>
      {outline && (
        <div className="oad-Side oad-mod-left" style={{ width: outlineWidth }}>
          <PanelBoundary>
            <Outline />
          </PanelBoundary>
        </div>
      )}
      <PanelBoundary>
        <GraphPane theme={props.theme} />
      </PanelBoundary>
      {outline && (
        // After the graph, so that there are fewer Tab stops before it.
        <div className="oad-Edge" style={{ left: outlineWidth }}>
          <Splitter
            label={trans.__('Width of the outline')}
            axis="x"
            direction={1}
            size={outlineWidth}
            min={MIN_PANEL}
            max={maxWidth}
            onResize={size => setPanels(session, { outlineWidth: size })}
          />
        </div>
      )}
      {inspector && (
        <div
          className="oad-Side oad-mod-right"
          style={{ width: inspectorWidth }}
        >
          <Splitter
            label={trans.__('Width of the inspector')}
            axis="x"
            direction={-1}
            size={inspectorWidth}
            min={MIN_PANEL}
            max={maxWidth}
            onResize={size => setPanels(session, { inspectorWidth: size })}
          />
          <SubjectContext.Provider value={selection}>
            <Inspector />
          </SubjectContext.Provider>
        </div>
      )}
    </div>
  );
}
