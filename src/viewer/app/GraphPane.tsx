import * as React from 'react';
import { useDocument, useSession, useView } from '../session/sessionContext';
import type { ISurfaceStrings } from '../graph/surfaceApi';
import { Legend } from '../features/legend/Legend';
import { Notices } from '../features/notices/Notices';
import { lazyComponent } from '../lazy/lazyCode';
import { EmptyGraph } from '../features/status/Failure';
import { useCameraPin } from './cameraPin';
import type { ITranslate } from '../i18n/translate';
import { useTrans } from '../i18n/translateContext';

/** Loaded when a box is first hovered. */
const BoxTip = lazyComponent(
  async () => (await import('../features/tooltip/BoxTip')).BoxTip,
  true
);

function stringsOf(trans: ITranslate): ISurfaceStrings {
  return {
    graph: trans.__('Model graph'),
    group: trans.__('block'),
    input: trans.__('Input'),
    output: trans.__('Output'),
    inputs: trans.__('%1 inputs'),
    outputs: trans.__('%1 outputs'),
    tensor: trans.__('Tensor'),
    from: trans.__('from %1'),
    to: trans.__('to %1'),
    expanded: trans.__('expanded'),
    collapsed: trans.__('collapsed'),
    nodes: trans.__('%1 nodes'),
    prepared: trans.__('prepared by %1'),
    share: trans.__('%1 of MACs'),
    unknown: trans.__('unknown'),
    overview: trans.__('Overview'),
    zoom: trans.__('Zoom')
  };
}

/** The pane of the graph. React owns the frame, the surface everything inside. */
export function GraphPane(props: { theme: string }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const host = React.useRef<HTMLDivElement>(null);
  const overlay = useView(state => state.overlay !== null);
  React.useLayoutEffect(() => {
    if (host.current) {
      session.graph.attach(host.current, stringsOf(trans));
    }
    return () => session.graph.detach();
  }, [session, trans]);
  React.useLayoutEffect(() => {
    // The same rule as in the style sheets.
    const dark = host.current?.closest('[data-jp-theme-light="false"]');
    session.graph.setTheme(Boolean(dark));
  }, [session, props.theme]);
  useCameraPin(host);
  return (
    <div className="oad-GraphPane">
      <div ref={host} className="oad-GraphHost" />
      {model.nodeCount === 0 && <EmptyGraph />}
      {overlay && <Legend />}
      <Notices />
      <Tips />
    </div>
  );
}

function Tips(): JSX.Element | null {
  const { listeners } = useSession();
  const now = React.useRef({ box: -1, byKey: false });
  const [isRequested, setRequested] = React.useState(false);
  React.useEffect(() => {
    const hover = (box: number, byKey: boolean): void => {
      now.current = { box, byKey };
      if (box >= 0) {
        setRequested(true);
      }
    };
    const listener = {
      onHover: (_: unknown, box: number) => hover(box, false),
      onRing: (box: number) => hover(box, true)
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listeners]);
  return isRequested ? <BoxTip now={now} /> : null;
}
