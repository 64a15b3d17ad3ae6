/** A report with a block of each kind. */

import type { ReportDocument, SectionBlock } from '../../schema';

const BLOCK: SectionBlock = {
  kind: '',
  title: '',
  lines: [],
  head: [],
  rows: [],
  numeric: [],
  more: '',
  stages: [],
  caption: ''
};

export function testReport(
  sizes: ReportDocument['sizes'] = {}
): ReportDocument {
  return {
    title: 'model.onnx',
    subtitle: 'Image classification',
    tiles: [
      ['Parameters', '25.5 M'],
      ['MACs', '≥ 4.09 G']
    ],
    sizes,
    sections: [
      {
        id: 'summary',
        title: 'Summary',
        blocks: [
          {
            ...BLOCK,
            kind: 'paragraph',
            title: 'In short',
            lines: [
              [
                { kind: 'value', text: '12.5 %' },
                { kind: 'text', text: ' of ' },
                { kind: 'name', text: '<b>conv\u202e</b>' }
              ]
            ]
          },
          {
            ...BLOCK,
            kind: 'items',
            title: 'Why',
            lines: [
              [{ kind: 'text', text: 'one' }],
              [{ kind: 'text', text: 'two' }]
            ]
          }
        ]
      },
      {
        id: 'operators',
        title: 'Operators',
        blocks: [
          {
            ...BLOCK,
            kind: 'table',
            title: 'All',
            head: ['Operator', 'Nodes'],
            rows: [
              [
                [{ kind: 'name', text: 'Conv' }],
                [{ kind: 'value', text: '53' }]
              ]
            ],
            numeric: [false, true],
            more: '… 1,234 more'
          },
          {
            ...BLOCK,
            kind: 'diagram',
            stages: [
              { title: 'Inputs', detail: '1 input' },
              { title: 'Stem ×2', detail: '3 nodes' }
            ],
            caption: 'Stages in execution order'
          },
          { ...BLOCK, kind: 'of a later version' }
        ]
      }
    ]
  };
}
