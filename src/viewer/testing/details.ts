import type { NodeDetails } from '../../schema';

/** Details of a Conv with everything that the inspector shows. */
export function convDetails(
  id = 0,
  change: Partial<NodeDetails> = {}
): NodeDetails {
  return {
    id,
    name: `conv_${id}`,
    type: 'Conv',
    domain: 'ai.onnx',
    opset: 20,
    tag: '/Net/Block.0/Conv',
    scope: ['net', 'block.0'],
    classes: ['Net', 'Block'],
    doc_string: '',
    metadata: {},
    attributes: [
      {
        name: 'strides',
        type: 'ints',
        value: [2, 2],
        default: false,
        description: 'Stride along each axis.'
      },
      {
        name: 'auto_pad',
        type: 'string',
        value: 'NOTSET',
        default: true,
        description: 'How to pad.'
      }
    ],
    constants: [
      {
        tensor: 1,
        name: 'w0',
        elem_type: 'float32',
        shape: [8, 8],
        bytes: 256,
        location: 'inline',
        values: [0.5, -1, 2]
      }
    ],
    operator: {
      type: 'Conv',
      domain: 'ai.onnx',
      since_version: 11,
      deprecated: false,
      doc: 'The convolution consumes `X` and a **filter**.\n\n- one\n- two',
      inputs: [
        { name: 'X', type: 'T', description: 'Input data.' },
        { name: 'W', type: 'T', description: 'Weights.' }
      ],
      outputs: [{ name: 'Y', type: 'T', description: 'Output data.' }],
      url: 'https://onnx.ai/onnx/operators/onnx__Conv.html'
    },
    stack_trace: 'File "model.py", line 3, in forward',
    module: null,
    ...change
  };
}
