import * as React from 'react';
import { useDocument, useSession, useTrans, useView } from './context';
import type { ISurfaceStrings } from './graph/api';
import { Legend } from './legend/Legend';
import { Notes } from './notes/Notes';
import { lazily } from './lazy/lazily';
import { EmptyGraph } from './states/Failure';
import { useStill } from './still';
import type { ITranslate } from './translate';

/** Fetched when a box is first pointed at. */
const BoxTip = lazily(async () => (await import('./tip/BoxTip')).BoxTip, true);

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

/** The place of the picture. React owns the frame, the surface all that is inside. */
export function GraphPane(props: { theme: string }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const host = React.useRef<HTMLDivElement>(null);
  const overlay = useView(state => state.overlay !== null);
  React.useLayoutEffect(() => {
    if (host.current) {
      session.stage.attach(host.current, stringsOf(trans));
    }
    return () => session.stage.detach();
  }, [session, trans]);
  React.useLayoutEffect(() => {
    // The same rule as in the style sheets.
    const dark = host.current?.closest('[data-jp-theme-light="false"]');
    session.stage.setTheme(Boolean(dark));
  }, [session, props.theme]);
  useStill(host);
  return (
    <div className="oad-GraphPane">
      <div ref={host} className="oad-GraphHost" />
      {model.nodeCount === 0 && <EmptyGraph />}
      {overlay && <Legend />}
      <Notes />
      <Tips />
    </div>
  );
}

function Tips(): JSX.Element | null {
  const { followers } = useSession();
  const now = React.useRef({ box: -1, byKey: false });
  const [asked, ask] = React.useState(false);
  React.useEffect(() => {
    const at = (box: number, byKey: boolean): void => {
      now.current = { box, byKey };
      if (box >= 0) {
        ask(true);
      }
    };
    const follower = {
      onHover: (_: unknown, box: number) => at(box, false),
      onRing: (box: number) => at(box, true)
    };
    followers.add(follower);
    return () => void followers.delete(follower);
  }, [followers]);
  return asked ? <BoxTip now={now} /> : null;
}
