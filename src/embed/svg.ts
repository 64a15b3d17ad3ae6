/**
 * SVG on the command line: JSON `{"payload": …, "options": …}` on stdin, the file on stdout. Exit
 * status 1 with one line on stderr when it cannot be drawn.
 */

import sheet from '../../style/graph.css';
import type { GraphPayload } from '../schema';
import { headlessSvg, type IHeadlessOptions } from '../viewer/export/headless';

/** The part of Node's `process` that is used here. */
declare const process: {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  exitCode: number;
};

interface IRequest {
  readonly payload: GraphPayload;
  readonly options: IHeadlessOptions;
}

async function main(): Promise<void> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const part of process.stdin) {
    parts.push(decoder.decode(part, { stream: true }));
  }
  const text = parts.join('') + decoder.decode();
  const { payload, options } = JSON.parse(text) as IRequest;
  process.stdout.write(await headlessSvg(payload, sheet, options));
}

main().catch((error: unknown) => {
  const name = error instanceof Error ? error.name : 'Error';
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${name}: ${reason}\n`);
  process.exitCode = 1;
});
