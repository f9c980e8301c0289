/**
 * The inner loops of training in AssemblyScript. What they compute stands in ../training-twin.ts, their twin in plain
 * TypeScript; both give the same bits. This file says only what is particular to WebAssembly.
 *
 * Arrays are addresses, lengths count elements. Nothing is checked: whoever calls has made sure that arrays lie in the
 * memory and rows in their tables. No array ends at 2³², so the end of each is an address that loops can compare with.
 */
import {
  CODE_LIMIT,
  CODE_ZERO,
  HASH_A,
  HASH_B,
  LEAST_MOMENT,
  LEAST_VARIANCE,
  NOWHERE,
  ROUNDING,
  SAFETY,
  SMALLEST,
} from '../training-constants.ts';

/** 1.5·2⁵²: added to an integer, it leaves that integer's low byte in the low byte of the sum. */
const INTEGER_BITS: f64 = 6755399441055744;

/** A step of AdamW; the factors are those of `AdamWFactors`, in its order. */
export function adamW(
  weights: usize,
  gradients: usize,
  moments: usize,
  variances: usize,
  length: u32,
  decay: f32,
  momentShare: f32,
  varianceKeep: f32,
  varianceShare: f32,
  stepSize: f32,
  correction: f32,
  epsilon: f32,
): void {
  const end = length << 2;
  const whole = end & ~15;
  let at: usize = 0;
  for (; at < whole; at += 16) {
    const g = v128.load(gradients + at);
    const before = v128.load(moments + at);
    const m = fourOrZero(
      f32x4.add(before, f32x4.mul(f32x4.splat(momentShare), f32x4.sub(g, before))),
      <f32>LEAST_MOMENT,
    );
    const squares = f32x4.mul(f32x4.mul(f32x4.splat(varianceShare), g), g);
    const v = fourOrZero(
      f32x4.add(f32x4.mul(f32x4.splat(varianceKeep), v128.load(variances + at)), squares),
      <f32>LEAST_VARIANCE,
    );
    const root = f32x4.div(f32x4.sqrt(v), f32x4.splat(correction));
    const change = f32x4.div(f32x4.mul(f32x4.splat(stepSize), m), f32x4.add(root, f32x4.splat(epsilon)));
    v128.store(moments + at, m);
    v128.store(variances + at, v);
    v128.store(weights + at, f32x4.sub(f32x4.mul(f32x4.splat(decay), v128.load(weights + at)), change));
  }
  for (; at < end; at += 4) {
    const g = load<f32>(gradients + at);
    const before = load<f32>(moments + at);
    const m = orZero(before + momentShare * (g - before), <f32>LEAST_MOMENT);
    const v = orZero(varianceKeep * load<f32>(variances + at) + varianceShare * g * g, <f32>LEAST_VARIANCE);
    const change = (stepSize * m) / (sqrt<f32>(v) / correction + epsilon);
    store<f32>(moments + at, m);
    store<f32>(variances + at, v);
    store<f32>(weights + at, decay * load<f32>(weights + at) - change);
  }
}

/** Keeps what is not below: a comparison with NaN is false. */
function fourOrZero(x: v128, least: f32): v128 {
  return v128.andnot(x, f32x4.lt(f32x4.abs(x), f32x4.splat(least)));
}

function orZero(x: f32, least: f32): f32 {
  return abs(x) < least ? 0 : x;
}

/** The two upper numbers of a register, as float64. */
function upper(x: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<u64>(x, x, 1, 0));
}

/** Lanes 0 and 1 of the twin are `a`, 2 and 3 `b`, and so on. */
export function sumOfSquares(x: usize, length: u32): f64 {
  const end = x + (length << 2);
  const whole = x + ((length & ~7) << 2);
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  let c = f64x2.splat(0);
  let d = f64x2.splat(0);
  let at = x;
  for (; at < whole; at += 32) {
    const first = v128.load(at);
    const second = v128.load(at, 16);
    const p = f64x2.promote_low_f32x4(first);
    const q = upper(first);
    const r = f64x2.promote_low_f32x4(second);
    const s = upper(second);
    a = f64x2.add(a, f64x2.mul(p, p));
    b = f64x2.add(b, f64x2.mul(q, q));
    c = f64x2.add(c, f64x2.mul(r, r));
    d = f64x2.add(d, f64x2.mul(s, s));
  }
  const both = f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
  let sum = f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1);
  for (; at < end; at += 4) {
    const value = <f64>load<f32>(at);
    sum += value * value;
  }
  return sum;
}

export function scale(x: usize, length: u32, factor: f32): void {
  const end = x + (length << 2);
  const whole = x + ((length & ~3) << 2);
  const factors = f32x4.splat(factor);
  let at = x;
  for (; at < whole; at += 16) v128.store(at, f32x4.mul(v128.load(at), factors));
  for (; at < end; at += 4) store<f32>(at, load<f32>(at) * factor);
}

