/** The viewer's search and the library's give the same results for the same queries. */

import { describe, expect, it } from 'vitest';
import type { GraphPayload } from '../../schema';
import { chosenDevice, withLatency } from '../latency/latencyEstimate';
import { findMatches } from './queryMatcher';
import { decodePayload } from '../model/decodePayload';
import { parseQuery } from './queryParser';
import fixture from '../testing/queries.json';
import { buildTree } from '../tree/groupTree';
import type { ITree } from '../types';

interface IQueryCase {
  readonly model: string;
  readonly query: string;
  readonly ids?: readonly number[];
  readonly fault?: readonly [string, number, string];
}

const trees = new Map<string, ITree>(
  Object.entries(fixture.models as unknown as Record<string, GraphPayload>).map(
    ([name, payload]) => [
      name,
      buildTree(withLatency(decodePayload(payload), chosenDevice(payload)))
    ]
  )
);

describe('the shared fixture', () => {
  const cases = fixture.cases as unknown as readonly IQueryCase[];

  it('has queries that match, match nothing and are invalid', () => {
    const hits = cases.filter(
      testCase => (testCase.ids?.length ?? 0) > 0
    ).length;
    const faults = cases.filter(testCase => testCase.fault).length;
    expect(hits).toBeGreaterThan(300);
    expect(faults).toBeGreaterThan(60);
    expect(cases.length - hits - faults).toBeGreaterThan(200);
  });

  it.each(
    cases.map(testCase => [testCase.model, testCase.query, testCase] as const)
  )('%s: %s', (name, text, expected) => {
    const tree = trees.get(name)!;
    const { query, fault } = parseQuery(text);
    if (expected.fault) {
      expect(fault && [fault.kind, fault.position, fault.text]).toEqual(
        expected.fault
      );
      return;
    }
    expect(fault).toBeNull();
    const matches = query === null ? [] : findMatches(tree, query);
    const nodes = matches.filter(entity => entity < tree.model.nodeCount);
    expect(nodes.sort((a, b) => a - b)).toEqual(expected.ids);
  });
});
