// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { PayloadBuilder } from '../../../../core/testing/builder';
import type { GraphPayload } from '../../../../schema';
import {
  calls,
  click,
  element,
  frame,
  host,
  model,
  onSurface,
  pointOf,
  press,
  root,
  show,
  surface,
  tree,
  view
} from '../../testing/drawn';
import { encoderPayload } from '../../testing/payload';

onSurface();

const count = (name: string): number =>
  host.querySelectorAll(`.${name}`).length;

function point(el: Element): void {
  const position = { bubbles: true, ...pointOf(el) };
  el.dispatchEvent(new PointerEvent('pointermove', position));
}

/** A mask that twelve successive nodes read; its wires are replaced by connectors. */
function maskPayload(): GraphPayload {
  const b = new PayloadBuilder();
  let x = b.input('ids');
  const [mask] = b.add('Where', [b.input('attention')], { name: 'mask' });
  for (let i = 0; i < 12; i++) {
    [x] = b.add('Add', [x, mask], { name: `add_${i}` });
  }
  b.output(x);
  return b.finish();
}

/** A cache of four inputs in one pill, and one separate input. */
function cachePayload(): GraphPayload {
  const b = new PayloadBuilder();
  const ids = b.input('ids');
  const past = [0, 1, 2, 3].map(i => b.input(`past.${i}.key`));
  b.output(b.add('Concat', [ids, ...past])[0]);
  return b.finish();
}

describe('marks', () => {
  it('ring the selection and hits, and highlight the edges of a tensor', async () => {
    await show(encoderPayload(2));
    const conv = Number(element('Conv').getAttribute('data-entity'));
    surface.setSelection([conv]);
    surface.setHighlights([conv, conv + 1], conv + 1);
    surface.setTensors([model.outputs[model.outputOffsets[conv]]]);
    await frame();
    expect(count('oad-ring-selected')).toBe(1);
    expect(count('oad-ring-hit')).toBe(2);
    expect(count('oad-ring-current')).toBe(1);
    expect(count('oad-wire-bright')).toBe(1);
    expect(count('oad-ring-consumer')).toBe(1);
  });

  it('follow the pointer', async () => {
    await show(encoderPayload(2));
    const conv = element('Conv');
    const id = Number(conv.getAttribute('data-entity'));
    point(conv);
    const box = Number(conv.getAttribute('data-box'));
    const selection = { kind: 'entity', id };
    expect(calls.onHover).toHaveBeenLastCalledWith(selection, box);
    await frame();
    expect(count('oad-wire-in') + count('oad-wire-bright')).toBe(2);
    expect(root().title).toBe('');
    root().dispatchEvent(new PointerEvent('pointerleave'));
    expect(calls.onHover).toHaveBeenLastCalledWith(null, -1);
  });
});

describe('stub', () => {
  async function showMask(): Promise<void> {
    await show(maskPayload());
    surface.fit(false);
    await frame();
  }

  const DESCRIPTION = 'Tensor Where_0_out0, 1×16, from Where mask, to 12 nodes';

  it('names the producer and consumers of its tensor', async () => {
    await showMask();
    const stubs = host.querySelectorAll('.oad-stub');
    // One at the producer, and one at each reader except the nearest, whose wire is short.
    expect(stubs).toHaveLength(12);
    for (const stub of stubs) {
      expect(stub.getAttribute('aria-label')).toBe(DESCRIPTION);
    }
    point(stubs[3]);
    expect(root().title).toBe(DESCRIPTION);
    surface.setScene(view.scene, model, tree);
    expect(root().hasAttribute('title')).toBe(false);
    point(host.querySelectorAll('.oad-stub')[3]);
    expect(root().title).toBe(DESCRIPTION);
    root().dispatchEvent(new PointerEvent('pointerleave'));
    expect(root().hasAttribute('title')).toBe(false);
  });

  it('highlights the other stubs, the producer and the consumers', async () => {
    await showMask();
    const stubs = [...host.querySelectorAll('.oad-stub')];
    expect(count('oad-ring-consumer')).toBe(0);
    point(stubs[3]);
    await frame();
    const readers = 12;
    const makers = 1;
    const expected = stubs.length + readers + makers;
    expect(count('oad-ring-consumer')).toBe(expected);
    root().dispatchEvent(new PointerEvent('pointerleave'));
    await frame();
    expect(count('oad-ring-consumer')).toBe(0);
    surface.setTensors([model.outputs[model.outputOffsets[0]]]);
    await frame();
    expect(count('oad-ring-consumer')).toBe(expected);
    expect(count('oad-ring-selected')).toBe(stubs.length);
  });

  it('selects its tensor on click; Enter opens the details', async () => {
    await showMask();
    const selection = {
      kind: 'tensor',
      id: model.outputs[model.outputOffsets[0]]
    };
    click(host.querySelector('.oad-stub')!, {}, 8);
    expect(calls.onSelectTensor).toHaveBeenLastCalledWith(selection, {
      activated: false
    });
    press('Enter');
    expect(calls.onSelectTensor).toHaveBeenLastCalledWith(selection, {
      activated: true
    });
  });
});

describe('grouped inputs', () => {
  it('include all of them on hover and click', async () => {
    await show(cachePayload());
    const past = model.payload.tensors.inputs[1];
    const pill = element('4 inputs');
    const series = { kind: 'series', id: past };
    point(pill);
    const box = Number(pill.getAttribute('data-box'));
    expect(calls.onHover).toHaveBeenLastCalledWith(series, box);
    // It has its own tooltip.
    expect(root().hasAttribute('title')).toBe(false);
    click(pill);
    expect(calls.onSelectTensor).toHaveBeenLastCalledWith(series, {
      activated: false
    });
    click(element('Input ids'), {}, 8);
    expect(calls.onSelectTensor).toHaveBeenLastCalledWith(
      { kind: 'tensor', id: past - 1 },
      { activated: false }
    );
  });

  it('have a ring if one or all of them are selected', async () => {
    await show(cachePayload());
    const inputs = model.payload.tensors.inputs;
    for (const reads of [inputs.slice(1), [inputs[3]], [inputs[0]]]) {
      surface.setTensors(reads);
      await frame();
      expect(count('oad-ring-selected')).toBe(1);
      expect(count('oad-wire-bright')).toBe(1);
    }
  });
});
