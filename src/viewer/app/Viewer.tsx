import * as React from 'react';
import type { GraphPayload } from '../../schema';
import { ACTIONS, runAction } from '../actions';
import { useAnnouncements } from './announcements';
import type { IViewerProps, IViewerSettings, BoundKeys } from '../state/api';
import { DEFAULT_SETTINGS } from '../state/api';
import { SessionContext } from '../session/sessionContext';
import { createHandle } from '../host/viewerHandle';
import { actionFor } from '../actions/keyboard';
import { RootContext, WidthContext } from '../ui/rootContext';
import { modelSummaryLine } from '../summary/modelSummary';
import { selectedNodes, selectedTensorNames } from '../session/hostSelection';
import { taskCode } from '../tasks/lazyTasks';
import { Session } from '../session/session';
import type { ISessionHost } from '../session/types';
import { applySettings, withoutDefaults } from '../session/applySettings';
import { readSnapshot } from '../state/snapshot';
import { useStore } from '../state/store';
import { Cancelled, Failure } from '../features/status/Failure';
import { Loading } from '../features/status/Loading';
import { IDENTITY } from '../i18n/translate';
import { WIDE } from '../session/panelVisibility';
import { useSize } from '../ui/useSize';
import { Workbench } from './Workbench';
import { TranslateContext } from '../i18n/translateContext';
import { KeysContext } from '../actions/keysContext';

/** Assumed to be wide until its size is known. */
const UNKNOWN = { width: WIDE, height: 0 };

/** Milliseconds without a change before the view is saved. */
const SAVE_DELAY_MS = 1000;

/** The complete viewer for one provider. */
export function Viewer(props: IViewerProps): JSX.Element | null {
  const { provider } = props;
  const trans = props.translator ?? IDENTITY;
  const root = React.useRef<HTMLDivElement>(null);
  const session = useSessionOf(props);
  const { width } = useSize(root, UNKNOWN);
  useStateReports(session, props.onStateChange);
  useSettings(session, props.settings);
  useReports(session, props);
  useAnnouncements(session, trans);
  const { onReady } = props;
  const canCopyLink = props.linkTo !== undefined;
  React.useEffect(
    () => session?.store.set({ canCopyLink }),
    [session, canCopyLink]
  );
  const latestOnReady = React.useRef(onReady);
  latestOnReady.current = onReady;
  React.useEffect(() => {
    if (session) {
      latestOnReady.current?.(createHandle(session, trans, () => root.current));
    }
  }, [session, trans]);
  return (
    <TranslateContext.Provider value={trans}>
      <RootContext.Provider value={root}>
        <WidthContext.Provider value={width}>
          <div
            ref={root}
            className="oad-Viewer"
            tabIndex={-1}
            // A new provider means another model: nothing of the old one stays.
            key={provider.exportName}
            onDragEnter={({ currentTarget }) =>
              session &&
              void taskCode
                .get()
                .then(code => code.acceptDrops(currentTarget, session))
            }
            onKeyDown={event => {
              if (session && !event.defaultPrevented) {
                onKeyDown(event, session, root.current, props.keys ?? null);
              }
            }}
          >
            {session && (
              <KeysContext.Provider value={props.keys ?? null}>
                <SessionContext.Provider value={session}>
                  <LoadGate
                    session={session}
                    theme={props.theme ?? ''}
                    onTitle={props.onTitle}
                  />
                  <Announcer session={session} />
                </SessionContext.Provider>
              </KeysContext.Provider>
            )}
          </div>
        </WidthContext.Provider>
      </RootContext.Provider>
    </TranslateContext.Provider>
  );
}

function onKeyDown(
  event: React.KeyboardEvent,
  session: Session,
  root: HTMLElement | null,
  keys: BoundKeys
): void {
  const action = actionFor(ACTIONS, event.nativeEvent, keys);
  if (action && runAction(action, { session, root })) {
    event.preventDefault();
    event.stopPropagation();
  } else if (event.target === root) {
    // Nothing inside has the focus: arrows and Enter apply to the graph.
    session.graph.surface?.press(event.nativeEvent);
  }
}

/** The session's host, which reads the current props on access. */
function hostOf(props: () => IViewerProps): ISessionHost {
  return {
    get trans() {
      return props().translator ?? IDENTITY;
    },
    get linkTo() {
      return props().linkTo ?? null;
    },
    get files() {
      return props().files ?? null;
    }
  };
}

/**
 * One session per provider. Created in an effect, so that the second mount of strict mode gets its own.
 */
