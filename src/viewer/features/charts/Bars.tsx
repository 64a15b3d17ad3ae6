import * as React from 'react';
import { useSession } from '../../session/sessionContext';
import { selectNodes } from '../../session/hostSelection';
import { highlightEntities } from '../../session/externalHighlight';
import { ownValue } from '../../../core/base/ownValue';

export interface IBar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** Additional text for the tooltip. */
  readonly title: string;
  readonly nodes: readonly number[];
}

/** A bar chart of node groups: hovering a bar highlights its nodes in the graph, a click selects them. */
export function Bars(props: {
  label: string;
  bars: readonly IBar[];
}): JSX.Element {
  const session = useSession();
  const largest = props.bars.reduce(
    (max, { value }) => (value > max ? value : max),
    0
  );
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = ownValue({ ArrowDown: 1, ArrowUp: -1 }, event.key);
    if (step === undefined || !(event.target instanceof HTMLElement)) {
      return;
    }
    const items = [...event.currentTarget.querySelectorAll('button')];
    const index = items.findIndex(item => item === event.target);
    items[index + step]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul
      className="oad-Bars"
      aria-label={props.label}
      onKeyDown={onKeyDown}
      onPointerLeave={() => highlightEntities(session, [])}
    >
      {props.bars.map((bar, index) => (
        <li key={bar.label}>
          <button
            type="button"
            className="oad-BarRow"
            tabIndex={index === 0 ? 0 : -1}
            title={bar.title}
            onPointerEnter={() => highlightEntities(session, bar.nodes)}
            onFocus={() => highlightEntities(session, bar.nodes)}
            onBlur={() => highlightEntities(session, [])}
            onClick={() => selectNodes(session, bar.nodes)}
          >
            <bdi>{bar.label}</bdi>
            <span className="oad-Share-bar" aria-hidden="true">
              <span
                style={{
                  width: `${largest > 0 && bar.value > 0 ? (bar.value / largest) * 100 : 0}%`
                }}
              />
            </span>
            <span className="oad-Number">{bar.text}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