export function addScaled(y: usize, x: usize, length: u32, factor: f32): void {
  const end = y + (length << 2);
  const whole = y + ((length & ~3) << 2);
  const factors = f32x4.splat(factor);
  for (; y < whole; y += 16, x += 16) v128.store(y, f32x4.add(v128.load(y), f32x4.mul(factors, v128.load(x))));
  for (; y < end; y += 4, x += 4) store<f32>(y, load<f32>(y) + factor * load<f32>(x));
}

export function headBackward(
  count: u32,
  terms: usize,
  rows: usize,
  gradients: usize,
  decoder: usize,
  dDecoder: usize,
  inputs: usize,
  dInputs: usize,
  size: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const g = load<f32>(gradients + (i << 2));
    const term = (load<u32>(terms + (i << 2)) * size) << 2;
    const row = (load<u32>(rows + (i << 2)) * size) << 2;
    addScaled(dInputs + row, decoder + term, size, g);
    if (dDecoder !== <usize>NOWHERE) addScaled(dDecoder + term, inputs + row, size, g);
  }
}

/** A factor of 1 changes no bit. */
export function addRows(indices: usize, count: u32, rows: usize, table: usize, size: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const to = (load<u32>(indices + (i << 2)) * size) << 2;
    addScaled(table + to, rows + ((i * size) << 2), size, 1);
  }
}

/** Sixteen elements at a time: four registers of comparisons (all bits or none) become one of bytes. */
export function dropoutMask(out: usize, length: u32, first: u32, second: u32, threshold: u32): void {
  const end = out + length;
  const whole = out + (length & ~15);
  const four = i32x4.splat(4);
  let counter = i32x4.add(i32x4.splat(first), i32x4(0, 1, 2, 3));
  let at = out;
  for (; at < whole; at += 16) {
    const a = kept(counter, second, threshold);
    counter = i32x4.add(counter, four);
    const b = kept(counter, second, threshold);
    counter = i32x4.add(counter, four);
    const c = kept(counter, second, threshold);
    counter = i32x4.add(counter, four);
    const d = kept(counter, second, threshold);
    counter = i32x4.add(counter, four);
    const bytes = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
    v128.store(at, v128.and(bytes, i8x16.splat(1)));
  }
  for (; at < end; at++) {
    const hashed = i32x4.splat(first + <u32>(at - out));
    store<u8>(at, <u8>(i32x4.extract_lane(kept(hashed, second, threshold), 0) & 1));
  }
}

function kept(counter: v128, second: u32, threshold: u32): v128 {
  return i32x4.ge_u(hash(v128.xor(hash(counter), i32x4.splat(second))), i32x4.splat(threshold));
}

function hash(x: v128): v128 {
  const y = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 16)), i32x4.splat(HASH_A));
  const z = i32x4.mul(v128.xor(y, i32x4.shr_u(y, 15)), i32x4.splat(HASH_B));
  return v128.xor(z, i32x4.shr_u(z, 15));
}

/** Two rows at a time, one per lane; the last of an odd number keeps itself company. */
export function quantiseRows(
  rows: usize,
  count: u32,
  size: u32,
  codes: usize,
  scales: usize,
  norms: usize,
  errors: usize,
): void {
  for (let i: u32 = 0; i < count; i += 2) {
    const other = min(i + 1, count - 1);
    const a = rows + ((i * size) << 2);
    const b = rows + ((other * size) << 2);
    const scaleA = stepOf(a, size);
    const scaleB = stepOf(b, size);
    store<f32>(scales + (i << 2), scaleA);
    store<f32>(scales + (other << 2), scaleB);
    const steps = f64x2.replace_lane(f64x2.splat(<f64>scaleA), 1, <f64>scaleB);
    quantisePair(a, b, size, codes + i * size, codes + other * size, steps, norms, errors, i << 2, other << 2);
  }
}

/** The largest |w| by its bits: without the sign, floats have the order of integers, and NaN is the largest. */
function stepOf(row: usize, size: u32): f32 {
  const end = row + (size << 2);
  const whole = row + ((size & ~3) << 2);
  const noSign = i32x4.splat(0x7fffffff);
  let most = i32x4.splat(0);
  let at = row;
  for (; at < whole; at += 16) most = i32x4.max_s(most, v128.and(v128.load(at), noSign));
  for (; at < end; at += 4) most = i32x4.max_s(most, i32x4.splat(load<i32>(at) & 0x7fffffff));
  most = i32x4.max_s(most, v128.shuffle<u64>(most, most, 1, 0));
  const bits = max<i32>(i32x4.extract_lane(most, 0), i32x4.extract_lane(most, 1));
  const largest = <f64>reinterpret<f32>(bits);
  return largest > SMALLEST ? <f32>(largest / CODE_LIMIT) : 1;
}

