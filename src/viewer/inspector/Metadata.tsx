import * as React from 'react';
import { useTrans } from '../context';
import { brief } from '../ui/text';
import { Name, Section, Some } from './parts';

const SHORT = 120;
const FOLDED = 72;

/** Entries that an exporter or a tool left; long ones are folded. */
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
        <Some items={entries} of="fact">
          {([key, value]) => (
            <div key={key}>
              <dt>{brief(key, 120)}</dt>
              <dd>
                {value.length <= SHORT ? (
                  <Name text={value} />
                ) : (
                  <details>
                    <summary>
                      <bdi>{brief(value, FOLDED)}</bdi>
                    </summary>
                    <Name text={value} />
                  </details>
                )}
              </dd>
            </div>
          )}
        </Some>
      </dl>
    </Section>
  );
}
