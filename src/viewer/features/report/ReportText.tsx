/** The report as a document. All numbers and sentences come from the library; none are computed here. */

import * as React from 'react';
import type {
  ReportDocument,
  SectionBlock,
  SectionCell,
  SectionInfo
} from '../../../schema';
import { escapeInvisible } from '../../ui/safeText';

export function ReportText(props: {
  document: ReportDocument;
  /** Prefix for the ids of titles, which must be unique in a page. */
  id?: string;
}): JSX.Element {
  const { document, id = 'oad-report' } = props;
  return (
    <article className="oad-Report-text">
      <h1>
        <bdi>{escapeInvisible(document.title)}</bdi>
      </h1>
      {document.subtitle && (
        <p className="oad-Report-subtitle">
          {escapeInvisible(document.subtitle)}
        </p>
      )}
      <dl className="oad-Report-tiles">
        {document.tiles.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {document.sections.map(section => (
        <Section
          key={section.id}
          section={section}
          id={`${id}-${section.id}`}
        />
      ))}
    </article>
  );
}

function Section(props: { section: SectionInfo; id: string }): JSX.Element {
  const { section, id } = props;
  return (
    <section aria-labelledby={id} data-section={section.id}>
      <h2 id={id}>{section.title}</h2>
      {section.blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </section>
  );
}

function Block({ block }: { block: SectionBlock }): JSX.Element | null {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p>
          {block.title && <b>{escapeInvisible(block.title)}: </b>}
          {block.lines.map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </p>
      );
    case 'items':
      return (
        <>
          <Title text={block.title} />
          <ul>
            {block.lines.map((line, index) => (
              <li key={index}>
                <Line line={line} />
              </li>
            ))}
          </ul>
        </>
      );
    case 'table':
      return <Table block={block} />;
    case 'diagram':
      return (
        <figure className="oad-Report-stages">
          <ol>
            {block.stages.map((stage, index) => (
              <li key={index}>
                <b>{escapeInvisible(stage.title)}</b>
                <span>{escapeInvisible(stage.detail)}</span>
              </li>
            ))}
          </ol>
          <figcaption>{block.caption}</figcaption>
        </figure>
      );
    default:
      // Written by a later version.
      return null;
  }
}

function Title({ text }: { text: string }): JSX.Element | null {
  return text ? <h3>{escapeInvisible(text)}</h3> : null;
}

function Table({ block }: { block: SectionBlock }): JSX.Element {
  const of = (column: number): string | undefined =>
    block.numeric[column] ? 'oad-Number' : undefined;
  return (
    <>
      <Title text={block.title} />
      <div className="oad-Report-wide">
        <table>
          <thead>
            <tr>
              {block.head.map((text, index) => (
                <th key={index} scope="col" className={of(index)}>
                  {escapeInvisible(text)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((row, number) => (
              <tr key={number}>
                {row.map((line, index) => (
                  <td key={index} className={of(index)}>
                    <Line line={line} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {block.more && <p className="oad-Quiet">{block.more}</p>}
    </>
  );
}

function Line({ line }: { line: readonly SectionCell[] }): JSX.Element {
  return (
    <>
      {line.map(({ kind, text }, index) =>
        kind === 'name' ? (
          <code key={index}>
            <bdi>{escapeInvisible(text)}</bdi>
          </code>
        ) : kind === 'value' ? (
          <span key={index} className="oad-Report-value">
            {text}
          </span>
        ) : (
          <React.Fragment key={index}>{escapeInvisible(text)}</React.Fragment>
        )
      )}
    </>
  );
}
