/** What all ranking losses have in common: their result, and the checks of what a teacher says. */
import { InputError, ShapeError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, formatShape } from './matrix.ts';

/** A ranking loss's value and its gradient by the scores. */
export type Ranking = { readonly loss: number; readonly dScores: Matrix };

/** The teacher's scores, checked: there, of the scores' shape, and finite. */
export function checkedTeacher(scores: Matrix, teacher: Matrix | undefined, loss: string): Matrix {
  checkNotEmpty(scores, 'the scores');
  if (teacher === undefined)
    throw new InputError(`${loss} learns from teacher scores, and this batch has none`, {
      hint: 'train on lists with scores, or with InfoNCE',
    });
  if (teacher.rows !== scores.rows || teacher.cols !== scores.cols)
    throw new ShapeError(`scores are ${formatShape(scores)}, teacher scores ${formatShape(teacher)}`);
  const bad = teacher.data.findIndex((score) => !Number.isFinite(score));
  if (bad >= 0)
    throw new InputError(
      `teacher score of query ${Math.floor(bad / teacher.cols)}, document ${bad % teacher.cols} is ${teacher.data[bad]}`,
      { hint: 'a teacher score is a finite number' },
    );
  return teacher;
}
