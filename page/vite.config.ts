import { defineConfig } from 'vite';

export default defineConfig({
  base: './',  // a proxy may have a path in front
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  // Everything is a file of its own, from our own server: the policy allows nothing inline.
  build: { target: 'es2020', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  logLevel: 'warn',
});
