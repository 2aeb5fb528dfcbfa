/** Builds the admin UI into dist/admin-ui: relative addresses, nothing inline, one chunk a page. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The grammar of filters is the same file here as on the server. What it needs of the ground, it gets
 * from files that need no Node.
 */
function ownGround(): Plugin {
  return {
    name: 'fleetq-ground',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const isQuery = importer.startsWith(here('../src/query/'));
      return isQuery && source === '../ground/index.ts' ? here('./src/platform/ground.ts') : null;
    },
  };
}

/** Whatever NODE_ENV is where it is built, what ships has no warnings in it: `--mode` alone says which. */
function ownMode(mode: string): string {
  process.env['NODE_ENV'] = mode;
  return mode;
}

export default defineConfig(({ mode }) => ({
  mode: ownMode(mode),
  root: here('.'),
  base: './',
  plugins: [ownGround(), react()],
  resolve: {
    alias: {
      'node:crypto': here('./src/platform/sha256.ts'),
      'node:util': here('./src/platform/types.ts'),
    },
  },
  build: {
    outDir: here('../dist/admin-ui'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
}));
