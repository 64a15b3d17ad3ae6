import * as React from 'react';
import { useView } from '../../session/sessionContext';
import { lazily } from '../../lazy/lazily';

const OpenMenu = lazily(
  async () => (await import('./OpenMenu')).OpenMenu,
  true
);

/** The context menu, where there is one. */
export function Menu(): JSX.Element | null {
  const menu = useView(state => state.menu);
  // At another position it is another menu, with a focus of its own.
  return menu && <OpenMenu key={`${menu.x},${menu.y}`} menu={menu} />;
}
