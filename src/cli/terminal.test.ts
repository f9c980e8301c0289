import { describe, expect, it } from 'vitest';
import { Terminal, TerminalProgress, terminalLogger, type Verbosity, wantsColour } from './terminal.ts';

/** A stream that remembers, and a clock that is set by hand. */
function setUp({ isTTY = false, columns = 100, colour = false } = {}) {
  const written: string[] = [];
  const terminal = new Terminal({ isTTY, columns, write: (text) => written.push(text) }, { colour });
  let nowMs = 0;
  const progress = new TerminalProgress(terminal, () => nowMs);
  return {
    terminal,
    progress,
    written,
    /** Lets time pass, then reports. */
    updateAfter: (ms: number, done: number, meanwhile?: string) => {
      nowMs += ms;
      progress.update(done, meanwhile);
    },
  };
}

const CLEAR = '\r\u001b[2K';
const work = { label: 'encoding', unit: 'documents', total: 1000 };

describe('progress on a terminal', () => {
  it('is one line with label, bar, done of total, rate and time left', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start(work);
    updateAfter(10_000, 250); // 25 a second, 750 left
    expect(written).toEqual([
      `${CLEAR}encoding  ░░░░░░░░░░░░░░░░░░░░  0/1,000 documents`,
      `${CLEAR}encoding  █████░░░░░░░░░░░░░░░  250/1,000 documents  25.0/s  ETA 30s`,
    ]);
  });

  it('says what goes on meanwhile, which changes neither rate nor time left', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start(work);
    updateAfter(10_000, 250);
    updateAfter(60_000, 250, '1,234 texts encoded');
    expect(written.at(-1)).toBe(
      `${CLEAR}encoding  █████░░░░░░░░░░░░░░░  250/1,000 documents  25.0/s  ETA 30s  1,234 texts encoded`,
    );
    updateAfter(0, 500); // too soon to be drawn
    updateAfter(30_000, 500, '1,235 texts encoded');
    expect(written.at(-1)).toContain('500/1,000 documents  2.8/s'); // 250 in the 90 seconds since
    updateAfter(1000, 500);
    expect(written.at(-1)).not.toContain('texts');
  });

  it('is drawn ten times a second at most', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start(work);
    for (let done = 1; done <= 1000; done++) updateAfter(1, done);
    expect(written).toHaveLength(11); // the start, then every 100 of 1,000 ms
  });

  it('leaves a summary behind', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start(work);
    updateAfter(20_000, 1000);
    progress.stop();
    expect(written.slice(-2)).toEqual([CLEAR, 'encoding: 1,000/1,000 documents in 20s, 50.0/s\n']);
  });

  it('does not count what an earlier run did as speed', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start({ ...work, done: 900 });
    updateAfter(10_000, 950);
    expect(written.at(-1)).toContain('950/1,000 documents  5.0/s  ETA 10s');
    progress.stop();
    expect(written.at(-1)).toBe('encoding: 950/1,000 documents in 10s, 5.0/s\n');
  });

  it('has no bar and no time left where the total is unknown', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start({ label: 'reading', unit: 'lines' });
    updateAfter(1000, 10);
    expect(written.at(-1)).toBe(`${CLEAR}reading  10 lines  10.0/s`);
  });

  it('tells bytes in the units that people read', () => {
    const { progress, written, updateAfter } = setUp({ isTTY: true });
    progress.start({ label: 'downloading', unit: 'bytes', total: 438_000_000 });
    updateAfter(1000, 12_000_000);
    expect(written.at(-1)).toMatch(/12\.0 MB of 438\.0 MB {2}12\.0 MB\/s {2}ETA 36s$/);
    progress.stop();
    expect(written.at(-1)).toBe('downloading: 12.0 MB of 438.0 MB in 1.0s, 12.0 MB/s\n');
  });

  it.each([20, 40, 60, 80])('never fills a line of %i characters', (columns) => {
    const { progress, written, updateAfter } = setUp({ isTTY: true, columns });
    progress.start({ ...work, label: 'encoding a folder with a long name' });
    updateAfter(1000, 10);
    for (const line of written) expect(line.length - CLEAR.length).toBeLessThan(columns);
  });

  it('makes room for log lines and comes back below them', () => {
    const { terminal, progress, written } = setUp({ isTTY: true });
    progress.start(work);
    const status = written[0];
    terminal.printLine('a document is empty');
    expect(written.slice(1)).toEqual([CLEAR, 'a document is empty\n', status]);
  });

  it('survives a total of zero, an update before the start and two stops', () => {
    const { progress, written } = setUp({ isTTY: true });
    progress.update(5);
    progress.start({ ...work, total: 0 });
    progress.stop();
    progress.stop();
    expect(written.at(-1)).toBe('encoding: 0/0 documents in 0.0s\n');
  });
});

describe('progress elsewhere', () => {
  it('is a plain line every ten seconds and one at the end', () => {
    const { progress, written, updateAfter } = setUp();
    progress.start(work);
    for (let second = 1; second <= 25; second++) updateAfter(1000, second * 10);
    progress.stop();
    expect(written).toEqual([
      'encoding: 100/1,000 documents  10.0/s  ETA 1m30s\n',
      'encoding: 200/1,000 documents  10.0/s  ETA 1m20s\n',
      'encoding: 250/1,000 documents in 25s, 10.0/s\n',
    ]);
  });
});

describe('progress of work that failed at once', () => {
  it.each([true, false])('leaves no line behind, on a terminal: %s', (isTTY) => {
    const { progress, written } = setUp({ isTTY });
    progress.start({ ...work, done: 0 });
    progress.stop();
    expect(written.join('')).not.toContain('\n');
  });
});

describe('the logger', () => {
  const said = (verbosity: Verbosity): string[] => {
    const { terminal, written } = setUp();
    const logger = terminalLogger(terminal, () => verbosity);
    logger.error('e');
    logger.warn('w', { line: 3, file: 'a b' });
    logger.info('i');
    logger.debug('d');
    return written;
  };

  it('says errors only when quiet, all when verbose', () => {
    expect(said('quiet')).toEqual(['error: e\n']);
    expect(said('normal')).toEqual(['error: e\n', 'warning: w line=3 file=a b\n', 'i\n']);
    expect(said('verbose')).toHaveLength(4);
  });
});

describe('colour', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ])('%j on a terminal: %s gives %s', (env, isTTY, wanted) => {
    expect(wantsColour(env, isTTY)).toBe(wanted);
  });

  it('is written only where wanted', () => {
    expect(setUp({ colour: true }).terminal.paint('x', 'red')).toBe('\u001b[31mx\u001b[39m');
    expect(setUp().terminal.paint('x', 'red')).toBe('x');
  });
});
