// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react';
import * as React from 'react';
import { afterEach, describe, expect, test } from 'vitest';
import { Markdown, parseBlocks } from './markdown';
import { shortLabel, escapeInvisible } from './safeText';

afterEach(cleanup);

function html(source: string): HTMLElement {
  return render(<Markdown source={source} />).container;
}

describe('blocks', () => {
  test('paragraphs, headings, lists and code', () => {
    const source = [
      '',
      '    First line,',
      '    second line.',
      '',
      '    ## Head',
      '    * one',
      '      goes on',
      '    * two',
      '',
      '    1. first',
      '    ```python',
      '    x = [1, 2]',
      '    ```',
      '    end'
    ].join('\n');
    expect(parseBlocks(source)).toEqual([
      { kind: 'text', text: 'First line, second line.' },
      { kind: 'heading', text: 'Head' },
      { kind: 'list', ordered: false, items: ['one goes on', 'two'] },
      { kind: 'list', ordered: true, items: ['first'] },
      { kind: 'code', text: 'x = [1, 2]' },
      { kind: 'text', text: 'end' }
    ]);
  });

  test('an unclosed fence runs to the end', () => {
    expect(parseBlocks('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }]);
  });

  test('a long hostile source is truncated and parsed in linear time', () => {
    const source = '**'.repeat(200_000) + '['.repeat(200_000);
    expect(parseBlocks(source)).toHaveLength(1);
    expect(html(source).textContent?.length).toBeLessThan(50_000);
  });
});

describe('inline', () => {
  test('code, strong, emphasis', () => {
    const page = html('a `b*c*` **d** *e* 2*3*4');
    expect(page.querySelector('code')?.textContent).toBe('b*c*');
    expect(page.querySelector('strong')?.textContent).toBe('d');
    expect(page.querySelector('em')?.textContent).toBe('e');
  });

  test('only full https addresses become links', () => {
    const page = html(
      '[a](https://onnx.ai/x) [b](Broadcasting.md) [c](javascript:alert) [d](//e.x) [e](data:text/html,x)'
    );
    const links = [...page.querySelectorAll('a')];
    expect(links.map(link => link.href)).toEqual(['https://onnx.ai/x']);
    expect(links[0].rel).toContain('noopener');
    expect(page.textContent).toContain('b c d e');
  });

  test('HTML stays text', () => {
    const page = html('<b>x</b><img src=y onerror=z>');
    expect(page.querySelector('b, img')).toBeNull();
    expect(page.textContent).toContain('<img src=y onerror=z>');
  });
});

test('invisible characters are escaped, long texts truncated', () => {
  expect(escapeInvisible('a\u202eb\u0000\u200b')).toBe(
    'a\\u202eb\\u0000\\u200b'
  );
  expect(escapeInvisible('größe 名前 🙂')).toBe('größe 名前 🙂');
  expect(shortLabel('x'.repeat(500), 10)).toBe('xxxxxxxxxx…');
});
