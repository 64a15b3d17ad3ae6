import * as React from 'react';
import { actionById, isEnabled, runAction } from '../../actions';
import { useSession, useView } from '../../session/sessionContext';
import { RootContext } from '../../ui/rootContext';
import { Icon, type IconName } from '../../ui/Icon';
import { useTrans } from '../../i18n/translateContext';
import { useKeys } from '../../actions/keysContext';

/** A button for an action; the tooltip shows its key. */
export function Tool(props: {
  action: string;
  icon: IconName;
  pressed?: boolean;
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const root = React.useContext(RootContext);
  const action = actionById(props.action);
  if (action === undefined) {
    throw new Error(`There is no action “${props.action}”.`);
  }
  const context = { session, root: root.current };
  const enabled = useView(() => isEnabled(action, context));
  const label = action.label(trans);
  const [key] = useKeys()(action);
  return (
    <button
      type="button"
      className="oad-IconButton"
      disabled={!enabled}
      aria-label={label}
      aria-pressed={props.pressed}
      aria-keyshortcuts={key?.replace('Ctrl', 'Control')}
      title={key ? `${label} (${key})` : label}
      onClick={() => runAction(action, { session, root: root.current })}
    >
      <Icon name={props.icon} />
    </button>
  );
}
