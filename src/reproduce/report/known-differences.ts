/** What is known of the paper beside our measurements: where its text and its public code differ, and what its tables have wrong. */

/** Differences between the paper's text, its tables and the authors' public code, and what lzero does. */
export const KNOWN_DIFFERENCES: readonly string[] = [
  '**IDF.** Equation 1 has the IDF in the document, and the text applies it to the query as well: taken literally it would be squared. The code multiplies once, on the query, and so do we. The w/IDF inside of the FLOPS loss is the plain w of the code.',
  '**FLOPS loss.** The text averages over all N documents of a batch. The code keeps the documents of one query apart: Σ over positions g of Σ_j (mean over queries of w)². Published λ mean something with this grouping only (`sparsity.grouping: by-position`); with the mask, both divide by all queries, masked ones included.',
  '**Batch.** The mean inside of the square is over the queries of one device: 40, on 8 devices at once. A batch of 320 would be another loss. A step of ours is one such batch of 40, also at the scale of the paper: gradients are not gathered over several, so it reads an eighth of what theirs does.',
  '**Special tokens.** The released models set [CLS], [SEP], [PAD], [UNK] and [MASK] to 0; the training code drops [PAD] only, and counts before: its Doc_Len is up to 5 higher.',
  '**Lengths.** The text says 512 tokens. The code trains with 256 and evaluates with 512: two settings.',
  '**Hyper-parameters.** λ, its ramp T and t differ between places: sample configuration of the paper’s branch 0.04, 10,000, 200 with distilbert-base-uncased; `config_l0.yaml` of the main branch 0.08, 40,000, 150 with Co-Condenser; the text 0.035 (Table 3) and 0.04 (Figure 3), t 200 in Figures 1 and 2.',
  '**Decoupled variants.** The public code has de-ℓ0 as dead code and inv-de-ℓ0 not at all; ours follow the text.',
  '**t of Table 3** is not printed for its mask rows, and neither λ nor t for Tables 1 and 2: we take λ 0.035 and the t of the λ sweep.',
  '**Activation alone.** § 5.2 says that it harms NDCG@10; Table 2 has + 0.45.',
  '**Average ranks.** Equal values share the best rank (1, 2, 2, 4): this gives 9 of the 11 printed values from the rounded table; 8.62 (SPLADE-doc-distill) and 3.92 (SPLADE++-SelfDistil) come out as 8.54 and 4.00.',
];

/** How verdicts are reached, for the reader of a report. */
export const METHOD: readonly string[] = [
  '**Verdicts.** *holds*: the 95 % interval of the difference lies on the claim’s side of 0; *contradicted*: on the other side; *not resolved*: 0 is in it, a seed by itself says the opposite, or there is nothing to compare. A claim with k parts holds where each part does, and is contradicted where the interval of 1 − 0.05/k of one part lies on the other side. Where nothing is different, 5 verdicts of 100 come out by chance.',
  '**NDCG@10.** Per query, averaged over seeds, then over the queries of a set, then over sets (macro). Intervals: queries of each set are drawn with replacement 2,000 times, the same ones for all models, percentiles 2.5 and 97.5. They know nothing of how other seeds would have come out: a verdict from settings that were trained once says that it *rests on one seed*.',
  '**Equal FLOPS.** A series is a curve through its points, NDCG@10 linear in ln FLOPS between neighbours, without a value outside. Two series are compared at nine places, evenly spaced in ln FLOPS over the range that both have, and the differences averaged. FLOPS are the macro averages over sets and seeds, taken as they are. Runs that have collapsed or diverged are left out, of FLOPS as of NDCG@10.',
  '**Equal NDCG@10.** The least FLOPS at which a curve reaches a level, at nine levels between the lowest and the highest that both reach; the mean of the logarithms of the ratios.',
  '**Costs.** Ratios of Doc_Len or FLOPS of two runs with the same seed, at the same λ and t: the mean of their logarithms over sets, then over pairs of runs, with Student’s interval over pairs of runs (two of them have to agree closely: t is 12.7). Sets are not counted as witnesses of their own.',
  '**Collapse.** The alarm of training has stopped the run, or its documents have less than one term on average. A setting has collapsed where all of its seeds have; where seeds disagree nothing is resolved, and a run that has diverged says nothing.',
];

/** What is wrong with a column of Table 1. */
export const CONTRIEVER_NOTE =
  'From DBPedia to SciFact the printed values of Contriever stand one row too low: 34.5 under DBPedia is CQADupStack, which is no column of the table, and the value of SciFact has fallen out. We put 67.7 in its place, which gives the mean that the 13 sets are known to have; it has not been checked against the tables of Izacard et al., arXiv:2112.09118. Put right so, its mean over the 13 sets is 47.5 in place of the printed 44.98, and its “best” values on SCIDOCS (41.3) and Climate-FEVER (75.8) are DBPedia’s and FEVER’s.';
