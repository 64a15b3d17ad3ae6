/** Building blocks of the inspector pages. */

import * as React from 'react';
import { formatShare } from '../../../core';
import { useSession } from '../../session/sessionContext';
import type { Selection } from '../../state/types';
import { CopyButton } from './CopyButton';
import { Icon } from '../../ui/Icon';
import { shortLabel, escapeInvisible } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

/** A heading with a collapsible section. */
export function Section(props: {
  title: string;
  count?: number;
  closed?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <details className="oad-Section" open={!props.closed}>
      <summary>
        <Icon name="right" size={12} />
        <span>{props.title}</span>
        {props.count !== undefined && (
          <span className="oad-Section-count">{props.count}</span>
        )}
      </summary>
      <div className="oad-Section-body">{props.children}</div>
    </details>
  );
}

/** Label and value pairs. */
export function Facts(props: { children: React.ReactNode }): JSX.Element {
  return <dl className="oad-Facts">{props.children}</dl>;
}

export function Fact(props: {
  label: string;
  children: React.ReactNode;
  /** Why the value is missing, or additional text. */
  note?: string;
}): JSX.Element {
  return (
    <div className="oad-Fact">
      <dt>{props.label}</dt>
      <dd title={props.note}>
        {props.children}
        {props.note && <span className="oad-Fact-note">{props.note}</span>}
      </dd>
    </div>
  );
}

/** An exact number with a bar for its share of the total. */
export function SharedAmount(props: {
  text: string;
  /** The same in three digits. */
  short: string;
  /** The same in all digits, if `text` is short. */
  exact?: string;
  value: number;
  total: number | null;
}): JSX.Element {
  const share =
    props.total && props.total > 0 && Number.isFinite(props.value)
      ? props.value / props.total
      : null;
  return (
    <span className="oad-Amount">
      <span className="oad-Number" title={props.short}>
        {props.text}
      </span>
      {share !== null && (
        <span className="oad-Share">
          <span className="oad-Share-bar" aria-hidden="true">
            <span style={{ width: `${Math.min(1, share) * 100}%` }} />
          </span>
          {formatShare(share)}
        </span>
      )}
      {props.exact && (
        <span className="oad-Number oad-Amount-exact">{props.exact}</span>
      )}
    </span>
  );
}

/** A name from the file, isolated from the surrounding text direction. */
export function Name(props: { text: string }): JSX.Element {
  return (
    <bdi className="oad-Name" title={shortLabel(props.text)}>
      {shortLabel(props.text, 2000)}
    </bdi>
  );
}

export function Title(props: {
  kind: string;
  category?: string;
  name: string;
}): JSX.Element {
  const trans = useTrans();
  return (
    <header className="oad-Inspector-title">
      <span
        className="oad-Badge"
        data-category={props.category ?? 'group'}
        title={escapeInvisible(props.kind)}
      >
        {escapeInvisible(props.kind)}
      </span>
      <span className="oad-Inspector-name">
        {props.name ? (
          <Name text={props.name} />
        ) : (
          <em>{trans.__('without a name')}</em>
        )}
      </span>
      {props.name && (
        <CopyButton label={trans.__('Copy the name')} text={() => props.name} />
      )}
    </header>
  );
}

/** A link that selects something else and brings it into view. */
export function SelectionLink(props: {
  to: Selection;
  children: React.ReactNode;
  title?: string;
}): JSX.Element {
  const session = useSession();
  return (
    <button
      type="button"
      className="oad-Jump"
      title={props.title}
      onClick={() => session.select(props.to, 'reveal')}
    >
      {props.children}
    </button>
  );
}

/**
 * Shows the start of long lists, and the rest on demand. `of` is the kind of element that items render:
 * the button that shows more is then rendered as an item too, as lists require.
 */
export function TruncatedList<T>(props: {
  items: readonly T[];
  limit?: number;
  of?: 'li' | 'listitem' | 'fact' | 'inline';
  children: (item: T, index: number) => React.ReactNode;
}): JSX.Element {
  const trans = useTrans();
  const step = props.limit ?? 12;
  const [limit, setLimit] = React.useState(step);
  const hiddenCount = props.items.length - limit;
  const more = hiddenCount > 0 && (
    <button
      type="button"
      className="oad-More"
      onClick={() => setLimit(limit + 10 * step)}
    >
      {trans.__('%1 more…', hiddenCount)}
    </button>
  );
  return (
    <>
      {props.items.slice(0, limit).map(props.children)}
      {more && <Item of={props.of ?? 'li'}>{more}</Item>}
    </>
  );
}

function Item(props: {
  of: 'li' | 'listitem' | 'fact' | 'inline';
  children: React.ReactNode;
}): JSX.Element {
  switch (props.of) {
    case 'li':
      return <li>{props.children}</li>;
    case 'listitem':
      return <div role="listitem">{props.children}</div>;
    case 'fact':
      return (
        <div className="oad-Fact">
          <dt>…</dt>
          <dd>{props.children}</dd>
        </div>
      );
    case 'inline':
      return <>{props.children}</>;
  }
}
