/**
 * Renders the subset of Markdown used in operator documentation as React elements: paragraphs, headings,
 * lists, code, emphasis. Everything else, including HTML, stays text.
 */

import * as React from 'react';
import { escapeInvisible } from './safeText';

type MarkdownBlock =
  | { kind: 'text' | 'heading'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] };

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6}\s+(.*)$/;
const BULLET = /^\s*(?:[-*+]|(\d{1,3})[.)])\s+(.*)$/;
/** Longer sources are truncated; documentation has a few thousand characters. */
const MAX_LENGTH = 40_000;

/** Parses the block structure. Linear in the number of lines. */
export function parseBlocks(source: string): MarkdownBlock[] {
  const lines = dedent(source.slice(0, MAX_LENGTH)).split('\n');
  const blocks: MarkdownBlock[] = [];
  let paragraph: string[] = [];
  let list: (MarkdownBlock & { kind: 'list' }) | null = null;
  const flush = (): void => {
    if (paragraph.length > 0) {
      blocks.push({ kind: 'text', text: paragraph.join(' ') });
    }
    paragraph = [];
    list = null;
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const bullet: RegExpExecArray | null = BULLET.exec(line);
    const heading = HEADING.exec(line);
    if (FENCE.test(line)) {
      flush();
      const end = lines.findIndex(
        (other, index) => index > i && FENCE.test(other)
      );
      const stop = end < 0 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(i + 1, stop).join('\n') });
      i = stop;
    } else if (line.trim() === '') {
      flush();
    } else if (heading) {
      flush();
      blocks.push({ kind: 'heading', text: heading[1] });
    } else if (bullet) {
      const ordered = bullet[1] !== undefined;
      if (list === null || list.ordered !== ordered) {
        flush();
        list = { kind: 'list', ordered, items: [] };
        blocks.push(list);
      }
      list.items.push(bullet[2]);
    } else if (list !== null && /^\s/.test(line)) {
      list.items[list.items.length - 1] += ` ${line.trim()}`;
    } else if (/^ {4,}/.test(line) && paragraph.length === 0) {
      const last = blocks[blocks.length - 1];
      if (last?.kind === 'code') {
        last.text += `\n${line.slice(4)}`;
      } else {
        blocks.push({ kind: 'code', text: line.slice(4) });
      }
    } else {
      list = null;
      paragraph.push(line.trim());
    }
  }
  flush();
  return blocks;
}

/** Schema texts are often indented as a whole, except for the first line. */
function dedent(source: string): string {
  const lines = source
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '    ')
    .split('\n');
  const indents = lines
    .slice(1)
    .filter(line => line.trim())
    .map(line => line.length - line.trimStart().length);
  const common = indents.length > 0 ? Math.min(...indents) : 0;
  return lines
    .map((line, i) => (i === 0 ? line.trimStart() : line.slice(common)))
    .join('\n');
}

/** `code`, **strong**, *emphasis*, [text](target). No nesting, no backtracking. */
const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^\][\n]+)\]\(([^()\s]+)\)/g;

function inline(text: string): React.ReactNode[] {
  const parts: React.ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [matched, code, strong, emphasis, label, target] = match;
    if (match.index > end) {
      parts.push(escapeInvisible(text.slice(end, match.index)));
    }
    const key = match.index;
    if (code !== undefined) {
      parts.push(<code key={key}>{escapeInvisible(code)}</code>);
    } else if (strong !== undefined) {
      parts.push(<strong key={key}>{escapeInvisible(strong)}</strong>);
    } else if (emphasis !== undefined) {
      parts.push(<em key={key}>{escapeInvisible(emphasis)}</em>);
    } else {
      parts.push(<Link key={key} label={label} target={target} />);
    }
    end = match.index + matched.length;
  }
  parts.push(escapeInvisible(text.slice(end)));
  return parts;
}

/** Only full web addresses become links; others refer to a site that is not available here. */
function Link(props: { label: string; target: string }): JSX.Element {
  return /^https:\/\/[^\s"'<>]+$/.test(props.target) ? (
    <a href={props.target} target="_blank" rel="noopener noreferrer nofollow">
      {escapeInvisible(props.label)}
    </a>
  ) : (
    <>{escapeInvisible(props.label)}</>
  );
}

function MarkdownText(props: { source: string }): JSX.Element {
  return (
    <div className="oad-Markdown">
      {parseBlocks(props.source).map((block, key) => {
        switch (block.kind) {
          case 'code':
            return (
              <pre key={key}>
                <code>{block.text}</code>
              </pre>
            );
          case 'heading':
            return <h5 key={key}>{inline(block.text)}</h5>;
          case 'list': {
            const items = block.items.map((item, index) => (
              <li key={index}>{inline(item)}</li>
            ));
            return block.ordered ? (
              <ol key={key}>{items}</ol>
            ) : (
              <ul key={key}>{items}</ul>
            );
          }
          default:
            return <p key={key}>{inline(block.text)}</p>;
        }
      })}
    </div>
  );
}

/** Renders a source; parsing is memoised. */
export const Markdown = React.memo(MarkdownText);
