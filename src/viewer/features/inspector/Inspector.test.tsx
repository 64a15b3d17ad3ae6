// @vitest-environment jsdom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { formatExact, formatShare } from '../../../core';
import { MemoryProvider } from '../../../providers/memoryProvider';
import type { NodeDetails } from '../../../schema';
import { convDetails } from '../../testing/details';
import { factText, panel } from '../../testing/inspector';
import {
  guardConsole,
  mount,
  mountProvider,
  flushUpdates
} from '../../testing/render';
import { surface } from '../../testing/surface';
import { testPayload } from '../../testing/payload';

vi.mock('../../graph/surface', async () => ({
  GraphSurface: (await import('../../testing/surface')).FakeSurface
}));
vi.mock(
  '../../graph/cards/cardSizer',
  async () => await import('../../testing/sizer')
);

guardConsole();

async function select(entity: number): Promise<void> {
  act(() => surface().callbacks.onSelect?.(entity, { additive: false }));
  await flushUpdates();
}

describe('a node', () => {
  test('shows its operator, costs, tensors, attributes and documentation', async () => {
    await mount(testPayload());
    await select(0);
    expect(factText('Operator')).toBe('ai.onnx · Conv');
    expect(factText('Opset')).toBe('20');
    expect(factText('Tag')).toContain('/Net/Block.0/Conv');
    expect(factText('MACs')).toContain('1,000');
    expect(factText('MACs')).toContain(formatShare(1 / 3));
    expect(factText('FLOPs')).toContain('2,000');
    expect(factText('Bytes read')).toContain(formatExact(512, 'B'));
    const text = panel().textContent ?? '';
    expect(text).toContain('strides');
    expect(text).toContain('[2, 2]');
    expect(text).toContain('0.5, -1, 2');
    expect(text).toContain('model input');
    expect(text).toContain('File "model.py", line 3');
    const inherited = within(panel()).getByText('auto_pad').closest('details');
    expect(inherited?.className).toContain('oad-mod-default');
    expect(within(panel()).getByText('filter').tagName).toBe('STRONG');
  });

  test('shows its module, the source of that, and all origins', async () => {
    const module = {
      scope: 'net.block.0.conv',
      via: 'fused',
      scopes: ['net.block.0.conv', 'net.block.0.norm'],
      calls: { 'net.block.0': 1 },
      stack: ['', 'net', 'net.block.0.conv']
    };
    const details = { 0: convDetails(0, { module }), 2: convDetails(2) };
    await mount(testPayload(), { details });
    await select(0);
    expect(factText('Scope')).toContain('net.block.0.conv');
    expect(factText('Source')).toContain('merged from several modules');
    expect(factText('Made from')).toContain('net.block.0.norm');
    expect(factText('Call')).toBe('call 2 of net.block.0');
    expect(factText('Called in')).toBe('netnet.block.0.conv');
    expect(
      within(panel()).getByRole('button', { name: 'Copy the scope' })
    ).toBeTruthy();
    await select(2);
    expect(factText('Tag')).toContain('/Net/Block.0/Conv');
    expect(within(panel()).queryByText('Source')).toBeNull();
  });

  test.each([
    ['trace', 'recorded by the exporter'],
    ['param', 'inferred from a parameter it reads'],
    ['context', 'inferred from neighbouring nodes'],
    ['root', 'unknown; assigned to the top-level module']
  ])('describes the source %s', async (via, words) => {
    const module = { scope: '', via, scopes: [], calls: {}, stack: [] };
    await mount(testPayload(), { details: { 0: convDetails(0, { module }) } });
    await select(0);
    expect(factText('Scope')).toBe('top-level module');
    expect(factText('Source')).toBe(words);
  });

  test('links to its producer, consumers and enclosing blocks', async () => {
    await mount(testPayload());
    await select(2);
    const links = within(panel()).getAllByRole('button', { name: /relu/ });
    expect(links).toHaveLength(2);
    fireEvent.click(links[0]);
    await flushUpdates();
    expect(surface().selection).toEqual([1]);
    await select(0);
    fireEvent.click(within(panel()).getByRole('button', { name: 'net' }));
    await flushUpdates();
    expect(surface().selection).toEqual([5]);
  });

  test('explains a missing number', async () => {
    await mount(testPayload());
    await select(4);
    expect(factText('MACs')).toContain('—');
    expect(factText('MACs')).toContain('no rule for vendor::Mystery');
  });

  test('shows a failed request in place with a way to retry', async () => {
    await mount(testPayload(), { details: {} });
    await select(0);
    const alert = within(panel()).getByRole('alert');
    expect(alert.textContent).toContain('Node 0 has no stored details');
    fireEvent.click(within(alert).getByRole('button', { name: 'Retry' }));
    await flushUpdates();
    expect(within(panel()).getByRole('alert')).toBeTruthy();
  });

  test('aborts the request for a node no longer selected', async () => {
    const signals: AbortSignal[] = [];
    const answers: ((details: NodeDetails) => void)[] = [];
    const provider = new MemoryProvider(testPayload());
    provider.details = (_node, signal) =>
      new Promise(resolve => {
        signals.push(signal);
        answers.push(resolve);
      });
    await mountProvider(provider);
    await select(0);
    await select(2);
    expect(signals[0].aborted).toBe(true);
    expect(signals[1].aborted).toBe(false);
    answers[0](convDetails(0, { tag: '/late' }));
    answers[1](convDetails(2, { tag: '/right' }));
    await flushUpdates();
    expect(factText('Tag')).toContain('/right');
  });
});

