/**
 * The one table of metrics. Generated from `py_autodoc/metrics.py` by `scripts/generate.py`; do not edit.
 */

/** What translates a label; `ITranslate` of the viewer does. */
interface ILabels {
  __(msgid: string): string;
}

type Label = (trans: ILabels) => string;

export interface ITotal {
  /** Field of the payload's `metrics`; none where it is not there. */
  readonly field?: TotalField;
  /** Where it is not the metric's. */
  readonly label?: Label;
  /** One sentence: what is counted. */
  readonly about?: Label;
  /** The share of `coverage` below which the sum is a lower bound. */
  readonly covered?: 'macs' | 'nodes';
  /** Field of `metrics` that says why there is no number. */
  readonly reason?: ReasonField;
  /** The metric that colours the graph by it. */
  readonly heatmap?: HeatmapMetric;
  /** Only shown where it is not 0. */
  readonly optional?: true;
}

export interface IMetric {
  readonly label: Label;
  /** Head of a table's column, where the label is too long. */
  readonly short?: Label;
  readonly unit: Unit;
  /** The payload has its column, of one execution or of one inference. */
  readonly stored?: 'execution' | 'inference';
  /** Estimated for a device, and there only once one is chosen. */
  readonly device?: true;
  /** A quotient of sums of columns, or a sum where nothing is under it. */
  readonly over?: readonly StoredMetric[];
  readonly under?: readonly StoredMetric[];
  /** False where parts do not add up to a whole. */
  readonly additive?: false;
  /** Head of the column of its shares. */
  readonly share?: Label;
  /** Colours of its heatmap; default viridis. */
  readonly ramp?: RampId;
  /** Fields of queries. */
  readonly query?: readonly string[];
  readonly total?: ITotal;
}

export type Unit =
  'params' | 'MACs' | 'FLOPs' | 'bytes' | 'FLOP/B' | 's' | 'nodes';

/** Columns of the payload, in the order of the wire. */
export type StoredMetric =
  | 'params'
  | 'weight_bytes'
  | 'macs'
  | 'flops'
  | 'read_bytes'
  | 'write_bytes'
  | 'activation_bytes';

/** Those that the payload has of one execution. */
export type ExecutionMetric = 'macs' | 'flops' | 'read_bytes' | 'write_bytes';

/** Computed from columns. */
export type DerivedMetric = 'moved_bytes' | 'intensity';

/** Of a chosen device. */
export type DeviceMetric = 'latency';

export type HeatmapMetric =
  | 'macs'
  | 'flops'
  | 'params'
  | 'weight_bytes'
  | 'activation_bytes'
  | 'intensity'
  | 'latency';

export type TotalField =
  | 'total_params'
  | 'weight_bytes'
  | 'total_macs'
  | 'total_flops'
  | 'data_dependent_flops'
  | 'read_bytes'
  | 'write_bytes'
  | 'peak_activation_bytes';

export type ReasonField = 'params_reason' | 'peak_reason';

/** Ids by place, in its order. */
export const SHOWN = {
  heatmap: [
    'macs',
    'flops',
    'params',
    'weight_bytes',
    'activation_bytes',
    'intensity',
    'latency'
  ],
  costs: [
    'params',
    'macs',
    'flops',
    'weight_bytes',
    'activation_bytes',
    'read_bytes',
    'write_bytes'
  ],
  chart: [
    'macs',
    'flops',
    'params',
    'weight_bytes',
    'activation_bytes',
    'latency'
  ],
  attachment: [
    'macs',
    'flops',
    'params',
    'weight_bytes',
    'activation_bytes',
    'read_bytes',
    'write_bytes',
    'intensity'
  ],
  strip: [
    'params',
    'macs',
    'flops',
    'weight_bytes',
    'data_dependent_flops',
    'peak'
  ]
} as const;
/** Numeric columns of the table, in order; shares sort as what they are shares of. */
export const METRIC_COLUMNS = {
  params: 'params',
  params_share: 'params',
  weight_bytes: 'weight_bytes',
  macs: 'macs',
  macs_share: 'macs',
  flops: 'flops',
  latency_s: 'latency',
  latency_share: 'latency',
  read_bytes: 'read_bytes',
  write_bytes: 'write_bytes',
  activation_bytes: 'activation_bytes',
  intensity: 'intensity'
} as const;
export type TotalMetric =
  | 'params'
  | 'macs'
  | 'flops'
  | 'weight_bytes'
  | 'data_dependent_flops'
  | 'peak';

