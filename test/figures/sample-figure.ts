/** A figure with everything that one can have: spreads, a collapse at 0, published points, a front. */
import type { Figure, FigurePoint, FigureSeries } from '../../src/figures/index.ts';

const LAMBDAS = [0.001, 0.01, 0.05, 0.2, 0.8];

function sweep(name: string, shift: number): FigureSeries {
  const points = LAMBDAS.map((lambda, i): FigurePoint => {
    const [x, y] = [8 / (1 + 20 * lambda) + shift, 0.5 - 0.03 * i + 0.02 * shift];
    const spread = { xLow: 0.9 * x, xHigh: 1.1 * x, yLow: y - 0.01, yHigh: y + 0.008 };
    return { x, y, ...spread, label: `λ ${lambda}, t 200` };
  });
  return { name, kind: 'measured', points };
}

/** 10 measured points in two series, one that collapsed to no FLOPS at all, 3 published. */
export const SAMPLE: Figure = {
  id: 'figure1',
  title: 'Search relevance against efficiency',
  caption: 'Varying λ_d; bars over seeds.',
  x: { label: 'FLOPS', scale: 'log' },
  y: { label: 'NDCG@10', scale: 'linear' },
  series: [
    {
      ...sweep('baseline', 0),
      points: [...sweep('baseline', 0).points, { x: 0, y: 0.01, label: 'λ 0.12, t 200', isCollapsed: true }],
    },
    sweep('mask', 0.4),
    {
      name: 'mask',
      kind: 'published',
      points: [
        { x: 1.6, y: 0.504, label: 'Table 2' },
        { x: 1.2, y: 0.498, label: 'Table 3' },
      ],
    },
    { name: 'SPLADE-v3-Doc', kind: 'published', points: [{ x: 4, y: 0.47, label: 'Table 1' }] },
  ],
  pareto: { x: 'less', y: 'more' },
};
