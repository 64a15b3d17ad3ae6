import { expect, test, vi } from 'vitest';
import { MemoryProvider } from '../../providers/memoryProvider';
import { DEFAULT_SETTINGS } from '../state/api';
import { testPayload } from '../testing/payload';
import { Session } from './session';

vi.mock(
  '../graph/cards/cardSizer',
  async () => await import('../testing/sizer')
);

test('changes by the user during a new analysis are kept', async () => {
  const provider = new MemoryProvider(testPayload());
  const session = new Session(provider, DEFAULT_SETTINGS, { version: 1 });
  await session.load();
  const { model } = session.store.get().document!;
  let finish = (): void => undefined;
  const load = provider.load.bind(provider);
  vi.spyOn(provider, 'load').mockImplementation(async (...args) => {
    await new Promise<void>(resolve => (finish = resolve));
    return load(...args);
  });
  const rebinding = session.bind({ batch: 8 }, false);
  session.select({ kind: 'node', id: 2 });
  const open = session.graph.openGroups();
  await session.graph.transition(view =>
    view.isOpen(0) ? view.collapse(0) : view.expand(0)
  );
  const changed = session.graph.openGroups();
  expect(changed).not.toEqual(open);
  finish();
  await rebinding;
  expect(session.store.get().document!.model).not.toBe(model);
  expect(session.store.get().selection).toEqual({ kind: 'node', id: 2 });
  expect(session.graph.openGroups()).toEqual(changed);
  session.dispose();
});
