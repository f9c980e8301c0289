/** Files on disk: written whole or not at all, read where they exist. Node only. */
export { exists, readIfExists, syncFolder, writeFileAtomically } from './files.ts';
