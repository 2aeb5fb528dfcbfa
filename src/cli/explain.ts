/** fleetq explain <run> [--json]: why it does not run, how it ended, why a phase ran twice. */

import { showing } from '../admin/desk/mask.ts';
import {
  type Evidence,
  explain,
  type Facts,
  type Finding,
  factsOfRun,
  gatherTask,
  timeText,
} from '../admin/explain/index.ts';
import type { MachineInfo } from '../admin/index.ts';
import type { Config } from '../config/index.ts';
import { type RunId, systemClock } from '../ground/index.ts';
import { lookingCodec } from '../journal/index.ts';
import { Registry } from '../machine/index.ts';
import { machineInfo } from '../machine-info.ts';
import type { Store, TaskRow } from '../store/index.ts';
import type { Execute } from './command.ts';
import { Exit } from './exit.ts';
import { codecFor } from './fleet/open.ts';
import { silenceOf } from './fleet/pods.ts';
import { onTaskOrRun } from './fleet/reach-tasks.ts';
import { loadMachinesIfAny } from './machines.ts';
import type { Output } from './output.ts';
import { reachToRead } from './reach.ts';
import { idOf } from './runs.ts';
import { plain } from './table.ts';

export const explainRun: Execute = async (context, options, id) => {
  const { config, output } = context;
  idOf(id, 'the argument');
  const tell = (facts: Facts) => {
    const findings = explain(facts);
    if (output.isJson) output.json({ id, at: facts.now, findings });
    else showFindings(findings, output);
    return Exit.ok;
  };
  const shown = showing(false, config.redact);
  const onTask = async (row: TaskRow, store: Store) => {
    const reader = await store.openReader();
    try {
      const codec = lookingCodec(codecFor(config));
      const silentMs = silenceOf(store, config);
      const machines = row.waitFor === 'retry' ? await machinesHere(config) : [];
      const asked = { codec, silentMs, shown, mayAudit: true, machines };
      return tell(await gatherTask(reader, row, asked));
    } finally {
      await reader.close();
    }
  };
  return onTaskOrRun(context, options, id as RunId, onTask, async () => {
    const { by, summary, records } = await reachToRead(config, async (reach) => {
      const run = await reach.run(id!);
      const isDamaged = run.status === 'quarantined';
      return { by: reach.by, summary: run, records: isDamaged ? [] : await reach.events(id!) };
    });
    const machines = summary.status === 'waiting' ? await machinesHere(config) : [];
    const now = systemClock.now();
    return tell(
      factsOfRun({ summary, records }, { now, isHeld: by === 'process', shown, machines }),
    );
  });
};

/** For how many attempts there are; whoever looks from elsewhere may not have the code. */
async function machinesHere(config: Config): Promise<MachineInfo[]> {
  const found = await loadMachinesIfAny(config, config.cwd).catch(() => undefined);
  return found ? new Registry(found.machines).all().map(machineInfo) : [];
}

/** The reason first; what shows it, in columns; what to do. What else there is to say comes after. */
function showFindings(findings: readonly Finding[], output: Output): void {
  const { paint } = output;
  findings.forEach(({ code, sentence, evidence, hint }, index) => {
    if (index > 0) output.line('');
    const said = plain(sentence);
    output.line(`${index === 0 ? paint('bold', said) : said} ${paint('gray', `[${code}]`)}`);
    for (const row of columnsOf(evidence)) output.line(`  ${paint('gray', row.where)}${row.text}`);
    output.line(
      `  ${paint('cyan', '→')} ${plain(hint.text)}: ${paint('cyan', plain(hint.command))}`,
    );
  });
}

/** Only the columns that something is in, as wide as what is in them. */
function columnsOf(
  evidence: readonly Evidence[],
): { readonly where: string; readonly text: string }[] {
  const cells = evidence.map(({ at, seq, epoch }) => [
    at === undefined ? '' : timeText(at),
    seq === undefined ? '' : `record ${seq}`,
    epoch === undefined ? '' : `epoch ${epoch}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((row) => row[column]!.length)));
  return evidence.map(({ text }, index) => {
    const padded = cells[index]!.map((cell, column) => cell.padEnd(widths[column]!));
    const where = padded.filter((_, column) => widths[column]! > 0).join('  ');
    return { where: where === '' ? '' : `${where}  `, text: plain(text) };
  });
}
