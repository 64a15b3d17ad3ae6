import * as React from 'react';
import { formatExact } from '../../../core/base/numberFormat';
import { userHidden } from '../../../core/tree/repeatParts';
import { countHiddenNodes } from '../../../core/tree/hiddenEntities';
import { useDocument, useSession, useView } from '../../session/sessionContext';
import { lazyComponent } from '../../lazy/lazyCode';
import { showAll } from '../../session/hideActions';
import { ProgressBar } from '../../ui/ProgressBar';
import { endTrace } from '../../session/traceActions';
import type { ITraceState } from '../../state/types';
import type { ITranslate } from '../../i18n/translate';
import { shortLabel } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

const CounterpartNote = lazyComponent(
  async () => (await import('../compare/CompareBar')).CounterpartNote,
  true
);

/** Maximum number of names in a sentence. */
const MAX_NAMES = 2;

function traceText(
  { kind, names, trace }: ITraceState,
  total: number,
  trans: ITranslate
): string {
  const listed = names.slice(0, MAX_NAMES).map(name => shortLabel(name, 40));
  const hiddenCount = names.length - listed.length;
  const more =
    hiddenCount > 0 ? [trans._n('%1 more', '%1 more', hiddenCount)] : [];
  const list = [...listed, ...more].join(', ');
  const counts = [formatExact(trace.count), formatExact(total)] as const;
  switch (kind) {
    case 'ancestors':
      return trans.__('%1 of %2 nodes are upstream of %3', ...counts, list);
    case 'descendants':
      return trans.__('%1 of %2 nodes are downstream of %3', ...counts, list);
    case 'changes':
      return trans.__('%1 of %2 nodes differ', ...counts);
    default:
      return trans.__(
        '%1 of %2 nodes are on a path between %3',
        ...counts,
        list
      );
  }
}

/** Progress of a long layout, with a button to stop it. */
function LayoutNote({ share }: { share: number }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const percent = Math.floor(share * 100);
  return (
    <div className="oad-Note">
      <span role="status">{trans.__('Computing the layout')}</span>
      <ProgressBar label={trans.__('Layout')} done={percent} total={100} />
      <button
        type="button"
        className="oad-Jump"
        title={`${trans.__('Cancel')} (Esc)`}
        onClick={() => session.graph.layoutProgress.cancel()}
      >
        {trans.__('Cancel')}
      </button>
    </div>
  );
}

/** Notes over the graph that it does not show everything, with a way back. */
export function Notices(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { tree } = useDocument();
  const hidden = useView(state => state.hidden);
  const trace = useView(state => state.trace);
  // Hidden instances of a repeat are indicated by its title.
  const byHand = React.useMemo(() => userHidden(tree, hidden), [tree, hidden]);
  const count = React.useMemo(
    () => countHiddenNodes(tree, byHand),
    [tree, byHand]
  );
  const linked = useView(state => state.linkedView !== null);
  const laying = useView(state => state.layoutProgress);
  if (byHand.length === 0 && trace === null && !linked && laying === null) {
    return null;
  }
  return (
    <div className="oad-Notes" role={linked ? 'status' : undefined}>
      {laying !== null && <LayoutNote share={laying} />}
      {linked && <CounterpartNote />}
      {trace && (
        <div className="oad-Note">
          <bdi>{traceText(trace, tree.nodeOrder.length, trans)}</bdi>
          <button
            type="button"
            className="oad-Jump"
            title={`${trans.__('End the trace')} (Esc)`}
            onClick={() => endTrace(session)}
          >
            {trans.__('End')}
          </button>
        </div>
      )}
      {byHand.length > 0 && (
        <div className="oad-Note">
          <span>{trans._n('%1 node hidden', '%1 nodes hidden', count)}</span>
          <button
            type="button"
            className="oad-Jump"
            title={`${trans.__('Show all hidden items')} (Z)`}
            onClick={() => void showAll(session)}
          >
            {trans.__('Show all')}
          </button>
        </div>
      )}
    </div>
  );
}
