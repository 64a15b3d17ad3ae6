import * as React from 'react';
import { formatBytes } from '../../../core';
import type { Extracted } from '../../../schema';
import { useSession, useView } from '../../session/sessionContext';
import type { ITranslate } from '../../i18n/translate';
import { Icon } from '../../ui/Icon';
import { shortLabel } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

/** Maximum number of characters of a path; the title has all of it. */
const MAX_PATH_CHARS = 120;

function extractText(extracted: Extracted, trans: ITranslate): string {
  return [
    trans._n('%1 node', '%1 nodes', extracted.nodes),
    trans._n('%1 input', '%1 inputs', extracted.input_count),
    trans._n('%1 output', '%1 outputs', extracted.output_count),
    formatBytes(extracted.bytes)
  ].join(', ');
}

function remarks(extracted: Extracted, trans: ITranslate): string[] {
  const lines: string[] = [];
  if (!extracted.convex) {
    lines.push(
      trans.__(
        'Some of its inputs depend on its outputs: nodes between the selected ones were not included.'
      )
    );
  }
  if (extracted.widened > 0) {
    lines.push(
      trans._n(
        '%1 control-flow node was taken whole.',
        '%1 control-flow nodes were taken whole.',
        extracted.widened
      )
    );
  }
  return lines;
}

/** Shows where a part of the model was written, and what it contains. */
export function ExtractionBanner(): JSX.Element | null {
  const trans = useTrans();
  const session = useSession();
  const state = useView(view => view.extraction);
  if (state === null) {
    return null;
  }
  if (state.status === 'working') {
    return (
      <div className="oad-Banner oad-mod-changed" role="status">
        <Icon name="info" />
        <span className="oad-Banner-text">
          {trans._n('Extracting %1 node…', 'Extracting %1 nodes…', state.nodes)}
        </span>
      </div>
    );
  }
  const { extracted } = state;
  return (
    <div className="oad-Banner oad-mod-changed" role="status">
      <Icon name="info" />
      <span className="oad-Banner-text" title={extracted.path}>
        {trans.__('Extracted to')}{' '}
        <bdi>{shortLabel(extracted.path, MAX_PATH_CHARS)}</bdi>
        {`: ${extractText(extracted, trans)}. `}
        {remarks(extracted, trans).join(' ')}
      </span>
      {session.files && (
        <button
          type="button"
          className="oad-Button oad-mod-accept"
          onClick={() => {
            session.store.set({ extraction: null });
            session.files?.open(extracted.path);
          }}
        >
          {trans.__('Open')}
        </button>
      )}
      <button
        type="button"
        className="oad-Button"
        onClick={() => session.store.set({ extraction: null })}
      >
        {trans.__('Close')}
      </button>
    </div>
  );
}
