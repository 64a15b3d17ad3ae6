import * as React from 'react';
import { readableTextColor } from '../../../core';
import { useSession, useView } from '../../session/sessionContext';
import { OVERLAYS, type IOverlayDefinition } from '../../overlays';
import { entityText, overlayText } from '../../overlays/computeOverlay';
import { rampOf } from '../../overlays/heatmapRamp';
import { entityName, selectionOf } from '../../session/entityNames';
import { shortLabel } from '../../ui/safeText';
import { Brush } from './Brush';
import { gradient, rampEnd } from './rampGradient';
import { useTrans } from '../../i18n/translateContext';

/** The legend below its header: histogram with brush, ramp with its ends, top boxes. */
export function LegendBody(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const overlay = useView(state => state.overlay);
  const range = useView(state => state.overlayRange);
  const dark = useView(state => state.dark);
  const brush = useView(state => state.brush);
  const tree = useView(state => state.document?.tree);
  const [open, setOpen] = React.useState(false);
  if (overlay === null || range === null || !tree) {
    return null;
  }
  const definition: IOverlayDefinition = OVERLAYS[overlay];
  const states = definition.states?.(tree);
  if (states) {
    return (
      <>
        <ul className="oad-Legend-states">
          {states.looks.map(({ position: place, sign, label, dash }) => (
            <li key={place}>
              <i
                aria-hidden="true"
                style={{
                  background: states.color(place, dark),
                  color: readableTextColor(states.color(place, dark))
                }}
              >
                {sign}
              </i>
              {label}
              {dash && (
                <svg width="48" height="10" aria-hidden="true">
                  <path
                    d="M1,5h46"
                    stroke={states.color(place, dark)}
                    strokeWidth="1.5"
                    strokeDasharray={dash.join(' ')}
                  />
                </svg>
              )}
            </li>
          ))}
        </ul>
        <div className="oad-Quiet oad-Legend-about">{states.about}</div>
      </>
    );
  }
  const text = (value: number): string => overlayText(definition, value);
  return (
    <>
      {definition.about && (
        <div className="oad-Quiet oad-Legend-about">
          <bdi>{shortLabel(definition.about(tree), 120)}</bdi>
        </div>
      )}
      {Number.isFinite(range.fullScale.max) ? (
        <>
          <Brush
            range={range}
            brush={brush}
            color={rampOf(dark, definition.ramp).color}
            text={text}
            onChange={span => session.store.set({ brush: span })}
          />
          <div
            className="oad-Legend-ramp"
            style={{ background: gradient(dark, definition.ramp) }}
            aria-hidden="true"
          />
          <div className="oad-Legend-ends">
            {/* A brush without any value still has its ends. */}
            <span>{text(rampEnd(range.low, brush?.low))}</span>
            <span>{text(rampEnd(range.max, brush?.high))}</span>
          </div>
        </>
      ) : (
        <p className="oad-Quiet">{trans.__('No known values.')}</p>
      )}
      {range.unknown > 0 && (
        <div className="oad-Legend-unknown">
          <span className="oad-Hatch" aria-hidden="true" />
          {trans._n('%1 box unknown', '%1 boxes unknown', range.unknown)}
        </div>
      )}
      {range.heaviest.length > 1 && (
        <>
          <button
            type="button"
            className="oad-Legend-scale oad-Legend-more"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {trans._n('Heaviest box', 'Heaviest %1', range.heaviest.length)}
          </button>
          {open && (
            <ol className="oad-Legend-top">
              {range.heaviest.map(({ entity }) => (
                <li key={entity}>
                  <button
                    type="button"
                    className="oad-Jump"
                    onClick={() =>
                      session.select(selectionOf(tree.model, entity), 'reveal')
                    }
                  >
                    <bdi>{shortLabel(entityName(tree, entity), 60)}</bdi>
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
    </>
  );
}
