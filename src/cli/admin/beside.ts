/** The HTTP API beside `fleetq dev`: on 7433, or the next port that is free. */
import { AdminServer, type Desk, ListenError, listenOn } from '../../admin/index.ts';
import type { Config } from '../../config/index.ts';
import { systemClock, systemRandom } from '../../ground/index.ts';
import { listenOf } from '../host.ts';
import type { Output } from '../output.ts';

const PORT = 7_433;
const PORTS_TRIED = 20;
const NO_PORT = `none: ports ${PORT} to ${PORT + PORTS_TRIED - 1} are in use`;

interface Beside {
  /** Undefined where no port was free: nothing of `dev` depends on it. */
  readonly at: string | undefined;
  stop(): Promise<void>;
}

async function serveBeside(config: Config, desk: Desk): Promise<Beside> {
  const server = new AdminServer(desk);
  const stop = () => server.stop();
  const ports = { clock: systemClock, random: systemRandom };
  for (let port = PORT; port < PORT + PORTS_TRIED; port++) {
    const listen = config.listen ?? `127.0.0.1:${port}`;
    try {
      return { at: await listenOn(server, listenOf({ ...config, listen })!, ports), stop };
    } catch (error) {
      if (!(error instanceof ListenError) || config.listen !== undefined) throw error;
    }
  }
  return { at: undefined, stop };
}

/** Serves while `act` runs, which gets the address of the pages, or why there are none. */
export async function whileServing<T>(
  config: Config,
  desk: Desk,
  output: Output,
  act: (pages: string) => Promise<T>,
): Promise<T> {
  const { at, stop } = await serveBeside(config, desk);
  const pages = at === undefined ? NO_PORT : `http://${at}`;
  if (!output.isJson) output.note(`admin UI: ${pages}`);
  try {
    return await act(pages);
  } finally {
    await stop();
  }
}
