import { expect, test, vi } from 'vitest';
import { MemoryProvider } from '../../providers/memoryProvider';
import { DEFAULT_SETTINGS } from '../state/api';
import { readSnapshot } from '../state/snapshot';
import { testPayload } from '../testing/payload';
import { Session } from './session';

vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

test('a view with other dimensions starts an analysis, one with the same does not', async () => {
  const provider = new MemoryProvider(testPayload());
  const session = new Session(provider, DEFAULT_SETTINGS, { version: 1 });
  await session.load();
  expect(provider.loads).toHaveLength(1);
  const other = readSnapshot({ version: 1, bindings: { batch: 8 } });
  await session.restore(other);
  expect(provider.loads).toHaveLength(2);
  expect(provider.loads[1].bindings).toEqual({ batch: 8 });
  await session.restore(other);
  expect(provider.loads).toHaveLength(2);
  await session.restore(readSnapshot({ version: 1, assume: false }));
  expect(provider.loads[2]).toEqual({ bindings: { batch: 8 }, assume: false });
  session.dispose();
});
