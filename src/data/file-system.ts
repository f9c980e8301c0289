/** Three small questions to the file system that several readers and writers ask. */
import { access, open } from 'node:fs/promises';

/** Whether there is something at `path` that we can see. */
export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** The system's name for a failure, such as ENOENT; empty for anything else that was thrown. */
export function failureCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Makes a rename survive a power cut. Windows cannot open folders, and needs no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
