// SPDX-License-Identifier: Apache-2.0
import js from '@eslint/js';
import ts from 'typescript-eslint';

export default ts.config(
    { ignores: ['node_modules/', 'src/gen/'] },
    js.configs.recommended,
    ...ts.configs.strictTypeChecked.map((c) => ({ ...c, files: ['**/*.ts', '**/*.tsx'] })),
    {
        files: ['**/*.ts', '**/*.tsx'],
        languageOptions: { parserOptions: { project: true, tsconfigRootDir: import.meta.dirname } },
        rules: {
            '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
            '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'describe'] }] }],
            // text of others reaches the page as text alone
            'no-restricted-properties': ['error', { property: 'innerHTML' }, { property: 'outerHTML' }],
            'no-restricted-syntax': ['error', { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'text of others is text' }],
            'max-lines': ['error', 400],
        },
    },
    { files: ['browser/*.mjs'], languageOptions: { globals: { window: 'readonly', document: 'readonly', performance: 'readonly', navigator: 'readonly', fetch: 'readonly' } } },
    { files: ['**/*.mjs'], languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } } },
);
