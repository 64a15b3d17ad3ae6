import * as React from 'react';
import type { Problem } from '../../schema';
import { Icon } from './Icon';
import { escapeInvisible } from './safeText';
import { useTrans } from '../i18n/translateContext';

/** Shows a failed request in place, with a button to retry. */
export function InlineProblem(props: {
  problem: Problem;
  retry: () => void;
}): JSX.Element {
  const trans = useTrans();
  const { problem } = props;
  return (
    <div className="oad-Inline-problem" role="alert">
      <Icon name="error" />
      <div>
        <p>{escapeInvisible(problem.detail || problem.title)}</p>
        {problem.hint && (
          <p className="oad-Quiet">{escapeInvisible(problem.hint)}</p>
        )}
        <button type="button" className="oad-Button" onClick={props.retry}>
          {trans.__('Retry')}
        </button>
      </div>
    </div>
  );
}
