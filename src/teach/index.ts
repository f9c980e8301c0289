/** Hard negatives, teacher scores, and queries for documents that have none. */
export { DocumentPool } from './document-pool.ts';
export type { EnsembleOptions } from './ensemble.ts';
export { ensembleScores, PAPER_ENSEMBLE } from './ensemble.ts';
export type { RankAll, TeacherAnswer } from './exhaustive.ts';
export { rankAll } from './exhaustive.ts';
export type { GroupOptions } from './group-documents.ts';
export { groupDocuments } from './group-documents.ts';
export type { DropReason, FindCandidates, MinedQuery, MiningOptions, MiningParts, MiningQuery } from './mine.ts';
export { answersOf, MINING_DEFAULTS, mine } from './mine.ts';
export type { MadeQuery, PseudoKind, PseudoOptions } from './pseudo-queries/make-queries.ts';
export { makeQueries, PSEUDO_KINDS } from './pseudo-queries/make-queries.ts';
export type { Teaching } from './score-lists.ts';
export { scoreLists, scoreStream } from './score-lists.ts';
export type { DenseVectors, ScoreAll, ScoreOptions, Scorer, ScorerOptions, TextList } from './scorer.ts';
export { openScorer } from './scorer.ts';
export type { TeacherSpec } from './teacher-spec.ts';
export { parseTeacher, TEACHER_HELP, TEACHER_KINDS, teacherSpecSchema } from './teacher-spec.ts';
