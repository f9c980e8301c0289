/** A page as a site's search knows it: its sections are what is encoded, found and shown. Knows nothing of files. */

import type { SectionPlace } from '../browser/index.ts';

/** A part of a page. */
export type SitePart = {
  /** What is encoded and shown above it: "Page › Chapter › Section". */
  readonly title: string;
  /** What stands above it inside of the page: "Chapter › Section"; '' at the top. */
  readonly heading: string;
  /** Its address behind that of the page, with its #; '' at the top. */
  readonly anchor: string;
  readonly text: string;
  /** Where in the text other sections of the page begin, in order: short ones that follow each other are one part. */
  readonly places?: readonly SectionPlace[] | undefined;
  /** What its weights are multiplied by; 1 where left out. */
  readonly weight?: number | undefined;
};

/** A page of a site. */
export type SitePage = {
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  /** At least one. */
  readonly parts: readonly SitePart[];
};
