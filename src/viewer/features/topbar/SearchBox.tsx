import * as React from 'react';
import { useSession, useView } from '../../session/sessionContext';
import { searching, setQuery, stepSearch } from '../../session/searchActions';
import { selectAll } from '../../session/selectionActions';
import { Icon, type IconName } from '../../ui/Icon';
import { useTrans } from '../../i18n/translateContext';

/** Finds nodes and groups; Enter and Shift+Enter step through the matches. */
export function SearchBox(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  const { query, hits, index: at, fault } = useView(state => state.search);
  const none = query !== '' && hits.length === 0;
  const faultId = React.useId();
  const [code, setCode] = React.useState(searching.now);
  const fetch = (): void => void searching.get().then(setCode);
  const count =
    query === '' || fault
      ? ''
      : none
        ? trans.__('none')
        : `${at < 0 ? '–' : at + 1}/${hits.length}`;
  return (
    <div className={`oad-Search${none ? ' oad-mod-none' : ''}`} role="search">
      <Icon name="search" size={14} />
      <input
        className="oad-Search-input"
        type="text"
        spellCheck={false}
        autoComplete="off"
        placeholder={trans.__('Search names, types, shapes…')}
        aria-label={trans.__('Find in the model')}
        title={code?.queryHelp(trans)}
        onFocus={fetch}
        onPointerEnter={fetch}
        aria-invalid={fault !== null}
        aria-describedby={fault ? faultId : undefined}
        value={query}
        onChange={event => setQuery(session, event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault();
            event.stopPropagation();
            stepSearch(session, event.shiftKey ? -1 : 1);
          }
        }}
      />
      <span className="oad-Search-count" role="status">
        {count}
      </span>
      <HitsButton
        label={trans.__('Previous match')}
        keys="Shift+Enter"
        icon="up"
        run={() => stepSearch(session, -1)}
      />
      <HitsButton
        label={trans.__('Next match')}
        keys="Enter"
        icon="down"
        run={() => stepSearch(session, 1)}
      />
      <HitsButton
        label={trans.__('Select all matches')}
        keys="Shift+S"
        icon="all"
        run={() => selectAll(session, hits)}
      />
      {fault && (
        <p id={faultId} className="oad-Search-fault" role="status">
          {searching.now?.queryMessage(fault, trans)}
        </p>
      )}
    </div>
  );
}

/** A button for the matches, disabled without any. */
function HitsButton(props: {
  label: string;
  keys: string;
  icon: IconName;
  run: () => void;
}): JSX.Element {
  const { length } = useView(state => state.search.hits);
  return (
    <button
      type="button"
      className="oad-IconButton oad-mod-small"
      disabled={length === 0}
      aria-label={props.label}
      title={`${props.label} (${props.keys})`}
      onClick={props.run}
    >
      <Icon name={props.icon} size={14} />
    </button>
  );
}