function codeOf(w: v128, perStep: v128): v128 {
  const moved = f64x2.add(f64x2.mul(w, perStep), f64x2.splat(CODE_ZERO));
  return f64x2.trunc(f64x2.add(moved, f64x2.splat(0.5)));
}

function squaredRest(w: v128, code: v128, steps: v128): v128 {
  const rest = f64x2.sub(w, f64x2.mul(f64x2.sub(code, f64x2.splat(CODE_ZERO)), steps));
  return f64x2.mul(rest, rest);
}

/** The low bytes of both lanes hold the codes; for NaN and infinities they are 0. */
function codeBits(code: v128): v128 {
  return f64x2.add(code, f64x2.splat(INTEGER_BITS));
}

function quantisePair(
  a: usize,
  b: usize,
  size: u32,
  codesA: usize,
  codesB: usize,
  steps: v128,
  norms: usize,
  errors: usize,
  atA: usize,
  atB: usize,
): void {
  const perStep = f64x2.div(f64x2.splat(1), steps);
  const whole = size & ~3;
  let norm2 = f64x2.splat(0);
  let error2 = f64x2.splat(0);
  let h: u32 = 0;
  for (; h < whole; h += 4) {
    const fourA = v128.load(a + (h << 2));
    const fourB = v128.load(b + (h << 2));
    const low = v128.shuffle<u32>(fourA, fourB, 0, 4, 1, 5); //  a₀ b₀ a₁ b₁
    const high = v128.shuffle<u32>(fourA, fourB, 2, 6, 3, 7); // a₂ b₂ a₃ b₃
    const w0 = f64x2.promote_low_f32x4(low);
    const w1 = upper(low);
    const w2 = f64x2.promote_low_f32x4(high);
    const w3 = upper(high);
    const c0 = codeOf(w0, perStep);
    const c1 = codeOf(w1, perStep);
    const c2 = codeOf(w2, perStep);
    const c3 = codeOf(w3, perStep);
    norm2 = f64x2.add(norm2, f64x2.mul(w0, w0));
    norm2 = f64x2.add(norm2, f64x2.mul(w1, w1));
    norm2 = f64x2.add(norm2, f64x2.mul(w2, w2));
    norm2 = f64x2.add(norm2, f64x2.mul(w3, w3));
    error2 = f64x2.add(error2, squaredRest(w0, c0, steps));
    error2 = f64x2.add(error2, squaredRest(w1, c1, steps));
    error2 = f64x2.add(error2, squaredRest(w2, c2, steps));
    error2 = f64x2.add(error2, squaredRest(w3, c3, steps));
    const p = v128.shuffle<u8>(codeBits(c0), codeBits(c1), 0, 16, 0, 0, 8, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const q = v128.shuffle<u8>(codeBits(c2), codeBits(c3), 0, 16, 0, 0, 8, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const codes = v128.shuffle<u16>(p, q, 0, 8, 2, 10, 0, 0, 0, 0);
    store<i32>(codesA + h, i32x4.extract_lane(codes, 0));
    store<i32>(codesB + h, i32x4.extract_lane(codes, 1));
  }
  for (; h < size; h++) {
    const wA = <f64>load<f32>(a + (h << 2));
    const w = f64x2.replace_lane(f64x2.splat(wA), 1, <f64>load<f32>(b + (h << 2)));
    const code = codeOf(w, perStep);
    norm2 = f64x2.add(norm2, f64x2.mul(w, w));
    error2 = f64x2.add(error2, squaredRest(w, code, steps));
    store<u8>(codesA + h, i8x16.extract_lane_u(codeBits(code), 0));
    store<u8>(codesB + h, i8x16.extract_lane_u(codeBits(code), 8));
  }
  const norm = f64x2.sqrt(norm2);
  const room = f64x2.mul(f64x2.splat(<f64>size * ROUNDING), norm);
  const safeNorms = f64x2.mul(norm, f64x2.splat(SAFETY));
  const safeErrors = f64x2.mul(f64x2.add(f64x2.sqrt(error2), room), f64x2.splat(SAFETY));
  store<f32>(norms + atA, <f32>f64x2.extract_lane(safeNorms, 0));
  store<f32>(norms + atB, <f32>f64x2.extract_lane(safeNorms, 1));
  store<f32>(errors + atA, <f32>f64x2.extract_lane(safeErrors, 0));
  store<f32>(errors + atB, <f32>f64x2.extract_lane(safeErrors, 1));
}
