/** Starts a run: a form from the schema of the machine, or JSON. The machine is asked while one types. */
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Refusal } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { after, newRequestId } from '../../platform/clock.ts';
import { go } from '../../router/router.tsx';
import { type ApiError, change } from '../../services/api.ts';
import type { MachineRow } from '../../services/fleet-types.ts';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';
import { asApiError } from '../../services/use-load.ts';
import { fieldsOf, fill, jsonIn, type Typed, typedOf } from './schema-form.ts';
import { StartFields } from './start-fields.tsx';
import { type Flow, faultAt, flowWords, StartFlow, useFlow } from './start-flow.tsx';

const ASK_MS = 300;

type Verdict =
  | { readonly kind: 'asking' }
  | { readonly kind: 'wanted' }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'refused'; readonly error: ApiError };

export function StartDialog({ machine, onClose }: { machine: MachineRow; onClose: () => void }) {
  const fields = useMemo(() => fieldsOf(machine.input), [machine.input]);
  const [isJson, setJson] = useState(fields === undefined);
  const [typed, setTyped] = useState<Typed>({});
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState('{}');
  const [key, setKey] = useState('');
  const flow = useFlow();
  const hasStore = useSession().status.serves?.store !== false;
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const filled = useMemo(() => fill(fields ?? [], typed), [fields, typed]);
  const json = useMemo(() => jsonIn(text), [text]);
  const isInput = isJson ? json.kind === 'value' : Object.keys(filled.wrong).length === 0;
  const isWhole = isInput && Object.keys(flow.filled.wrong).length === 0;
  const input = isJson ? (json.kind === 'value' ? json.value : undefined) : filled.input;
  const way = { ...(key === '' ? {} : { key }), ...flow.filled.input };
  const body = { machine: machine.name, input: input ?? null, ...way };
  const verdict = useVerdict(isWhole ? body : undefined);
  const refused = verdict.kind === 'refused' ? verdict.error : undefined;
  const [at, why] = faultAt(refused) ?? [];
  const requestId = useMemo(newRequestId, []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTouched(new Set((fields ?? []).map(({ name }) => name)));
    if (verdict.kind !== 'wanted') return;
    setBusy(true);
    try {
      const run = await change<Run>('POST', '/runs', { body, requestId });
      toast(`Started ${machine.name}`);
      onClose();
      go(`/runs/${encodeURIComponent(run.id)}`);
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const turn = () => {
    if (isJson && json.kind === 'value' && fields) setTyped(typedOf(fields, json.value));
    if (!isJson) setText(JSON.stringify(filled.input, null, 2));
    setJson(!isJson);
  };
  const command = commandOf(machine.name, isInput ? input : undefined, key, flow);
  return (
    <Dialog title={`Start ${machine.name}`} onClose={onClose}>
      <form onSubmit={submit} className="act start" noValidate>
        {fields && (
          <fieldset className="segments">
            <legend className="offscreen">How to write the input</legend>
            <button type="button" aria-pressed={!isJson} onClick={() => isJson && turn()}>
              Form
            </button>
            <button type="button" aria-pressed={isJson} onClick={() => isJson || turn()}>
              JSON
            </button>
          </fieldset>
        )}
        {isJson || !fields ? (
          <label className="start-json">
            Input, as JSON
            <textarea
              rows={8}
              spellCheck={false}
              className="mono"
              value={text}
              aria-invalid={json.kind === 'wrong'}
              onChange={(event) => setText(event.target.value)}
            />
            {json.kind === 'wrong' && <span className="field-wrong">It {json.why}</span>}
          </label>
        ) : (
          <StartFields
            {...{ fields, typed, touched }}
            wrong={filled.wrong}
            onType={(name, value) => {
              setTyped((before) => ({ ...before, [name]: value }));
              setTouched((before) => new Set(before).add(name));
            }}
          />
        )}
        <label>
          Key, if starts with one key shall be one run
          <input
            value={key}
            maxLength={512}
            aria-invalid={at === 'key'}
            onChange={(event) => setKey(event.target.value)}
          />
          {at === 'key' && <span className="field-wrong">It {why}</span>}
        </label>
        {hasStore && <StartFlow flow={flow} refused={refused} />}
        <Said verdict={verdict} />
        <div className="command">
          <code>{command}</code>
          <CopyButton text={command} what="the command" />
        </div>
        {error && <Refusal error={error} />}
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="primary" disabled={isBusy || verdict.kind === 'refused'}>
            {isBusy ? 'Working…' : 'Start'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Said({ verdict }: { verdict: Verdict }) {
  switch (verdict.kind) {
    case 'refused':
      if (faultAt(verdict.error) === undefined) return <Refusal error={verdict.error} />;
      return (
        <p className="field-wrong" role="status">
          One of the fields does not fit.
        </p>
      );
    case 'wanted':
      return (
        <p className="start-good" role="status">
          The machine takes this input.
        </p>
      );
    case 'asking':
      return (
        <p className="quiet" role="status">
          Asking the machine…
        </p>
      );
    case 'incomplete':
      return (
        <p className="quiet" role="status">
          Something is missing yet.
        </p>
      );
  }
}

/** Whether it would be taken as it stands: asked a moment after the last key. */
function useVerdict(whole: object | undefined): Verdict {
  const [verdict, setVerdict] = useState<Verdict>({ kind: 'incomplete' });
  const body = whole && JSON.stringify(whole);
  useEffect(() => {
    if (body === undefined) return setVerdict({ kind: 'incomplete' });
    setVerdict({ kind: 'asking' });
    const aborter = new AbortController();
    const cancel = after(ASK_MS, () => {
      const asked = { ...(JSON.parse(body) as object), dryRun: true };
      change('POST', '/runs', { body: asked, signal: aborter.signal }).then(
        () => setVerdict({ kind: 'wanted' }),
        (thrown) => {
          if (!aborter.signal.aborted) setVerdict({ kind: 'refused', error: asApiError(thrown) });
        },
      );
    });
    return () => {
      cancel();
      aborter.abort();
    };
  }, [body]);
  return verdict;
}

function commandOf(machine: string, input: unknown, key: string, flow: Flow): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = ['fleetq enqueue', /^[\w/.-]+$/.test(machine) ? machine : quoted(machine)];
  if (input !== undefined) parts.push('--input', quoted(JSON.stringify(input)));
  if (key !== '') parts.push('--key', quoted(key));
  const plain = (text: string) => (/^[\w/.:-]+$/.test(text) ? text : quoted(text));
  for (const [flag, value] of flowWords(flow)) parts.push(flag, plain(value));
  return parts.join(' ');
}
