// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { ACTIONS } from '.';
import { actionFor, chordOf } from './keyboard';

function event(key: string, change: Partial<KeyboardEvent> = {}) {
  return {
    key,
    code: '',
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    target: document.body as EventTarget | null,
    ...change
  };
}

test('key chords are the same on every keyboard', () => {
  expect(chordOf(event('f', { metaKey: true }))).toBe('Ctrl+F');
  expect(chordOf(event('E', { shiftKey: true }))).toBe('Shift+E');
  expect(chordOf(event('?', { shiftKey: true }))).toBe('?');
  expect(chordOf(event('"', { code: 'Digit2', shiftKey: true }))).toBe(
    'Shift+2'
  );
  expect(chordOf(event(' '))).toBe('Space');
  expect(chordOf(event('Enter', { altKey: true }))).toBe('Alt+Enter');
});

test('no two actions share a key, and ids are unique', () => {
  const keys = ACTIONS.flatMap(action => action.keys);
  expect(new Set(keys).size).toBe(keys.length);
  const ids = ACTIONS.map(action => action.id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('key handling', () => {
  const id = (key: string, change: Partial<KeyboardEvent> = {}) =>
    actionFor(ACTIONS, event(key, change))?.id;

  test('text boxes keep letters, Enter and Ctrl+C, but not Escape and Ctrl+F', () => {
    const target = document.createElement('input');
    expect(id('h', { target })).toBeUndefined();
    expect(id('/', { target })).toBeUndefined();
    expect(id('Enter', { target })).toBeUndefined();
    expect(id('c', { target, ctrlKey: true })).toBeUndefined();
    expect(id('Escape', { target })).toBe('clear');
    expect(id('f', { target, ctrlKey: true })).toBe('find');
  });

  test('buttons keep Enter and Space', () => {
    const target = document.createElement('button');
    expect(id('Enter', { target })).toBeUndefined();
    expect(id(' ', { target })).toBeUndefined();
    expect(id('h', { target })).toBe('next-overlay');
  });

  test('unassigned keys are ignored', () => {
    expect(id('q')).toBeUndefined();
    expect(id('s', { ctrlKey: true })).toBeUndefined();
  });
});
