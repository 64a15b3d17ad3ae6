import { expect, test } from 'vitest';
import { upgradePayload } from '../core/model/upgradePayload';
import type { Bundle } from '../schema';
import { bytesOfBase64 } from './base64';
import { BundleProvider, detailsOf, readBundle } from './bundleProvider';
import { ProblemError } from './provider';

async function packed(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const json = new Response(JSON.stringify(value)).body!;
  const stream = json.pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function problemIn(read: Promise<unknown>): Promise<string> {
  const error: unknown = await read.catch((error: unknown) => error);
  return error instanceof ProblemError
    ? `${error.problem.code} ${error.problem.detail}`
    : '';
}

test('reads a bundle, also from base64', async () => {
  const bytes = await packed({ version: 2, payload: {} });
  expect(await readBundle(bytes)).toEqual({ version: 2, payload: {} });
  const text = btoa(String.fromCharCode(...bytes));
  expect(bytesOfBase64(` ${text}\n`)).toEqual(bytes);
});

test('upgrades files of the first version', async () => {
  const nodes = {
    macs: [50],
    flops: [100],
    read_bytes: [5],
    write_bytes: [null],
    repeat: { '0': 5 }
  };
  const bytes = await packed({ version: 1, payload: { nodes } });
  const { version, payload } = await readBundle(
    bytes,
    undefined,
    upgradePayload
  );
  expect(version).toBe(2);
  expect(payload.nodes.macs).toEqual([10]);
  expect(payload.nodes.runs).toEqual({ '0': 5 });
});

test('limits the unpacked size', async () => {
  const bytes = await packed({ version: 2, payload: 'x'.repeat(5_000_000) });
  expect(bytes.length).toBeLessThan(20_000);
  expect(await problemIn(readBundle(bytes, 1_000_000))).toContain(
    'more than 1000000 bytes'
  );
  expect(await problemIn(readBundle(bytes, 6_000_000))).toBe('');
});

test('reports what is wrong with a bundle', async () => {
  expect(await problemIn(readBundle(new Uint8Array([1, 2, 3])))).toMatch(
    /^bundle-corrupt/
  );
  expect(await problemIn(readBundle(await packed({ version: 9 })))).toMatch(
    /^bundle-version/
  );
});

test('breaks cyclic scopes', () => {
  const bundle = {
    payload: {
      ops: [{ type: 'Relu', domain: 'ai.onnx', opset: 20 }],
      nodes: { op: [0], name: ['a'], scope: [1] },
      scopes: {
        parent: [1, 0],
        label: ['outer', 'inner'],
        type: ['A', 'B'],
        origin: ['name', 'name']
      }
    },
    operators: [],
    descriptions: [],
    nodes: {
      0: { operator: null, attributes: [], constants: [], tag: '' }
    }
  } as unknown as Bundle;
  expect(detailsOf(bundle, 0)?.scope).toEqual(['outer', 'inner']);
});

test('a page has text generation on the device of its bundle', async () => {
  const serving = { plans: [] };
  const hardware = { chosen: 'l4', precision: 'fp16', runtime: 'tensorrt' };
  const payload = { model: { name: 'm.onnx' }, hardware };
  const provider = (value: unknown): BundleProvider =>
    new BundleProvider(value as Bundle);
  const loaded = provider({ payload, serving });
  const { signal } = new AbortController();
  const servingOf = (choice: object): unknown =>
    loaded.serving!({ device: 'l4', precision: 'fp16', ...choice }, signal);
  expect(await servingOf({})).toBe(serving);
  expect(await servingOf({ runtime: 'tensorrt' })).toBe(serving);
  expect(await servingOf({ runtime: 'ort-cuda' })).toBeNull();
  expect(await servingOf({ precision: '' })).toBeNull();
  expect(await servingOf({ device: 't4' })).toBeNull();
  expect(provider({ payload }).serving).toBeUndefined();
  expect(provider({ payload, serving: null }).serving).toBeUndefined();
});

/** Names that every object answers to. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

test('attributes may have any name', () => {
  const attributes = INHERITED.map(name => ({ name, value: '1' }));
  const texts = (about: object): unknown =>
    detailsOf(
      {
        payload: {
          ops: [{ type: 'Odd', domain: 'd', opset: 1 }],
          nodes: { op: [0], name: ['n'], scope: [-1] },
          scopes: { parent: [], origin: [], label: [], type: [] }
        },
        nodes: { '0': { operator: 0, attributes } },
        descriptions: [about],
        operators: []
      } as unknown as Bundle,
      0
    )?.attributes.map(({ description }) => description);
  expect(texts({})).toEqual(INHERITED.map(() => ''));
  const about = Object.fromEntries(INHERITED.map(name => [name, name]));
  expect(texts(about)).toEqual(INHERITED);
});
