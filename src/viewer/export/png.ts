/**
 * Encodes PNG files larger than a canvas can be: painted in tiles, written row by row (PNG specification,
 * third edition: signature, IHDR, IDAT, IEND; 8-bit RGB, filter "Up").
 */

/** Paints the pixels of a tile: RGBA, row by row. */
export type PaintTile = (
  x: number,
  y: number,
  w: number,
  h: number
) => Uint8ClampedArray | Uint8Array;

/** Sides of a tile; every browser supports canvases of this size. */
export const TILE_WIDTH = 4096;
export const TILE_HEIGHT = 512;

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];
const RGB = 2;
const FILTER_UP = 2;

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) {
    c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  }
  return c >>> 0;
});

function crc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) {
    c = CRC[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  }
  return (c ^ 0xffffffff) >>> 0;
}

function chunk(
  type: string,
  data: Uint8Array | readonly number[]
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) {
    bytes[4 + i] = type.charCodeAt(i);
  }
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function header(
  width: number,
  height: number,
  dpi: number
): Uint8Array<ArrayBuffer>[] {
  const size = new DataView(new ArrayBuffer(8));
  size.setUint32(0, width);
  size.setUint32(4, height);
  const perMetre = new DataView(new ArrayBuffer(8));
  perMetre.setUint32(0, Math.round(dpi / 0.0254));
  perMetre.setUint32(4, Math.round(dpi / 0.0254));
  const bytes = (view: DataView): number[] => [...new Uint8Array(view.buffer)];
  return [
    Uint8Array.from(SIGNATURE),
    chunk('IHDR', [...bytes(size), 8, RGB, 0, 0, 0]),
    chunk('pHYs', [...bytes(perMetre), 1])
  ];
}

/**
 * The filtered rows of a band of tiles; `above` holds the previous row and is updated to its last row.
 */
function band(
  width: number,
  y: number,
  h: number,
  above: Uint8Array,
  paint: PaintTile
): Uint8Array<ArrayBuffer> {
  const stride = 3 * width;
  const scanlines = new Uint8Array(stride * h);
  for (let x = 0; x < width; x += TILE_WIDTH) {
    const w = Math.min(TILE_WIDTH, width - x);
    const tile = paint(x, y, w, h);
    for (let row = 0; row < h; row++) {
      let to = row * stride + 3 * x;
      for (let from = 4 * w * row; from < 4 * w * (row + 1); from += 4) {
        scanlines[to++] = tile[from];
        scanlines[to++] = tile[from + 1];
        scanlines[to++] = tile[from + 2];
      }
    }
  }
  const rows = new Uint8Array((stride + 1) * h);
  for (let row = 0; row < h; row++) {
    const start = row * (stride + 1);
    rows[start] = FILTER_UP;
    for (let i = 0; i < stride; i++) {
      const before = row === 0 ? above[i] : scanlines[(row - 1) * stride + i];
      rows[start + 1 + i] = scanlines[row * stride + i] - before;
    }
  }
  above.set(scanlines.subarray((h - 1) * stride));
  return rows;
}

/** A PNG of `width` × `height` pixels; alpha is dropped. Rejects if a tile cannot be painted. */
export async function encodePng(
  width: number,
  height: number,
  dpi: number,
  paint: PaintTile
): Promise<Blob> {
  const parts = header(width, height, dpi);
  const packer = new CompressionStream('deflate');
  const packed = collect(packer.readable.getReader(), parts);
  const writer = packer.writable.getWriter();
  const above = new Uint8Array(3 * width);
  for (let y = 0; y < height; y += TILE_HEIGHT) {
    const h = Math.min(TILE_HEIGHT, height - y);
    await writer.write(band(width, y, h, above, paint));
  }
  await writer.close();
  await packed;
  parts.push(chunk('IEND', []));
  return new Blob(parts, { type: 'image/png' });
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  parts: Uint8Array<ArrayBuffer>[]
): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    parts.push(chunk('IDAT', value));
  }
}
