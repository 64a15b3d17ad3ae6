/**
 * SVG without a page. In Node: JSON `{"payload": …, "options": …}` on stdin, the file on stdout, exit status 1 with
 * one line on stderr when it cannot be drawn. In an engine without a process: the host calls `drawSvg`.
 */

import sheet from '../../style/graph.css';
import type { ComparisonColumns, GraphPayload } from '../schema';
import { headlessSvg, type IHeadlessOptions } from '../viewer/export/headless';
import { mergedSvg } from '../viewer/export/headlessMerged';

/** The part of Node's `process` that is used here. */
interface IProcess {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  exitCode: number;
}

interface IDrawRequest {
  readonly payload: GraphPayload;
  readonly options: IHeadlessOptions;
  /** A model that is drawn with it as one graph, and how the two correspond. */
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
  for await (const part of stdin) {
    parts.push(decoder.decode(part, { stream: true }));
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
  // A language without an event loop: a turn is all that is waited for.
  host.setTimeout ??= (done: () => void) => void Promise.resolve().then(done);
  host.drawSvg = async request => {
    try {
      return await drawSvg(request);
    } catch (error) {
      throw errorText(error);
    }
  };
}
