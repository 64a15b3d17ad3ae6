import { describe, expect, it } from 'vitest';
import { encodePng, type PaintTile, TILE_HEIGHT, TILE_WIDTH } from './png';

/** A colour that encodes the pixel's position. */
const colorAt = (x: number, y: number): number[] => [
  (x * 7) & 255,
  (y * 13) & 255,
  (x + y) & 255
];

const paint: PaintTile = (x, y, w, h) => {
  const data = new Uint8ClampedArray(4 * w * h);
  for (let i = 0; i < w * h; i++) {
    data.set([...colorAt(x + (i % w), y + Math.floor(i / w)), 255], 4 * i);
  }
  return data;
};

interface IDecoded {
  readonly width: number;
  readonly height: number;
  readonly names: string[];
  pixel(x: number, y: number): number[];
}

/** Decodes a file: signature, checksums, filter Up. */
async function decoded(blob: Blob): Promise<IDecoded> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(bytes.buffer);
  expect([...bytes.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
  const names: string[] = [];
  const data: Uint8Array<ArrayBuffer>[] = [];
  let [width, height] = [0, 0];
  for (let offset = 8; offset < bytes.length;) {
    const length = view.getUint32(offset);
    const name = String.fromCharCode(...bytes.subarray(offset + 4, offset + 8));
    const body = bytes.subarray(offset + 8, offset + 8 + length);
    expect(view.getUint32(offset + 8 + length)).toBe(
      crc32(bytes.subarray(offset + 4, offset + 8 + length))
    );
    names.push(name);
    if (name === 'IHDR') {
      [width, height] = [
        view.getUint32(offset + 8),
        view.getUint32(offset + 12)
      ];
      expect([...body.subarray(8)]).toEqual([8, 2, 0, 0, 0]);
    } else if (name === 'IDAT') {
      data.push(body);
    }
    offset += 12 + length;
  }
  const stream = new Blob(data)
    .stream()
    .pipeThrough(new DecompressionStream('deflate'));
  const rows = new Uint8Array(await new Response(stream).arrayBuffer());
  const stride = 3 * width;
  expect(rows.length).toBe((stride + 1) * height);
  for (let y = 1; y < height; y++) {
    for (let i = 1; i <= stride; i++) {
      rows[y * (stride + 1) + i] += rows[(y - 1) * (stride + 1) + i];
    }
  }
  return {
    width,
    height,
    names,
    pixel: (x, y) => {
      expect(rows[y * (stride + 1)]).toBe(2);
      const offset = y * (stride + 1) + 1 + 3 * x;
      return [...rows.subarray(offset, offset + 3)];
    }
  };
}

/** CRC-32 bit by bit. */
function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of bytes) {
    c ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    }
  }
  return (c ^ 0xffffffff) >>> 0;
}

describe('PNG files', () => {
  it.each([
    [1, 1],
    [5, 3],
    [3, TILE_HEIGHT + 2],
    [TILE_WIDTH + 3, 2]
  ])('of %i × %i pixels contain every pixel of every tile', async (w, h) => {
    const png = await decoded(await encodePng(w, h, 96, paint));
    expect([png.width, png.height]).toEqual([w, h]);
    expect(png.names[0]).toBe('IHDR');
    expect(png.names[png.names.length - 1]).toBe('IEND');
    for (const x of new Set([0, w >> 1, Math.min(w - 1, TILE_WIDTH), w - 1])) {
      for (const y of new Set([
        0,
        h >> 1,
        Math.min(h - 1, TILE_HEIGHT),
        h - 1
      ])) {
        expect(png.pixel(x, y)).toEqual(colorAt(x, y));
      }
    }
  });

  it('are not written if a tile cannot be painted', async () => {
    const fail: PaintTile = () => {
      throw new Error('lost');
    };
    await expect(encodePng(4, 4, 96, fail)).rejects.toThrow('lost');
  });
});
