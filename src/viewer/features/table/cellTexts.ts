/** Texts of the table's cells and their sort order, computed lazily. */

import type { IGraphModel, ITree } from '../../../core/types';
import type { TextColumn } from './columns';
import { mainOutput } from '../../../core/model/decodePayload';

/** The first tensor that comes from another node or from outside, else the first one. */
function mainInput(model: IGraphModel, node: number): number {
  const from = model.inputOffsets[node];
  const to = model.inputOffsets[node + 1];
  for (let index = from; index < to; index++) {
    const tensor = model.inputs[index];
    const kind = tensor < 0 ? -1 : model.tensorKind[tensor];
    if (kind === 0 || kind === 1 || kind === 4) {
      return tensor;
    }
  }
  return from < to ? model.inputs[from] : -1;
}

type Field = 'label' | 'type';

/** `a/b/c` of every scope, from labels or from classes. */
function scopePaths(model: IGraphModel, field: Field): string[] {
  const { scopes } = model.payload;
  const paths: string[] = [];
  scopes.parent.forEach((parent, scope) => {
    const label = scopes[field][scope] ?? '';
    // A parent comes before its children.
    const above = parent >= 0 && parent < scope ? paths[parent] : '';
    paths.push(above && label ? `${above}/${label}` : above || label);
  });
  return paths;
}

export class CellTexts {
  private readonly _makers = new Map<TextColumn, (entity: number) => string>();
  private readonly _ranks = new Map<TextColumn, Float64Array>();

  constructor(private readonly _tree: ITree) {}

  /** Text of a cell; blocks have a label, class and path, but no shapes. */
  text(column: TextColumn, entity: number): string {
    let maker = this._makers.get(column);
    if (maker === undefined) {
      const { nodeCount } = this._tree.model;
      const node = this._nodeText(column);
      const group = this._groupText(column);
      maker = of => (of < nodeCount ? node(of) : group(of - nodeCount));
      this._makers.set(column, maker);
    }
    return maker(entity);
  }

  /** Rank of every entity's text among the distinct ones; numbers in texts compare as numbers. */
  ranks(column: TextColumn): Float64Array {
    let ranks = this._ranks.get(column);
    if (ranks === undefined) {
      const { model, groupCount } = this._tree;
      const texts = Array.from(
        { length: model.nodeCount + groupCount },
        (_, entity) => this.text(column, entity)
      );
      const { compare } = new Intl.Collator('en', { numeric: true });
      const rankOf = new Map(
        [...new Set(texts)]
          .sort(compare)
          .map((text, index): [string, number] => [text, index])
      );
      ranks = Float64Array.from(texts, text => rankOf.get(text) ?? 0);
      this._ranks.set(column, ranks);
    }
    return ranks;
  }

  private _nodeText(column: TextColumn): (node: number) => string {
    const { model } = this._tree;
    const shape = (tensor: number): string =>
      tensor < 0 ? '' : model.shapeText(tensor);
    const path = (field: Field): ((node: number) => string) => {
      const paths = scopePaths(model, field);
      return node => paths[model.nodeScope[node]] ?? '';
    };
    switch (column) {
      case 'name':
        return node => model.nodeName(node) || `#${node}`;
      case 'op':
        return node => model.opType(node);
      case 'module':
        return path('label');
      case 'classes':
        return path('type');
      case 'tag': {
        const { modules } = model.payload;
        return node => modules?.tag[modules.node[node]] ?? '';
      }
      case 'input_shape':
        return node => shape(mainInput(model, node));
      case 'output_shape':
        return node => shape(mainOutput(model, node));
      case 'dtype':
        return node => {
          const tensor = mainOutput(model, node);
          return tensor < 0 ? '' : model.dtypeText(tensor);
        };
    }
  }

  private _groupText(column: TextColumn): (group: number) => string {
    const { model, groupLabel, groupType, path } = this._tree;
    switch (column) {
      case 'name':
        return group => groupLabel[group];
      case 'op':
        return group => groupType[group];
      case 'module':
        return group => path(model.nodeCount + group).join('/');
      default:
        return () => '';
    }
  }
}
