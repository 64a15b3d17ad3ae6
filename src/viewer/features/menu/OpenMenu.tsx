import * as React from 'react';
import { actionById, isEnabled, runAction } from '../../actions';
import { useSession } from '../../session/sessionContext';
import { RootContext } from '../../ui/rootContext';
import { closeMenu } from '../../session/contextMenu';
import type { IMenuState } from '../../state/types';
import { menuEntries } from './menuEntries';
import { focusedElement } from '../../ui/focus';
import { useTrans } from '../../i18n/translateContext';
import { useKeys } from '../../actions/keysContext';

/** Margin in pixels between the menu and the viewer's border. */
const MARGIN = 4;

/** Keeps the menu inside the viewer and restores the focus. */
function usePlace(
  list: React.RefObject<HTMLDivElement>,
  { x, y }: IMenuState
): void {
  const root = React.useContext(RootContext);
  React.useLayoutEffect(() => {
    const element = list.current;
    const frame = root.current?.getBoundingClientRect();
    if (!element || !frame) {
      return undefined;
    }
    const before = focusedElement();
    const { offsetWidth: w, offsetHeight: h } = element;
    const inside = (
      position: number,
      size: number,
      available: number
    ): number =>
      Math.max(MARGIN, Math.min(position, available - size - MARGIN));
    element.style.left = `${inside(x - frame.left, w, frame.width)}px`;
    element.style.top = `${inside(y - frame.top, h, frame.height)}px`;
    element.style.maxHeight = `${Math.max(0, frame.height - 2 * MARGIN)}px`;
    element.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    return () => {
      // Only if an item still has it: an action may have moved the focus.
      if (
        (before instanceof HTMLElement || before instanceof SVGElement) &&
        (element.contains(focusedElement()) ||
          focusedElement() === document.body)
      ) {
        before.focus({ preventScroll: true });
      }
    };
  }, [list, root, x, y]);
}

/** Moves the focus among the items; returns true if the menu handled the key. */
function onMenuKey(
  event: React.KeyboardEvent,
  list: HTMLElement,
  close: () => void
): boolean {
  const items = [...list.querySelectorAll<HTMLElement>('[role=menuitem]')];
  const index = items.findIndex(item => item === focusedElement());
  const focusItem = (to: number): void =>
    items[(to + items.length) % items.length]?.focus();
  switch (event.key) {
    case 'ArrowDown':
      focusItem(index + 1);
      return true;
    case 'ArrowUp':
      focusItem(index - 1);
      return true;
    case 'Home':
      focusItem(0);
      return true;
    case 'End':
      focusItem(items.length - 1);
      return true;
    case 'Escape':
    case 'Tab':
      close();
      return true;
    default: {
      if (event.key.length !== 1 || event.ctrlKey || event.metaKey) {
        return event.key !== 'Enter';
      }
      const letter = event.key.toLowerCase();
      const after = [...items.slice(index + 1), ...items.slice(0, index + 1)];
      if (event.key !== ' ') {
        after
          .find(item => item.textContent?.toLowerCase().startsWith(letter))
          ?.focus();
      }
      return event.key !== ' ';
    }
  }
}

/** The open context menu. */
export function OpenMenu({ menu }: { menu: IMenuState }): JSX.Element {
  const trans = useTrans();
  const keysOf = useKeys();
  const session = useSession();
  const root = React.useContext(RootContext);
  const list = React.useRef<HTMLDivElement>(null);
  const close = (): void => closeMenu(session);
  usePlace(list, menu);
  // The entries do not change while the menu is open.
  const [entries] = React.useState(() =>
    menuEntries(
      menu,
      session.store.get(),
      session.provider.extract !== undefined
    )
  );
  return (
    <div
      ref={list}
      className="oad-Menu"
      role="menu"
      aria-label={trans.__('Context menu')}
      onContextMenu={event => event.preventDefault()}
      onKeyDown={event => {
        if (list.current && onMenuKey(event, list.current, close)) {
          event.preventDefault();
        }
        event.stopPropagation();
      }}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          close();
        }
      }}
    >
      {entries.map((id, i) => {
        const action = id === null ? undefined : actionById(id);
        const context = { session, root: root.current };
        if (!action) {
          return <div key={i} role="separator" className="oad-Menu-line" />;
        }
        const [key] = keysOf(action);
        const enabled = isEnabled(action, context);
        return (
          <button
            key={i}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className="oad-Menu-item"
            aria-disabled={!enabled}
            onPointerEnter={event => event.currentTarget.focus()}
            onClick={() => {
              if (enabled) {
                close();
                runAction(action, context);
              }
            }}
          >
            <span>
              {action.labelNow?.(trans, session) ?? action.label(trans)}
            </span>
            {key && (
              <kbd>
                {key.replace('ArrowLeft', '←').replace('ArrowRight', '→')}
              </kbd>
            )}
          </button>
        );
      })}
    </div>
  );
}