function useSessionOf(props: IViewerProps): Session | null {
  const { provider } = props;
  const latest = React.useRef(props);
  latest.current = props;
  const [session, setSession] = React.useState<Session | null>(null);
  React.useEffect(() => {
    const { settings, state, makeLayoutEngine } = latest.current;
    const created = new Session(
      provider,
      settingsOf(settings),
      readSnapshot(state),
      hostOf(() => latest.current),
      makeLayoutEngine
    );
    setSession(created);
    void created.load();
    return () => {
      setSession(null);
      created.dispose();
    };
  }, [provider]);
  // Until the new session exists, the old one must not be used with the new provider.
  return session?.provider === provider ? session : null;
}

function settingsOf(settings: IViewerProps['settings']): IViewerSettings {
  return { ...DEFAULT_SETTINGS, ...definedOf(settings ?? {}) };
}

/** Applies the host's settings to open views. */
function useSettings(
  session: Session | null,
  settings: IViewerProps['settings']
): void {
  const text = JSON.stringify(settings);
  React.useEffect(() => {
    const next = settingsOf(settings);
    if (session && JSON.stringify(next) !== JSON.stringify(session.settings)) {
      applySettings(session, next);
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the host may make a new object each time it draws
  }, [session, text]);
}

/** Removes `undefined` values, which a host may pass for unknown settings. */
function definedOf<T extends object>(settings: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined)
  ) as Partial<T>;
}

/** Reports the snapshot after changes, once nothing has changed for a while. */
function useStateReports(
  session: Session | null,
  onStateChange: IViewerProps['onStateChange']
): void {
  const latest = React.useRef(onStateChange);
  latest.current = onStateChange;
  React.useEffect(() => {
    if (!session) {
      return undefined;
    }
    let timer: ReturnType<typeof setTimeout> | null = null;
    const changed = (): void => {
      if (timer !== null || !latest.current) {
        return;
      }
      timer = setTimeout(() => {
        timer = null;
        if (session.store.get().document) {
          const state = session.snapshot();
          latest.current?.(state, withoutDefaults(session, state));
        }
      }, SAVE_DELAY_MS);
    };
    const stop = session.store.subscribe(changed);
    const listener = { onCamera: changed };
    session.listeners.add(listener);
    return () => {
      stop();
      session.listeners.delete(listener);
      if (timer !== null) {
        clearTimeout(timer);
      }
    };
  }, [session]);
}

/** Reports changes of selection and overlay to the host. */
function useReports(session: Session | null, props: IViewerProps): void {
  const latest = React.useRef(props);
  latest.current = props;
  React.useEffect(() => {
    let before = session?.store.get();
    return session?.store.subscribe(() => {
      const now = session.store.get();
      const { onSelection, onOverlay, onDims } = latest.current;
      const last = before;
      before = now;
      if (
        last?.selection !== now.selection ||
        last?.moreSelected !== now.moreSelected
      ) {
        onSelection?.(selectedNodes(now), selectedTensorNames(now));
      }
      if (last?.overlay !== now.overlay) {
        onOverlay?.(now.overlay);
      }
      if (last?.document !== now.document && now.document) {
        onDims?.(sizesOf(now.document.model.payload));
      }
    });
  }, [session]);
}

function sizesOf({ dims }: GraphPayload): Record<string, number> {
  return Object.fromEntries(
    dims.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]))
  );
}

/** Shows the model if there is one, else the state of its analysis. */
function LoadGate(props: {
  session: Session;
  theme: string;
  onTitle: IViewerProps['onTitle'];
}): JSX.Element {
  const { session, onTitle } = props;
  const load = useStore(session.store, state => state.load);
  const document = useStore(session.store, state => state.document);
  const trans = React.useContext(TranslateContext);
  React.useEffect(() => {
    if (document) {
      const { payload } = document.model;
      onTitle?.(payload.model.name, modelSummaryLine(payload, trans));
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only the model counts; callbacks may be new each time
  }, [document]);
  if (document) {
    return <Workbench theme={props.theme} />;
  }
  switch (load.status) {
    case 'failed':
      return <Failure problem={load.problem} />;
    case 'cancelled':
      return <Cancelled />;
    case 'loading':
      return <Loading progress={load.progress} />;
    default:
      return <Loading progress={{ phase: '', done: 0, total: 0 }} />;
  }
}

/** Announces events to screen readers. */
function Announcer({ session }: { session: Session }): JSX.Element {
  const text = useStore(session.store, state => state.announcement);
  return (
    <div className="oad-mod-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}
