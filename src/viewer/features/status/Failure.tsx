import * as React from 'react';
import type { Problem } from '../../../schema';
import { useSession } from '../../session/sessionContext';
import { CopyButton } from '../common/CopyButton';
import { Icon } from '../../ui/Icon';
import { escapeInvisible } from '../../ui/safeText';
import { useTrans } from '../../i18n/translateContext';

function problemText(problem: Problem): string {
  return [problem.title, problem.detail, problem.hint, problem.code]
    .filter(text => text)
    .join('\n');
}

/** Nothing can be shown: what failed, where, and what to do. */
export function Failure({ problem }: { problem: Problem }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <div className="oad-State">
      <div className="oad-State-box oad-mod-failed" role="alert">
        <p className="oad-State-title">
          <Icon name="error" size={18} />
          {escapeInvisible(problem.title)}
        </p>
        <p className="oad-State-detail">{escapeInvisible(problem.detail)}</p>
        {problem.hint && (
          <p className="oad-State-hint">
            <strong>{trans.__('What to do:')}</strong>{' '}
            {escapeInvisible(problem.hint)}
          </p>
        )}
        <div className="oad-State-row">
          <button
            type="button"
            className="oad-Button oad-mod-accept"
            onClick={() => void session.load()}
          >
            {trans.__('Retry')}
          </button>
          <CopyButton
            caption={trans.__('Copy')}
            label={trans.__('Copy the message')}
            text={() => problemText(problem)}
          />
          <code className="oad-State-code">
            {escapeInvisible(problem.code)}
          </code>
        </div>
      </div>
    </div>
  );
}

/** A repeated analysis failed; the graph of the previous one is still shown. */
export function FailureBanner({ problem }: { problem: Problem }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <div className="oad-Banner oad-mod-failed" role="alert">
      <Icon name="error" />
      <span className="oad-Banner-text">
        <strong>{escapeInvisible(problem.title)}</strong>{' '}
        {escapeInvisible(problem.detail)} {escapeInvisible(problem.hint)}
      </span>
      <button
        type="button"
        className="oad-Button"
        onClick={() => void session.load()}
      >
        {trans.__('Retry')}
      </button>
      <button
        type="button"
        className="oad-Button"
        onClick={() => session.store.set({ load: { status: 'ready' } })}
      >
        {trans.__('Keep the previous results')}
      </button>
    </div>
  );
}

export function Cancelled(): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <div className="oad-State">
      <div className="oad-State-box">
        <p className="oad-State-title">
          {trans.__('The analysis was cancelled')}
        </p>
        <button
          type="button"
          className="oad-Button oad-mod-accept"
          onClick={() => void session.load()}
        >
          {trans.__('Start again')}
        </button>
      </div>
    </div>
  );
}

/** The file has changed since it was loaded, or no longer exists. */
export function FileBanner({
  file
}: {
  file: 'changed' | 'gone';
}): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <div className="oad-Banner oad-mod-changed" role="status">
      <Icon name="info" />
      <span className="oad-Banner-text">
        {file === 'changed'
          ? trans.__('The file has changed on disk.')
          : trans.__(
              'The file no longer exists. This view shows what was read before.'
            )}
      </span>
      {file === 'changed' && (
        <button
          type="button"
          className="oad-Button oad-mod-accept"
          onClick={() => void session.load()}
        >
          {trans.__('Reload')}
        </button>
      )}
      <button
        type="button"
        className="oad-Button"
        onClick={() => session.store.set({ file: 'same' })}
      >
        {file === 'changed' ? trans.__('Later') : trans.__('Close')}
      </button>
    </div>
  );
}

/** Why a request could not be fulfilled. */
export function NoticeBanner(props: { text: string }): JSX.Element {
  const trans = useTrans();
  const session = useSession();
  return (
    <div className="oad-Banner" role="alert">
      <Icon name="warning" />
      <span className="oad-Banner-text">{props.text}</span>
      <button
        type="button"
        className="oad-Button"
        onClick={() => session.store.set({ notice: '' })}
      >
        {trans.__('Close')}
      </button>
    </div>
  );
}

/** A file without nodes is a valid model; say so instead of showing nothing. */
export function EmptyGraph(): JSX.Element {
  const trans = useTrans();
  return (
    <div className="oad-State oad-mod-over" role="status">
      <div className="oad-State-box">
        <p className="oad-State-title">{trans.__('This graph has no nodes')}</p>
        <p className="oad-State-detail">
          {trans.__(
            'The file is a valid model; its inputs, outputs and metadata are in the inspector.'
          )}
        </p>
      </div>
    </div>
  );
}
