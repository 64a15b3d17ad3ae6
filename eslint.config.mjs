import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** What hosts are made of; nothing imports it. */
const shells = ['**/lab/**', '**/widget/**', '**/page/**', '**/embed/**'];
/** Imports point one way: schema ← core ← viewer ← lab, widget, page; providers stand beside core. */
const layers = {
  'src/schema': ['**/core/**', '**/viewer/**', '**/providers/**', ...shells],
  'src/core': ['**/viewer/**', '**/providers/**', ...shells],
  'src/providers': ['**/viewer/**', ...shells],
  'src/viewer': shells
};
const noLab = ['@jupyterlab/*', '@jupyter/*', '@lumino/*'];
const noReact = ['react', 'react-dom', 'react-dom/*', 'react/*'];

const restrict = (dir, groups) => ({
  files: [`${dir}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: groups,
            message: `${dir} must not depend on this (see the layers in docs/architecture.md).`
          }
        ]
      }
    ]
  }
});

export default tseslint.config(
  {
    ignores: [
      'lib',
      'node_modules',
      'py_autodoc',
      'dist',
      'src/schema/api.d.ts',
      '**/*.d.ts'
    ]
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  prettier,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      curly: 'error',
      eqeqeq: 'error',
      'no-console': ['error', { allow: ['warn', 'error'] }],
      'prefer-arrow-callback': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }
      ],
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      // A name from a model must never become markup.
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Use textContent.' },
        { property: 'outerHTML', message: 'Use DOM nodes.' },
        { property: 'insertAdjacentHTML', message: 'Use DOM nodes.' }
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'Render React elements.'
        }
      ]
    }
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error'
    }
  },
  restrict('src/schema', [...layers['src/schema'], ...noLab, ...noReact]),
  restrict('src/core', [...layers['src/core'], ...noLab, ...noReact]),
  restrict('src/providers', [...layers['src/providers'], ...noLab, ...noReact]),
  restrict('src/viewer', [...layers['src/viewer'], ...noLab]),
  restrict('src/embed', ['**/lab/**', ...noLab]),
  restrict('src/page', ['**/lab/**', '**/widget/**', ...noLab]),
  restrict('src/widget', ['**/lab/**', '**/page/**', ...noLab])
);
