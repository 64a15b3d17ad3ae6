/** What an output of the notebook widget keeps of its models: `py_autodoc/widget/saved_output.py` writes it. */

/** One model; what is chosen in it is read by the viewer, without trust. */
export interface ISavedModel {
  /** The packed bundle in base64. */
  readonly bundle: string;
  readonly overlay: unknown;
  readonly selection: unknown;
  readonly view: unknown;
}

export interface ISavedOutput {
  /** None where they were too large. */
  readonly models: readonly ISavedModel[];
  /** They stood in a box, each by itself; else two of them are a linked pair. */
  readonly separate: boolean;
  /** In pixels. */
  readonly height: number;
}

/** As the widget's trait. */
const HEIGHT = { least: 120, most: 5000, usual: 600 };
const PAIR = 2;
const MAX_MODELS_IN_BOX = 100;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Reads what a notebook holds; anything odd is left out. Never throws. */
export function readSaved(value: unknown): ISavedOutput {
  const raw = isRecord(value) ? value : {};
  const given = Array.isArray(raw.models) ? raw.models : [];
  const separate = raw.apart === true;
  const most = separate ? MAX_MODELS_IN_BOX : PAIR;
  const models = given.slice(0, most).flatMap((one: unknown) => {
    const { bundle, overlay, selection, view } = isRecord(one) ? one : {};
    return typeof bundle === 'string' && bundle !== ''
      ? [{ bundle, overlay, selection, view }]
      : [];
  });
  const height = Number(raw.height) || HEIGHT.usual;
  return {
    // A pair of which one half is missing is not a pair.
    models: models.length === given.length ? models : [],
    separate,
    height: Math.min(Math.max(height, HEIGHT.least), HEIGHT.most)
  };
}
