/**
 * Colours mean something, and the same everywhere: blue is what is there, green what went well, red
 * what did not, amber what waits or is repeated, grey what is neither. Lines of one kind are shades.
 */
import type { Override, ThresholdStep } from './grafana.ts';

export const COLOUR = {
  there: 'blue',
  well: 'green',
  badly: 'red',
  waiting: 'orange',
  neither: '#8e8e8e',
} as const;
export type Meaning = keyof typeof COLOUR;

/** Outcomes of runs and of phases, statuses of pods and tasks, results of claims and beats. */
const MEANINGS: Readonly<Record<Meaning, readonly string[]>> = {
  well: ['completed', 'handedOff', 'done', 'passed', 'up', 'claimed', 'taken'],
  badly: ['exhausted', 'aborted', 'timedOut', 'crashLoop', 'failed', 'dead', 'error', 'refused'],
  waiting: [
    'waiting',
    'retry',
    'retried',
    'threw',
    'timeout',
    'draining',
    'contended',
    'pending',
    'silent',
    'suspect',
  ],
  neither: ['cancelled', 'empty', 'down', 'interrupted', 'postponed'],
  there: [],
};

/** Series that are named by one of those words get its colour. */
export function byMeaning(): Override[] {
  return (Object.keys(MEANINGS) as Meaning[])
    .filter((meaning) => MEANINGS[meaning].length > 0)
    .map((meaning) => ({
      matcher: { id: 'byRegexp', options: `/^(${MEANINGS[meaning].join('|')})$/` },
      properties: [{ id: 'color', value: { mode: 'shades', fixedColor: COLOUR[meaning] } }],
    }));
}

/** The series of this name has this colour. */
export function named(name: string, meaning: Meaning): Override {
  return {
    matcher: { id: 'byName', options: name },
    properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: COLOUR[meaning] } }],
  };
}

/** Calm below `warn`, amber from there on, red from `bad` on. */
export function rising(warn: number, bad: number): ThresholdStep[] {
  return [
    { color: 'text', value: null },
    { color: COLOUR.waiting, value: warn },
    { color: COLOUR.badly, value: bad },
  ];
}

/** Red below `bad`, amber below `warn`, calm from there on. */
export function falling(warn: number, bad: number): ThresholdStep[] {
  return [
    { color: COLOUR.badly, value: null },
    { color: COLOUR.waiting, value: bad },
    { color: 'text', value: warn },
  ];
}
