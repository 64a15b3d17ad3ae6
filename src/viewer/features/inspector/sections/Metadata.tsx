import * as React from 'react';
import { shortLabel } from '../../../ui/safeText';
import { Name, Section, TruncatedList } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

const MAX_INLINE_CHARS = 120;
const PREVIEW_CHARS = 72;

/** Metadata entries of exporters and tools; long ones are collapsed. */
export function Metadata(props: {
  metadata: Readonly<Record<string, string>>;
}): JSX.Element | null {
  const trans = useTrans();
  const entries = Object.entries(props.metadata);
  if (entries.length === 0) {
    return null;
  }
  return (
    <Section title={trans.__('Metadata')} count={entries.length} closed>
      <dl className="oad-Entries">
        <TruncatedList items={entries} of="fact">
          {([key, value]) => (
            <div key={key}>
              <dt>{shortLabel(key, 120)}</dt>
              <dd>
                {value.length <= MAX_INLINE_CHARS ? (
                  <Name text={value} />
                ) : (
                  <details>
                    <summary>
                      <bdi>{shortLabel(value, PREVIEW_CHARS)}</bdi>
                    </summary>
                    <Name text={value} />
                  </details>
                )}
              </dd>
            </div>
          )}
        </TruncatedList>
      </dl>
    </Section>
  );
}
