/** Provides a model from a bundle that was analysed before, without a server. */

import type {
  Bundle,
  ComparisonColumns,
  GraphPayload,
  NodeDetails,
  ReportDocument,
  AttributeInfo
} from '../schema';
import type { ILoadOptions, IProgress, IReportProvider } from './provider';
import { ProblemError, localProblem } from './provider';
import { unpackJson, type IByteBudget } from './unpack';
import { ownValue } from '../core/base/ownValue';

/** Origins of boxes that are not modules. */
const NO_MODULE = new Set(['repeat', 'repeat-part', 'structure', 'plumbing']);

/** The bundle version that this viewer reads. */
const BUNDLE_VERSION = 2;
/** The previous version, still found in notebooks. */
const FORMER_VERSION = 1;

/**
 * Reads gzipped JSON of at most `maxBytes` bytes; `upgrade` converts data of earlier versions. Rejects with a
 * `ProblemError` that explains what is wrong.
 */
export async function readBundle(
  bytes: BufferSource,
  maxBytes?: number | IByteBudget,
  upgrade: ((payload: GraphPayload) => GraphPayload) | null = null
): Promise<Bundle> {
  let bundle: Bundle;
  try {
    bundle = await unpackJson<Bundle>(bytes, maxBytes);
  } catch (error) {
    throw new ProblemError(
      localProblem(
        'bundle-corrupt',
        'The embedded model cannot be read',
        error instanceof Error ? error.message : String(error),
        'Create the file again from the model.'
      )
    );
  }
  if (bundle.version === FORMER_VERSION && upgrade) {
    const payload = upgrade(bundle.payload);
    return { ...bundle, version: BUNDLE_VERSION, payload };
  }
  if (bundle.version !== BUNDLE_VERSION) {
    throw new ProblemError(
      localProblem(
        'bundle-version',
        'The embedded model has another format',
        `It has version ${bundle.version}, this viewer reads ${BUNDLE_VERSION}.`,
        'Use the same version of ONNX Autodoc for both.'
      )
    );
  }
  return bundle;
}

/** Answers `compare` for `partner` with an embedded, gzipped alignment. */
export function embeddedComparison(
  partner: () => IReportProvider | null,
  bytes: () => BufferSource
): NonNullable<IReportProvider['compare']> {
  return async other =>
    other === partner() ? unpackJson<ComparisonColumns>(bytes()) : null;
}

/** Serves the contents of a bundle. Symbols cannot be set: that needs an analysis. */
export class BundleProvider implements IReportProvider {
  readonly exportName: string;
  readonly fixedDims = true;
  /** Set if the bundle comes with an alignment with another model. */
  compare: IReportProvider['compare'];
  /** Set if printing prints the report. */
  print: IReportProvider['print'];

  constructor(private readonly _bundle: Bundle) {
    const { name } = _bundle.payload.model;
    this.exportName = name.replace(/\.onnx$/i, '') || 'model';
  }

  /** The report in the bundle. */
  get document(): ReportDocument | null {
    return this._bundle.document ?? null;
  }

  get sections(): IReportProvider['sections'] {
    const { document } = this;
    return document ? () => Promise.resolve(document) : undefined;
  }

  /** Serving plans for the device that the page was written for. */
  get serving(): IReportProvider['serving'] {
    const { serving, payload } = this._bundle;
    const { chosen: device, precision, runtime } = payload.hardware ?? {};
    return serving
      ? choice =>
          Promise.resolve(
            choice.device === device &&
              choice.precision === precision &&
              (choice.runtime || runtime) === runtime
              ? serving
              : null
          )
      : undefined;
  }

  load(
    _options: ILoadOptions,
    _onProgress: (progress: IProgress) => void,
    _signal: AbortSignal
  ): Promise<GraphPayload> {
    return Promise.resolve(this._bundle.payload);
  }

  details(node: number, _signal: AbortSignal): Promise<NodeDetails> {
    const details = detailsOf(this._bundle, node);
    return details
      ? Promise.resolve(details)
      : Promise.reject(
          new ProblemError(
            localProblem(
              'not-embedded',
              'Attributes are not embedded',
              'The model is too large to embed the attributes of its nodes.',
              'Open the model itself in JupyterLab to see them.'
            )
          )
        );
  }
}

/**
 * The enclosing scope; ids that do not decrease end the walk, so that an invalid bundle cannot cause a
 * cycle.
 */
function enclosingScope(parent: readonly number[], scope: number): number {
  return parent[scope] < scope ? parent[scope] : -1;
}

/** The reassembled details of a node; null if the bundle has none. */
export function detailsOf(bundle: Bundle, node: number): NodeDetails | null {
  const entry = bundle.nodes[String(node)];
  if (!entry) {
    return null;
  }
  const { nodes, ops, scopes } = bundle.payload;
  const op = ops[nodes.op[node]];
  const about =
    entry.operator === null ? {} : (bundle.descriptions[entry.operator] ?? {});
  const attributes: AttributeInfo[] = entry.attributes.map(attribute => ({
    ...attribute,
    description: ownValue(about, attribute.name) ?? ''
  }));
  const scope: string[] = [];
  const classes: string[] = [];
  for (
    let ancestor = nodes.scope[node];
    ancestor >= 0;
    ancestor = enclosingScope(scopes.parent, ancestor)
  ) {
    if (NO_MODULE.has(scopes.origin[ancestor])) {
      continue;
    }
    scope.unshift(scopes.label[ancestor]);
    classes.unshift(scopes.type[ancestor]);
  }
  return {
    id: node,
    name: nodes.name[node],
    type: op.type,
    domain: op.domain,
    opset: op.opset,
    tag: entry.tag,
    module: entry.module ?? null,
    scope,
    classes,
    doc_string: entry.doc_string,
    metadata: entry.metadata,
    attributes,
    constants: entry.constants,
    operator:
      entry.operator === null
        ? null
        : (bundle.operators[entry.operator] ?? null),
    stack_trace: ''
  };
}
