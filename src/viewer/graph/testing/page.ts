/**
 * The page of the drawing benchmark: our surface and, as a baseline, the same graph with every element in
 * the document (as most viewers draw), moved along the same camera path.
 */
import {
  buildTree,
  createGraphView,
  decodePayload,
  type IScene
} from '../../../core';
import { clampCamera, fitRect } from '../geometry/camera';
import { CardContents } from '../cards/cardContents';
import { edgePath, edgeWidth } from '../geometry/wirePath';
import { Lod } from '../style/levelOfDetail';
import { createSizer } from '../cards/cardSizer';
import { BoxColors } from '../style/boxColors';
import { drawBox } from '../draw/drawBox';
import type { IDrawContext } from '../draw/drawTarget';
import { GraphSurface, type ICamera } from '../surface';
import { svgElement, SvgTarget } from '../render/svg/svgTarget';
import { pageTextMeasure } from '../text/textMeasure';
import { encoderPayload } from './payload';

interface IBenchTarget {
  set(camera: ICamera): void;
  dispose(): void;
}

interface IPrepared {
  readonly drawing: IDrawContext;
  readonly host: HTMLElement;
}

let prepared: IPrepared | null = null;
let target: IBenchTarget | null = null;

/** Lays out a model of about `boxes` boxes with all groups open; parallel branches if `experts` > 0. */
async function prepare(
  boxes: number,
  experts: number
): Promise<{ boxes: number; edges: number }> {
  target?.dispose();
  const perLayer = 20 + 5 * Math.max(1, experts);
  const model = decodePayload(
    encoderPayload(Math.max(1, Math.round(boxes / perLayer)), experts)
  );
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  const scene = await view.expandAll(Infinity);
  const drawing = {
    scene,
    model,
    tree,
    paint: new BoxColors(scene, model, null),
    cards: new CardContents(model, tree),
    measure: pageTextMeasure()
  };
  prepared = { drawing, host: document.getElementById('host')! };
  return { boxes: scene.boxCount, edges: scene.edgeCount };
}

function start(kind: 'hybrid' | 'all'): number {
  target?.dispose();
  const { drawing, host } = prepared!;
  const begin = performance.now();
  if (kind === 'hybrid') {
    const surface = new GraphSurface(host, { reducedMotion: true });
    surface.setScene(drawing.scene, drawing.model, drawing.tree);
    target = {
      set: c => surface.setCamera(c),
      dispose: () => surface.dispose()
    };
  } else {
    target = drawEverything(drawing, host);
  }
  return performance.now() - begin;
}

/** Creates all boxes and wires as elements, once; a frame changes one transform. */
function drawEverything(
  drawing: IDrawContext,
  host: HTMLElement
): IBenchTarget {
  const { scene } = drawing;
  const root = document.createElement('div');
  root.className = 'oad-graph';
  const svg = svgElement('svg');
  svg.setAttribute('class', 'oad-graph-svg');
  const world = svgElement('g');
  for (let e = 0; e < scene.edgeCount; e++) {
    const path = svgElement('path');
    path.setAttribute('d', edgePath(scene, e));
    path.setAttribute('fill', 'none');
    path.setAttribute('stroke', 'var(--oad-edge)');
    path.setAttribute('stroke-width', String(edgeWidth(scene.edgeWeight[e])));
    world.append(path);
  }
  for (let b = 0; b < scene.boxCount; b++) {
    const g = svgElement('g');
    g.setAttribute('transform', `translate(${scene.boxX[b]},${scene.boxY[b]})`);
    drawBox(drawing, b, 1, Lod.Full, new SvgTarget(g));
    world.append(g);
  }
  svg.append(world);
  root.append(svg);
  host.append(root);
  return {
    set: c => {
      const x = host.clientWidth / 2 - c.x * c.k;
      const y = host.clientHeight / 2 - c.y * c.k;
      world.setAttribute('transform', `translate(${x},${y}) scale(${c.k})`);
    },
    dispose: () => root.remove()
  };
}

function cameras(
  scene: IScene,
  path: string,
  frames: number,
  host: HTMLElement
): ICamera[] {
  const view = { w: host.clientWidth, h: host.clientHeight };
  const whole = fitRect({ x: 0, y: 0, w: scene.width, h: scene.height }, view);
  const start = { x: scene.width * 0.3, y: scene.height / 2 };
  return Array.from({ length: frames }, (_, i) => {
    const t = i / frames;
    const pan = (k: number): ICamera => ({
      x: start.x + (25 * i) / k,
      y: start.y,
      k
    });
    const cameras: Record<string, () => ICamera> = {
      fit: () => ({
        x: whole.x + (4 * Math.sin(i)) / whole.k,
        y: whole.y,
        k: whole.k
      }),
      'pan 0.05': () => pan(0.05),
      'pan 0.1': () => pan(0.1),
      'pan 0.3': () => pan(0.3),
      'pan 0.35': () => pan(0.35),
      'pan 1': () => pan(1),
      zoom: () => ({
        ...start,
        k: whole.k * Math.pow(1 / whole.k, 1 - Math.abs(2 * t - 1))
      }),
      // As with a wheel.
      wheel: () => ({ ...start, k: 0.4 * 1.02 ** i }),
      jump: () => ({ x: scene.width * ((i * 0.37) % 1), y: start.y, k: 1 })
    };
    return clampCamera(
      cameras[path](),
      { w: scene.width, h: scene.height },
      view
    );
  });
}

/** Runs a path, one camera per frame; returns the milliseconds between frames. */
async function run(path: string, frames: number): Promise<number[]> {
  const { drawing, host } = prepared!;
  const list = cameras(drawing.scene, path, frames, host);
  const frame = (): Promise<number> =>
    new Promise(resolve => requestAnimationFrame(resolve));
  target!.set(list[0]);
  await frame();
  let last = await frame();
  const times: number[] = [];
  for (const camera of list) {
    target!.set(camera);
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}

Object.assign(window, { bench: { prepare, start, run } });
