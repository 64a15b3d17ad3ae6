import * as React from 'react';
import { labLayoutEngine } from '../../core/layout/engine/labWorker';
import { bytesOfBase64 } from '../../providers/base64';
import { upgradePayload } from '../../core/model/upgradePayload';
import { BundleProvider, readBundle } from '../../providers/bundleProvider';
import { problemOf } from '../../providers/provider';
import type { IByteBudget } from '../../providers/unpack';
import {
  SideBySide,
  applySelection,
  applyOverlay,
  LazyMount,
  type IModelViewProps,
  type IViewerHandle
} from '../../viewer';
import { ErrorBoundary } from '../errorBoundary';
import type { ISavedModelState } from './savedPanel';
import type { IDocumentServices } from '../documentWidget';

/** Maximum size of the unpacked models of an output, in bytes; it contains at most a megabyte packed. */
const MAX_UNPACKED_BYTES = 100_000_000;

export interface ISavedModelsProps {
  /** Updated with the user's changes, which are kept while the view is suspended. */
  models: readonly ISavedModelState[];
  height: number;
  services: IDocumentServices;
  onFail(message: string): void;
}

/** The viewer for models saved in a notebook; created when first visible. */
export default function SavedModels(props: ISavedModelsProps): JSX.Element {
  const { models, height, services, onFail } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const [isVisible, setAwake] = React.useState(false);
  const providers = useProviders(models, isVisible, onFail);
  const sessions = React.useMemo(
    () =>
      models.map(
        (model, index) =>
          providers && new SavedModelSession(model, providers[index])
      ),
    [models, providers]
  );
  const current = React.useRef(sessions);
  current.current = sessions;
  const keepAll = (): void =>
    current.current.forEach(session => session?.keep());
  React.useEffect(() => {
    const resident = new LazyMount(host.current!, {
      resume: () => setAwake(true),
      suspend: () => {
        keepAll();
        setAwake(false);
      }
    });
    return () => resident.dispose();
  }, []);
  // Runs before the views are unmounted: the notebook may remove the whole output from the page.
  React.useLayoutEffect(() => keepAll, []);
  const names = React.useRef('');
  if (providers) {
    names.current = providers.map(provider => provider.exportName).join(' · ');
  }
  return (
    <div style={{ height }} ref={host}>
      {isVisible && providers ? (
        <ErrorBoundary onError={onFail}>
          <SideBySide
            models={sessions.flatMap(session =>
              session ? [session.viewProps] : []
            )}
            makeLayoutEngine={labLayoutEngine}
            settings={services.settings.viewer}
            translator={services.translate}
            theme={services.theme()}
          />
        </ErrorBoundary>
      ) : (
        <div className="oad-LazyMount-rest">{names.current}</div>
      )}
    </div>
  );
}

/** The models, read once visible; null until then. */
function useProviders(
  models: readonly ISavedModelState[],
  isVisible: boolean,
  onFail: (message: string) => void
): readonly BundleProvider[] | null {
  const [providers, setProviders] = React.useState<
    readonly BundleProvider[] | null
  >(null);
  React.useEffect(() => {
    let live = isVisible;
    if (isVisible) {
      const budget = { left: MAX_UNPACKED_BYTES };
      Promise.all(models.map(model => providerOf(model, budget))).then(
        loaded => live && setProviders(loaded),
        (error: unknown) => live && onFail(problemOf(error).detail)
      );
    } else {
      setProviders(null);
    }
    return () => {
      live = false;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a new callback makes no other providers
  }, [models, isVisible]);
  return providers;
}

async function providerOf(
  { bundle }: ISavedModelState,
  budget: IByteBudget
): Promise<BundleProvider> {
  const bytes = bytesOfBase64(bundle);
  return new BundleProvider(await readBundle(bytes, budget, upgradePayload));
}

/** A model while it is shown. The notebook's values override the settings. */
class SavedModelSession {
  readonly viewProps: IModelViewProps;
  private _handle: IViewerHandle | null = null;
  private _titled = false;
  private _settled = false;

  constructor(
    private readonly _model: ISavedModelState,
    provider: BundleProvider
  ) {
    this.viewProps = {
      provider,
      state: _model.view,
      onReady: handle => {
        this._handle = handle;
        this._settle();
      },
      onTitle: () => {
        this._titled = true;
        this._settle();
      },
      onSelection: nodes => {
        if (this._settled) {
          _model.selection = nodes;
        }
      },
      onOverlay: overlay => {
        // Values of the notebook stay as they are.
        if (this._settled && overlay !== 'user' && overlay !== 'changes') {
          _model.overlay = overlay;
        }
      }
    };
  }

  keep(): void {
    if (this._handle && this._settled) {
      this._model.view = this._handle.getState();
      this._settled = false;
    }
  }

  private _settle(): void {
    if (this._handle && this._titled && !this._settled) {
      applyOverlay(this._handle, this._model.overlay);
      applySelection(this._handle, this._model.selection);
      this._settled = true;
    }
  }
}
