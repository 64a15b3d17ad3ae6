import * as React from 'react';
import { useSession, useView } from '../../session/sessionContext';
import type { ExportTheme as Look } from '../../state/types';
import { useTrans } from '../../i18n/translateContext';

/** Chooses the theme of exported images. */
export function ExportThemePicker(): JSX.Element {
  const trans = useTrans();
  const { store } = useSession();
  const look = useView(state => state.exportTheme);
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
          store.set({ exportTheme: target.value as Look })
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
