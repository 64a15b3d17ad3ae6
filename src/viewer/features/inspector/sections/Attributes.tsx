import * as React from 'react';
import type { AttributeInfo } from '../../../../schema';
import { Markdown } from '../../../ui/markdown';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import { Section } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

const MAX_VALUE = 400;

/** An attribute's value as text: `[1, 1]`, `"SAME_UPPER"`, `0.001`. */
function valueText(value: unknown): string {
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

/** Attributes in the file first, then defaults, greyed out. */
export function Attributes(props: {
  attributes: readonly AttributeInfo[];
}): JSX.Element | null {
  const trans = useTrans();
  const { attributes } = props;
  if (attributes.length === 0) {
    return null;
  }
  const explicit = attributes.filter(attribute => !attribute.default);
  const defaults = attributes.filter(attribute => attribute.default);
  return (
    <Section title={trans.__('Attributes')} count={explicit.length}>
      {[...explicit, ...defaults].map(attribute => (
        <Attribute key={attribute.name} attribute={attribute} />
      ))}
    </Section>
  );
}

/** One line; expands to the operator's documentation of it. */
function Attribute(props: { attribute: AttributeInfo }): JSX.Element {
  const trans = useTrans();
  const { attribute } = props;
  const className = `oad-Attribute${attribute.default ? ' oad-mod-default' : ''}`;
  const line = (
    <>
      <span>
        <bdi>{shortLabel(attribute.name, 120)}</bdi>
        <span className="oad-Quiet">{escapeInvisible(attribute.type)}</span>
      </span>
      <span>
        <bdi className="oad-Code">
          {shortLabel(valueText(attribute.value), MAX_VALUE)}
        </bdi>
        {attribute.default && (
          <span className="oad-Tag">{trans.__('default')}</span>
        )}
      </span>
    </>
  );
  if (!attribute.description) {
    return (
      <div className={className}>
        <div className="oad-Attribute-line">{line}</div>
      </div>
    );
  }
  return (
    <details className={className}>
      <summary
        className="oad-Attribute-line"
        title={shortLabel(attribute.description, 1000)}
      >
        {line}
      </summary>
      <div className="oad-Attribute-about">
        <Markdown source={attribute.description} />
      </div>
    </details>
  );
}
