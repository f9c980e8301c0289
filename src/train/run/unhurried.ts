/** How often work beside the steps is told: a message to another thread for each document would cost more than the work. */
import type { TrainEvent, TrainListener } from './events.ts';

/** Progress is told at most so often. */
const WORK_EVENT_MS = 50;

/** A listener that hears of each piece of work how it began and how far it got, but not of every document of it. */
export function unhurried(listener: TrainListener, clock: () => number): TrainListener {
  let told = { label: '', timeMs: 0 };
  let heldBack: TrainEvent | undefined;
  return (event) => {
    if (event.kind === 'work' && event.label === told.label && clock() - told.timeMs < WORK_EVENT_MS) {
      heldBack = event;
      return;
    }
    if (event.kind === 'work') told = { label: event.label, timeMs: clock() };
    else if (heldBack) listener(heldBack); // the last word on work that is over
    if (event.kind === 'work-over') told = { label: '', timeMs: 0 };
    heldBack = undefined;
    listener(event);
  };
}
