import * as React from 'react';
import { useSession, useTrans, useView } from '../context';
import { runAction, actionById } from '../actions';
import { RootContext } from '../root';
import { OVERLAYS, type IOverlayDefinition } from '../overlays';
import { scaleName } from '../overlays/names';
import { entityText, overlayText } from '../overlays/painted';
import { rampOf } from '../overlays/ramp';
import { entityName, selectionOf } from '../session/entities';
import { brief } from '../ui/text';
import { Brush } from './Brush';

const STOPS = 8;

function gradient(dark: boolean): string {
  const { color } = rampOf(dark);
  const stops = Array.from({ length: STOPS + 1 }, (_, i) => color(i / STOPS));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

function known(value: number, other: number | undefined): number {
  return Number.isNaN(value) && other !== undefined ? other : value;
}

/** What the colours mean: histogram with brush, ramp with its ends, scale, heaviest boxes. */
export function Legend(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const root = React.useContext(RootContext);
  const overlay = useView(state => state.overlay);
  const range = useView(state => state.range);
  const dark = useView(state => state.dark);
  const scale = useView(state => state.scale);
  const brush = useView(state => state.brush);
  const tree = useView(state => state.document?.tree);
  const [open, setOpen] = React.useState(false);
  if (overlay === null || range === null || !tree) {
    return null;
  }
  const definition: IOverlayDefinition = OVERLAYS[overlay];
  const text = (value: number): string => overlayText(definition, value);
  const next = actionById('toggle-scale');
  const rescale = actionById('rescale');
  return (
    <div
      className="oad-Legend"
      role="group"
      aria-label={trans.__('Heatmap legend')}
    >
      <div className="oad-Legend-head">
        <span>{definition.label(trans, tree)}</span>
        <button
          type="button"
          className="oad-Legend-scale"
          title={`${trans.__('Linear, logarithmic or ranked colours')} (L)`}
          onClick={() => next && runAction(next, { session, root: null })}
        >
          {scaleName(scale, trans)}
        </button>
      </div>
      {definition.about && (
        <div className="oad-Quiet oad-Legend-about">
          <bdi>{brief(definition.about(tree), 120)}</bdi>
        </div>
      )}
      {Number.isFinite(range.whole.max) ? (
        <>
          <Brush
            range={range}
            brush={brush}
            color={rampOf(dark).color}
            text={text}
            onChange={span => session.store.set({ brush: span })}
          />
          <div
            className="oad-Legend-ramp"
            style={{ background: gradient(dark) }}
            aria-hidden="true"
          />
          <div className="oad-Legend-ends">
            {/* A brush over no value at all still has its ends. */}
            <span>{text(known(range.low, brush?.low))}</span>
            <span>{text(known(range.max, brush?.high))}</span>
          </div>
        </>
      ) : (
        <p className="oad-Quiet">{trans.__('No value is known here.')}</p>
      )}
      {range.kept && rescale && (
        <button
          type="button"
          className="oad-Legend-scale"
          title={`${rescale.label(trans)} (${rescale.keys[0]})`}
          onClick={() => {
            // The button goes: the keys go on in the viewer.
            root.current?.focus();
            runAction(rescale, { session, root: root.current });
          }}
        >
          {trans.__('Rescale to view')}
        </button>
      )}
      {range.unknown > 0 && (
        <div className="oad-Legend-unknown">
          <span className="oad-Hatch" aria-hidden="true" />
          {trans._n('%1 box unknown', '%1 boxes unknown', range.unknown)}
        </div>
      )}
      {range.top.length > 1 && (
        <>
          <button
            type="button"
            className="oad-Legend-scale oad-Legend-more"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {trans._n('Heaviest box', 'Heaviest %1', range.top.length)}
          </button>
          {open && (
            <ol className="oad-Legend-top">
              {range.top.map(({ entity }) => (
                <li key={entity}>
                  <button
                    type="button"
                    className="oad-Jump"
                    onClick={() =>
                      session.select(selectionOf(tree.model, entity), 'reveal')
                    }
                  >
                    <bdi>{brief(entityName(tree, entity), 60)}</bdi>
                  </button>
                  <span className="oad-Number">
                    {entityText(definition, tree, entity)}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </div>
  );
}
