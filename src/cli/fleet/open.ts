/** The shared tables as a command sees them: opened for one question, and let go of again. */
import { type Config, codecOf } from '../../config/index.ts';
import { Results } from '../../fleet/results.ts';
import { Tasks } from '../../fleet/tasks.ts';
import {
  type Codec,
  identityCodec,
  runIdMint,
  systemClock,
  systemRandom,
} from '../../ground/index.ts';
import {
  type Capabilities,
  type FilledStoreOptions,
  openStore,
  type Store,
  type StoreReader,
  sealedReader,
  sealedStore,
} from '../../store/index.ts';
import { UsageError } from '../errors.ts';
import { mintRequest, whoami } from './acting.ts';

/** Two for what is asked at once; a command is not a pod. */
const CONNECTION_COUNT = 2;

export function storeOptions({ pooled, claimMode, listenUrl }: Config): FilledStoreOptions {
  return {
    clock: systemClock,
    random: systemRandom,
    poolSize: CONNECTION_COUNT,
    isPooled: pooled,
    claimMode,
    listenUrl,
  };
}

/** The address that was configured; a command that needs one says so. */
export function storeAddress({ store }: Config): string {
  if (store !== undefined) return store;
  throw new UsageError('no store is configured', {
    hint: 'name it with --store, FLEETQ_STORE_URL or `store` in the config, like sqlite:./fleet.db',
  });
}

/** By the keys that are configured; where there are none, what others have sealed is told as such. */
export function codecFor(config: Config): Codec {
  return codecOf(config) ?? identityCodec;
}

export async function withStore<T>(config: Config, act: (store: Store) => Promise<T>): Promise<T> {
  const codec = codecFor(config);
  const store = sealedStore(await openStore(storeAddress(config), storeOptions(config)), codec);
  try {
    await store.checkSchema();
    return await act(store);
  } finally {
    await store.close();
  }
}

/** For what only looks: a replica answers where one is configured. */
export async function withReader<T>(
  config: Config,
  act: (reader: StoreReader, capabilities: Capabilities) => Promise<T>,
): Promise<T> {
  const store = await openStore(storeAddress(config), storeOptions(config));
  try {
    const opened = await store.openReader({ url: config.readStore });
    const reader = sealedReader(opened, codecFor(config));
    try {
      return await act(reader, store.capabilities);
    } finally {
      await reader.close();
    }
  } finally {
    await store.close();
  }
}

/** Tasks from the side of those who want something done. */
export async function withTasks<T>(
  config: Config,
  act: (tasks: Tasks, store: Store) => Promise<T>,
): Promise<T> {
  return withStore(config, async (store) => {
    const results = new Results({ store, clock: systemClock, random: systemRandom });
    const tasks = new Tasks({
      store,
      clock: systemClock,
      results,
      mint: runIdMint(systemClock, systemRandom),
      payloadBytesMax: config.resultBytesMax,
      mintRequest,
      who: whoami(),
      via: 'cli',
      onEnqueued: () => undefined,
    });
    const stopHints = await store
      .listen((hint) => hint === 'ended' && results.hint())
      .catch(() => undefined);
    try {
      return await act(tasks, store);
    } finally {
      results.stop(new Error('the command has ended'));
      await stopHints?.();
    }
  });
}
