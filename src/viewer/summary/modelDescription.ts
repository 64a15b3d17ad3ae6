/** The model in words: one line, and the reasons for its facts. */

import { formatExact, formatShape } from '../../core/base/numberFormat';
import type { GraphPayload, Identity, IdentityValue } from '../../schema';
import type { ITranslate } from '../i18n/translate';
import { shortLabel } from '../ui/safeText';
import { ownValue } from '../../core/base/ownValue';

/** The line with shapes for the current sizes, which may have changed since the analysis. */
export function descriptionLine(
  payload: GraphPayload,
  identity: Identity
): string {
  const { inputs, outputs } = payload.tensors;
  let position = 0;
  let line = '';
  const replaceSizes = (
    values: readonly IdentityValue[],
    ids: readonly number[]
  ) => {
    for (const value of values.filter(({ shown }) => shown)) {
      const before = sizesOf(value.shape);
      const start = identity.text.indexOf(before, position);
      if (start >= 0) {
        const now = sizesOf(shapeNow(payload, ids, value));
        line += identity.text.slice(position, start) + now;
        position = start + before.length;
      }
    }
  };
  replaceSizes(identity.inputs, inputs);
  replaceSizes(identity.outputs, outputs);
  return shortLabel(line + identity.text.slice(position), 1000);
}

/** The graph tensor of an input or output; -1 if there is none. */
export function tensorOf(
  payload: GraphPayload,
  ids: readonly number[],
  { name }: IdentityValue
): number {
  return ids.find(id => payload.tensors.name[id] === name) ?? -1;
}

export function shapeNow(
  payload: GraphPayload,
  ids: readonly number[],
  value: IdentityValue
): IdentityValue['shape'] {
  const id = tensorOf(payload, ids, value);
  return id < 0
    ? value.shape
    : (payload.shapes[payload.tensors.shape[id]] ?? value.shape);
}

/** `1×3×224×1,000`. */
function sizesOf(shape: IdentityValue['shape']): string {
  return formatShape(
    shape?.map(size => (typeof size === 'number' ? formatExact(size) : size))
  );
}

export interface IReason {
  readonly about: keyof Identity['known'];
  readonly label: string;
  readonly text: string;
  /** How the fact is known. */
  readonly certainty: string;
  readonly reasons: readonly string[];
}

/** The facts of the line, with reasons. */
export function reasonsOf(identity: Identity, trans: ITranslate): IReason[] {
  const labels = {
    task: trans.__('Task'),
    family: trans.__('Kind'),
    precision: trans.__('Precision')
  };
  const texts: Readonly<Record<string, string>> = {
    file: trans.__('stated in the file'),
    structure: trans.__('inferred from the structure'),
    likely: trans.__('likely, not certain'),
    unknown: trans.__('no evidence')
  };
  return (['task', 'family', 'precision'] as const).map(about => ({
    about,
    label: labels[about],
    text: shortLabel(identity[about], 120),
    certainty: ownValue(texts, identity.known[about]) ?? '',
    reasons: identity.evidence
      .filter(line => line.about === about)
      .map(({ text }) => shortLabel(text, 400))
  }));
}
