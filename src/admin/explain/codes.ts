/**
 * Everything that can be found out about a run, by its code. The page of them is held against this
 * table: whoever adds one says here what it means.
 */
export const CODES = {
  // It could go on, and does not.
  'no-pod': 'it is due, and no pod is up',
  'no-route': 'no pod that is up has its machine in its version, or a newer one that could go on',
  'machine-unknown': 'no pod has ever had its machine; a leader fails it after a while',
  'waiting-for-version': 'pods that had it could not go on with it: it waits for its version',
  'waiting-for-key': 'its records are sealed with a key that no pod had which took it',
  'waiting-for-host': 'it was started on a host, and goes on there alone',
  'not-due': 'it was put off until a time',
  'backing-off': 'its last attempt failed, and the next one is not due yet',
  postponed: 'its own phase asked to be called again later',
  throttled: 'an API had no room for its call, or other runs have all leave to call it',
  sleeping: 'it is in a sleep of its line',
  'waiting-for-other': 'it waits for a signal, or another run',
  'waiting-for-turn': 'another task with its serial key goes before it',
  'machine-paused': 'somebody has paused its machine',
  'queue-paused': 'somebody has paused its queue',
  'queue-limited': 'as many tasks of its queue are claimed as its limit allows',
  paused: 'somebody has paused it',
  suspect: 'two of its owners died: it waits for a process of its own',
  'queue-full': 'it is due, and every pod that could take it is full',
  'pods-leaving': 'it is due, and every pod that could take it is draining',
  'pods-stalled': 'it is due, and no pod that could take it can write its journal',
  due: 'it is due, and is about to be claimed',
  'held-back': 'it is due, and pods hold it back: an API that it calls has no room for more',
  overlooked: 'it has been due for long, and pods with room have not claimed it',
  'deadline-passed': 'its deadline is over, and nobody has ended it yet',
  // Somebody has it.
  running: 'a pod executes it now',
  'pause-requested': 'somebody has asked to pause it; its owner stops before the next phase',
  'cancel-requested': 'somebody has asked to cancel it; its owner has not yet done so',
  'owner-silent': 'its owner has not been heard of lately',
  'owner-stalled': 'its owner cannot write its journal, so it stands still',
  'owner-dead': 'its owner is dead, and has not been swept yet',
  'no-leader': 'no pod is there that would sweep',
  'leader-not-steady': 'who leads has not been up for long enough to judge others',
  'end-not-settled': 'its records tell its end, and its row does not yet',
  // It lies in a journal.
  'store-away': 'the store does not answer, and its pod goes by its own journal',
  'no-process': 'it belongs to a journal that no process holds',
  quarantined: 'its records cannot be trusted, so nobody goes on with it',
  // It has ended.
  completed: 'it did all it had to',
  'handed-off': '`check` found that there was nothing to do',
  cancelled: 'somebody has cancelled it',
  exhausted: 'every attempt has failed',
  'retries-spent': 'it failed more often than whoever enqueued it allows',
  aborted: 'its own code gave it up, or FleetQ did, for a reason that no attempt would change',
  'timed-out': 'it passed its deadline',
  'crash-loop': 'its process died three times without one step completed between',
  'row-refused': 'its row, or its input, is nothing that could be executed',
  discarded: 'it failed, and somebody has put it away',
  // What it has been through.
  redriven: 'it is not its first generation',
  forked: 'it began with the records of another run',
  advanced: 'a newer version goes on with it, whose line begins with its phases',
  upgraded: 'a newer version has carried it over',
  // Why a phase ran twice.
  'error-retried': 'a phase threw, and was tried again',
  'validate-rejected': '`validate` rejected what `work` did, so that was done again',
  'phase-postponed': 'a phase asked to be called again later',
  'phase-throttled': 'an API had no room for the call of a phase',
  'process-died': 'its process died inside a phase',
  'claim-lost': 'its owner lost the claim inside a phase, and lived on',
  'drained-inside': 'its process drained, and could not wait for a phase',
  'records-missing': 'an owner died before its records were in the store',
  'records-superseded': 'a former owner went on, and what it recorded counts for nothing',
  'probe-handed-off': 'a phase was not done again: `check`, asked first, found it done',
  // What cannot be told.
  'records-removed': 'its records are gone: retention has removed them',
  'records-unreadable': 'its records are there, and cannot be read here',
} as const satisfies Record<string, string>;

export type Code = keyof typeof CODES;
