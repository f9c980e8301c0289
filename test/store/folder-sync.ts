/** A hook for the moment when a folder is forced to disk: after a rename, before anybody is told. */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { vi } from 'vitest';

/** Calls `before` each time the folder at `path`, and it alone, is forced to disk, until all mocks are restored. */
export async function onSyncOf(path: string, before: () => void): Promise<void> {
  const handle = await open(path, 'r');
  const prototype: { sync(this: typeof handle): Promise<void> } = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  const { ino } = statSync(path);
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    if ((await this.stat()).ino === ino) before();
    await sync.call(this);
  });
}
