/** What a check says: its verdict, what it found and where, what that does to scores, and how to mend it. */

/** The checks, by the names that reports use. */
export type CheckId =
  | 'files'
  | 'model'
  | 'tokenizer-files'
  | 'tokenizer-reference'
  | 'special-tokens'
  | 'unknown-token'
  | 'query-weights'
  | 'pruning-border'
  | 'activation'
  | 'decoder'
  | 'weights'
  | 'weight-files'
  | 'tensor-names'
  | 'sizes'
  | 'max-length'
  | 'against-tokenizer'
  | 'against-query-weights'
  | 'against-special-tokens'
  | 'against-settings'
  | 'against-config'
  | 'against-head'
  | 'against-vectors'
  | 'test-vectors';

/**
 * `differs`: two files, conventions or models lead to different scores, or nobody can measure whether they do; `no effect`:
 * they are read in different ways, but no score of the texts changes; `broken`: something cannot be used at all;
 * `not applicable`: the model has nothing of the kind, or what the check needs is broken.
 */
export type Verdict = 'ok' | 'no effect' | 'differs' | 'broken' | 'not applicable';

/** How scores move between two ways to read a model. */
export type Effect = {
  /** Largest change of one score. */
  readonly largestChange: number;
  /** Mean change over all pairs of a query and a document. */
  readonly meanChange: number;
  readonly numPairs: number;
  /** Pairs whose score changes by more than the tolerance. */
  readonly numChangedScores: number;
  readonly numQueries: number;
  /** Queries whose ten best documents are others, or in another order. */
  readonly numChangedTopTens: number;
};

/** What one check says. */
export type CheckResult = {
  readonly id: CheckId;
  readonly verdict: Verdict;
  /** What was found, and in which file; one sentence each. */
  readonly found: readonly string[];
  /** What the difference does to scores; undefined where there is none, or where it cannot be measured. */
  readonly effect?: Effect | undefined;
  /** How to mend it. */
  readonly fix?: string | undefined;
};

/** All that was checked. */
export type CheckReport = {
  readonly folder: string;
  /** The other model, where two were compared. */
  readonly against?: string | undefined;
  /** Texts that effects were measured on. */
  readonly numQueries: number;
  readonly numDocuments: number;
  readonly checks: readonly CheckResult[];
  /** Whether any check found something that changes scores, keeps the model from being used, or fails test vectors. */
  readonly changesScores: boolean;
};

/** Nothing to complain about. */
export function ok(id: CheckId, ...found: string[]): CheckResult {
  return { id, verdict: 'ok', found };
}

/** Nothing to check. */
export function notApplicable(id: CheckId, why: string): CheckResult {
  return { id, verdict: 'not applicable', found: [why] };
}

/** Something that cannot be used. */
export function broken(id: CheckId, found: readonly string[], fix: string | undefined): CheckResult {
  return { id, verdict: 'broken', found, fix };
}

/** A difference: what, its effect and its cure. */
export type Difference = {
  readonly found: readonly string[];
  readonly effect: Effect | undefined;
  readonly fix: string;
};

/**
 * Something that others may read in another way. A difference that could not be measured counts as one that changes scores:
 * nobody can say that it does not. So does every difference from test vectors, which hold tokens and weights beside the
 * scores of a few pairs.
 */
export function differs(id: CheckId, difference: Difference): CheckResult {
  const isSilent = id !== 'test-vectors' && difference.effect?.numChangedScores === 0;
  return { id, verdict: isSilent ? 'no effect' : 'differs', ...difference };
}

/** Whether a result means other scores, or none. */
export function changesScores({ verdict }: Pick<CheckResult, 'verdict'>): boolean {
  return verdict === 'differs' || verdict === 'broken';
}
