import { expect, test, vi } from 'vitest';
import type { IViewerHandle } from '../viewer';
import { PairRegistry } from './pairRegistry';

interface IFake extends IViewerHandle {
  readonly partners: unknown[];
  readonly ended: ReturnType<typeof vi.fn>;
}

/** A handle that records its partners. */
function view(): IFake {
  const partners: unknown[] = [];
  const ended = vi.fn();
  const handle = {
    partners,
    ended,
    link: (other: unknown, options: unknown, callbacks: { onEnd?(): void }) => {
      partners.push(other);
      return {
        options,
        end: () => {
          ended();
          callbacks.onEnd?.();
        }
      };
    }
  };
  return handle as unknown as IFake;
}

test('two widgets of a pair are linked, the left with the right', () => {
  const pairs = new PairRegistry();
  const [left, right] = [view(), view()];
  pairs.register('p-1:1', right);
  expect(left.partners).toEqual([]);
  pairs.register('p-1:0', left);
  expect(left.partners).toEqual([right]);
  expect(right.partners).toEqual([]);
});

test('widgets of other pairs, of none, or with invalid names are not linked', () => {
  const pairs = new PairRegistry();
  const views = ['', 'a:0', 'b:1', 'c:2', 'a/b:1', null, 7].map(key => {
    const instance = view();
    pairs.register(key, instance)();
    pairs.register(key, instance);
    return instance;
  });
  expect(views.flatMap(({ partners }) => partners)).toEqual([]);
});

test('removing a widget ends the link; another one replaces it', () => {
  const pairs = new PairRegistry();
  const [left, right, duplicate] = [view(), view(), view()];
  pairs.register('p:0', left);
  const leave = pairs.register('p:1', right);
  leave();
  expect(left.ended).toHaveBeenCalledTimes(1);
  pairs.register('p:1', duplicate);
  expect(left.partners).toEqual([right, duplicate]);
});

test('a pair shown twice has two links', () => {
  const pairs = new PairRegistry();
  const [a, b, c, d] = [view(), view(), view(), view()];
  pairs.register('p:0', a);
  pairs.register('p:1', b);
  pairs.register('p:0', c);
  pairs.register('p:1', d);
  expect(a.partners).toEqual([b]);
  expect(c.partners).toEqual([d]);
});
