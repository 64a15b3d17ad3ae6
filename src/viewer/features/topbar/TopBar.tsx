import * as React from 'react';
import { useView, useSession } from '../../session/sessionContext';
import { hardwareOf } from '../../../core/latency/latencyEstimate';
import { OVERLAYS, availableOverlays, isOverlayId } from '../../overlays';
import { WidthContext } from '../../ui/rootContext';
import { setOverlay } from '../../session/deviceActions';
import { isShown } from '../../session/panelVisibility';
import { useRoving } from '../../ui/rovingTabindex';
import { ExportMenu } from './ExportMenu';
import { SearchBox } from './SearchBox';
import { Tool } from './Tool';
import { useTrans } from '../../i18n/translateContext';

const FLOW_ICONS = {
  auto: 'flow',
  right: 'across',
  down: 'downwards',
  wrapped: 'rows'
} as const;

/** Search, heatmap, view and panels in one thin row. */
export function TopBar(): JSX.Element {
  const trans = useTrans();
  const width = React.useContext(WidthContext);
  const panels = useView(state => state.panels);
  const outline = useView(state => isShown('outline', state, width));
  const inspector = useView(state => isShown('inspector', state, width));
  const direction = useView(state => state.direction);
  const bar = React.useRef<HTMLDivElement>(null);
  useRoving(bar);
  return (
    <div
      ref={bar}
      className="oad-Bar"
      role="toolbar"
      aria-label={trans.__('Viewer')}
    >
      <Tool action="toggle-outline" icon="outline" pressed={outline} />
      <SearchBox />
      <OverlayPicker />
      <span className="oad-Bar-gap" />
      <Tool action="go-back" icon="back" />
      <Tool action="overview" icon="home" />
      <Tool action="expand-all" icon="expand" />
      <Tool action="collapse-all" icon="collapse" />
      <Tool action="fit" icon="fit" />
      <Tool action="toggle-direction" icon={FLOW_ICONS[direction]} />
      <span className="oad-Bar-rule" />
      <ExportMenu />
      <Tool action="reload" icon="reload" />
      <Tool action="help" icon="help" />
      <Tool
        action="toggle-layers"
        icon="drawer"
        pressed={panels.drawer && panels.tab === 'layers'}
      />
      <Tool action="toggle-inspector" icon="inspector" pressed={inspector} />
    </div>
  );
}

function OverlayPicker(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const overlay = useView(state => state.overlay);
  const tree = useView(state => state.document?.tree ?? null);
  // What the host gives may come and go.
  useView(state => state.userValues);
  return (
    <label className="oad-Pick" title={`${trans.__('Heatmap')} (H)`}>
      <span className="oad-Pick-label">{trans.__('Heatmap')}</span>
      <select
        className="oad-Select"
        aria-label={trans.__('Heatmap')}
        value={overlay ?? ''}
        onChange={event => {
          const id = event.currentTarget.value;
          setOverlay(session, isOverlayId(id) ? id : null);
        }}
      >
        <option value="">{trans.__('None')}</option>
        {availableOverlays(tree).map(id => (
          <option key={id} value={id}>
            {OVERLAYS[id].label(trans, tree ?? undefined)}
          </option>
        ))}
        {tree && !tree.model.latency && hardwareOf(tree.model.payload) && (
          <option value="latency">
            {trans.__('Latency (choose a device…)')}
          </option>
        )}
      </select>
    </label>
  );
}
