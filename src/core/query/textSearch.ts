/** Finds nodes and groups by words: names, types, domain, shapes, element type, attributes, scope path. */

import { attributeTexts } from '../model/nodeAttributes';
import type { ITree } from '../types';

/** A search term, lower case. */
export interface ITerm {
  readonly text: string;
  /** Quoted: must equal a whole name, type, shape or path part. */
  readonly exact: boolean;
}

const SCORE = {
  exactName: 100,
  exactType: 90,
  startsName: 60,
  startsType: 50,
  inName: 40,
  inType: 30,
  elsewhere: 10
} as const;

/** Fields of one entity, lower case. */
interface IFields {
  /** Last part of a node's name, or a group's label. */
  readonly name: string;
  readonly type: string;
  /** All searchable texts, separated by line feeds. */
  readonly text: string;
}

function scoreTerm(fields: IFields, term: ITerm): number {
  const { name, type, text } = fields;
  if (name === term.text) {
    return SCORE.exactName;
  }
  if (type === term.text) {
    return SCORE.exactType;
  }
  if (term.exact) {
    return text.includes(`\n${term.text}\n`) ? SCORE.elsewhere : 0;
  }
  if (!text.includes(term.text)) {
    return 0;
  }
  const inName = name.indexOf(term.text);
  const inType = type.indexOf(term.text);
  if (inName === 0) {
    return SCORE.startsName;
  }
  if (inType === 0) {
    return SCORE.startsType;
  }
  return inName > 0
    ? SCORE.inName
    : inType > 0
      ? SCORE.inType
      : SCORE.elsewhere;
}

/** An index over all groups and all nodes except Constants. Takes linear time to build. */
export class SearchIndex {
  constructor(tree: ITree) {
    this._tree = tree;
    const { nodeCount, nodeConstant } = tree.model;
    const paths = this._paths();
    const scopes = this._scopePaths();
    this._fields = new Array<IFields | null>(nodeCount + tree.groupCount).fill(
      null
    );
    for (let group = 0; group < tree.groupCount; group++) {
      this._fields[nodeCount + group] = this._group(group, paths);
    }
    for (let node = 0; node < nodeCount; node++) {
      if (!nodeConstant[node]) {
        this._fields[node] = this._node(node, scopes);
      }
    }
  }

  /** How well an entity matches a term: higher is better, 0 is no match. */
  score(entity: number, term: ITerm): number {
    const fields = this._fields[entity];
    return fields ? scoreTerm(fields, term) : 0;
  }

  /** Path of every group, including its own label: `\npart\npart\n`. Parents come first. */
  private _paths(): string[] {
    const paths: string[] = [];
    const { groupCount, groupParent, groupLabel } = this._tree;
    for (let group = 0; group < groupCount; group++) {
      const parent = groupParent[group];
      const above = parent < 0 ? '\n' : paths[parent];
      paths.push(above + parts(groupLabel[group], ' / '));
    }
    return paths;
  }

  /** Path of every recorded scope, including those without a box. */
  private _scopePaths(): string[] {
    const { parent, label } = this._tree.model.payload.scopes;
    const paths: string[] = [];
    for (let scope = 0; scope < parent.length; scope++) {
      const above = parent[scope] < scope ? paths[parent[scope]] : undefined;
      paths.push((above ?? '\n') + parts(label[scope] ?? '', ' / '));
    }
    return paths;
  }

  private _group(group: number, paths: string[]): IFields {
    const { groupLabel, groupType } = this._tree;
    const type = groupType[group].toLowerCase();
    return {
      name: groupLabel[group].toLowerCase(),
      type,
      text: `${paths[group]}${groupLabel[group].toLowerCase()}\n${type}\n`
    };
  }

  private _node(node: number, scopes: string[]): IFields {
    const { model } = this._tree;
    const full = model.nodeName(node).toLowerCase();
    const type = model.opType(node).toLowerCase();
    const domain = model.payload.ops[model.nodeOp[node]]?.domain ?? '';
    const fields = [full, type, domain.toLowerCase()];
    for (
      let k = model.outputOffsets[node];
      k < model.outputOffsets[node + 1];
      k++
    ) {
      const tensor = model.outputs[k];
      if (tensor >= 0) {
        fields.push(
          model.tensorName(tensor).toLowerCase(),
          model.shapeText(tensor).toLowerCase(),
          model.dtypeText(tensor).toLowerCase()
        );
      }
    }
    for (
      let k = model.inputOffsets[node];
      k < model.inputOffsets[node + 1];
      k++
    ) {
      const tensor = model.inputs[k];
      if (tensor >= 0) {
        fields.push(model.shapeText(tensor).toLowerCase());
      }
    }
    attributeTexts(model.payload, node).forEach(text => fields.push(text));
    const path = scopes[model.nodeScope[node]] ?? '\n';
    return {
      name: full.slice(full.lastIndexOf('/') + 1),
      type,
      text: `${path}${parts(full, '/')}${fields.join('\n')}\n`
    };
  }

  private readonly _tree: ITree;
  /** By entity; null for Constant nodes. */
  private readonly _fields: (IFields | null)[];
}

/** The parts of a path, each followed by a line feed. */
function parts(path: string, separator: string): string {
  return path
    .toLowerCase()
    .split(separator)
    .filter(segment => segment)
    .map(segment => `${segment}\n`)
    .join('');
}
