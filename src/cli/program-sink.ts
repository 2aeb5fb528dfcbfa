/** The command that sends what a store holds to an archive. */
import type { Add } from './add-command.ts';

export function addSink(add: Add): void {
  add(
    'sink',
    'Send history and tasks of a store to an archive in Snowflake, and go on with what changes.',
    async () => (await import('./sink/sink.ts')).sink,
    ['store', 'pooled', 'healthListen'],
  )
    .option('--to <address>', 'snowflake://user@account/database/schema?warehouse=…&key=…')
    .option('--name <name>', "of this archive's rows: fleets may share one (default 'default')")
    .option('--once', 'end when everything that is there now has been sent')
    .option('--every <duration>', "how often to look for what has changed (default '1m')")
    .option('--migrate', 'first make tables and views in Snowflake, and two indexes in the store')
    .option('--again', 'send everything once more')
    .option('--take-over', 'do not wait for the lease of a process that is known to be dead')
    .option('--deadline <duration>', "how long Snowflake may take for a batch (default '30s')")
    .option('--forget', 'let retention wait for this sink no longer; nothing is sent')
    .addHelpText('after', SINK_HELP);
}

const SINK_HELP = `
The store is in Postgres or SQLite. Retention waits for what a sink has not sent: one that is gone for good
has to be forgotten. Batches may be sent twice, and change nothing then. SIGTERM ends it behind the batch in
hand; the next one goes on from there.

Examples:
  fleetq sink --to 'snowflake://LOADER@acme/OPS/FLEET?warehouse=XS&key=/k.p8' --migrate
  fleetq sink --to 'snowflake://…' --once
  fleetq sink --name old --forget
`;
