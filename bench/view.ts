/**
 * What watching a run costs, and whether the page stays smooth: a run of 100,000 logged steps that goes on at two lines a
 * second (a line of ten steps at twenty steps a second: faster than any real model on two cores), the built command line
 * as server, a real Chromium as reader.
 *
 *     LZERO_CHROMIUM=/usr/bin/chromium npx tsx bench/view.ts [--lines 100000] [--runs 1] [--seconds 30] [--json results.json]
 *
 * CPU time is that of the processes, as the system counts it, over wall time. Frames are measured while keys zoom and pan
 * through the run, one key a frame. Chromium draws without a GPU here, so a real one is smoother.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../test/browser/chromium.ts';
import { makeRun } from '../test/view/make-run.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const CLI = resolve(import.meta.dirname, '../dist/cli/main.js');
const LINE_MS = 500;
const TICKS_PER_SECOND = 100;
const NUM_KEYS = 120;

/** Seconds of CPU that a process has taken; Linux only. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function startServer(folders: readonly string[]): Promise<{ child: ChildProcess; pid: number; url: string }> {
  const child = spawn(process.execPath, [CLI, 'view', ...folders, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(child.stdout ?? process.stdin, 'data');
  return { child, pid: child.pid ?? 0, url: JSON.parse(String(line)).url };
}

/** Seconds of CPU of the page's own process. */
async function pageSeconds(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Milliseconds until the first paint, and until the curves of all steps are drawn. */
async function opened(page: Page, url: string): Promise<{ paintMs: number; curvesMs: number }> {
  const began = performance.now();
  await page.goto(url);
  await page.locator('section:has(#chart-loss) output').first().filter({ hasText: /\d/ }).waitFor();
  const curvesMs = performance.now() - began;
  const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN");
  return { paintMs: Number(paint), curvesMs };
}

/** In the page: a key a frame, into the run, through it and out again; gives the times of the frames. */
const MOVE = `(async () => {
  const target = document.activeElement;
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const all = [await frame()];
  for (let i = 0; i < ${NUM_KEYS}; i++) {
    const phase = i % 24;
    const [key, shiftKey] = phase < 6 ? ['+', false] : phase < 18 ? ['ArrowRight', true] : ['-', false];
    target.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
    all.push(await frame());
  }
  return all;
})()`;

/** Milliseconds of each frame while keys move through the run, and of the page's thread for one, by its own clock. */
async function frames(page: Page): Promise<{ frameMs: number[]; threadMs: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  await page.locator('section:has(#chart-loss) .plot').focus();
  const before = await taskSeconds();
  const times: number[] = await page.evaluate(MOVE);
  const threadMs = (1000 * ((await taskSeconds()) - before)) / NUM_KEYS;
  await session.detach();
  return { frameMs: times.slice(1).map((time, i) => time - times[i]), threadMs };
}

/** CPU of server and page while lines are added, as shares of one core. */
async function liveShares(
  seconds: number,
  pid: number,
  { browser, addLine }: { browser: Browser; addLine: () => void },
) {
  const before = { server: cpuSeconds(pid), page: await pageSeconds(browser), ms: performance.now() };
  const timer = setInterval(addLine, LINE_MS);
  await pause(1000 * seconds);
  clearInterval(timer);
  const wall = (performance.now() - before.ms) / 1000;
  return {
    server: (cpuSeconds(pid) - before.server) / wall,
    page: ((await pageSeconds(browser)) - before.page) / wall,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      lines: { type: 'string', default: '100000' },
      runs: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '30' },
      json: { type: 'string' },
    },
  });
  const [numLines, numRuns, seconds] = [values.lines, values.runs, values.seconds].map(Number);
  const where = await circumstances();
  console.log(describe(where));
  const parent = mkdtempSync(join(tmpdir(), 'lzero-bench-view-'));
  const folders = Array.from({ length: numRuns }, (_, i) => join(parent, `run-${i + 1}`));
  const made = folders.map((folder, i) => makeRun(folder, { numLines, seed: i + 1, evaluateEvery: numLines / 5 }));
  const server = await startServer(folders);
  const browser = await launchChromium();
  try {
    const startSeconds = cpuSeconds(server.pid);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const { paintMs, curvesMs } = await opened(page, server.url);
    const { frameMs, threadMs } = await frames(page);
    await page.keyboard.press('0');
    await pause(1000);
    const live = await liveShares(seconds, server.pid, { browser, addLine: () => made[0].addLine() });
    await page.close();
    await pause(1500);
    const idleFrom = cpuSeconds(server.pid);
    await pause(5000);
    const idle = (cpuSeconds(server.pid) - idleFrom) / 5;
    const slow = frameMs.toSorted((a, b) => a - b)[Math.floor(0.95 * frameMs.length)];
    const row = (name: string, unit: string, ...all: number[]) => ({ name, unit, value: spread(all) });
    const part: Part = {
      title: `${numRuns} × ${numLines.toLocaleString('en')} logged steps, two lines a second for ${seconds} s`,
      rows: [
        row('server: start, until it serves', 's of CPU', startSeconds),
        row('page: first contentful paint', 'ms', paintMs),
        row('page: all curves drawn', 'ms', curvesMs),
        row('frames while zooming and panning', 'ms', ...frameMs),
        row('the same, CPU of the page’s thread', 'ms', threadMs),
        row('server: share of a core while lines come', '%', 100 * live.server),
        row('server: share of a core when nobody looks', '%', 100 * idle),
        row('page: share of a core while lines come', '%', 100 * live.page),
      ],
      claims: [
        atMost('server, share of one core', 100 * live.server, { limit: 2, unit: '%' }),
        atMost('CPU a frame', threadMs, { limit: 16.7, unit: 'ms, 60 a second' }),
        atMost('95 % of frames', slow, { limit: 35, unit: 'ms, two frames of a screen' }),
      ],
    };
    printPart(part);
    if (values.json) writeResults(values.json, where, [part]);
  } finally {
    await browser.close();
    server.child.kill();
    rmSync(parent, { recursive: true });
  }
}

await main();
