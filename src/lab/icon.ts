import { LabIcon } from '@jupyterlab/ui-components';

/** Three connected layers, left to right; follows the theme through Lab's icon classes. */
const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.6" stroke-linecap="round">
    <path d="M6.5 12h3M14 7.5l3.5 3M14 16.5l3.5-3"/>
  </g>
  <g class="jp-icon3" fill="#616161">
    <rect x="2" y="9.5" width="5" height="5" rx="1.2"/>
    <rect x="17" y="9.5" width="5" height="5" rx="1.2"/>
  </g>
  <g class="jp-icon-accent0" fill="#1976d2">
    <rect x="9.5" y="4.5" width="5" height="5" rx="1.2"/>
    <rect x="9.5" y="14.5" width="5" height="5" rx="1.2"/>
  </g>
</svg>`;

export const onnxIcon = new LabIcon({ name: 'onnx-autodoc:onnx', svgstr });
