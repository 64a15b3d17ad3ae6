import * as React from 'react';
import { useSession, useTrans, useView } from '../context';
import type { PictureLook as Look } from '../state/types';

/** Whether saved pictures are light or dark. */
export function PictureLook(): JSX.Element {
  const trans = useTrans();
  const { store } = useSession();
  const look = useView(state => state.pictureLook);
  const looks: readonly (readonly [Look, string])[] = [
    ['page', trans.__('As shown')],
    ['light', trans.__('Light')],
    ['dark', trans.__('Dark')]
  ];
  return (
    <label className="oad-Export-row">
      {trans.__('Image colours')}
      <select
        className="oad-Select"
        value={look}
        onChange={({ target }) =>
          store.set({ pictureLook: target.value as Look })
        }
      >
        {looks.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
