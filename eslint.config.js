import js from '@eslint/js'
import tseslint from 'typescript-eslint'

const clocks = 'Take the clock, ids and secrets from kernel, config, app or cli.'

export default tseslint.config(
  {
    ignores: [
      'server/vitest.config.ts',
      'web/src/api/generated/**',
      'client/vitest.config.ts',
      'client/src/generated/**',
      '**/dist/**',
      '**/dist.*/**',
      '**/node_modules/**',
      'data/**',
      '**/.cache/**',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.mjs', '**/*.js', '**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'Buffer',
          'setTimeout',
          'setInterval',
          'clearTimeout',
          'clearInterval',
          'performance',
          'module',
          'fetch',
          'AbortController',
          'AbortSignal',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['server/tsconfig.test.json', 'web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // The compiler's index checks make these two cry wolf; the rest are matters of taste.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-arguments': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      'preserve-caught-error': 'off',
    },
  },
  {
    files: ['server/src/**/*.ts'],
    ignores: [
      'server/src/kernel/**',
      'server/src/config/**',
      'server/src/app/**',
      'server/src/cli/**',
      'server/src/main.ts',
      'server/src/embedded-postgres/**',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: clocks },
        { object: 'process', property: 'env', message: clocks },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: clocks },
      ],
    },
  },
  {
    files: ['web/**/*.ts', 'web/**/*.tsx'],
    rules: {
      // Routes are left by throwing a redirect, and no caller awaits the promise of an event handler.
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    files: ['server/test/**/*.ts', 'web/test/**/*.ts', 'client/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
    },
  },
)
