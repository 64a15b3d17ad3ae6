import * as React from 'react';
import type { OperatorDoc } from '../../../../schema';
import { Markdown } from '../../../ui/markdown';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import { Section } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** The operator's page of the ONNX specification. */
export function OperatorDocs(props: { operator: OperatorDoc }): JSX.Element {
  const trans = useTrans();
  const { operator } = props;
  return (
    <Section title={trans.__('Operator documentation')} closed>
      <p className="oad-Quiet">
        {escapeInvisible(`${operator.domain || 'ai.onnx'} · ${operator.type}`)}{' '}
        {trans.__('since version %1', operator.since_version)}
        {operator.deprecated && (
          <span className="oad-Tag oad-mod-warning">
            {trans.__('deprecated')}
          </span>
        )}
      </p>
      <Markdown source={operator.doc} />
      <Formals title={trans.__('Inputs')} formals={operator.inputs} />
      <Formals title={trans.__('Outputs')} formals={operator.outputs} />
      {operator.url.startsWith('https://') && (
        <a href={operator.url} target="_blank" rel="noopener noreferrer">
          {trans.__('Open the specification')}
        </a>
      )}
    </Section>
  );
}

function Formals(props: {
  title: string;
  formals: readonly Readonly<Record<string, string>>[];
}): JSX.Element | null {
  if (props.formals.length === 0) {
    return null;
  }
  return (
    <>
      <h5>{props.title}</h5>
      <dl className="oad-Formals">
        {props.formals.map((formal, index) => (
          <div key={index}>
            <dt>
              <code>{shortLabel(formal.name ?? '', 80)}</code>{' '}
              <span className="oad-Quiet">
                {shortLabel(formal.type ?? '', 80)}
              </span>
            </dt>
            <dd>
              <Markdown source={formal.description ?? ''} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
