import * as React from 'react';
import { isEnabled, runAction } from '../../actions';
import { canExport, exportActions } from '../../actions/exports';
import { useSession, useView } from '../../session/sessionContext';
import { RootContext } from '../../ui/rootContext';
import { Icon } from '../../ui/Icon';
import { ExportThemePicker } from './ExportThemePicker';
import { PngScale } from './PngScale';
import { focusedElement } from '../../ui/focus';
import { useTrans } from '../../i18n/translateContext';

/** Next item, cyclic, by key; null if the key is not a menu key. */
function nextItem(key: string, index: number, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return (index + 1) % count;
    case 'ArrowUp':
      return (index - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

/** A button with a menu of all exports. */
export function ExportMenu(): JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = React.useState(false);
  const box = React.useRef<HTMLDivElement>(null);
  const button = React.useRef<HTMLButtonElement>(null);
  const hasDocument = useView(state => state.document !== null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div
      ref={box}
      className="oad-Export"
      onBlur={event => {
        if (!box.current?.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className="oad-IconButton"
        disabled={!hasDocument}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={trans.__('Export')}
        title={trans.__('Export')}
        onClick={() => setOpen(!open)}
      >
        <Icon name="save" />
      </button>
      {open && (
        <div
          className="oad-Export-list"
          onKeyDown={event => {
            // The viewer's keys do not apply in a menu.
            event.stopPropagation();
            if (event.key === 'Escape') {
              close();
            }
          }}
        >
          <Items close={close} />
          <ExportThemePicker />
          <PngScale close={close} />
        </div>
      )}
    </div>
  );
}

function Items({ close }: { close: () => void }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const root = React.useContext(RootContext);
  const list = React.useRef<HTMLDivElement>(null);
  // The available exports depend on the selection.
  useView(state => state.selection);
  useView(state => state.moreSelected);
  const context = { session, root: root.current };
  React.useEffect(() => {
    list.current?.querySelector('button')?.focus();
  }, []);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'Tab') {
      return;
    }
    const items = [...(list.current?.querySelectorAll('button') ?? [])];
    const index = items.findIndex(item => item === focusedElement());
    const next = nextItem(event.key, index, items.length);
    if (next !== null) {
      items[next].focus();
      event.preventDefault();
    }
  };
  return (
    <div
      ref={list}
      className="oad-Export-items"
      role="menu"
      aria-label={trans.__('Export')}
      onKeyDown={onKeyDown}
    >
      {exportActions
        .filter(action => canExport(action, session))
        .map(action => (
          <button
            key={action.id}
            type="button"
            role="menuitem"
            className="oad-Export-item"
            tabIndex={-1}
            aria-disabled={!isEnabled(action, context)}
            onClick={() => {
              if (runAction(action, context)) {
                close();
              }
            }}
          >
            {action.label(trans)}
          </button>
        ))}
    </div>
  );
}
