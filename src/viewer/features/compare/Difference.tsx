import * as React from 'react';
import { otherSide } from '../../../core/matching/matchers';
import { useDocument, useView } from '../../session/sessionContext';
import { differenceOf, isTotal } from '../../summary/totalDifference';
import { VIEW_LABELS } from '../../state/linkedViews';
import { useTrans } from '../../i18n/translateContext';

/** Below a total in a linked view: the difference to the other model. */
export function Difference({ id }: { id: string }): JSX.Element | null {
  const trans = useTrans();
  const linkedView = useView(state => state.linkedView);
  const { model } = useDocument();
  if (!linkedView?.model || !isTotal(id)) {
    return null;
  }
  const {
    text,
    detail,
    isKnown: known
  } = differenceOf(model, linkedView.model, id, trans);
  const other = VIEW_LABELS[otherSide(linkedView.side)];
  return (
    <span
      className={`oad-Kpi-difference${known ? '' : ' oad-mod-unknown'}`}
      title={detail}
    >
      <span className="oad-Kpi-against">{trans.__('vs %1', other)}</span>{' '}
      <span>{text}</span>
    </span>
  );
}
