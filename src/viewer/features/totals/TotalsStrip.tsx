import * as React from 'react';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { DeviceChip } from '../device/DeviceChip';
import { latencyTile } from '../../summary/latencyTile';
import { lazyComponent } from '../../lazy/lazyCode';
import { showTab } from '../../session/panels';
import { Icon } from '../../ui/Icon';
import { escapeInvisible } from '../../ui/safeText';
import { tilesOf, type ITile } from '../../summary/totalTiles';
import { useTrans } from '../../i18n/translateContext';

const Difference = lazyComponent(
  async () => (await import('../compare/Difference')).Difference,
  true
);

/** Totals of the model. A tile with a heatmap toggles it. */
export function TotalsStrip(): JSX.Element {
  const trans = useTrans();
  const { model } = useDocument();
  const device = useView(state => state.device);
  const tiles = React.useMemo(() => {
    const [coverage, ...totals] = tilesOf(model.payload, trans).reverse();
    const latency = latencyTile(model, device, trans);
    return [...totals.reverse(), ...(latency ? [latency] : []), coverage];
  }, [model, device, trans]);
  return (
    <div className="oad-Kpis" role="group" aria-label={trans.__('Totals')}>
      {tiles.map(tile => (
        <Tile key={tile.id} tile={tile} />
      ))}
      <div className="oad-Chips">
        <DeviceChip />
        <DimChip />
      </div>
    </div>
  );
}

function Tile({ tile }: { tile: ITile }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const active = useView(
    state => tile.overlay !== null && state.overlay === tile.overlay
  );
  const linked = useView(state => state.linkedView !== null);
  const className = `oad-Kpi${tile.isKnown ? '' : ' oad-mod-unknown'}`;
  const body = (
    <>
      <span className="oad-Kpi-label">{tile.label}</span>
      <span className="oad-Kpi-value">
        {tile.value}
        {tile.note && <small className="oad-Kpi-note">{tile.note}</small>}
      </span>
      {linked && <Difference id={tile.id} />}
    </>
  );
  const detail = `${tile.label}: ${tile.detail}`;
  const id = React.useId();
  // Describes the button without naming it: hidden elements are not part of a button's name.
  const more = (
    <span id={id} hidden>
      {tile.detail}
    </span>
  );
  if (tile.overlay === null) {
    return (
      <div
        className={className}
        title={detail}
        tabIndex={0}
        role="note"
        aria-label={`${tile.label}: ${tile.value}`}
        aria-describedby={id}
      >
        {body}
        {more}
      </div>
    );
  }
  return (
    <button
      type="button"
      className={className}
      aria-pressed={active}
      aria-describedby={id}
      title={`${detail}\n${trans.__('Click to show as heatmap.')}`}
      onClick={() =>
        session.store.set({ overlay: active ? null : tile.overlay })
      }
    >
      {body}
      {more}
    </button>
  );
}

/** Shows the sizes of the totals; opens the panel in which they are changed. */
function DimChip(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { dims } = useDocument().model.payload;
  if (dims.length === 0) {
    return null;
  }
  const assumed = dims.filter(dim => dim.assumed);
  const ownDims = dims.filter(dim => !dim.follows);
  const listed = ownDims.length > 0 ? ownDims : dims;
  const text = listed
    .slice(0, 3)
    .map(dim => `${escapeInvisible(dim.name)} = ${dim.value ?? '?'}`)
    .join(', ');
  const more = listed.length > 3 ? ', …' : '';
  return (
    <button
      type="button"
      className={`oad-Chip${assumed.length > 0 ? ' oad-mod-assumed' : ''}`}
      title={`${text}${more}\n${
        assumed.length > 0
          ? trans.__('Some values are assumed. Click to change them.')
          : trans.__('Values of the symbolic dimensions.')
      }`}
      onClick={() => showTab(session, 'dims')}
    >
      <Icon name="dims" size={14} />
      <span>
        {text}
        {more}
      </span>
      {assumed.length > 0 && (
        <span className="oad-Chip-tag">{trans.__('assumed')}</span>
      )}
    </button>
  );
}
