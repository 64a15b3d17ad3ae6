import * as React from 'react';
import type { IGraphModel } from '../../../core/types';
import { shortLabel } from '../../ui/safeText';

/** The model to chart, and its execution order. */
export interface IChartProps {
  readonly model: IGraphModel;
  readonly order: Int32Array;
}

/** A chart with its title; the line below describes the point under the pointer. */
export function Chart(props: {
  title: string;
  note: string;
  tools?: React.ReactNode;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <section className="oad-Chart" aria-label={props.title}>
      <header>
        <h4>{props.title}</h4>
        {props.tools}
      </header>
      {props.children}
      <p className="oad-Quiet oad-Chart-note">{props.note}</p>
    </section>
  );
}

export function nodeLabel(model: IGraphModel, node: number): string {
  const name = model.nodeName(node);
  return shortLabel(
    name ? `${name} · ${model.opType(node)}` : model.opType(node),
    120
  );
}
