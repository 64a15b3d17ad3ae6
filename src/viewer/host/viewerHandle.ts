/** The host's handle of a mounted viewer. */

import { ACTIONS, actionById, isEnabled, runAction } from '../actions';
import type { IViewerHandle } from '../state/api';
import { linkSessions } from '../compare/lazyCompareLink';
import { taskCode } from '../tasks/lazyTasks';
import { setOverlay } from '../session/deviceActions';
import {
  selectedNodes,
  selectNodes,
  showUserValues
} from '../session/hostSelection';
import type { Session } from '../session/session';
import { readSnapshot } from '../state/snapshot';
import type { ITranslate } from '../i18n/translate';

/** Sessions by handle: links need sessions, hosts have only handles. */
const sessions = new WeakMap<IViewerHandle, Session>();

/** The session of a handle; undefined if it belongs to another viewer. */
export function sessionOf(handle: IViewerHandle): Session | undefined {
  return sessions.get(handle);
}

export function createHandle(
  session: Session,
  trans: ITranslate,
  root: () => HTMLElement | null
): IViewerHandle {
  const context = (): { session: Session; root: HTMLElement | null } => ({
    session,
    root: root()
  });
  const handle: IViewerHandle = {
    actions: ACTIONS.map(action => ({
      id: action.id,
      label: action.label(trans),
      keys: action.keys
    })),
    run: id => {
      const action = actionById(id);
      return action !== undefined && runAction(action, context());
    },
    isEnabled: id => {
      const action = actionById(id);
      return action !== undefined && isEnabled(action, context());
    },
    getState: () => session.snapshot(),
    setState: state => void session.restore(readSnapshot(state)),
    selectedNodes: () => selectedNodes(session.store.get()),
    selectNodes: nodes => selectNodes(session, nodes),
    setOverlay: overlay => setOverlay(session, overlay),
    setUserValues: values => showUserValues(session, values),
    bind: bindings => void session.bind(bindings, true),
    preview: sizes => session.preview(sizes),
    home: () => session.home(),
    reload: () => void session.load(),
    checkFile: () => void session.checkFile(),
    startTask: order =>
      void taskCode.get().then(code => code.startTask(session, order)),
    loadProfile: files =>
      void taskCode.get().then(code => code.loadProfile(session, files)),
    link: (other, options, callbacks) => {
      const otherSession = sessions.get(other);
      return otherSession && otherSession !== session
        ? linkSessions([session, otherSession], options, callbacks)
        : null;
    }
  };
  sessions.set(handle, session);
  return handle;
}
