/** The same by other ways: as a file, at a command line, and in the tables. */
import { CopyButton } from '../../components/copy.tsx';
import { Panel } from '../../components/panel.tsx';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';
import { Download } from './download.tsx';

function waysOf(id: string, hasStore: boolean): readonly (readonly [name: string, text: string])[] {
  const literal = `'${id.replaceAll("'", "''")}'`;
  const commands = [
    ['Show it', `fleetq run ${id}`],
    ['Why', `fleetq explain ${id}`],
    ['Follow it', `fleetq events ${id} --follow`],
    ['Take it along', `fleetq export ${id}`],
  ] as const;
  if (!hasStore) return commands;
  return [
    ...commands,
    ['SQL: the task', `select * from step_tracker where task_id = ${literal};`],
    [
      'SQL: its records',
      `select generation, epoch, first_seq, state, events from run_events ` +
        `where task_id = ${literal} order by generation, epoch, first_seq;`,
    ],
  ];
}

export function SameAs({ run: { id, revision } }: { run: Pick<Run, 'id' | 'revision'> }) {
  const { status, who } = useSession();
  // Only tasks of a fleet have a revision, and a file has all their payloads.
  const isOffered = revision !== undefined && who.mayReveal;
  return (
    <Panel title="The same elsewhere" aside={isOffered && <Download id={id} />}>
      <dl className="same">
        {waysOf(id, status.serves?.store !== false).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="command">
              <code>{text}</code>
              <CopyButton text={text} what={name} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
