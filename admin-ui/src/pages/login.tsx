/** For those whom the server does not know yet: a token, given once, for a cookie. */
import { type FormEvent, useState } from 'react';
import { Refusal } from '../components/panel.tsx';
import type { ApiError } from '../services/api.ts';
import { logIn } from '../services/session.tsx';
import { asApiError } from '../services/use-load.ts';

export function Login({ onIn }: { onIn: () => void }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn(token.trim());
      onIn();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <main className="alone">
      <h1>FleetQ</h1>
      <form onSubmit={submit} className="login">
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          aria-describedby="token-hint"
        />
        <p id="token-hint" className="quiet">
          Whoever runs this fleet makes one with <code>fleetq token new</code>. It is exchanged for
          a cookie that ends in twelve hours.
        </p>
        {error && <Refusal error={error} />}
        <button type="submit" className="primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Logging in…' : 'Log in'}
        </button>
      </form>
    </main>
  );
}
