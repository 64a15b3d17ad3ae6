import * as React from 'react';
import type { ITree } from '../../../core/types';
import { actionById, runAction } from '../../actions';
import { useSession, useView } from '../../session/sessionContext';
import type { Corner, IDockPlace } from '../../graph/viewport/cornerDocks';
import { lazyComponent } from '../../lazy/lazyCode';
import { OVERLAYS, type IOverlayDefinition } from '../../overlays';
import { scaleName } from '../../overlays/scaleNames';
import { overlayText } from '../../overlays/computeOverlay';
import type { OverlayId } from '../../overlays';
import { RootContext } from '../../ui/rootContext';
import { shortLabel } from '../../ui/safeText';
import { gradient, rampEnd } from './rampGradient';
import type { IOverlayRange } from '../../overlays/types';
import { useTrans } from '../../i18n/translateContext';
import { useKeys } from '../../actions/keysContext';

const LegendBody = lazyComponent(
  async () => (await import('./LegendBody')).LegendBody
);

const CORNERS: readonly Corner[] = [
  'bottom-left',
  'bottom-right',
  'top-left',
  'top-right'
];
/** Screen pixels of the slim line, and of the full legend until it is measured. */
const SLIM_SIZE = { w: 232, h: 20 };
const FULL_SIZE = { w: 208, h: 124 };

/** The legend's position over the graph, where there are no boxes. */
function useDock(frame: React.RefObject<HTMLElement>): IDockPlace {
  const { docks } = useSession().graph;
  const fullSize = React.useRef(FULL_SIZE);
  const [dock, setDock] = React.useState<IDockPlace>({
    corner: CORNERS[0],
    slim: false
  });
  React.useLayoutEffect(() => {
    const { offsetWidth = 0, offsetHeight = 0 } = frame.current ?? {};
    if (offsetHeight > SLIM_SIZE.h * 2) {
      fullSize.current = {
        w: offsetWidth,
        h: Math.max(FULL_SIZE.h, offsetHeight)
      };
    }
  });
  React.useLayoutEffect(
    () =>
      docks.add({
        corners: CORNERS,
        slim: SLIM_SIZE,
        rank: 0,
        size: () => fullSize.current,
        place: setDock
      }),
    [docks]
  );
  return dock;
}

/** The legend of the overlay's colours; nothing without an overlay. */
export function Legend(): JSX.Element | null {
  const overlay = useView(state => state.overlay);
  const range = useView(state => state.overlayRange);
  const tree = useView(state => state.document?.tree);
  return overlay === null || range === null || !tree ? null : (
    <DockedLegend overlay={overlay} range={range} tree={tree} />
  );
}

/** A header that collapses the legend: in full, or one line with the ramp and its ends. */
function DockedLegend(props: {
  overlay: OverlayId;
  range: IOverlayRange;
  tree: ITree;
}): JSX.Element {
  const { overlay, range, tree } = props;
  const trans = useTrans();
  const keysOf = useKeys();
  const session = useSession();
  const dark = useView(state => state.dark);
  const scale = useView(state => state.scale);
  const brush = useView(state => state.brush);
  const frame = React.useRef<HTMLDivElement>(null);
  const { corner, slim } = useDock(frame);
  // The user's choice overrides the automatic one.
  const [userChoice, setUserChoice] = React.useState<boolean | null>(null);
  const open = userChoice ?? !slim;
  const definition: IOverlayDefinition = OVERLAYS[overlay];
  const label = definition.label(trans, tree);
  const next = actionById('toggle-scale');
  const rescale = actionById('rescale');
  const root = React.useContext(RootContext);
  const ends = [
    rampEnd(range.low, brush?.low),
    rampEnd(range.max, brush?.high)
  ];
  const [low, high] = ends.map(end => overlayText(definition, end));
  const isKnown = Number.isFinite(range.fullScale.max);
  return (
    <div
      ref={frame}
      className={`oad-Legend${open ? '' : ' oad-mod-slim'}`}
      data-corner={corner}
      role="group"
      aria-label={trans.__('Heatmap legend')}
    >
      <div className="oad-Legend-head">
        <button
          type="button"
          className="oad-Legend-fold"
          aria-expanded={open}
          title={open ? trans.__('Collapse the legend') : trans.__('Legend')}
          onClick={() => setUserChoice(!open)}
        >
          <span className="oad-mod-hidden">{trans.__('Legend:')} </span>
          <span>{label}</span>
          {!open && isKnown && (
            <span className="oad-Legend-ends">
              <span>{low}</span>
              <i style={{ background: gradient(dark, definition.ramp) }} />
              <span>{high}</span>
            </span>
          )}
          {!open && definition.about && (
            <span className="oad-mod-hidden">
              {shortLabel(definition.about(tree), 120)}
            </span>
          )}
        </button>
        {open && !definition.states && (
          <button
            type="button"
            className="oad-Legend-scale"
            title={`${trans.__('Linear, logarithmic or ranked colours')} (L)`}
            onClick={() => next && runAction(next, { session, root: null })}
          >
            {scaleName(scale, trans)}
          </button>
        )}
      </div>
      {open && <LegendBody />}
      {range.isKept && rescale && (
        <button
          type="button"
          className="oad-Legend-scale"
          title={`${rescale.label(trans)} (${keysOf(rescale)[0]})`}
          onClick={() => {
            // The button disappears: the focus moves to the viewer.
            root.current?.focus();
            runAction(rescale, { session, root: root.current });
          }}
        >
          {trans.__('Rescale to view')}
        </button>
      )}
    </div>
  );
}
