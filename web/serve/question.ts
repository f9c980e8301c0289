/** What is being asked, kept in the address of the page, so that it can be reloaded and sent to others. */

/** A question. */
export type Question = {
  readonly query: string;
  /** An index, or `rrf:A+B`. */
  readonly system: string;
  /** The one to compare with; '' where there is none. */
  readonly beside: string;
  readonly k: number;
};

const JOINED = 'rrf:';

/** Numbers of hits to choose from. */
export const HIT_COUNTS: readonly number[] = [5, 10, 20, 50];

/** Reads a question from the part of an address after #. */
export function questionOf(hash: string): Question {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const k = Number(given.get('k'));
  return {
    query: given.get('q') ?? '',
    system: given.get('in') ?? '',
    beside: given.get('beside') ?? '',
    k: HIT_COUNTS.includes(k) ? k : 10,
  };
}

/** The part of an address after # that stands for a question. */
export function hashOf({ query, system, beside, k }: Question): string {
  const parts = { q: query, in: system, beside, k: String(k) };
  return `#${new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ''))}`;
}

/** What can be searched: each index, and every two of them joined. */
export function systemsOf(names: readonly string[]): string[] {
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => `${JOINED}${a}+${b}`));
  return [...names, ...pairs];
}

/** Whether a system is several indexes joined. */
export function isJoined(system: string): boolean {
  return system.startsWith(JOINED);
}

/** A system as people read it. */
export function systemLabel(system: string): string {
  return isJoined(system) ? `hybrid of ${system.slice(JOINED.length).split('+').join(' and ')}` : system;
}

/** The question with systems that are there: the first index, and beside it the second where nothing was chosen. */
export function settled(question: Question, systems: readonly string[], isFirst: boolean): Question {
  const system = systems.includes(question.system) ? question.system : (systems[0] ?? '');
  const wanted = isFirst && question.beside === '' && systems.length > 1 ? systems[1] : question.beside;
  const beside = systems.includes(wanted) && wanted !== system ? wanted : '';
  return { ...question, system, beside };
}
