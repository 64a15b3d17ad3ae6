import * as React from 'react';
import { otherSide } from '../../../core/matching/matchers';
import { useView } from '../../session/sessionContext';
import { Section } from '../common/facts';
import { ChangeList } from './ChangesPanel';
import { VIEW_LABELS } from '../../state/linkedViews';
import { useTrans } from '../../i18n/translateContext';

/** Differences between a node and its counterpart in the linked model. */
export function ChangesOfNode({ node }: { node: number }): JSX.Element | null {
  const trans = useTrans();
  const linkedView = useView(state => state.linkedView);
  const compared = linkedView?.compared;
  if (!linkedView || !compared) {
    return null;
  }
  const { side } = linkedView;
  const { changes, columns } = compared;
  const state = changes.state(side, node);
  if (state === 'none') {
    return null;
  }
  const pair = changes.pair(side, node);
  const details = columns.details[String(pair)] ?? [];
  const other =
    VIEW_LABELS[otherSide(compared.added?.(node) ? otherSide(side) : side)];
  return (
    <Section title={trans.__('Changes')} count={details.length || undefined}>
      {state === 'only' ? (
        <p className="oad-Quiet">
          {trans.__('%1 has no counterpart of this node.', other)}
        </p>
      ) : details.length === 0 ? (
        <p className="oad-Quiet">
          {trans.__(
            'The same in %1; values of weights are not compared.',
            other
          )}
        </p>
      ) : (
        <ChangeList changes={details} />
      )}
    </Section>
  );
}
