import * as React from 'react';
import type { NodeDetails } from '../../../../schema';
import { CopyButton } from '../../common/CopyButton';
import { shortLabel } from '../../../ui/safeText';
import { Fact, Facts, Name, Section } from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

type Origin = NonNullable<NodeDetails['module']>;
type Trans = ReturnType<typeof useTrans>;

/** How the module of a node is known; empty if the file does not record it. */
function originText(trans: Trans, via: string): string {
  switch (via) {
    case 'trace':
      return trans.__('recorded by the exporter');
    case 'fused':
      return trans.__('recorded; merged from several modules');
    case 'param':
      return trans.__('inferred from a parameter it reads');
    case 'context':
      return trans.__('inferred from neighbouring nodes');
    case 'root':
      return trans.__('unknown; assigned to the top-level module');
    default:
      return '';
  }
}

/** The module of the original model that a node comes from, and how that is known. */
export function ModuleFacts({
  details
}: {
  details: NodeDetails;
}): JSX.Element | null {
  const trans = useTrans();
  const { tag, module } = details;
  if (!tag && !module) {
    return null;
  }
  return (
    <Section title={trans.__('Module')}>
      <Facts>
        {tag && (
          <Fact label={trans.__('Tag')}>
            <span className="oad-WithCopy">
              <Name text={tag} />
              <CopyButton label={trans.__('Copy the tag')} text={() => tag} />
            </span>
          </Fact>
        )}
        {module && <Recorded module={module} />}
      </Facts>
    </Section>
  );
}

function Recorded({ module }: { module: Origin }): JSX.Element {
  const trans = useTrans();
  const { scope, via, scopes, calls, stack } = module;
  const words = originText(trans, via);
  const numbers = Object.entries(calls);
  return (
    <>
      <Fact label={trans.__('Scope')}>
        {scope ? (
          <span className="oad-WithCopy">
            <Name text={scope} />
            <CopyButton label={trans.__('Copy the scope')} text={() => scope} />
          </span>
        ) : (
          trans.__('top-level module')
        )}
      </Fact>
      {words && <Fact label={trans.__('Source')}>{words}</Fact>}
      {scopes.length > 1 && (
        <Fact label={trans.__('Made from')}>
          <Paths paths={scopes} />
        </Fact>
      )}
      {numbers.length > 0 && (
        <Fact label={trans.__('Call')}>
          <ul className="oad-Paths">
            {numbers.map(([path, number]) => (
              <li key={path}>
                {trans.__('call %1 of %2', number + 1, shortLabel(path, 200))}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {stack.length > 0 && (
        <Fact label={trans.__('Called in')}>
          <Paths paths={stack.filter(path => path)} />
        </Fact>
      )}
    </>
  );
}

function Paths({ paths }: { paths: readonly string[] }): JSX.Element {
  const trans = useTrans();
  return (
    <ul className="oad-Paths">
      {paths.map((path, index) => (
        <li key={index}>
          {path ? <Name text={path} /> : trans.__('top-level module')}
        </li>
      ))}
    </ul>
  );
}
