/** The thread behind verify-job.ts: checks one file, then ends. */
import { FileSource } from './byte-files.ts';
import { verifyPart } from './segment-parts.ts';
import { answerJob } from './thread-job.ts';
import { countingSource, type VerifiedPart, type VerifyRequest } from './verify-job.ts';

answerJob<VerifyRequest, VerifiedPart>(({ part, file, settings }, report) =>
  verifyPart(part, countingSource(new FileSource(file), report), settings),
);
