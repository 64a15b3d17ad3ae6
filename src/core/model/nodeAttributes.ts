/** Attributes of nodes, as used by queries. */

import type { GraphPayload } from '../../schema';

type AttributeColumns = NonNullable<GraphPayload['attributes']>;
type AttributeValue = AttributeColumns['value'][number];

interface IIndex {
  /** Lower-case name → node → value. */
  readonly byName: ReadonlyMap<string, ReadonlyMap<number, AttributeValue>>;
  /** Node → names and text values, lower case. */
  readonly texts: ReadonlyMap<number, readonly string[]>;
}

const indexes = new WeakMap<AttributeColumns, IIndex>();

function buildIndex({ name, value, node, entry }: AttributeColumns): IIndex {
  const byName = new Map<string, Map<number, AttributeValue>>();
  const texts = new Map<number, string[]>();
  const lower = name.map(text => text.toLowerCase());
  const words = value.map((attribute, index) => [
    lower[index],
    ...(Array.isArray(attribute) ? attribute : [attribute])
      .filter((item): item is string => typeof item === 'string' && item !== '')
      .map(item => item.toLowerCase())
  ]);
  node.forEach((id, row) => {
    const index = entry[row];
    const values = byName.get(lower[index]);
    if (!values) {
      byName.set(lower[index], new Map([[id, value[index]]]));
    } else if (!values.has(id)) {
      values.set(id, value[index]);
    }
    const nodeTexts = texts.get(id) ?? [];
    // Pushed one by one: a node may have too many attributes to spread.
    words[index].forEach(word => nodeTexts.push(word));
    texts.set(id, nodeTexts);
  });
  return { byName, texts };
}

function indexOf({ attributes }: GraphPayload): IIndex | null {
  if (!attributes) {
    return null;
  }
  let index = indexes.get(attributes);
  if (!index) {
    index = buildIndex(attributes);
    indexes.set(attributes, index);
  }
  return index;
}

/** Searchable texts of a node's attributes: names and text values, lower case. */
export function attributeTexts(
  payload: GraphPayload,
  node: number
): readonly string[] {
  return indexOf(payload)?.texts.get(node) ?? [];
}

/**
 * A number or texts; null if the node has no such attribute or item. A list of whole numbers or texts
 * matches `3,3`, `[3,3]` or `3x3`; a list with fractions can only be compared by item.
 */
export function attributeValue(
  payload: GraphPayload,
  node: number,
  name: string,
  item?: number
): number | readonly string[] | null {
  let attribute = indexOf(payload)?.byName.get(name)?.get(node);
  if (item !== undefined) {
    attribute = Array.isArray(attribute) ? attribute.at(item) : undefined;
  }
  if (!Array.isArray(attribute)) {
    return attribute === undefined
      ? null
      : typeof attribute === 'string'
        ? [attribute]
        : attribute;
  }
  if (
    attribute.some(item => typeof item === 'number' && !Number.isInteger(item))
  ) {
    return null;
  }
  const texts = attribute.map(String);
  return [
    ...[',', 'x', '×'].map(separator => texts.join(separator)),
    `[${texts.join(',')}]`
  ];
}
