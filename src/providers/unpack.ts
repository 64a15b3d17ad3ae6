/** Unpacks compressed data within a limit, which holds while it is unpacked. */

/**
 * Bytes that are unpacked at once. Browsers unpack a whole piece before anything can be counted, and a byte
 * of gzip can hold a thousand.
 */
const PIECE = 1 << 14;

/** No text can be longer than this in any browser. */
const MAX_UNPACKED_BYTES = 500_000_000;

/** Bytes that may still be unpacked, by all that share it. */
export interface IByteBudget {
  left: number;
}

/** The unpacked bytes; fails as soon as there are more than allowed, and unpacks no more. */
export function unpacked(
  packed: BufferSource,
  maxBytes: number | IByteBudget = MAX_UNPACKED_BYTES,
  format: CompressionFormat = 'gzip'
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return pieces(bytesIn(packed))
    .pipeThrough(new DecompressionStream(format))
    .pipeThrough(
      byteLimit(typeof maxBytes === 'number' ? { left: maxBytes } : maxBytes)
    );
}

/** Parses gzipped JSON. Rejects if it is invalid, or longer than allowed. */
export async function unpackJson<T>(
  packed: BufferSource,
  maxBytes?: number | IByteBudget
): Promise<T> {
  return (await new Response(unpacked(packed, maxBytes)).json()) as T;
}

function bytesIn(source: BufferSource): Uint8Array<ArrayBuffer> {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** The bytes piece by piece, each when the one before was taken. */
function pieces(
  bytes: Uint8Array<ArrayBuffer>
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let start = 0;
  return new ReadableStream(
    {
      pull: controller => {
        if (start >= bytes.length) {
          controller.close();
          return;
        }
        controller.enqueue(bytes.subarray(start, start + PIECE));
        start += PIECE;
      }
    },
    { highWaterMark: 0 }
  );
}

/** Passes a number of bytes and fails on the next. */
function byteLimit(
  budget: IByteBudget
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const bytes = budget.left;
  return new TransformStream({
    transform: (chunk, controller) => {
      budget.left -= chunk.length;
      if (budget.left < 0) {
        throw new Error(`It unpacks to more than ${bytes} bytes.`);
      }
      controller.enqueue(chunk);
    }
  });
}
