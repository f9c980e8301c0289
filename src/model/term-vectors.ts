/**
 * A vector for each term, so that the vector of a query is nearly the sum of those of its terms: what a dense encoder would
 * say of the query, without running it.
 *
 *     min_C Σ_q ‖Σ_j x_qj·c_j − ỹ_q‖² + ρ·‖C − C⁰‖²          x_q weights of q's terms, at length 1;  ỹ_q its vector, centred
 *
 * C⁰ is what the encoder says of each term by itself, centred, at the length that fits the queries best: terms that no
 * query has stay there. Ridge regression (Hoerl, Kennard, Technometrics 1970,
 * https://doi.org/10.1080/00401706.1970.10488634), solved by conjugate gradients (Hestenes, Stiefel 1952,
 * https://doi.org/10.6028/jres.049.044), in all dimensions of the vectors at once. Knows nothing of networks.
 */
import { assert, type SparseVector } from '../core/index.ts';
import { centredRows, type Rows, unitRows } from './pooled-matrix.ts';

/** What is fitted. */
export type TermVectorProblem = {
  /** Weights of terms in queries. */
  readonly queries: readonly SparseVector[];
  /** What the encoder says of each query, beside them: y, [Q, H] */
  readonly vectors: Rows;
  /** What it says of each term by itself, [V, H] */
  readonly ofTerms: Rows;
  /** ρ, in queries: a term in that many, alone, is halfway between C⁰ and them. */
  readonly penalty: number;
  /** Told after each pass over the queries what is left of the normal equations' residual, as a share of the first. */
  readonly onPass?: ((pass: number, residual: number) => void) | undefined;
};

/** The same, from term vectors that are there. */
type MoveProblem = Pick<TermVectorProblem, 'queries' | 'penalty' | 'onPass'> & {
  /** ỹ, [Q, H] */
  readonly targets: Rows;
  /** C⁰, [V, H] */
  readonly start: Rows;
};

/** Passes over the queries at most; after forty nothing moves that a search could see. */
const MAX_PASSES = 40;
/** The share of the right side's norm at which to stop. */
const TOLERANCE = 1e-3;

/** C, [V, H] */
export function fitTermVectors({ vectors, ofTerms, ...problem }: TermVectorProblem): Rows {
  const y = centredRows(unitRows(vectors)); // ỹ
  const start = bestLength(centredRows(unitRows(ofTerms)), problem.queries.map(unitBag), y); // C⁰
  return moveTermVectors({ ...problem, targets: y, start });
}

/** C, [V, H], where C⁰ and ỹ are given as they are: they are neither centred nor brought to another length. */
export function moveTermVectors({ queries, targets: y, start, penalty, onPass }: MoveProblem): Rows {
  const { width } = y;
  assert(y.data.length === queries.length * width, 'a vector for each query');
  assert(start.width === width, 'vectors of terms and queries have one length');
  const bags = queries.map(unitBag);
  const c = { data: start.data.slice(), width }; // C⁰, and then C
  const right = residualProducts(bags, c, y); //    Xᵀ(ỹ − X·C⁰)
  const { residual, direction } = { residual: right, direction: right.slice() };
  let squares = columnSquares(residual, width);
  const enough = total(squares) * TOLERANCE ** 2;
  for (let pass = 1; pass <= MAX_PASSES && total(squares) > enough; pass++) {
    const products = normalProducts(bags, { data: direction, width }, penalty); // (XᵀX + ρI)·p
    const steps = quotients(squares, columnProducts(direction, products, width));
    addColumns(c.data, direction, { width, factors: steps });
    addColumns(residual, products, { width, factors: steps.map((step) => -step) });
    const next = columnSquares(residual, width);
    const turns = quotients(next, squares);
    for (let i = 0; i < direction.length; i++) direction[i] = residual[i] + turns[i % width] * direction[i];
    squares = next;
    onPass?.(pass, Math.sqrt(total(squares) / (enough / TOLERANCE ** 2)));
  }
  return c;
}

/** A query's weights at length 1; those of none stay. */
function unitBag({ terms, weights }: SparseVector): SparseVector {
  const norm = Math.hypot(...weights);
  return { terms, weights: norm > 0 ? weights.map((weight) => weight / norm) : weights };
}

/** s·C⁰ with the s that brings sums of terms nearest to the queries. */
function bestLength(c: Rows, bags: readonly SparseVector[], y: Rows): Rows {
  const { width } = c;
  const sum = new Float64Array(width);
  let [along, square] = [0, 0];
  bags.forEach((bag, q) => {
    sumOfTerms(bag, c, sum);
    for (let k = 0; k < width; k++) {
      along += sum[k] * y.data[q * width + k];
      square += sum[k] * sum[k];
    }
  });
  const scale = square > 0 ? along / square : 1;
  return { data: c.data.map((value) => scale * value), width };
}

/** Xᵀ(y − X·C), [V, H] */
function residualProducts(bags: readonly SparseVector[], c: Rows, y: Rows): Float32Array {
  const { width } = c;
  const products = new Float32Array(c.data.length);
  const sum = new Float64Array(width);
  bags.forEach((bag, q) => {
    sumOfTerms(bag, c, sum);
    for (let k = 0; k < width; k++) sum[k] = y.data[q * width + k] - sum[k];
    addToTerms(bag, sum, { data: products, width });
  });
  return products;
}

/** (XᵀX + ρI)·P, [V, H] */
function normalProducts(bags: readonly SparseVector[], p: Rows, rho: number): Float32Array {
  const { width } = p;
  const products = p.data.map((value) => rho * value);
  const sum = new Float64Array(width);
  for (const bag of bags) {
    sumOfTerms(bag, p, sum);
    addToTerms(bag, sum, { data: products, width });
  }
  return products;
}

/** Σ_j x_j·c_j */
function sumOfTerms({ terms, weights }: SparseVector, { data, width }: Rows, sum: Float64Array): void {
  sum.fill(0);
  for (let i = 0; i < terms.length; i++) {
    const [begin, weight] = [terms[i] * width, weights[i]];
    for (let k = 0; k < width; k++) sum[k] += weight * data[begin + k];
  }
}

/** x_j·sum to the row of each term. */
function addToTerms({ terms, weights }: SparseVector, sum: Float64Array, { data, width }: Rows): void {
  for (let i = 0; i < terms.length; i++) {
    const [begin, weight] = [terms[i] * width, weights[i]];
    for (let k = 0; k < width; k++) data[begin + k] += weight * sum[k];
  }
}

/** Products of columns with columns, [H] */
function columnProducts(x: Float32Array, y: Float32Array, width: number): Float64Array {
  const products = new Float64Array(width);
  for (let i = 0; i < x.length; i++) products[i % width] += x[i] * y[i];
  return products;
}

function columnSquares(x: Float32Array, width: number): Float64Array {
  return columnProducts(x, x, width);
}

/** a/b; 0 where b is: that column is solved. */
function quotients(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, k) => (b[k] > 0 ? value / b[k] : 0));
}

/** Adds to each column so much of another. */
function addColumns(
  x: Float32Array,
  y: Float32Array,
  { width, factors }: { readonly width: number; readonly factors: Float64Array },
): void {
  for (let i = 0; i < x.length; i++) x[i] += factors[i % width] * y[i];
}

function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
