/**
 * Draws SVG without a page. In Node.js: reads JSON `{"payload": …, "options": …}` from stdin, writes the
 * file to stdout, or exits with status 1 and one line on stderr. In an engine without a process, the host
 * calls `drawSvg`.
 */

import sheet from '../../style/graph.css';
import type { ComparisonColumns, GraphPayload } from '../schema';
import { headlessSvg, type IHeadlessOptions } from '../viewer/export/headless';
import { mergedSvg } from '../viewer/export/headlessMerged';

/** The part of Node.js' `process` that is used here. */
interface IProcess {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  exitCode: number;
}

interface IDrawRequest {
  readonly payload: GraphPayload;
  readonly options: IHeadlessOptions;
  /** Another model to merge into the same graph, and the alignment of the two. */
  readonly other?: GraphPayload;
  readonly comparison?: ComparisonColumns;
}

const host = globalThis as {
  process?: IProcess;
  setTimeout?: unknown;
  drawSvg?: typeof drawSvg;
};

function drawSvg(request: string): Promise<string> {
  const { payload, options, other, comparison } = JSON.parse(
    request
  ) as IDrawRequest;
  if (other && comparison) {
    return mergedSvg(payload, other, comparison, sheet, options);
  }
  return headlessSvg(payload, sheet, options);
}

function errorText(error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  const reason = error instanceof Error ? error.message : String(error);
  return `${name}: ${reason}`;
}

async function main({ stdin, stdout }: IProcess): Promise<void> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const chunk of stdin) {
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  stdout.write(await drawSvg(parts.join('') + decoder.decode()));
}

if (host.process) {
  const { process } = host;
  main(process).catch((error: unknown) => {
    process.stderr.write(`${errorText(error)}\n`);
    process.exitCode = 1;
  });
} else {
  // An engine without an event loop: waiting for a microtask is enough.
  host.setTimeout ??= (callback: () => void) =>
    void Promise.resolve().then(callback);
  host.drawSvg = async request => {
    try {
      return await drawSvg(request);
    } catch (error) {
      throw errorText(error);
    }
  };
}
