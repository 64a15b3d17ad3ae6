import { afterEach, expect, test, vi } from 'vitest';
import { unpacked, unpackJson } from './unpack';

const PACKED = new Uint8Array(4_000_000);
/** Bytes that a byte of gzip can hold. */
const RATIO = 1000;

async function packed(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Response(text).body!.pipeThrough(
    new CompressionStream('gzip')
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function sizeOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>
): Promise<number> {
  return (await new Response(stream).arrayBuffer()).byteLength;
}

/** As in browsers, which unpack a whole piece before anything behind it runs; counts what is unpacked. */
function greedy(): { unpacked: number } {
  const counts = { unpacked: 0 };
  class Greedy extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({
        transform: (chunk, controller) => {
          counts.unpacked += chunk.length * RATIO;
          controller.enqueue({ length: chunk.length * RATIO } as Uint8Array);
        }
      });
    }
  }
  vi.stubGlobal('DecompressionStream', Greedy);
  return counts;
}

afterEach(() => vi.unstubAllGlobals());

test.each([0, 1, 1_000_000, 100_000_000])(
  'unpacks little beyond a limit of %i bytes',
  async limit => {
    const counts = greedy();
    await expect(sizeOf(unpacked(PACKED, limit))).rejects.toThrow();
    // Two pieces may be on the way.
    expect(counts.unpacked).toBeLessThan(limit + 3 * RATIO * (1 << 14));
  }
);

test('has a limit where none is given', async () => {
  const counts = greedy();
  await expect(sizeOf(unpacked(PACKED))).rejects.toThrow();
  expect(counts.unpacked).toBeLessThan(600_000_000);
});

test.each([0, 1, 16_383, 16_384, 16_385, 3_000_000])(
  'passes %i bytes within the limit unchanged',
  async size => {
    const text = Array.from({ length: size }, (_, i) => (i * i) % 10).join('');
    const bytes = await packed(text);
    expect(await new Response(unpacked(bytes, size)).text()).toBe(text);
    if (size > 0) {
      await expect(sizeOf(unpacked(bytes, size - 1))).rejects.toThrow(
        `more than ${size - 1} bytes`
      );
    }
  }
);

test('reads views of buffers, and other formats', async () => {
  const bytes = await packed('[1]');
  const inside = new Uint8Array(bytes.length + 8);
  inside.set(bytes, 4);
  const view = new DataView(inside.buffer, 4, bytes.length);
  expect(await unpackJson(view)).toEqual([1]);
  expect(await unpackJson(bytes.buffer)).toEqual([1]);
  await expect(sizeOf(unpacked(bytes, 99, 'deflate-raw'))).rejects.toThrow();
});

test('shares one budget among several', async () => {
  const bytes = await packed('[' + ' '.repeat(5_000) + ']');
  const budget = { left: 12_000 };
  await unpackJson(bytes, budget);
  await unpackJson(bytes, budget);
  await expect(unpackJson(bytes, budget)).rejects.toThrow();
});
