/** The models that the benchmarks of pictures look at, analysed, and the viewer's code to draw them with. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Takes `--name VALUE` out of the arguments. */
export function option(args, name, fallback) {
  const position = args.indexOf(`--${name}`);
  return position < 0 ? fallback : args.splice(position, 2)[1];
}

/** Takes `--name` out of the arguments; whether it was there. */
export function flag(args, name) {
  const position = args.indexOf(`--${name}`);
  return position >= 0 && args.splice(position, 1).length > 0;
}

const ANALYSE = `
import io, sys, tempfile, zipfile
from pathlib import Path
import msgspec
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload
out, *given = sys.argv[1:]
def put(name, path):
    to = Path(out, name + ".json")
    if not to.exists():
        payload = build_payload(run_analysis(str(path), Options(assume=True)))
        to.write_bytes(msgspec.json.encode(msgspec.structs.replace(payload, expressions=None, timeline=None)))
data = Path("tests/data")
for path in [Path(p) for p in given] or sorted([*data.glob("models/*.onnx"), *data.glob("stripped/*.onnx")]):
    put(path.parent.name + "-" + path.stem, path)
zoo = data / "zoo.zip"
if not given and zoo.exists():
    with zipfile.ZipFile(zoo) as packed, tempfile.TemporaryDirectory() as folder:
        for name in sorted(packed.namelist()):
            if name.endswith(".onnx"):
                put("zoo-" + Path(name).stem, packed.extract(name, folder))
`;

/** The files that are named; of a folder all models in it. */
function modelsIn(args) {
  return args.flatMap(path =>
    statSync(path).isDirectory()
      ? readdirSync(path)
          .filter(name => name.endsWith('.onnx'))
          .map(name => join(path, name))
      : [path]
  );
}

/** Name and file of the payload of each model: those `given`, else all of the test data. */
export function payloads(keep, args) {
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'autodoc-first-'));
  mkdirSync(folder, { recursive: true });
  const venvPython = join(root, '.venv/bin/python');
  const python =
    process.env.PYTHON ?? (existsSync(venvPython) ? venvPython : 'python3');
  execFileSync(python, ['-c', ANALYSE, folder, ...modelsIn(args)], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit']
  });
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => [name.slice(0, -5), join(folder, name)]);
}

/** A module of what these lines of TypeScript export. */
export async function load(contents) {
  const outfile = join(mkdtempSync(join(tmpdir(), 'autodoc-first-')), 'x.mjs');
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error'
  });
  return import(pathToFileURL(outfile).href);
}
