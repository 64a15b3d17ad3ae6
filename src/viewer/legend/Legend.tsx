import * as React from 'react';
import { useSession, useTrans, useView } from '../context';
import { OVERLAYS, type IOverlayDefinition } from '../overlays';
import { rampOf } from '../overlays/ramp';
import { overlayText } from '../overlays/painted';

const STOPS = 8;

function gradient(dark: boolean): string {
  const { color } = rampOf(dark);
  const stops = Array.from({ length: STOPS + 1 }, (_, i) => color(i / STOPS));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

/** What the colours mean: the ramp with its ends, and the way to spread it. */
export function Legend(): JSX.Element | null {
  const trans = useTrans();
  const { store } = useSession();
  const overlay = useView(state => state.overlay);
  const range = useView(state => state.range);
  const dark = useView(state => state.dark);
  const logScale = useView(state => state.logScale);
  const tree = useView(state => state.document?.tree);
  if (overlay === null || range === null) {
    return null;
  }
  const definition: IOverlayDefinition = OVERLAYS[overlay];
  const known = Number.isFinite(range.max);
  // The linear ramp starts at zero, whatever the smallest value is.
  const low = logScale ? range.min : 0;
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
          aria-pressed={logScale}
          title={`${trans.__('Linear or logarithmic colours')} (L)`}
          onClick={() => store.set({ logScale: !logScale })}
        >
          {logScale ? trans.__('log') : trans.__('linear')}
        </button>
      </div>
      {known ? (
        <>
          <div
            className="oad-Legend-ramp"
            style={{ background: gradient(dark) }}
            aria-hidden="true"
          />
          <div className="oad-Legend-ends">
            <span>{overlayText(definition, low)}</span>
            <span>{overlayText(definition, range.max)}</span>
          </div>
        </>
      ) : (
        <p className="oad-Quiet">{trans.__('No value is known here.')}</p>
      )}
      {range.unknown > 0 && (
        <div className="oad-Legend-unknown">
          <span className="oad-Hatch" aria-hidden="true" />
          {trans._n('%1 box unknown', '%1 boxes unknown', range.unknown)}
        </div>
      )}
    </div>
  );
}
