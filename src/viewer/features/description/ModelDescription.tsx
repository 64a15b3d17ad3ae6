import * as React from 'react';
import { useDocument, useSession } from '../../session/sessionContext';
import { setPanels } from '../../session/panels';
import { NO_SELECTION } from '../../state/types';
import { descriptionLine, reasonsOf } from '../../summary/modelDescription';
import { useTrans } from '../../i18n/translateContext';

/** The model in words, over the graph; its reasons on hover or focus, more in the inspector. */
export function ModelDescription({
  low = false
}: {
  low?: boolean;
}): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const { payload } = useDocument().model;
  const id = React.useId();
  const identity = payload.identity;
  if (!identity) {
    return null;
  }
  const [task, ...otherParts] = descriptionLine(payload, identity).split(' · ');
  return (
    <div className={`oad-Words${low ? ' oad-mod-low' : ''}`}>
      <button
        type="button"
        className="oad-Words-line"
        aria-describedby={id}
        onClick={() => {
          session.select(NO_SELECTION);
          setPanels(session, { inspector: 'open' });
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.currentTarget.blur();
          }
        }}
      >
        <bdi>
          <b>{task}</b>
          {otherParts.map(text => ` · ${text}`).join('')}
        </bdi>
      </button>
      <dl id={id} role="tooltip" className="oad-Words-why">
        {reasonsOf(identity, trans).map(
          ({ about, label, text, certainty: known, reasons: why }) => (
            <div key={about}>
              <dt>
                {label}: {text} <span className="oad-Quiet">({known})</span>
              </dt>
              {why.map((line, index) => (
                <dd key={index}>{line}</dd>
              ))}
            </div>
          )
        )}
      </dl>
    </div>
  );
}
