import * as React from 'react';
import { useSession, useView } from '../../session/sessionContext';
import { setPanels } from '../../session/panels';
import { Icon } from '../../ui/Icon';
import { GroupInspector } from './GroupInspector';
import { ModelInspector } from './ModelInspector';
import { MultiInspector } from './MultiInspector';
import { NodeInspector } from './NodeInspector';
import { PartPicker } from './sections/PartPicker';
import { SeriesInspector } from './SeriesInspector';
import { TensorInspector } from './TensorInspector';
import { useTrans } from '../../i18n/translateContext';

/** Details of the selection, or of the model if nothing is selected. */
export function Inspector(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const selection = useView(state => state.selection);
  const several = useView(state => state.moreSelected.length > 0);
  return (
    <aside
      className="oad-Panel oad-Inspector"
      aria-label={trans.__('Inspector')}
    >
      <div className="oad-Panel-head">
        <h3>{trans.__('Inspector')}</h3>
        <button
          type="button"
          className="oad-IconButton oad-mod-small"
          aria-label={trans.__('Close the inspector')}
          title={`${trans.__('Close the inspector')} (D)`}
          onClick={() => setPanels(session, { inspector: 'closed' })}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      {!several && <PartPicker />}
      {/* A new selection starts at the top. */}
      <div
        className="oad-Panel-body"
        key={
          selection.kind === 'none' || several
            ? selection.kind
            : `${selection.kind}${selection.id}`
        }
      >
        {several && selection.kind !== 'none' && <MultiInspector />}
        {!several && selection.kind === 'node' && (
          <NodeInspector node={selection.id} />
        )}
        {!several && selection.kind === 'group' && (
          <GroupInspector group={selection.id} />
        )}
        {!several && selection.kind === 'tensor' && (
          <TensorInspector tensor={selection.id} />
        )}
        {!several && selection.kind === 'series' && (
          <SeriesInspector representative={selection.id} />
        )}
        {selection.kind === 'none' && <ModelInspector />}
      </div>
    </aside>
  );
}
