/** The commands of a store itself: its tables, and what can be found out about it. */
import type { Command } from 'commander';
import { type Add, STORE_SETTINGS } from './add-command.ts';

export function addStore(program: Command, add: Add): void {
  addMigrate(program, add);
  addProbe(program, add);
}

function addMigrate(program: Command, add: Add): void {
  const migrate = program
    .command('migrate')
    .helpCommand(false)
    .description("The store's tables: make them, bring them up to date, or see what is pending.");
  const load = () => import('./fleet/migrate.ts');
  add(
    'up',
    'Apply what is pending. Any number of processes may do so at once.',
    async () => (await load()).up,
    STORE_SETTINGS,
    migrate,
  ).option('--dry-run', 'the same as plan');
  add(
    'status',
    'What was applied, and what is pending. Exit 6 where something is.',
    async () => (await load()).status,
    STORE_SETTINGS,
    migrate,
  );
  add(
    'plan',
    'Print the SQL that up would execute.',
    async () => (await load()).plan,
    STORE_SETTINGS,
    migrate,
  );
}

function addProbe(program: Command, add: Add): void {
  const probe = program
    .command('probe')
    .helpCommand(false)
    .description('Ask a store what its documentation leaves open.');
  add(
    'snowflake',
    'Find out on a live account who wins when several write, and whether a fleet can work there.',
    async () => (await import('./fleet/probe.ts')).probe,
    STORE_SETTINGS,
    probe,
  ).addHelpText('after', PROBE_HELP);
}

const PROBE_HELP = `
Takes about a minute of the warehouse, makes tables fleetq_probe_… in the schema of the address, and removes
them. Where the role may make schemas, it also lives a fleet's life in one of its own. Exit 8 where FleetQ
could not keep its promises on this account.

Examples:
  fleetq probe snowflake --store 'snowflake://fleet@org-acct/APP/PUBLIC?warehouse=W&key=./rsa_key.p8'
  fleetq probe snowflake --json > account.json
`;
