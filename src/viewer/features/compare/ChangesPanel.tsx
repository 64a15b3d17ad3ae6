import * as React from 'react';
import { formatCount, formatExact } from '../../../core';
import type { AlignedBlock, AlignedChange } from '../../../schema';
import { useSession, useView } from '../../session/sessionContext';
import { selectionOf } from '../../session/entityNames';
import { useDocument } from '../../session/sessionContext';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { kindText } from '../../compare/changeKinds';
import { VIEW_LABELS } from '../../state/linkedViews';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of rows; a file may have any number of blocks. */
const MAX_ROWS = 200;

function differs(block: AlignedBlock): boolean {
  return (
    block.only_left > 0 ||
    block.only_right > 0 ||
    block.macs_left !== block.macs_right ||
    Object.keys(block.changed).length > 0
  );
}

/** The blocks of both models side by side: changes, additions, removals and their costs. */
export function ChangesPanel(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { model } = useDocument();
  const linkedView = useView(state => state.linkedView);
  const [showsAll, setShowsAll] = React.useState(false);
  const compared = linkedView?.compared;
  if (!linkedView || !compared) {
    return (
      <p className="oad-Drawer-none">
        {trans.__('No model is compared with this one.')}
      </p>
    );
  }
  const { blocks, interface: ends } = compared.columns;
  const differing = blocks.filter(differs);
  const rows = (showsAll ? blocks : differing).slice(0, MAX_ROWS);
  const [a, b] = VIEW_LABELS;
  const jump = (block: AlignedBlock): void => {
    const node = linkedView.side === 0 ? block.first_left : block.first_right;
    if (node >= 0) {
      session.select(selectionOf(model, node), 'reveal');
    }
  };
  const inOtherModel = (block: AlignedBlock): boolean =>
    (linkedView.side === 0 ? block.first_left : block.first_right) >= 0;
  return (
    <div className="oad-Changes">
      {ends.length > 0 && (
        <>
          <h3 className="oad-Changes-title">
            {trans.__('Inputs, outputs and file')}
          </h3>
          <ChangeList changes={ends} />
        </>
      )}
      {blocks.length > 0 && (
        <label className="oad-Changes-all">
          <input
            type="checkbox"
            checked={!showsAll}
            onChange={event => setShowsAll(!event.currentTarget.checked)}
          />
          {trans.__(
            'Only blocks that differ (%1 of %2)',
            formatExact(differing.length),
            formatExact(blocks.length)
          )}
        </label>
      )}
      {rows.length === 0 ? (
        <p className="oad-Drawer-none">
          {blocks.length === 0
            ? trans.__('Neither model records modules.')
            : trans.__('No block differs.')}
        </p>
      ) : (
        <table className="oad-Changes-table">
          <thead>
            <tr>
              <th scope="col">{trans.__('Block')}</th>
              <th scope="col">{trans.__('Pairs')}</th>
              <th scope="col">{trans.__('Changed')}</th>
              <th scope="col">{trans.__('Only in %1', a)}</th>
              <th scope="col">{trans.__('Only in %1', b)}</th>
              <th scope="col">{trans.__('MACs of %1', a)}</th>
              <th scope="col">{trans.__('MACs of %1', b)}</th>
              <th scope="col">{trans.__('Difference')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((block, index) => (
              <tr key={index}>
                <th scope="row">
                  <button
                    type="button"
                    className="oad-Jump"
                    disabled={!inOtherModel(block)}
                    onClick={() => jump(block)}
                  >
                    <BlockName block={block} />
                  </button>
                </th>
                <td className="oad-Number">{formatExact(block.pairs)}</td>
                <td>
                  {Object.entries(block.changed)
                    .map(
                      ([kind, count]) =>
                        `${formatExact(count)} ${kindText(kind, trans)}`
                    )
                    .join(', ')}
                </td>
                <td className="oad-Number">{formatExact(block.only_left)}</td>
                <td className="oad-Number">{formatExact(block.only_right)}</td>
                <td className="oad-Number">{formatCount(block.macs_left)}</td>
                <td className="oad-Number">{formatCount(block.macs_right)}</td>
                <td className="oad-Number">
                  {difference(block.macs_right - block.macs_left)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function difference(by: number): string {
  return by === 0 ? '0' : `${by > 0 ? '+' : '−'}${formatCount(Math.abs(by))}`;
}

/** The path on each side if they differ; the root has none. */
function BlockName({ block }: { block: AlignedBlock }): JSX.Element {
  const trans = useTrans();
  const name = (path: string | null): string =>
    path === null
      ? '–'
      : path === ''
        ? trans.__('(model)')
        : shortLabel(path, 80);
  const { left, right } = block;
  return (
    <bdi>{left === right ? name(left) : `${name(left)} → ${name(right)}`}</bdi>
  );
}

/** Changes with their old and new values. */
export function ChangeList(props: {
  changes: readonly AlignedChange[];
}): JSX.Element {
  const trans = useTrans();
  const visibleChanges = props.changes.slice(0, MAX_ROWS);
  return (
    <dl className="oad-Changes-list">
      {visibleChanges.map(({ kind, what, left, right }, index) => (
        <React.Fragment key={index}>
          <dt>
            {kindText(kind, trans)}
            {what && what !== kind && (
              <>
                {' · '}
                <bdi>{shortLabel(what, 60)}</bdi>
              </>
            )}
          </dt>
          <dd>
            <bdi title={escapeInvisible(left)}>{shortLabel(left, 120)}</bdi>
            {' → '}
            <bdi title={escapeInvisible(right)}>{shortLabel(right, 120)}</bdi>
          </dd>
        </React.Fragment>
      ))}
    </dl>
  );
}
