/** What a run has been through besides its phases: generations, versions, owners whose records are lost. */
import { SUSPECT_CRASHES } from '../../store/index.ts';
import type { Facts } from './facts.ts';
import type { Finding } from './finding.ts';
import { ago, count, list, quoted, recordEvidence } from './words.ts';

export function explainCourse(facts: Facts): Finding[] {
  return [
    ...unread(facts),
    ...redriven(facts),
    ...forked(facts),
    ...versions(facts),
    ...missing(facts),
    ...superseded(facts),
  ];
}

function redriven(facts: Facts): Finding[] {
  const { row, records, deeds, id } = facts;
  if (!row || row.generation <= 1) return [];
  const first = records[0];
  const carried = first?.event.type === 'STARTED' ? first.event.carried : undefined;
  const done = carried ? Object.keys(carried.outputs) : [];
  const how = carried
    ? `it goes on at ${carried.step}, with what ${list(done, 'no step')} put out before`
    : row.carriesFrom !== undefined && !first
      ? `it goes on from what generation ${row.carriesFrom} had finished`
      : 'it began afresh';
  const deed = deeds.find(({ what }) => what === 'redrive');
  const by = deed ? ` by ${quoted(deed.who)} ${ago(facts, deed.at)}` : '';
  return [
    {
      code: 'redriven',
      sentence: `It was redriven${by}: this is generation ${row.generation}, and ${how}.`,
      evidence: first ? [recordEvidence(first, `generation ${row.generation} began`)] : [],
      hint: { text: 'its earlier generations', command: `fleetq export ${id}` },
    },
  ];
}

function forked({ records }: Facts): Finding[] {
  const first = records[0];
  const from = first?.event.type === 'STARTED' ? first.event.forkedFrom : undefined;
  if (!first || !from) return [];
  return [
    {
      code: 'forked',
      sentence:
        `It is a fork: its first records are those of ${quoted(from.task)}, generation ` +
        `${from.generation}, so phases before the one it began with were not run by it.`,
      evidence: [recordEvidence(first, `forked from ${quoted(from.task)}`)],
      hint: { text: 'where it comes from', command: `fleetq run ${quoted(from.task)}` },
    },
  ];
}

function versions({ records, id }: Facts): Finding[] {
  const hint = { text: 'its records', command: `fleetq events ${id}` };
  return records.flatMap((record, index): Finding[] => {
    const { event } = record;
    if (event.type === 'ADVANCED') {
      const sentence =
        `Version ${event.version} goes on with it from ${record.state}: its line begins with the ` +
        'phases that were recorded, so none of them was run again.';
      const evidence = [recordEvidence(record, `version ${event.version}`)];
      return [{ code: 'advanced', sentence, evidence, hint }];
    }
    if (event.type !== 'UPGRADED') return [];
    const hadBegun = records
      .slice(0, index)
      .some(({ state }) => state.startsWith(`${event.step}.`));
    const again = hadBegun
      ? `, whose phases are run again though version ${event.from} had begun it`
      : '';
    const sentence =
      `Version ${event.version} has carried it over from version ${event.from}, ` +
      `to step ${event.step}${again}.`;
    const evidence = [recordEvidence(record, `version ${event.from} → ${event.version}`)];
    return [{ code: 'upgraded', sentence, evidence, hint }];
  });
}

/** More of its owners died than its records tell of: those died before anything of theirs was sent. */
function missing({ row, records, id, unread: why }: Facts): Finding[] {
  if (!row || why || row.crashes === 0 || row.finishedAt !== undefined) return [];
  const told = records.filter(
    ({ event }) =>
      (event.type === 'INTERRUPTED' && !event.isFree) ||
      ((event.type === 'TAKEN' || event.type === 'ADVANCED') && event.interruption === 'cut'),
  ).length;
  // The last death is told by whoever takes it next.
  const owed = row.interruption === 'cut' && row.status !== 'claimed' ? 1 : 0;
  const isUnsent = records.length === 0 && row.crashes > 0;
  if (!isUnsent && told + owed >= row.crashes) return [];
  const last = records.at(-1);
  const after = last ? `after record ${last.seq}` : 'from the beginning';
  return [
    {
      code: 'records-missing',
      sentence:
        `${count(row.crashes, 'owner')} of it died, and not all of what they did was in the store yet: ` +
        `phases that they had finished are run again, ${after}.`,
      evidence: [
        { text: `crashes ${row.crashes}, told by records: ${told}`, epoch: row.epoch },
        ...(last ? [recordEvidence(last, 'the last record that is in the store')] : []),
      ],
      hint:
        row.crashes >= SUSPECT_CRASHES
          ? { text: 'look at what it does', command: `fleetq run ${id}` }
          : { text: 'its records', command: `fleetq events ${id}` },
    },
  ];
}

function superseded({ strays, id }: Facts): Finding[] {
  return strays.map(({ epoch, firstSeq, lastSeq, states }): Finding => {
    const which = firstSeq === lastSeq ? `record ${firstSeq}` : `records ${firstSeq} to ${lastSeq}`;
    return {
      code: 'records-superseded',
      sentence:
        `The owner of epoch ${epoch} had done more than the store knew when another went on: ` +
        `${which} (${spanOf(states)}) came too late, count for nothing, and were done again.`,
      evidence: [{ text: `${which} of a former owner`, seq: firstSeq, epoch }],
      hint: { text: 'the records that count', command: `fleetq events ${id}` },
    };
  });
}

function spanOf(states: readonly string[]): string {
  const [first = 'nowhere', last = first] = [states[0], states.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

function unread({ unread: why, row, run, records, id }: Facts): Finding[] {
  if (why) {
    return [
      {
        code: 'records-unreadable',
        sentence: `Its records cannot be read here: ${quoted(why.message)}.`,
        evidence: why.code ? [{ text: why.code }] : [],
        hint: { text: 'check what is configured here', command: 'fleetq doctor' },
      },
    ];
  }
  const hadSome = row
    ? row.finishedAt !== undefined && row.lastSeq >= 0
    : run?.finishedAt !== undefined;
  if (records.length > 0 || !hadSome) return [];
  return [
    {
      code: 'records-removed',
      sentence:
        'Its records have been removed by retention: how it came to its end is not told any more.',
      evidence: row ? [{ text: `its last record was ${row.lastSeq}`, seq: row.lastSeq }] : [],
      hint: { text: 'what is left of it', command: `fleetq run ${id}` },
    },
  ];
}
