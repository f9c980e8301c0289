/**
 * Regular expressions over small alphabets, compiled into one table: what a scanner needs to find the longest match in
 * one pass, without going back. Knows nothing of text; its letters are numbers.
 */

/** A regular expression: adds its arcs to the automaton from a state on, and returns the state where it ends. */
export type Pattern = (nfa: Nondeterministic, from: number) => number;

/** A deterministic automaton. State 0 is the dead one, state 1 the start. */
export type Automaton = {
  /** Next state, at `(state << SYMBOL_BITS) | symbol`. */
  readonly next: Uint16Array;
  /** 1 where a match may end. */
  readonly accepts: Uint8Array;
};

/** Symbols are numbers below 2⁵. */
export const SYMBOL_BITS = 5;
const NUM_SYMBOLS = 1 << SYMBOL_BITS;
/** The state without a way on. */
export const DEAD = 0;
/** The state before the first symbol. */
export const START = 1;

/** States with arcs on symbols (bit sets) and arcs on nothing. */
class Nondeterministic {
  readonly arcs: { readonly symbols: number; readonly to: number }[][] = [];
  readonly free: number[][] = [];

  addState(): number {
    this.free.push([]);
    return this.arcs.push([]) - 1;
  }
}

/** One symbol out of some. */
export function oneOf(symbols: readonly number[]): Pattern {
  const set = symbols.reduce((bits, symbol) => bits | (1 << symbol), 0);
  return (nfa, from) => {
    const to = nfa.addState();
    nfa.arcs[from].push({ symbols: set, to });
    return to;
  };
}

/** One after the other. */
export function sequence(...parts: readonly Pattern[]): Pattern {
  return (nfa, from) => parts.reduce((state, part) => part(nfa, state), from);
}

/** Any one of these. */
export function either(...choices: readonly Pattern[]): Pattern {
  return (nfa, from) => {
    const to = nfa.addState();
    for (const choice of choices) nfa.free[choice(nfa, from)].push(to);
    return to;
  };
}

/** None or more. */
export function many(part: Pattern): Pattern {
  return (nfa, from) => {
    const loop = nfa.addState(); // a state of its own: arcs back into `from` would let others loop too
    nfa.free[from].push(loop);
    nfa.free[part(nfa, loop)].push(loop);
    const to = nfa.addState();
    nfa.free[loop].push(to);
    return to;
  };
}

/** One or more. */
export function some(part: Pattern): Pattern {
  return sequence(part, many(part));
}

/** None or one. */
export function maybe(part: Pattern): Pattern {
  return either(part, sequence());
}

/** The automaton of a pattern, by the subset construction. */
export function compile(pattern: Pattern): Automaton {
  const nfa = new Nondeterministic();
  const start = nfa.addState();
  const end = pattern(nfa, start);
  const sets: (readonly number[])[] = [[], closure(nfa, [start])];
  const numbers = new Map(sets.map((set, state) => [set.join(), state]));
  const rows: number[][] = [];
  for (let state = 0; state < sets.length; state++) {
    rows.push(
      Array.from({ length: NUM_SYMBOLS }, (_, symbol) => {
        const set = closure(nfa, step(nfa, sets[state], symbol));
        const key = set.join();
        const known = numbers.get(key) ?? sets.push(set) - 1;
        numbers.set(key, known);
        return known;
      }),
    );
  }
  return {
    next: Uint16Array.from(rows.flat()),
    accepts: Uint8Array.from(sets, (set) => (set.includes(end) ? 1 : 0)),
  };
}

function step(nfa: Nondeterministic, states: readonly number[], symbol: number): number[] {
  return states.flatMap((state) =>
    nfa.arcs[state].filter(({ symbols }) => (symbols >>> symbol) & 1).map(({ to }) => to),
  );
}

/** All states that are reached for nothing, in ascending order. */
function closure(nfa: Nondeterministic, states: readonly number[]): number[] {
  const reached = new Set(states);
  for (const state of reached) for (const to of nfa.free[state]) reached.add(to);
  return [...reached].sort((a, b) => a - b);
}
