/** Who looks on, and what the server they look at has: asked once, before anything else. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { type ApiError, change, get, setCsrf, whenUnknown } from './api.ts';
import type { Machine, Pod, ProcessStatus, Role, Who } from './types.ts';
import { asApiError } from './use-load.ts';

export interface Session {
  readonly who: Who;
  readonly status: ProcessStatus;
  readonly machines: readonly Machine[];
  readonly podNames: ReadonlyMap<string, string>;
  refresh(): void;
  logOut(): Promise<void>;
}

export type Entrance =
  | { readonly kind: 'asking' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'in'; readonly session: Session };

const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  return useContext(SessionContext)!;
}

const RANK: readonly Role[] = ['read', 'operate', 'admin'];

export function useMayDo(role: Role): boolean {
  return RANK.indexOf(useSession().who.role) >= RANK.indexOf(role);
}

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

interface About {
  readonly who: Who;
  readonly status: ProcessStatus;
  readonly machines: readonly Machine[];
  readonly pods: readonly Pod[];
}

async function askAbout(): Promise<About> {
  const who = await get<Who>('/session');
  setCsrf(who.csrf);
  return { who, status: await get<ProcessStatus>('/status'), machines: [], pods: [] };
}

/** Names are a help, and nothing that a page would wait for. */
async function withNames(about: About): Promise<About> {
  const [{ machines }, { pods }] = await Promise.all([
    get<{ machines: Machine[] }>('/machines').catch(() => ({ machines: [] })),
    get<{ pods: Pod[] }>('/pods?all=true').catch(() => ({ pods: [] })),
  ]);
  return { ...about, machines, pods };
}

export function useEntrance(): { readonly entrance: Entrance; readonly enter: () => void } {
  const [entrance, setEntrance] = useState<Entrance>({ kind: 'asking' });
  const enter = useCallback(() => {
    askAbout().then(
      (about) => {
        setEntrance({ kind: 'in', session: sessionOf(about, enter) });
        withNames(about).then((named) =>
          // Whoever was put out meanwhile stays out.
          setEntrance((now) =>
            now.kind === 'in' ? { kind: 'in', session: sessionOf(named, enter) } : now,
          ),
        );
      },
      (thrown) => {
        const error = asApiError(thrown);
        setEntrance(error.status === 401 ? { kind: 'unknown' } : { kind: 'refused', error });
      },
    );
  }, []);
  useEffect(() => {
    whenUnknown(() => setEntrance({ kind: 'unknown' }));
    enter();
  }, [enter]);
  return { entrance, enter };
}

function sessionOf({ who, status, machines, pods }: About, refresh: () => void): Session {
  return {
    who,
    status,
    machines,
    podNames: new Map(pods.map(({ pod, name }) => [pod, name])),
    refresh,
    logOut: async () => {
      await change('DELETE', '/session');
      setCsrf(undefined);
      refresh();
    },
  };
}

export async function logIn(token: string): Promise<void> {
  const who = await change<Who>('POST', '/session', { body: { token } });
  setCsrf(who.csrf);
}