test('a block shows the sums of its nodes', async () => {
  await mount(testPayload());
  await select(5);
  expect(factText('Nodes')).toBe('4');
  expect(factText('MACs')).toContain('3,000');
  const operators = within(panel()).getByText('Conv').closest('li');
  expect(operators?.textContent).toBe('Conv2');
  expect(
    within(panel()).getByRole('button', { name: /block\.1/ })
  ).toBeTruthy();
});

test('a tensor shows its size, producer and consumers', async () => {
  await mount(testPayload());
  act(() =>
    surface().callbacks.onSelectTensor?.(
      { kind: 'tensor', id: 2 },
      { activated: false }
    )
  );
  await flushUpdates();
  expect(factText('Shape')).toBe('2×8');
  expect(factText('Size')).toContain('64');
  fireEvent.click(within(panel()).getByRole('button', { name: /conv_0/ }));
  await flushUpdates();
  expect(surface().selection).toEqual([0]);
});

test('the model is shown if nothing is selected', async () => {
  await mount(testPayload());
  expect(factText('Producer')).toBe('maker 1');
  expect(factText('Opsets')).toBe('ai.onnx 20');
  expect(factText('author')).toBe('someone');
  fireEvent.click(within(panel()).getByRole('button', { name: 'x' }));
  expect(surface().tensors).toEqual([0]);
});

describe('hostile names', () => {
  const script = '<img src=x onerror="window.pwned=1">';

  test('are text everywhere', async () => {
    const { container, root } = await mount(testPayload({ name: script }), {
      details: {
        0: convDetails(0, {
          tag: script,
          doc_string: script,
          stack_trace: `<script>${script}</script>`,
          metadata: { [script]: script },
          attributes: [
            {
              name: script,
              type: 'string',
              value: script,
              default: false,
              description: script
            }
          ],
          operator: {
            ...convDetails().operator!,
            doc: `${script} [click](javascript:alert(1)) <a href="javascript:alert(1)">x</a>`,
            url: 'javascript:alert(1)'
          }
        })
      }
    });
    await select(0);
    fireEvent.keyDown(root, { key: 't', code: 'KeyT' });
    await flushUpdates();
    expect(container.querySelector('img, script, iframe')).toBeNull();
    for (const link of container.querySelectorAll('a')) {
      expect(link.getAttribute('href')).toMatch(/^https:/);
    }
    expect(panel().textContent).toContain(script);
    expect('pwned' in window).toBe(false);
  });

  test('have bidirectional overrides escaped', async () => {
    await mount(testPayload({ name: 'safe\u202egnp.exe' }));
    await select(0);
    expect(panel().textContent).toContain('safe\\u202egnp.exe');
    expect(panel().textContent).not.toContain('\u202e');
  });

  test('can be __proto__', async () => {
    const dim = {
      name: '__proto__',
      value: null,
      assumed: false,
      suggested: 1,
      where: ['x[0]'],
      symbol: '',
      follows: null
    };
    const payload = testPayload({ name: '__proto__', dims: [dim] });
    payload.model.metadata = JSON.parse('{"__proto__": "meta"}');
    const { provider } = await mount(payload);
    expect(factText('__proto__')).toBe('meta');
    fireEvent.click(screen.getByRole('tab', { name: /Dimensions/ }));
    fireEvent.change(screen.getByRole('textbox', { name: '__proto__' }), {
      target: { value: '3' }
    });
    fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
    await flushUpdates();
    const { bindings } = provider.loads[1];
    expect(Object.entries(bindings)).toEqual([['__proto__', 3]]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

test('documentation of parts is listed as text', async () => {
  const payload = testPayload();
  payload.model.descriptions = [
    {
      kind: 'input',
      name: '__proto__',
      doc_string: '<b>RGB</b>, 0 to 1',
      metadata: JSON.parse('{"__proto__": "px"}')
    }
  ];
  payload.model.num_descriptions = 1;
  await mount(payload);
  const name = within(panel()).getByText('input __proto__');
  const texts = Array.from(name.parentElement!.querySelectorAll('dd'));
  expect(texts.map(text => text.textContent)).toEqual([
    '<b>RGB</b>, 0 to 1',
    '__proto__: px'
  ]);
});

test('long values of the metadata are collapsed', async () => {
  const config = `{"architectures":["${'X'.repeat(300)}"]}`;
  const payload = testPayload();
  payload.model.metadata = {
    hf_pipeline_task: 'text-classification',
    hf_model_config: config
  };
  await mount(payload);
  const folded =
    within(panel()).getByText('hf_model_config').nextElementSibling!;
  expect(folded.querySelector('details')?.open).toBe(false);
  expect(folded.querySelector('summary')!.textContent!.length).toBeLessThan(
    130
  );
  expect(folded.querySelector('.oad-Name')?.textContent).toBe(config);
});
