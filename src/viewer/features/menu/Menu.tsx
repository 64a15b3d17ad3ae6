import * as React from 'react';
import { useView } from '../../session/sessionContext';
import { lazyComponent } from '../../lazy/lazyCode';

const OpenMenu = lazyComponent(
  async () => (await import('./OpenMenu')).OpenMenu,
  true
);

/** The context menu, if open. */
export function Menu(): JSX.Element | null {
  const menu = useView(state => state.menu);
  // At another position it is a new menu, with its own focus.
  return menu && <OpenMenu key={`${menu.x},${menu.y}`} menu={menu} />;
}
