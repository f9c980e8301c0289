import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../core/index.ts';
import { limitsSchema, parseLimits } from './limits.ts';

describe('limits', () => {
  it('have defaults, and keep what is given', () => {
    expect(parseLimits()).toMatchObject({ maxK: 1000, maxRunning: 64, answerMs: 5000 });
    expect(parseLimits({ maxK: 7 })).toMatchObject({ maxK: 7, maxRunning: 64 });
  });

  it('that are unknown or out of their range are refused', () => {
    expect(() => parseLimits({ maxk: 7 })).toThrow(ConfigError);
    expect(() => parseLimits({ maxKK: 7 })).toThrow(expect.objectContaining({ hint: 'did you mean maxK?' }));
    expect(() => parseLimits({ maxK: 0 })).toThrow(/maxK/);
    expect(() => parseLimits({ maxK: 10_001 })).toThrow(/maxK/);
  });

  it('stand in docs/SERVER.md with their defaults and meanings', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../docs/SERVER.md'), 'utf8');
    const defaults = parseLimits();
    for (const [name, schema] of Object.entries(limitsSchema.shape)) {
      const value = new Map(Object.entries(defaults)).get(name);
      expect(text).toContain(`| \`${name}\` | ${value} | ${schema.description} |`);
    }
  });
});
