import * as React from 'react';
import { useSession } from '../../session/sessionContext';
import { copyWithFeedback } from '../../session/clipboardFeedback';
import { Icon } from '../../ui/Icon';

/** Copies a text and confirms it, also to screen readers. */
export function CopyButton(props: {
  text: () => string;
  label: string;
  caption?: string;
}): JSX.Element {
  const session = useSession();
  const [copied, setCopied] = React.useState(false);
  React.useEffect(() => {
    if (copied) {
      const timer = setTimeout(() => setCopied(false), 1500);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [copied]);
  const copy = async (): Promise<void> =>
    setCopied(await copyWithFeedback(session, props.text()));
  return (
    <button
      type="button"
      className={props.caption ? 'oad-Button' : 'oad-IconButton'}
      title={props.label}
      aria-label={props.caption ? undefined : props.label}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      {props.caption}
    </button>
  );
}
