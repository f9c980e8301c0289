/**
 * Reads a pickle without trusting it: opcodes and names are those of an allow-list, and everything is bounded. A pickle
 * is a program; this runs the part of it that describes data and refuses the rest, with the byte at which it stands.
 */
import { MoreBytesNeeded, PickleMachine, type PickleSource } from './pickle-machine.ts';
import { OPCODES, type PickleWorld, REFUSED_OPCODES } from './pickle-opcodes.ts';
import type { PickleValue } from './pickle-values.ts';

/** A pickle that has been read. */
export type Unpickled = { readonly value: PickleValue; readonly numBytes: number };

const STOP = 0x2e;

/** Reads one pickle from the start of the bytes; undefined where it goes on beyond them and the source has more. */
export function unpickle(source: PickleSource, world: PickleWorld): Unpickled | undefined {
  try {
    return run(new PickleMachine(source), world);
  } catch (error) {
    if (error instanceof MoreBytesNeeded) return undefined;
    throw error;
  }
}

function run(machine: PickleMachine, world: PickleWorld): Unpickled {
  for (let code = machine.opcode(); code !== STOP; code = machine.opcode()) {
    const opcode = OPCODES.get(code);
    if (!opcode) throw unknownOpcode(machine, code);
    const [name, runOpcode] = opcode;
    machine.opcodeName = name;
    runOpcode(machine, world);
  }
  machine.opcodeName = 'STOP';
  return { value: machine.pop(), numBytes: machine.numBytesRead };
}

function unknownOpcode(machine: PickleMachine, code: number): Error {
  const name = REFUSED_OPCODES.get(code);
  machine.opcodeName = name ?? `0x${code.toString(16).padStart(2, '0')}`;
  return name ? machine.refuse('this opcode is not allowed') : machine.fail('this is no opcode of a pickle');
}
