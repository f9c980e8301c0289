/** A real Chromium for tests and benchmarks: the one that LZERO_CHROMIUM names. Nothing is downloaded. */
import { type Browser, chromium } from 'playwright-core';

const executablePath = process.env.LZERO_CHROMIUM;

/** Why there is none; '' where there is one. */
export const noChromium = executablePath ? '' : ' (skipped: LZERO_CHROMIUM names no Chromium)';

/** Starts it, without a window. */
export function launchChromium(): Promise<Browser> {
  if (!executablePath)
    throw new Error('LZERO_CHROMIUM names no Chromium: apt-get install chromium, LZERO_CHROMIUM=/usr/bin/chromium');
  const isRoot = process.getuid?.() === 0; // whom its sandbox refuses
  return chromium.launch({ executablePath, args: isRoot ? ['--no-sandbox'] : [] });
}
