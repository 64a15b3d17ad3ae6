/**
 * Models saved in an output of the notebook widget, as written by `py_autodoc/widget/saved_output.py`.
 */

/** One model; its view settings are validated by the viewer. */
export interface ISavedModel {
  /** The packed bundle in base64. */
  readonly bundle: string;
  readonly overlay: unknown;
  readonly selection: unknown;
  readonly view: unknown;
}

export interface ISavedOutput {
  /** Empty if they were too large. */
  readonly models: readonly ISavedModel[];
  /** True for separate models in a box; otherwise two models are a linked pair. */
  readonly separate: boolean;
  /** In pixels. */
  readonly height: number;
}

/** Limits of the widget's trait. */
const HEIGHT_LIMITS = { least: 120, most: 5000, usual: 600 };
const PAIR = 2;
const MAX_MODELS_IN_BOX = 100;
/** Characters of all models together, as in Python. */
const MAX_CHARACTERS = 1_000_000;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Reads the saved output, ignoring invalid parts. Never throws. */
export function readSaved(value: unknown): ISavedOutput {
  const raw = isRecord(value) ? value : {};
  const entries = Array.isArray(raw.models) ? raw.models : [];
  const separate = raw.apart === true;
  const maxModels = separate ? MAX_MODELS_IN_BOX : PAIR;
  const models = entries.slice(0, maxModels).flatMap((entry: unknown) => {
    const { bundle, overlay, selection, view } = isRecord(entry) ? entry : {};
    return typeof bundle === 'string' && bundle !== ''
      ? [{ bundle, overlay, selection, view }]
      : [];
  });
  const characters = models.reduce((sum, { bundle }) => sum + bundle.length, 0);
  const height = Number(raw.height) || HEIGHT_LIMITS.usual;
  return {
    // With one half missing, it is not a pair. What is too large is not decoded either.
    models:
      models.length === entries.length && characters <= MAX_CHARACTERS
        ? models
        : [],
    separate,
    height: Math.min(Math.max(height, HEIGHT_LIMITS.least), HEIGHT_LIMITS.most)
  };
}
