import * as React from 'react';
import { formatBytes, formatShape } from '../../../../core';
import type { ConstantInfo } from '../../../../schema';
import { shortLabel, escapeInvisible } from '../../../ui/safeText';
import { Weights } from '../../weights/Weights';
import {
  SelectionLink,
  Name,
  Section,
  TruncatedList
} from '../../common/facts';
import { useTrans } from '../../../i18n/translateContext';

/** Constant inputs, with values if small. */
export function Constants(props: {
  constants: readonly ConstantInfo[];
}): JSX.Element | null {
  const trans = useTrans();
  const { constants } = props;
  if (constants.length === 0) {
    return null;
  }
  return (
    <Section title={trans.__('Constants')} count={constants.length}>
      <ul className="oad-Tensors">
        <TruncatedList items={constants}>
          {constant => (
            <li key={constant.tensor}>
              <div className="oad-Tensor">
                <SelectionLink to={{ kind: 'tensor', id: constant.tensor }}>
                  <Name text={constant.name} />
                </SelectionLink>
                <span className="oad-Shape">
                  {escapeInvisible(constant.elem_type)}{' '}
                  <bdi>{shortLabel(formatShape(constant.shape))}</bdi>
                  {constant.bytes !== null &&
                    ` · ${formatBytes(constant.bytes)}`}
                  {constant.location &&
                    ` · ${shortLabel(constant.location, 80)}`}
                </span>
                {constant.values && (
                  <code className="oad-Values">
                    {shortLabel(valuesText(constant), 600)}
                  </code>
                )}
                <Weights tensor={constant.tensor} optional />
              </div>
            </li>
          )}
        </TruncatedList>
      </ul>
    </Section>
  );
}

/** The first values, with an ellipsis if there are more. */
function valuesText(constant: ConstantInfo): string {
  const values = constant.values ?? [];
  const count = (constant.shape ?? []).reduce<number>(
    (product, dim) => product * (typeof dim === 'number' ? dim : 1),
    1
  );
  const text = values.map(value => String(value)).join(', ');
  return count > values.length ? `${text}, …` : text;
}
