/** fleetq probe snowflake: questions to a live account, its answers, and what FleetQ makes of them. */
import { showDuration } from '../../ground/index.ts';
import { StoreOptionsError } from '../../store/index.ts';
import type { Probe, ProbeAnswer, ProbeVerdict } from '../../store/snowflake/probe/probe.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import type { Output } from '../output.ts';
import type { Style } from '../paint.ts';
import { plain } from '../table.ts';
import { storeAddress, storeOptions } from './open.ts';

const STYLE: Record<ProbeVerdict, Style> = { ok: 'green', warn: 'yellow', fail: 'red' };

export const probe: Execute = async ({ config, output, io }) => {
  const address = storeAddress(config);
  if (!/^snowflake:/i.test(address)) {
    throw new StoreOptionsError('only an account of Snowflake leaves anything to be asked', {
      hint: 'name one with --store: snowflake://user@account/database/schema',
    });
  }
  const { probeSnowflake } = await import('../../store/snowflake/probe/probe.ts');
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    stop.abort(signal);
    output.note('removing what was made; a second signal leaves it there');
  };
  // Once: whoever does not want to wait for that sends another.
  io.signals.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const told = output.isJson ? {} : { onAnswer };
  const options = { ...storeOptions(config), ...told, signal: stop.signal };
  const found = await probeSnowflake(address, options).finally(() => {
    io.signals.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  });
  if (stop.signal.aborted) {
    if (found.left.length > 0) output.note(`could not be removed: ${found.left.join(', ')}`);
    return stop.signal.reason === 'SIGTERM' ? Exit.terminated : Exit.interrupted;
  }
  if (output.isJson) output.json(found);
  else conclude(found, output);
  return found.isFit ? Exit.ok : Exit.doctorFoundProblems;

  /** As they come: the whole takes a minute. */
  function onAnswer({ verdict, name, asks, answer, concludes }: ProbeAnswer): void {
    const mark = output.paint(STYLE[verdict], verdict.padEnd(4));
    output.line(`${mark}  ${output.paint('bold', name)}: ${asks}`);
    output.line(`      ${plain(answer)}`);
    output.line(`      ${output.paint('gray', `→ ${plain(concludes)}`)}`);
  }
};

function conclude({ tables, left, elapsedMs }: Probe, output: Output): void {
  const asked = `asked in ${showDuration(elapsedMs)}`;
  if (left.length > 0) output.note(`could not be removed, please do so: ${left.join(', ')}`);
  output.note(
    tables === undefined
      ? `${asked}: a fleet cannot work on this account as it is`
      : `${asked}: use ${tables} tables`,
  );
}
