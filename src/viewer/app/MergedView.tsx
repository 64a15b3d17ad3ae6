import * as React from 'react';
import { useDocument, useSession, useView } from '../session/sessionContext';
import { sessionOf } from '../host/viewerHandle';
import { Viewer } from './Viewer';
import { MergedChanges } from '../compare/mergedChanges';
import { MergedProvider } from '../compare/mergedProvider';
import type { ILinkedView, IComparedChanges } from '../state/linkedViews';
import { useTrans } from '../i18n/translateContext';

/** Both linked models as one graph, over the view in which it was requested. */
export function MergedView({ theme }: { theme: string }): JSX.Element | null {
  const linkedView = useView(state => state.linkedView);
  const compared = linkedView?.compared;
  return linkedView?.model && compared ? (
    <Picture theme={theme} companion={linkedView} compared={compared} />
  ) : null;
}

function Picture(props: {
  theme: string;
  companion: ILinkedView;
  compared: IComparedChanges;
}): JSX.Element {
  const { companion: linkedView, compared, theme } = props;
  const trans = useTrans();
  const session = useSession();
  const { payload } = useDocument().model;
  const { side, model, provider, toggleMerged } = linkedView;
  const { columns } = compared;
  const mergedProvider = React.useMemo(() => {
    const ownModel = { payload, provider: session.provider };
    const otherModel = { payload: model!.payload, provider };
    return new MergedProvider(
      side === 0 ? [ownModel, otherModel] : [otherModel, ownModel],
      columns
    );
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the structure counts: other sizes of the same models make no other picture
  }, [columns]);
  const changes = React.useRef<MergedChanges | null>(null);
  const panel = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => () => changes.current?.dispose(), []);
  return (
    <div
      ref={panel}
      className="oad-Merged"
      role="region"
      aria-label={trans.__('Merged graph')}
      // Keys apply to the graph in front.
      onKeyDown={event => event.stopPropagation()}
    >
      <Viewer
        provider={mergedProvider}
        settings={{ ...session.settings, overlay: 'none', device: '' }}
        translator={trans}
        makeLayoutEngine={session.makeEngine}
        theme={theme}
        onReady={handle => {
          const inner = sessionOf(handle);
          if (inner) {
            changes.current?.dispose();
            changes.current = new MergedChanges(
              inner,
              mergedProvider,
              toggleMerged
            );
            panel.current?.querySelector<HTMLElement>('.oad-Viewer')?.focus();
          }
        }}
      />
    </div>
  );
}
