/**
 * Installs an image: pull → unpack → activate. Each step looks at the real thing first, works on its
 * bench, and publishes by one rename; so each may be killed at any instant and simply be done again.
 *
 *   pull      the archive is there, and its checksum is right      else download, verify, rename
 *   unpack    the tree is there, as its manifest says              else unpack, verify, rename
 *   activate  `current` points to the tree                         else swap the link
 */
import { rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { abort, defineMachine, exponential, handoff, proceed, type StepContext } from 'fleetq';
import * as z from 'zod';
import { readCurrent, swapCurrent } from './activate.ts';
import { closeBench, openBench } from './bench.ts';
import { DOWNLOAD_OPTIONS, type DownloadOptions, download, forget } from './download.ts';
import { makeParent, sha256Of, syncDirectory, unless } from './files.ts';
import { placesOf } from './places.ts';
import { type ArchiveLimits, ArchiveRefusedError } from './tar-source.ts';
import { verifyVersion } from './tree.ts';
import { ARCHIVE_LIMITS, publishVersion, unpackArchive } from './unpack.ts';

const ImageInput = z.object({
  url: z
    .url({ protocol: /^https?$/, error: 'wanted an http or https address' })
    .refine((url) => !/^https?:\/\/[^/]*@/i.test(url), {
      error: 'wanted an address without user and password: inputs are journaled',
    }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'wanted 64 hexadecimal digits in lower case'),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'wanted 1 to 64 of a-z 0-9 . _ -, no dot first'),
  root: z.string().refine((root) => isAbsolute(root) && normalize(root) === root, {
    error: "wanted an absolute directory, without '..' or doubled slashes",
  }),
});
type Context = StepContext<z.infer<typeof ImageInput>, unknown>;

export interface ImageInstallOptions {
  readonly archive?: Partial<ArchiveLimits>;
  readonly download?: Partial<DownloadOptions>;
  readonly attemptMax?: number;
}

/** The machine with limits of one's own; `imageInstall` is the one with ours. */
export function defineImageInstall(options: ImageInstallOptions = {}) {
  const limits = { ...ARCHIVE_LIMITS, ...options.archive };
  const downloads = { ...DOWNLOAD_OPTIONS, ...options.download };

  return defineMachine({
    name: 'image/install',
    version: 1,
    input: ImageInput,
    retry: {
      attemptMax: options.attemptMax ?? 10,
      backoff: exponential('200ms', { max: '30s' }),
    },
    timeout: { check: '1h', work: '3h', validate: '1h', persist: '3h', run: '1d' },
    steps: (line) =>
      line
        .step('pull', {
          check: async ({ input, signal }) => {
            const { archive } = placesOf(input);
            await refuseRoot(input.root);
            const found = await unless(['ENOENT'], stat(archive));
            if (!found?.isFile() || (await sha256Of(archive, signal)) !== input.sha256) return;
            return handoff({ archive, bytes: found.size }, 'the archive is there and right');
          },
          work: async (context) => ({ bytes: await fetchPart(context, downloads) }),
          validate: (context) => verifyPart(context),
          persist: async (context) => {
            const { archive } = placesOf(context.input);
            if (!(await publishPart(context))) {
              // Somebody has cleared the bench since it was verified.
              await fetchPart(context, downloads);
              await verifyPart(context);
              await publishPart(context);
            }
            return { archive, bytes: (await stat(archive)).size };
          },
        })
        .step('unpack', {
          check: async ({ input, signal }) => {
            const { version, tree } = placesOf(input);
            const found = await verifyVersion(version, input.sha256, signal);
            if (!found) return proceed;
            const { entries, bytes } = found;
            return handoff({ tree, entries, bytes }, 'the tree is there and as its manifest says');
          },
          work: (context) => unpackOnBench(context, limits),
          validate: async ({ input, runId, signal }) => {
            const bench = await openBench(placesOf(input).benches, runId);
            if (await verifyVersion(join(bench, 'version'), input.sha256, signal)) return;
            throw new Error('the tree on disk is not what the archive holds');
          },
          persist: async (context) => {
            const { tree } = placesOf(context.input);
            if (!(await publishUnpacked(context))) {
              await unpackOnBench(context, limits);
              await publishUnpacked(context);
            }
            return { tree, entries: context.work.entries, bytes: context.work.bytes };
          },
        })
        .step('activate', {
          check: async ({ input, runId }) => {
            const places = placesOf(input);
            const { current, tree, currentTarget } = places;
            if ((await readCurrent(places)) !== currentTarget) return;
            await closeBench(places.benches, runId);
            return handoff({ current, tree }, 'current points there already');
          },
          work: async ({ input, runId }) => {
            const places = placesOf(input);
            await swapCurrent(places, await openBench(places.benches, runId));
            await closeBench(places.benches, runId);
            return { current: places.current, tree: places.tree };
          },
          validate: async ({ input }) => {
            const places = placesOf(input);
            const target = await readCurrent(places);
            if (target === places.currentTarget) return;
            throw new Error(`current points to ${target}, wanted ${places.currentTarget}`);
          },
        }),
  });
}

export const imageInstall = defineImageInstall();

async function refuseRoot(root: string): Promise<void> {
  const found = await unless(['ENOENT'], stat(root));
  if (!found || found.isDirectory()) return;
  abort(`root is ${root}, which is no directory: name one, or a place for one`, { kind: 'user' });
}

async function fetchPart(context: Context, options: DownloadOptions): Promise<number> {
  const { input, runId } = context;
  const bench = await openBench(placesOf(input).benches, runId);
  return download(input.url, join(bench, 'part'), context, options);
}

async function verifyPart({ input, runId, signal }: Context): Promise<void> {
  const part = join(await openBench(placesOf(input).benches, runId), 'part');
  const sha256 = await sha256Of(part, signal);
  if (sha256 === input.sha256) return;
  await forget(part);
  await rm(part, { force: true });
  throw new Error(`the download has the checksum ${sha256}, wanted ${input.sha256}`);
}

/** False where there is nothing to publish. */
async function publishPart({ input, runId }: Context): Promise<boolean> {
  const { archive, benches } = placesOf(input);
  const part = join(await openBench(benches, runId), 'part');
  await makeParent(archive);
  const moved = await unless(
    ['ENOENT'],
    rename(part, archive).then(() => true),
  );
  if (!moved) return false;
  await forget(part);
  await syncDirectory(join(archive, '..'));
  return true;
}

async function unpackOnBench({ input, runId, signal }: Context, limits: ArchiveLimits) {
  const { archive, benches } = placesOf(input);
  const version = join(await openBench(benches, runId), 'version');
  try {
    return await unpackArchive({ archive, sha256: input.sha256, version, limits, signal });
  } catch (error) {
    if (!(error instanceof ArchiveRefusedError)) throw error;
    await closeBench(benches, runId);
    return abort(`the archive of ${input.name} is refused: ${error.message}`, { kind: 'user' });
  }
}

async function publishUnpacked({ input, runId, signal }: Context): Promise<boolean> {
  const { version, benches } = placesOf(input);
  const bench = await openBench(benches, runId);
  return publishVersion(join(bench, 'version'), version, input.sha256, signal);
}
