import * as React from 'react';
import { partAt, partsOf } from '../../../../core';
import {
  useDocument,
  useSession,
  useView
} from '../../../session/sessionContext';
import { entityOf } from '../../../session/entityNames';
import {
  selectedRepeat,
  showPart,
  stepSelection
} from '../../../session/repeatStepping';
import { Icon } from '../../../ui/Icon';
import { shortLabel } from '../../../ui/safeText';
import { useTrans } from '../../../i18n/translateContext';

/**
 * Shows which instance of a repeat the selection is in, and selects the same entity in another one.
 * Placed above the inspector's page, so that it stays while instances change.
 */
export function PartPicker(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { tree, model } = useDocument();
  const selection = useView(state => state.selection);
  const hidden = useView(state => state.hidden);
  const entity = entityOf(model, selection);
  const location = React.useMemo(
    () => (entity === null ? null : partAt(tree, entity)),
    [tree, entity]
  );
  const soloIndex = React.useMemo(
    () => selectedRepeat(session.store.get())?.index ?? -1,
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the store is read, and these are what it is read for
    [session, tree, entity, hidden]
  );
  if (!location) {
    return null;
  }
  const { repeatGroup, index } = location;
  const count = partsOf(tree, repeatGroup).length;
  const stepTo = (to: number): void =>
    void showPart(session, { repeatGroup, index: to });
  const arrow = (step: 1 | -1): JSX.Element => {
    const label =
      step > 0 ? trans.__('Next instance') : trans.__('Previous instance');
    return (
      <button
        type="button"
        className="oad-IconButton oad-mod-small"
        aria-label={label}
        title={`${label} (${step > 0 ? 'PageDown' : 'PageUp'})`}
        onClick={() => void stepSelection(session, step)}
      >
        <Icon name={step > 0 ? 'right' : 'left'} size={14} />
      </button>
    );
  };
  return (
    <div
      className="oad-Parts"
      role="group"
      aria-label={trans.__('Instances of %1', tree.groupLabel[repeatGroup])}
      title={shortLabel(tree.groupLabel[repeatGroup])}
    >
      {arrow(-1)}
      <PartBox index={index} count={count} onGo={stepTo} />
      <span className="oad-Quiet">{trans.__('of %1', count)}</span>
      {arrow(1)}
      <span className="oad-Bar-gap" />
      <button
        type="button"
        className="oad-Button"
        onClick={() => stepTo(soloIndex >= 0 ? -1 : Math.max(0, index))}
      >
        {soloIndex >= 0
          ? trans.__('Show all instances')
          : trans.__('Show only this one')}
      </button>
    </div>
  );
}

/** An input with the number of the instance; empty for the repeat as a whole. */
function PartBox(props: {
  index: number;
  count: number;
  onGo(index: number): void;
}): JSX.Element {
  const trans = useTrans();
  const { index, count, onGo } = props;
  const defaultText = index < 0 ? '' : String(index + 1);
  const [text, setText] = React.useState(defaultText);
  React.useEffect(() => setText(defaultText), [defaultText]);
  const commit = (): void => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= 1 && number <= count) {
      if (number - 1 !== index) {
        onGo(number - 1);
      }
    } else {
      setText(defaultText);
    }
  };
  return (
    <input
      className="oad-Input"
      type="text"
      inputMode="numeric"
      aria-label={trans.__('Part')}
      size={Math.max(2, String(count).length)}
      value={text}
      placeholder="–"
      onChange={event => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          event.preventDefault();
          event.stopPropagation();
          commit();
        }
      }}
    />
  );
}
