import * as React from 'react';
import type { AttributeInfo } from '../../schema';
import { useTrans } from '../context';
import { brief, visible } from '../ui/text';
import { Section } from './parts';

const MAX_VALUE = 400;

/** An attribute's value as text: `[1, 1]`, `"SAME_UPPER"`, `0.001`. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  if (Array.isArray(value)) {
    return `[${value.map(valueText).join(', ')}]`;
  }
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value)
    : String(value);
}

/** Attributes in the file first, then the defaults, greyed. */
export function Attributes(props: {
  attributes: readonly AttributeInfo[];
}): JSX.Element | null {
  const trans = useTrans();
  const { attributes } = props;
  if (attributes.length === 0) {
    return null;
  }
  const given = attributes.filter(attribute => !attribute.default);
  const defaults = attributes.filter(attribute => attribute.default);
  return (
    <Section title={trans.__('Attributes')} count={given.length}>
      <dl className="oad-Attributes">
        {[...given, ...defaults].map(attribute => (
          <div
            key={attribute.name}
            className={`oad-Attribute${attribute.default ? ' oad-mod-default' : ''}`}
          >
            <dt title={brief(attribute.description ?? '', 1000)}>
              <bdi>{brief(attribute.name, 120)}</bdi>
              <span className="oad-Quiet">{visible(attribute.type)}</span>
            </dt>
            <dd>
              <bdi className="oad-Code">
                {brief(valueText(attribute.value), MAX_VALUE)}
              </bdi>
              {attribute.default && (
                <span className="oad-Tag">{trans.__('default')}</span>
              )}
              {attribute.description && (
                <details className="oad-Attribute-about">
                  <summary>{trans.__('about')}</summary>
                  {brief(attribute.description, 2000)}
                </details>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
