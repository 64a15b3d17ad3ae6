/** The visible graph in the DOT language, at its current collapse level. */
import { pillText } from '../../core/tree/tensorSeries';
import { BoxKind } from '../../core/types';
import { chipText } from '../../core/tree/chips';
import { chipsOn, hasOutlineBehind } from '../graph/draw/drawChips';
import type { IDrawContext } from '../graph/draw/drawTarget';
import { cleanText } from '../graph/text/textMeasure';
import type { ICaption } from './pictureLayout';

/** Quotes a string; in labels, `\N` and similar, and entities (`&lt;`) have special meanings. */
function quote(...lines: readonly string[]): string {
  const parts = lines
    .filter(line => line)
    .map(line =>
      cleanText(line)
        .replace(/&(?=#?\w+;)/g, '&amp;')
        .replace(/\\/g, '\\\\')
        .replace(/"/g, '\\"')
    );
  return `"${parts.join('\\n')}"`;
}

function statement(drawing: IDrawContext, box: number): string {
  const { scene, cards } = drawing;
  const entity = scene.boxEntity[box];
  switch (scene.boxKind[box]) {
    case BoxKind.Node:
    case BoxKind.Group: {
      const { title, instance, lines } = cards.of(entity);
      const label = quote(
        title,
        instance,
        ...lines.map(line => line.text),
        ...chipsOn(drawing, box).map(group => chipText(drawing.tree, group))
      );
      const group = hasOutlineBehind(drawing, box);
      return `b${box} [label=${label}${group ? ' shape=box3d' : ''}];`;
    }
    case BoxKind.Port:
      return `b${box} [shape=point];`;
    case BoxKind.Stub:
      return `b${box} [label=${quote(pillText(drawing.tree, entity))} style="rounded,dashed"];`;
    default:
      return `b${box} [label=${quote(pillText(drawing.tree, entity))} style=rounded];`;
  }
}

/**
 * Open groups become clusters, ports on their borders points; `caption` states what the numbers apply to.
 */
export function sceneDot(drawing: IDrawContext, caption: ICaption): string {
  const { scene, model } = drawing;
  const lines = [
    `digraph ${quote(caption.title)} {`,
    `label=${quote(caption.title, ...caption.lines)};`,
    `rankdir=${scene.direction === 'down' ? 'TB' : 'LR'};`,
    'node [shape=box fontname="Helvetica" fontsize=11];',
    'edge [fontname="Helvetica" fontsize=9];'
  ];
  boxStatements(drawing, lines);
  for (let e = 0; e < scene.edgeCount; e++) {
    const [from, to] = [scene.edgeSource[e], scene.edgeTarget[e]];
    const tensor = scene.edgeTensor[e];
    const more = scene.edgeWeight[e] > 1 ? ` +${scene.edgeWeight[e] - 1}` : '';
    const label =
      tensor < 0 ? '' : `label=${quote(model.shapeText(tensor) + more)}`;
    const head = scene.boxKind[to] === BoxKind.Port ? ' arrowhead=none' : '';
    lines.push(`b${from} -> b${to} [${(label + head).trim()}];`);
  }
  return `${lines.join('\n')}\n}\n`;
}

/** Adds boxes in their clusters, without recursion, since a file determines how deep they nest. */
function boxStatements(drawing: IDrawContext, lines: string[]): void {
  const { scene, cards } = drawing;
  const inside = new Map<number, number[]>([[-1, []]]);
  const linked = new Set([...scene.edgeSource, ...scene.edgeTarget]);
  for (let box = 0; box < scene.boxCount; box++) {
    const level = inside.get(scene.boxParent[box]);
    level?.push(box);
    if (scene.boxKind[box] === BoxKind.OpenGroup) {
      inside.set(box, []);
    }
  }
  const stack: (number | string)[] = [...inside.get(-1)!].reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') {
      lines.push(next);
      continue;
    }
    if (scene.boxKind[next] !== BoxKind.OpenGroup) {
      lines.push(statement(drawing, next));
      continue;
    }
    const { title, instance } = cards.of(scene.boxEntity[next]);
    lines.push(`subgraph cluster_${next} {`);
    lines.push(`label=${quote(title, instance)};`);
    if (linked.has(next) || inside.get(next)!.length === 0) {
      lines.push(`b${next} [shape=point style=invis];`);
    }
    stack.push('}', ...[...inside.get(next)!].reverse());
  }
}
