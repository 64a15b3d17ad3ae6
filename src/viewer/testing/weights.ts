import type { WeightValues } from '../../schema';

/** Values of a small float weight. */
export function weightValues(
  tensor: number,
  change: Partial<WeightValues> = {}
): WeightValues {
  return {
    tensor,
    name: `w${tensor}`,
    graph: '',
    kind: 'initializer',
    elem_type: 'float32',
    shape: [2, 3],
    elements: 6,
    stored: 6,
    sparse: false,
    bytes: 24,
    storage: 'inline',
    location: '',
    offset: 1234,
    zeros: 1,
    nan: 0,
    inf: 0,
    min: -1.25,
    max: 2,
    mean: 0.2083333333,
    std: 1.1,
    distinct: 6,
    quantiles: {
      '0.01': -1.25,
      '0.05': -1.25,
      '0.25': -0.5,
      '0.5': 0,
      '0.75': 1,
      '0.95': 2,
      '0.99': 2
    },
    histogram: { edges: [-1.25, 0, 1, 2], counts: [2, 300, 3], whole: false },
    values: [-1.25, -0.5, 0, 0.0125, 1, 2],
    indices: null,
    ...change
  };
}
