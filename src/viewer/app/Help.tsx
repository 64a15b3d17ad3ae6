import * as React from 'react';
import { ACTIONS } from '../actions';
import { useSession, useView } from '../session/sessionContext';
import { Icon } from '../ui/Icon';
import { focusedElement } from '../ui/focus';
import { useTrans } from '../i18n/translateContext';
import { useKeys } from '../actions/keysContext';

/** All actions with their keys, from the list that the keyboard uses. */
export function Help(): JSX.Element | null {
  const trans = useTrans();
  const keysOf = useKeys();
  const { store } = useSession();
  const open = useView(state => state.helpOpen);
  const close = React.useRef<HTMLButtonElement>(null);
  const list = React.useRef<HTMLDListElement>(null);
  React.useEffect(() => {
    if (!open) {
      return undefined;
    }
    const before = focusedElement();
    close.current?.focus();
    return () => {
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, [open]);
  if (!open) {
    return null;
  }
  const singles = ACTIONS.filter(
    action => keysOf(action).length > 0 && !/-view-/.test(action.id)
  );
  const rows: (readonly [string, readonly string[]])[] = [
    ...singles.map(action => [action.label(trans), keysOf(action)] as const),
    [trans.__('Go to a saved view'), ['1 – 9']],
    [trans.__('Save the view'), ['Ctrl+1 – 9', 'Shift+1 – 9']],
    [trans.__('Move between boxes (focus in the graph)'), ['← → ↑ ↓']],
    [trans.__('Zoom'), ['Ctrl+wheel']],
    [trans.__('Zoom to an area'), ['Ctrl+drag']],
    [trans.__('Add to the selection'), ['Shift+click', 'Shift+drag']],
    [trans.__('Context menu'), ['Shift+F10']]
  ];
  return (
    <div
      className="oad-Help"
      role="dialog"
      aria-modal="true"
      aria-label={trans.__('Keyboard shortcuts')}
      onKeyDown={event => {
        // Tab stays in the dialog, which has two stops: the button, and the list for scrolling by key.
        if (event.key === 'Tab') {
          event.preventDefault();
          const next = focusedElement() === close.current ? list : close;
          next.current?.focus();
        }
      }}
    >
      <div className="oad-Panel-head">
        <h3>{trans.__('Keyboard shortcuts')}</h3>
        <button
          ref={close}
          type="button"
          className="oad-IconButton oad-mod-small"
          aria-label={trans.__('Close')}
          onClick={() => store.set({ helpOpen: false })}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      <dl ref={list} tabIndex={0}>
        {rows.map(([label, keys]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {keys.map(key => (
                <kbd key={key}>
                  {key.replace('ArrowLeft', '←').replace('ArrowRight', '→')}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