export type AnyMetric =
  StoredMetric | DerivedMetric | DeviceMetric | TotalMetric;
export const METRICS: Readonly<Record<AnyMetric, IMetric>> = {
  params: {
    label: t => t.__('Parameters'),
    short: t => t.__('Params'),
    unit: 'params',
    stored: 'inference',
    share: t => t.__('% params'),
    query: ['params'],
    total: {
      field: 'total_params',
      about: t =>
        t.__(
          'Elements in float and quantized weights. Tied weights are counted once.'
        ),
      reason: 'params_reason',
      heatmap: 'params'
    }
  },
  weight_bytes: {
    label: t => t.__('Weight bytes'),
    short: t => t.__('Weights'),
    unit: 'bytes',
    stored: 'inference',
    query: ['weights', 'weight_bytes'],
    total: {
      field: 'weight_bytes',
      label: t => t.__('Weights'),
      about: t => t.__('Size of all constants in their stored data types.'),
      heatmap: 'weight_bytes'
    }
  },
  macs: {
    label: t => t.__('MACs'),
    unit: 'MACs',
    stored: 'execution',
    share: t => t.__('% MACs'),
    query: ['macs'],
    total: {
      field: 'total_macs',
      about: t =>
        t.__('Multiply-accumulate operations (MACs) in one inference.'),
      covered: 'macs',
      heatmap: 'macs'
    }
  },
  flops: {
    label: t => t.__('FLOPs'),
    unit: 'FLOPs',
    stored: 'execution',
    query: ['flops'],
    total: {
      field: 'total_flops',
      about: t =>
        t.__('2 per MAC, plus the arithmetic of all other operators.'),
      covered: 'nodes',
      heatmap: 'flops'
    }
  },
  data_dependent_flops: {
    label: t => t.__('Data-dependent FLOPs'),
    unit: 'FLOPs',
    total: {
      field: 'data_dependent_flops',
      label: t => t.__('FLOPs by data, at most'),
      about: t =>
        t.__(
          'What the data may add at most, such as boxes compared in NonMaxSuppression; not in FLOPs.'
        ),
      optional: true
    }
  },
  read_bytes: {
    label: t => t.__('Bytes read'),
    short: t => t.__('Read'),
    unit: 'bytes',
    stored: 'execution',
    query: ['read'],
    total: {
      field: 'read_bytes',
      label: t => t.__('Bytes read, unfused'),
      covered: 'nodes'
    }
  },
  write_bytes: {
    label: t => t.__('Bytes written'),
    short: t => t.__('Written'),
    unit: 'bytes',
    stored: 'execution',
    query: ['write'],
    total: {
      field: 'write_bytes',
      label: t => t.__('Bytes written, unfused'),
      covered: 'nodes'
    }
  },
  moved_bytes: {
    label: t => t.__('Bytes moved'),
    unit: 'bytes',
    over: ['read_bytes', 'write_bytes'],
    query: ['bytes']
  },
  activation_bytes: {
    label: t => t.__('Activation bytes'),
    short: t => t.__('Activation'),
    unit: 'bytes',
    stored: 'inference',
    query: ['activation', 'activation_bytes']
  },
  intensity: {
    label: t => t.__('Arithmetic intensity'),
    short: t => t.__('FLOP/B'),
    unit: 'FLOP/B',
    over: ['flops'],
    under: ['read_bytes', 'write_bytes'],
    additive: false,
    query: ['intensity']
  },
  latency: {
    label: t => t.__('Latency'),
    unit: 's',
    device: true,
    share: t => t.__('% latency'),
    query: ['latency']
  },
  peak: {
    label: t => t.__('Peak activations'),
    short: t => t.__('Peak'),
    unit: 'bytes',
    additive: false,
    total: {
      field: 'peak_activation_bytes',
      about: t => t.__('Peak memory of live activations, weights excluded.'),
      reason: 'peak_reason',
      heatmap: 'activation_bytes'
    }
  }
};
/** Samples of colour scales at equal distances, dark to bright. */
export const RAMPS = {
  viridis: [
    '#440154',
    '#482878',
    '#3e4989',
    '#31688e',
    '#26828e',
    '#1f9e89',
    '#35b779',
    '#6ece58',
    '#b5de2b',
    '#fde725'
  ]
} as const;
export type RampId = keyof typeof RAMPS;
