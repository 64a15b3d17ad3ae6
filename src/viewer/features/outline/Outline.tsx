import * as React from 'react';
import { displayedEntity } from '../../../core/tree/chips';
import { formatShare } from '../../../core/base/numberFormat';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import {
  OVERLAYS,
  OVERLAY_IDS,
  type IOverlayDefinition,
  type OverlayId
} from '../../overlays';
import { entityOf, selectionOf } from '../../session/entityNames';
import { setPanels } from '../../session/panels';
import { overlayText } from '../../overlays/computeOverlay';
import { Icon } from '../../ui/Icon';
import { shortLabel } from '../../ui/safeText';
import { rowForKey, useWindow } from '../../ui/rowWindow';
import { outlineRows, expandAncestors, type IOutlineRow } from './outlineRows';
import type { IGroupTree } from '../../../core/tree/treeTypes';
import { useTrans } from '../../i18n/translateContext';

const ROW = 24;

const ADDITIVE: ReadonlySet<OverlayId> = new Set(
  OVERLAY_IDS.filter(id => {
    const definition: IOverlayDefinition = OVERLAYS[id];
    // Values from a host may change at any time; their totals are not cached.
    return definition.additive !== false && id !== 'user' && !definition.states;
  })
);

/** The complete hierarchy as a tree with costs, for mouse and keyboard. */
export function Outline(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model, tree } = useDocument();
  const open = useView(state => state.outlineOpen);
  const selection = useView(state => state.selection);
  const moreSelected = useView(state => state.moreSelected);
  const overlayId = useView(state => state.overlay) ?? 'macs';
  // The bars are shares of a total, which needs values that add up.
  const overlay = ADDITIVE.has(overlayId) ? overlayId : 'macs';
  const current = entityOf(model, selection);
  const scroller = React.useRef<HTMLDivElement>(null);
  const id = React.useId();
  const rows = React.useMemo(() => outlineRows(tree, open), [tree, open]);
  const currentRow = React.useMemo(
    () => rows.findIndex(row => row.entity === current),
    [rows, current]
  );
  const view = useWindow(scroller, rows.length, ROW);
  const { scrollTo } = view;
  // Follows selections made elsewhere.
  const latest =
    moreSelected.length > 0 ? moreSelected[moreSelected.length - 1] : current;
  React.useEffect(() => {
    if (latest !== null) {
      session.store.set({ outlineOpen: expandAncestors(tree, open, latest) });
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a new selection opens groups; closing one by hand must not open it again
  }, [tree, latest]);
  React.useEffect(() => scrollTo(currentRow), [currentRow, scrollTo]);

  const setOpen = (group: number, opened: boolean): void => {
    const next = new Set(open);
    if (opened) {
      next.add(group);
    } else {
      next.delete(group);
    }
    session.store.set({ outlineOpen: next });
  };
  const select = (row: IOutlineRow | undefined): void => {
    if (row) {
      session.select(selectionOf(model, row.entity), 'focus');
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const nextRow = rowForKey(event.key, currentRow, rows.length, view.page);
    const group = current === null ? -1 : current - model.nodeCount;
    if (nextRow !== null) {
      select(rows[nextRow]);
    } else if (event.key === 'ArrowRight' && group >= 0) {
      if (open.has(group)) {
        select(rows[currentRow + 1]);
      } else {
        setOpen(group, true);
      }
    } else if (event.key === 'ArrowLeft' && current !== null) {
      if (group >= 0 && open.has(group)) {
        setOpen(group, false);
      } else {
        const parent = parentOf(tree, current);
        select(rows.find(row => row.entity === model.nodeCount + parent));
      }
    } else if (event.key === 'Enter' && !event.altKey) {
      session.select(selection, 'reveal');
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <aside className="oad-Panel oad-Outline" aria-label={trans.__('Outline')}>
      <div className="oad-Panel-head">
        <h3>{trans.__('Outline')}</h3>
        <span className="oad-Quiet">{OVERLAYS[overlay].label(trans)}</span>
        <button
          type="button"
          className="oad-IconButton oad-mod-small"
          // The toolbar closes it too: one Tab stop less before the graph.
          tabIndex={-1}
          aria-label={trans.__('Close the outline')}
          title={`${trans.__('Close the outline')} (O)`}
          onClick={() => setPanels(session, { outline: 'closed' })}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      <div
        ref={scroller}
        className="oad-Panel-body oad-Outline-tree"
        role="tree"
        tabIndex={0}
        aria-label={trans.__('Model hierarchy')}
        aria-multiselectable
        aria-activedescendant={
          currentRow >= view.first && currentRow < view.end
            ? `${id}${current}`
            : undefined
        }
        onKeyDown={onKeyDown}
      >
        <div style={{ height: rows.length * ROW }} className="oad-Spacer">
          {rows.slice(view.first, view.end).map((row, index) => (
            <Row
              key={row.entity}
              id={`${id}${row.entity}`}
              row={row}
              top={(view.first + index) * ROW}
              tree={tree}
              overlay={overlay}
              selected={
                row.entity === current || moreSelected.includes(row.entity)
              }
              open={open.has(row.entity - model.nodeCount)}
              onSelect={() => select(row)}
              onReveal={() =>
                session.select(selectionOf(model, row.entity), 'reveal')
              }
              onToggle={setOpen}
            />
          ))}
        </div>
      </div>
    </aside>
  );
}

function parentOf(tree: IGroupTree, entity: number): number {
  const { nodeCount } = tree.model;
  return entity < nodeCount
    ? tree.nodeParent[entity]
    : tree.groupParent[entity - nodeCount];
}

interface IOutlineRowProps {
  readonly id: string;
  readonly row: IOutlineRow;
  readonly top: number;
  readonly tree: IGroupTree;
  readonly overlay: OverlayId;
  readonly selected: boolean;
  readonly open: boolean;
  onSelect(): void;
  onReveal(): void;
  onToggle(group: number, open: boolean): void;
}

function Row(props: IOutlineRowProps): JSX.Element {
  const { row, tree, overlay } = props;
  const { model } = tree;
  const group = row.entity - model.nodeCount;
  const isGroup = group >= 0;
  const definition = OVERLAYS[overlay];
  const value = definition.value(tree, row.entity);
  const total = useTotal(tree, overlay);
  const share = total > 0 ? value / total : Number.NaN;
  const face = displayedEntity(tree, row.entity);
  const isNode = face < model.nodeCount;
  const label = isNode ? model.opType(face) : tree.groupLabel[group];
  const secondary = isNode
    ? model.nodeName(face)
    : tree.groupRole[group] || tree.groupType[group];
  return (
    <div
      id={props.id}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={props.selected}
      aria-expanded={isGroup ? props.open : undefined}
      className="oad-Outline-row"
      style={{ top: props.top, paddingLeft: 4 + (row.level - 1) * 14 }}
      onClick={props.onSelect}
      onDoubleClick={props.onReveal}
      title={shortLabel(`${label} ${secondary}`.trim())}
    >
      {isGroup ? (
        <span
          className={`oad-Twisty${props.open ? ' oad-mod-open' : ''}`}
          aria-hidden="true"
          onClick={event => {
            event.stopPropagation();
            props.onToggle(group, !props.open);
          }}
        >
          <Icon name="right" size={12} />
        </span>
      ) : (
        <span
          className="oad-Dot"
          data-category={model.category(row.entity)}
          aria-hidden="true"
        />
      )}
      <bdi className="oad-Outline-label">{shortLabel(label, 120)}</bdi>
      <bdi className="oad-Quiet oad-Outline-type">
        {shortLabel(secondary, 120)}
      </bdi>
      <span
        className="oad-Outline-cost"
        title={`${overlayText(definition, value)} · ${formatShare(share)}`}
      >
        {value > 0 ? (
          <>
            <span className="oad-Share-bar" aria-hidden="true">
              <span style={{ width: `${Math.min(1, share || 0) * 100}%` }} />
            </span>
            {/* The panel's header shows what it is a share of. */}
            <span className="oad-mod-hidden">
              {overlayText(definition, value)},{' '}
            </span>
            <span className="oad-Number">{formatShare(share)}</span>
          </>
        ) : Number.isNaN(value) ? (
          '—'
        ) : null}
      </span>
    </div>
  );
}

const totals = new WeakMap<IGroupTree, Map<OverlayId, number>>();

/** Sum over the top level, cached by tree and metric. */
function useTotal(tree: IGroupTree, overlay: OverlayId): number {
  const cached = totals.get(tree) ?? new Map<OverlayId, number>();
  totals.set(tree, cached);
  const total = cached.get(overlay);
  if (total !== undefined) {
    return total;
  }
  let sum = 0;
  for (const entity of tree.children[0]) {
    sum += OVERLAYS[overlay].value(tree, entity) || 0;
  }
  cached.set(overlay, sum);
  return sum;
}
