/** Puts the page into its place. */
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { App } from './app.tsx';

const place = document.getElementById('view');
if (place) render(<App />, place);
