import type { ISignal } from '@lumino/signaling';
import * as React from 'react';
import { labLayoutEngine } from '../core/layout/engine/labWorker';
import { ServerProvider } from '../providers/serverProvider';
import type { PrefetchedAnalysis } from '../providers/analysisStart';
import { decodeViewFragment, Viewer, type IViewerHandle } from '../viewer';
import { labConnection } from './labConnection';
import { viewAddress } from './viewAddress';
import { WATCH_INTERVAL } from './settings/labSettings';
import type { IDocumentServices } from './documentWidget';

export interface IPanelProps {
  /** Contents path of the model on the server. */
  path: string;
  /** Key of this view's stored state. */
  stateKey: string;
  services: IDocumentServices;
  /** The first analysis, started while this code was loading. */
  prefetched: PrefetchedAnalysis;
  visibility: ISignal<unknown, boolean>;
  isVisible(): boolean;
  onReady(handle: IViewerHandle): void;
  onCaption(caption: string): void;
}

/** Connects the viewer to Lab: server, settings, theme, stored state, file changes. */
export default function Panel(props: IPanelProps): JSX.Element | null {
  const { path, stateKey, services, prefetched, onReady } = props;
  const provider = React.useMemo(
    () =>
      new ServerProvider(
        labConnection(services.serverSettings),
        path,
        () => services.settings.rules,
        // After a rename it belongs to another path.
        prefetched.path === path ? prefetched : null
      ),
    [path, services, prefetched]
  );
  const handle = React.useRef<IViewerHandle | null>(null);
  const state = useStoredState(services, stateKey, path);
  const linkTo = React.useCallback(
    (view: string) => viewAddress(path, view),
    [path]
  );
  useFileWatch(props, handle);
  useRuleChanges(services, handle);
  if (state === undefined) {
    return null;
  }
  return (
    <Viewer
      key={path}
      provider={provider}
      makeLayoutEngine={labLayoutEngine}
      settings={services.settings.viewer}
      keys={services.keys.bound}
      translator={services.translate}
      theme={services.theme()}
      state={state}
      linkTo={linkTo}
      files={services.files}
      onStateChange={(_, state) => services.saveState(stateKey, state)}
      onReady={next => {
        handle.current = next;
        onReady(next);
      }}
      onTitle={(_title, caption) => props.onCaption(caption)}
    />
  );
}

/** The stored state of this view: undefined while loading, null if there is none. */
function useStoredState(
  services: IDocumentServices,
  key: string,
  path: string
): unknown {
  const [state, setState] = React.useState<unknown>(undefined);
  React.useEffect(() => {
    let live = true;
    // A link's view overrides the stored one; panels and tables stay with the user.
    const linked = decodeViewFragment(services.takeLink(path));
    const { ready } = services.settings;
    Promise.all([services.loadState(key), linked, ready]).then(
      ([stored, view]) =>
        live && setState(view ? mergeState(stored, view) : (stored ?? null)),
      (error: unknown) => {
        console.warn('ONNX Autodoc: the view could not be restored', error);
        if (live) {
          setState(null);
        }
      }
    );
    return () => {
      live = false;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a rename keeps the state that was read
  }, [services, key]);
  return state;
}

function mergeState(stored: unknown, view: object): object {
  return typeof stored === 'object' ? { ...stored, ...view } : view;
}

/** Analyses again when the rule settings change. */
function useRuleChanges(
  services: IDocumentServices,
  handle: React.MutableRefObject<IViewerHandle | null>
): void {
  React.useEffect(() => {
    const reload = (): void => handle.current?.reload();
    services.settings.rulesChanged.connect(reload);
    return () => {
      services.settings.rulesChanged.disconnect(reload);
    };
  }, [services, handle]);
}

/** Checks the file when the tab is activated, and periodically while it is visible. */
function useFileWatch(
  props: IPanelProps,
  handle: React.MutableRefObject<IViewerHandle | null>
): void {
  const { services, visibility, isVisible } = props;
  React.useEffect(() => {
    const look = (): void => {
      if (services.settings.watchFile && isVisible() && !document.hidden) {
        handle.current?.checkFile();
      }
    };
    const onVisibility = (_: unknown, visible: boolean): void => {
      if (visible) {
        look();
      }
    };
    const timer = setInterval(look, WATCH_INTERVAL);
    visibility.connect(onVisibility);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      visibility.disconnect(onVisibility);
      document.removeEventListener('visibilitychange', look);
    };
  }, [services, visibility, isVisible, handle]);
}
