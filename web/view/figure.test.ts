/** Drawings as Preact sees them: every element among others has a key of its own, and every run a look of its own. */
import { type ComponentChildren, isValidElement, toChildArray, type VNode } from 'preact';
import { describe, expect, it } from 'vitest';
import { Figure, type FigureSpec } from './figure.tsx';
import { LIGHT, strokeOf } from './theme.ts';

/** What is inside an element, or what a component draws. */
function childrenOf({ type, props }: VNode): ComponentChildren {
  return typeof type === 'function' ? Reflect.apply(type, undefined, [props]) : props.children;
}

/** An element and all inside it. */
function elementsIn(vnode: VNode): VNode[] {
  const inside = toChildArray(childrenOf(vnode)).filter((child) => isValidElement(child));
  return [vnode, ...inside.flatMap(elementsIn)];
}

/** Keys that two elements of one list have. */
function repeatedKeys(vnode: VNode): unknown[] {
  const lists = [childrenOf(vnode)].flat().filter((child) => Array.isArray(child));
  return lists.flatMap((list) => {
    const keys = list.map(({ key }) => key);
    return keys.filter((key, i) => keys.indexOf(key) < i);
  });
}

const axis = { label: '', from: 0, to: 1, format: String };
const spec: FigureSpec = {
  ...{ title: 'loss', width: 720, height: 400, theme: LIGHT, isAlone: true, x: axis, y: axis },
  series: [true, false].flatMap((isFaint) =>
    [0, 1, 9].map((id) => {
      const points = [[0, 0] as const, [1, 1] as const];
      return { id, name: 'train.run', ...strokeOf(LIGHT, id), points, isFaint };
    }),
  ),
};

describe('a drawing', () => {
  it('has no key twice in a list, also where runs have one name and are drawn twice', () => {
    expect(elementsIn(Figure(spec)).flatMap(repeatedKeys)).toEqual([]);
  });

  it('has dashes in the line and in the legend of a run whose colour an earlier one has', () => {
    const strokes = elementsIn(Figure(spec)).flatMap(({ type, props }) => {
      const { stroke, 'stroke-dasharray': dash } = props as { stroke?: string; 'stroke-dasharray'?: string };
      return type === 'path' && stroke === LIGHT.runs[1] ? [dash] : [];
    });
    expect(strokes).toEqual([undefined, '7 4', undefined, '7 4', undefined, '7 4']); // legend, faint lines, lines
  });
});
