import * as React from 'react';
import { otherSide } from '../../core/matching';
import { useDocument, useTrans, useView } from '../context';
import { differenceOf, isTotal } from './totals';
import { LETTERS } from './types';

/** Under a total of a linked view: how it differs from the other model's. */
export function Difference({ id }: { id: string }): JSX.Element | null {
  const trans = useTrans();
  const companion = useView(state => state.companion);
  const { model } = useDocument();
  if (!companion?.model || !isTotal(id)) {
    return null;
  }
  const { text, detail, known } = differenceOf(
    model,
    companion.model,
    id,
    trans
  );
  const other = LETTERS[otherSide(companion.side)];
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
